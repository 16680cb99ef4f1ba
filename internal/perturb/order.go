package perturb

import (
	"context"
	"sync"
)

// stretch is a part of a stream for one worker. Its end must depend only on the stream, so that the output does not
// depend on the workers.
type stretch interface {
	Reset()      // empties it for the next use
	Empty() bool // reports whether there is nothing to work on
}

// inOrder fills blocks in one goroutine and processes them in several. The caller's goroutine uses them in the order in
// which they were filled. fill calls next for the next empty block, which also passes on the previous one; next returns
// the zero value after a failure. The first error, or the end of the context, ends the work and is returned.
func inOrder[B stretch](ctx context.Context, workers int, blocks []B, fill func(next func() B) error,
	work func(worker int, b B) error, use func(b B) error) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	free, todo, line := make(chan *turn[B], len(blocks)), make(chan *turn[B], len(blocks)),
		make(chan *turn[B], len(blocks))
	for _, b := range blocks {
		free <- &turn[B]{block: b, done: make(chan struct{}, 1)}
	}
	var wg sync.WaitGroup
	wg.Go(func() {
		defer close(line)
		defer close(todo)
		var now *turn[B]
		hand := func() {
			if now != nil && !now.block.Empty() {
				line <- now
				todo <- now
			}
			now = nil
		}
		err := fill(func() (none B) {
			hand()
			select {
			case now = <-free:
				now.err = nil
				now.block.Reset()
				return now.block
			case <-ctx.Done():
				return none
			}
		})
		if err != nil {
			cancel(err)
		}
		hand()
	})
	for i := range workers {
		wg.Go(func() {
			for t := range todo {
				if ctx.Err() == nil {
					t.err = work(i, t.block)
				}
				t.done <- struct{}{}
			}
		})
	}
	for t := range line {
		<-t.done
		if ctx.Err() == nil {
			err := t.err
			if err == nil {
				err = use(t.block)
			}
			if err != nil {
				cancel(err)
			}
		}
		free <- t
	}
	wg.Wait()
	return context.Cause(ctx)
}

// turn is a block in progress.
type turn[B stretch] struct {
	block B
	err   error
	done  chan struct{}
}
