package reproduce

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"path/filepath"
	"time"

	"privrec/internal/dataset"
	"privrec/internal/run"
)

// Options say how a table is made.
type Options struct {
	Profile  string   // smoke, quick or full
	Out      string   // folder for runs and tables
	Sets     []string // further overrides of every run, stated in the table
	Workers  int      // threads of a run, 0: all cores
	NoRun    bool     // start nothing: the table of what is finished
	NoWait   bool     // do not wait for runs that other processes are making
	Log      *slog.Logger
	Progress run.Progress                            // of the work as a whole
	Run      run.Progress                            // of the run that goes on; nil: Progress
	Watch    func(title string, runs []Run, now int) // after every change; now is the run that goes on, -1: none. May be nil
}

// Outcome is a table that was made, as far as it goes.
type Outcome struct {
	*Table
	Runs  []Run
	Files []string // that were written

	hint string // how to get data that were missing
}

// Make trains what a table needs and writes it to o.Out/tables. It returns the
// table also where runs failed or could not begin; Outcome.Err tells. The error
// is for what stopped the work: an interruption, a grid that cannot be carried
// out, a table that cannot be written.
func (g *Grid) Make(ctx context.Context, o Options) (*Outcome, error) {
	cells, runs, err := g.runs(o)
	if err != nil {
		return nil, err
	}
	w := &worker{grid: g, o: o, runs: runs, lacking: map[string]error{}}
	if err := w.all(ctx); err != nil {
		return nil, err
	}
	t, err := g.table(o, cells, runs)
	if err != nil {
		return nil, err
	}
	out := &Outcome{Table: t, hint: w.hint}
	for _, r := range runs {
		out.Runs = append(out.Runs, *r)
	}
	if out.Files, err = t.write(filepath.Join(o.Out, "tables"), timings(runs)); err != nil {
		return nil, err
	}
	return out, nil
}

// Err says what is missing from the table; nil when nothing is that could be made
// here. A table none of whose data are there is an error of the data; where some are,
// the others are a gap, see Lacking. Anything else is a failure.
func (o *Outcome) Err() error {
	n := map[Status]int{}
	for _, r := range o.Runs {
		n[r.Status]++
	}
	total, where := len(o.Runs), ""
	if len(o.Files) > 0 {
		where = "; the table says which: " + o.Files[0]
	}
	switch open := n[ToDo] + n[Resumable] + n[Elsewhere]; {
	case n[Failed] > 0:
		return fmt.Errorf("%s: %d of %d runs failed%s", o.Name, n[Failed], total, where)
	case open > 0:
		return run.WithHint(fmt.Errorf("%s: %d of %d runs are not finished%s", o.Name, open, total, where), "the same command goes on from there")
	case total > 0 && n[NoData] == total:
		return &dataset.Error{File: o.Name, Msg: o.Lacking(), Hint: o.hint + "; --profile smoke needs no data"}
	}
	return nil
}

// Lacking says how many runs have no data here; empty when all have.
func (o *Outcome) Lacking() string {
	n := 0
	for _, r := range o.Runs {
		if r.Status == NoData {
			n++
		}
	}
	if n == 0 {
		return ""
	}
	text := fmt.Sprintf("%d of %d runs lack their data", n, len(o.Runs))
	if len(o.Files) > 0 {
		text += "; the table says which: " + o.Files[0]
	}
	return text
}

// worker makes the runs of a table, one at a time: each takes all cores.
type worker struct {
	grid    *Grid
	o       Options
	runs    []*Run
	lacking map[string]error // data sets that are not there
	hint    string
}

// pause is the time between two looks at runs that other processes make.
const pause = time.Second / 2

func (w *worker) all(ctx context.Context) error {
	for _, r := range w.runs {
		if _, err := r.look(); err != nil {
			return err
		}
	}
	open := w.runs
	for first := true; len(open) > 0; first = false {
		var busy []*Run
		for _, r := range open {
			if err := w.one(ctx, r); err != nil {
				return err
			}
			if r.Status == Elsewhere {
				busy = append(busy, r)
			}
		}
		if open = busy; len(busy) == 0 || w.o.NoWait || w.o.NoRun {
			break
		}
		if first {
			w.o.Progress.Phase(fmt.Sprintf("waiting for %d runs that another process is making", len(busy)))
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("%w: %w", run.ErrInterrupted, ctx.Err())
		case <-time.After(pause):
		}
	}
	w.show(-1)
	return nil
}

// one brings a run to its end, unless somebody else is at it. What goes wrong is
// kept in the run; only an interruption is returned.
func (w *worker) one(ctx context.Context, r *Run) error {
	if ctx.Err() != nil {
		return fmt.Errorf("%w: %w", run.ErrInterrupted, ctx.Err())
	}
	_, err := r.look()
	switch {
	case err != nil:
		r.fail(err)
		return nil
	case r.Status == Done:
		w.score(r)
		return nil
	case r.Status == Failed, w.o.NoRun:
		return nil
	case w.lacking[r.Data] != nil:
		w.hint = lack(r, w.lacking[r.Data])
		return nil
	}
	was := r.Status
	r.Status = Running
	w.show(w.place(r))
	o := r.options
	o.Resume, o.Stdout, o.Progress, o.Log = was != ToDo, io.Discard, w.o.Run, w.o.Log
	if o.Progress == nil {
		o.Progress = w.o.Progress
	}
	o.Notes = []string{"of privrec reproduce " + w.grid.Name}
	_, err = r.cell.task.Start(ctx, o)
	switch {
	case err == nil:
		r.Status, r.Now = Done, true
		w.score(r)
	case run.WasInterrupted(err):
		r.Status = was
		return err
	case run.IsBusy(err):
		r.Status = Elsewhere
	case errors.Is(err, dataset.ErrNotFound):
		w.lacking[r.Data] = err
		w.hint = lack(r, err)
	case r.finishedMeanwhile():
		w.score(r)
	default:
		r.fail(err)
		w.o.Progress.Phase(fmt.Sprintf("%s on %s, seed %d failed: %s", r.Method, r.On(), r.Seed, r.Problem))
	}
	w.show(-1)
	return nil
}

// score shows what a finished run came to. One that cannot be read is reported
// with the table.
func (w *worker) score(r *Run) {
	if res, err := w.grid.read(r); err == nil {
		r.Score = fmt.Sprintf("%s (%v)", decimals(100*res.values[0], ""), res.level)
	}
}

// finishedMeanwhile looks again after a start was refused: another process may
// have made the run between our look and our start.
func (r *Run) finishedMeanwhile() bool {
	_, err := r.look()
	return err == nil && r.Status == Done
}

// fail marks a run that came to nothing, with what can be done about it.
func (r *Run) fail(err error) {
	r.Status, r.Problem = Failed, oneLine(err.Error())
	var h interface{ Hint() string }
	if errors.As(err, &h) && h.Hint() != "" {
		r.Problem += " (" + h.Hint() + ")"
	}
}

// lack marks a run whose data are not there and returns how to get them.
func lack(r *Run, err error) (hint string) {
	r.Status, r.Problem = NoData, oneLine(err.Error())
	var data *dataset.Error
	if errors.As(err, &data) && data.Hint != "" {
		hint = data.Hint
		r.Problem += "; " + hint
	}
	return hint
}

func (w *worker) place(r *Run) int {
	for i := range w.runs {
		if w.runs[i] == r {
			return i
		}
	}
	return -1
}

func (w *worker) show(now int) {
	if w.o.Watch == nil {
		return
	}
	list := make([]Run, len(w.runs))
	for i, r := range w.runs {
		list[i] = *r
	}
	w.o.Watch(fmt.Sprintf("%s, profile %s, %s", w.grid.Name, w.o.Profile, w.grid.Metrics[0].Printed), list, now)
}
