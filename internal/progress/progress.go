// Package progress puts a reporter of progress into a context, so that any package can report a
// long stretch of work and none needs to know how it is shown.
//
//	s := progress.Begin(ctx, "rank users", len(users))
//	defer s.End()
//	for _, u := range users {
//		... // and s.Add(1)
//	}
//
// Reports change no result, and a context without a reporter shows nothing.
package progress

import (
	"context"
	"math"
	"sync/atomic"
)

// Reporter shows stretches of work, one after the other.
type Reporter interface {
	// Begin opens a stretch of total parts, such as the steps of one epoch or the bytes of a file; -1 means unknown. A
	// stretch that begins within another, such as the ranking of validation rows, replaces it until it ends.
	Begin(what string, total int)
	// Add counts n more parts as done.
	Add(n int)
	// End closes the stretch with its summary of one line, "" for none.
	End(summary string)
}

// Display shows the user the progress of a run or a fetch. The command line implements it; a library only reports.
// Calls come from one goroutine.
type Display interface {
	Reporter
	// Phase shows in one line what is going on now.
	Phase(text string)
}

type key struct{}

// carrier holds a reporter and whether a stretch is open.
type carrier struct {
	Reporter
	busy atomic.Bool
}

// With returns a context in which r shows work; nil shows nothing.
func With(ctx context.Context, r Reporter) context.Context {
	if r == nil {
		return ctx
	}
	return context.WithValue(ctx, key{}, &carrier{Reporter: r})
}

// Stretch reports the progress of a piece of work. A nil Stretch shows nothing. Its calls come from one goroutine at a
// time.
type Stretch struct {
	to    *carrier
	total int
	done  int
}

// Begin opens a stretch of total parts. It returns nil if the context has no reporter, and within another stretch of
// the same context, since the outer one says more.
func Begin(ctx context.Context, what string, total int) *Stretch {
	c, ok := ctx.Value(key{}).(*carrier)
	if !ok || !c.busy.CompareAndSwap(false, true) {
		return nil
	}
	c.Begin(what, total)
	return &Stretch{to: c, total: total}
}

// Thousand is the number of parts of a stretch that reports shares.
const Thousand = 1000

// BeginShares opens a stretch whose parts are unequal. Share reports its progress, in
// thousandths of the work.
func BeginShares(ctx context.Context, what string) *Stretch { return Begin(ctx, what, Thousand) }

// Add counts n more parts as done.
func (s *Stretch) Add(n int) {
	if s == nil || n == 0 {
		return
	}
	s.done += n
	s.to.Add(n)
}

// Share reports which share of the work is done, from 0 to 1; it never goes back.
func (s *Stretch) Share(x float64) {
	if s == nil {
		return
	}
	if at := int(math.Floor(min(1, x) * float64(s.total))); at > s.done {
		s.Add(at - s.done)
	}
}

// End closes the stretch. Further calls do nothing.
func (s *Stretch) End() {
	if s == nil || s.to == nil {
		return
	}
	c := s.to
	s.to = nil
	c.End("")
	c.busy.Store(false)
}

// Silent is a Display that shows nothing.
type Silent struct{}

// Phase shows nothing.
func (Silent) Phase(string) {}

// Begin shows nothing.
func (Silent) Begin(string, int) {}

// Add shows nothing.
func (Silent) Add(int) {}

// End shows nothing.
func (Silent) End(string) {}
