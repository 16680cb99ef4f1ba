package reproduce

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"privrec/internal/dataset"
	"privrec/internal/reproduce/grid"
	"privrec/internal/reproduce/results"
	"privrec/internal/reproduce/roster"
	"privrec/internal/run"
	"privrec/internal/system"
)

// worker makes the runs of a table, one at a time: each takes all cores.
type worker struct {
	clock   *clock
	grid    *grid.Grid
	o       roster.Options
	runs    []*roster.Run
	lacking map[string]error // why data sets are missing, by name
	hint    string
}

// pause is the time between two looks at runs that other processes make.
const pause = time.Second / 2

// shardNote begins what the manifest of a run says of its shard.
const shardNote = ", shard "

// makeAll finishes the runs. It waits for those that other processes make.
func (w *worker) makeAll(ctx context.Context) error {
	err := system.Together(len(w.runs), func(i int) error {
		r := w.runs[i]
		if _, err := r.Look(); err != nil {
			return err
		}
		if r.Status == roster.Done {
			w.showScore(r)
		}
		return nil
	})
	if err != nil {
		return err
	}
	open := w.runs
	for first := true; len(open) > 0; first = false {
		var busy []*roster.Run
		for _, r := range open {
			if err := w.makeRun(ctx, r); err != nil {
				return err
			}
			if r.Status == roster.Elsewhere && r.In(w.o.Shard) {
				busy = append(busy, r)
			}
		}
		if open = busy; len(busy) == 0 || w.o.NoWait || w.o.NoRun {
			break
		}
		if first {
			w.o.Progress.Phase(fmt.Sprintf("waiting for %d runs that other processes make", len(busy)))
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("%w: %w", run.ErrInterrupted, ctx.Err())
		case <-time.After(pause):
		}
	}
	w.report(-1)
	return nil
}

// makeRun finishes a run, unless another process is at it. An error is kept in the run;
// only an interruption is returned.
func (w *worker) makeRun(ctx context.Context, r *roster.Run) error {
	if ctx.Err() != nil {
		return fmt.Errorf("%w: %w", run.ErrInterrupted, ctx.Err())
	}
	_, err := r.Look()
	switch {
	case err != nil:
		r.Fail(err)
		return nil
	case r.Status == roster.Done:
		w.showScore(r)
		return nil
	case r.Status == roster.Failed, roster.Unfit(w.grid, r), w.o.NoRun, !r.In(w.o.Shard), r.Waits():
		return nil
	case w.lacking[r.Data] != nil:
		w.hint = roster.MarkMissing(r, w.lacking[r.Data])
		return nil
	}
	was := r.Status
	r.Status = roster.Running
	w.report(w.index(r))
	o := r.Start
	o.Resume, o.Stdout, o.Progress, o.Log = was != roster.ToDo, io.Discard, w.o.Run, w.o.Log
	if o.Progress == nil {
		o.Progress = w.o.Progress
	}
	note := "made by privrec reproduce " + w.grid.Name
	if s := w.o.Shard; s.Of > 0 {
		note += fmt.Sprintf("%s%d of %d", shardNote, s.I, s.Of)
	}
	o.Notes = []string{note}
	w.clock.begin(r)
	_, err = r.Entry.Task.Start(ctx, o)
	w.clock.end(r)
	switch {
	case err == nil:
		r.Status, r.Now = roster.Done, true
		w.showScore(r)
	case run.WasInterrupted(err):
		r.Status = was
		return err
	case run.IsBusy(err):
		r.Status = roster.Elsewhere
	case errors.Is(err, dataset.ErrNotFound):
		w.lacking[r.Data] = err
		w.hint = roster.MarkMissing(r, err)
	case finishedMeanwhile(r):
		w.showScore(r)
	default:
		r.Fail(err)
		w.o.Progress.Phase(fmt.Sprintf("%s on %s, seed %d failed: %s", r.Method, r.On(), r.Seed, r.Problem))
	}
	w.report(-1)
	return nil
}

// showScore shows the result of a finished run. The table reports a result that cannot be
// read.
func (w *worker) showScore(r *roster.Run) {
	if res, err := roster.Read(w.grid, r); err == nil {
		r.Score = fmt.Sprintf("%s (%v)", results.InText(w.grid.Unit, w.grid.Scale()*res.Values[0], ""), res.Level)
	}
}

// finishedMeanwhile looks again after a start was refused: another process may have
// finished the run between our look and our start.
func finishedMeanwhile(r *roster.Run) bool {
	_, err := r.Look()
	return err == nil && r.Status == roster.Done
}

// index returns the place of a run in the table's list, or -1.
func (w *worker) index(r *roster.Run) int {
	for i := range w.runs {
		if w.runs[i] == r {
			return i
		}
	}
	return -1
}

// report shows the runs to the watcher. now is the one that goes on, or -1.
func (w *worker) report(now int) {
	if w.o.Watch == nil {
		return
	}
	list := make([]roster.Run, len(w.runs))
	for i, r := range w.runs {
		list[i] = *r
	}
	w.o.Watch(fmt.Sprintf("%s, size %s, %s", w.grid.Name, w.o.Size, w.grid.Metrics[0].Printed), list, now)
}
