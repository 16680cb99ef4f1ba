package reproduce

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"slices"
	"strings"
	"time"

	"privrec/internal/dataset"
	"privrec/internal/dataset/registry"
	"privrec/internal/dataset/slate"
	"privrec/internal/experiment"
	"privrec/internal/record"
	"privrec/internal/run"
	"privrec/internal/system"
)

// Options say how a table is made.
type Options struct {
	Size     string   // smoke, quick or full
	Out      string   // folder for runs and tables
	Sets     []string // further overrides of every run, which the table states
	Workers  int      // threads of a run, 0: all cores
	NoRun    bool     // start nothing: make the table of finished runs
	NoWait   bool     // do not wait for runs that other processes make
	StandIns bool     // where data are missing, take generated rows, as size smoke does
	Shard    Shard    // the runs that this process makes; zero: all
	// Records has runs that are taken where no directory of the run is there. Only tables that start
	// nothing take them. Nil: none.
	Records  *record.Shelf
	Log      *slog.Logger
	Progress run.Progress // of the work as a whole
	Run      run.Progress // of the run that goes on; nil: as Progress
	// called after every change; now is the run that goes on, or -1. May be nil
	Watch func(title string, runs []Run, now int)
}

// Outcome is a table, as far as it could be made.
type Outcome struct {
	*Table
	Runs  []Run
	Files []string // that were written

	shard Shard  // whose runs these are; zero: all
	hint  string // how to get the missing data
}

// Make trains what a table needs and writes the table to o.Out/tables. It also returns the
// table where runs failed or could not begin; Outcome.Err says so. Its error is for what
// stops the work: an interruption, a grid that cannot be carried out, a table that cannot
// be written.
func (g *Grid) Make(ctx context.Context, o Options) (*Outcome, error) {
	p, err := NewPlan([]*Grid{g}, o)
	if err != nil {
		return nil, err
	}
	return p.Make(ctx, 0)
}

// Err says what is missing from the table. It is nil where nothing is missing that could be
// made here. Where no run has its data it is an error of the data; where only some lack
// them, Lacking says so.
func (o *Outcome) Err() error {
	n := map[Status]int{}
	for i := range o.Runs {
		if r := &o.Runs[i]; o.shard.has(r) {
			n[r.Status]++
		}
	}
	total, where := len(o.Runs), ""
	if len(o.Files) > 0 {
		where = "; the table says which: " + o.Files[0]
	}
	switch open := n[ToDo] + n[Resumable] + n[Elsewhere]; {
	case n[Failed] > 0:
		return fmt.Errorf("%s: %d of %d runs failed%s", o.Name, n[Failed], total, where)
	case open > 0:
		return run.WithHint(fmt.Errorf("%s: %d of %d runs are not finished%s", o.Name, open, total, where),
			"the same command goes on from there")
	case total > 0 && n[NoData] == total:
		return &dataset.Error{File: o.Name, Msg: o.Lacking(), Hint: o.hint + "; --profile smoke needs no data"}
	}
	return nil
}

// Lacking says how many runs lack their data. It is empty where none does.
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
	clock   *clock
	grid    *Grid
	o       Options
	runs    []*Run
	lacking map[string]error // why data sets are missing, by name
	hint    string
}

// pause is the time between two looks at runs that other processes make.
const pause = time.Second / 2

// makeAll finishes the runs. It waits for those that other processes make.
func (w *worker) makeAll(ctx context.Context) error {
	err := system.Together(len(w.runs), func(i int) error {
		r := w.runs[i]
		if _, err := r.look(); err != nil {
			return err
		}
		if r.Status == Done {
			w.showScore(r)
		}
		return nil
	})
	if err != nil {
		return err
	}
	open := w.runs
	for first := true; len(open) > 0; first = false {
		var busy []*Run
		for _, r := range open {
			if err := w.makeRun(ctx, r); err != nil {
				return err
			}
			if r.Status == Elsewhere && w.o.Shard.has(r) {
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
func (w *worker) makeRun(ctx context.Context, r *Run) error {
	if ctx.Err() != nil {
		return fmt.Errorf("%w: %w", run.ErrInterrupted, ctx.Err())
	}
	_, err := r.look()
	switch {
	case err != nil:
		r.fail(err)
		return nil
	case r.Status == Done:
		w.showScore(r)
		return nil
	case r.Status == Failed, w.grid.unfit(r), w.o.NoRun, !w.o.Shard.has(r), r.waits():
		return nil
	case w.lacking[r.Data] != nil:
		w.hint = markMissing(r, w.lacking[r.Data])
		return nil
	}
	was := r.Status
	r.Status = Running
	w.report(w.index(r))
	o := r.options
	o.Resume, o.Stdout, o.Progress, o.Log = was != ToDo, io.Discard, w.o.Run, w.o.Log
	if o.Progress == nil {
		o.Progress = w.o.Progress
	}
	note := "made by privrec reproduce " + w.grid.Name
	if s := w.o.Shard; s.Of > 0 {
		note += fmt.Sprintf("%s%d of %d", shardNote, s.I, s.Of)
	}
	o.Notes = []string{note}
	w.clock.begin(r)
	_, err = r.entry.task.Start(ctx, o)
	w.clock.end(r)
	switch {
	case err == nil:
		r.Status, r.Now = Done, true
		w.showScore(r)
	case run.WasInterrupted(err):
		r.Status = was
		return err
	case run.IsBusy(err):
		r.Status = Elsewhere
	case errors.Is(err, dataset.ErrNotFound):
		w.lacking[r.Data] = err
		w.hint = markMissing(r, err)
	case r.finishedMeanwhile():
		w.showScore(r)
	default:
		r.fail(err)
		w.o.Progress.Phase(fmt.Sprintf("%s on %s, seed %d failed: %s", r.Method, r.On(), r.Seed, r.Problem))
	}
	w.report(-1)
	return nil
}

// unfit marks a run as left out where it cannot be about the runs that it would be about, and
// reports whether it did. That is known when they are finished.
func (g *Grid) unfit(r *Run) bool {
	about := r.About()
	open := func(of *Run) bool { return of.Status != Done }
	if g.Unfit == nil || len(about) == 0 || slices.ContainsFunc(r.about, open) {
		return false
	}
	why := g.Unfit(r.Task(), about)
	if why != "" {
		r.Status, r.Problem = LeftOut, why
	}
	return why != ""
}

// showScore shows the result of a finished run. The table reports a result that cannot be
// read.
func (w *worker) showScore(r *Run) {
	if res, err := w.grid.result(r); err == nil {
		r.Score = fmt.Sprintf("%s (%v)", inText(w.grid.Unit, w.grid.scale()*res.values[0], ""), res.level)
	}
}

// finishedMeanwhile looks again after a start was refused: another process may have
// finished the run between our look and our start.
func (r *Run) finishedMeanwhile() bool {
	_, err := r.look()
	return err == nil && r.Status == Done
}

// fail marks a run as failed, with its error and what can be done about it.
func (r *Run) fail(err error) {
	r.Status, r.Problem = Failed, oneLine(err.Error())
	var h interface{ Hint() string }
	if errors.As(err, &h) && h.Hint() != "" {
		r.Problem += " (" + h.Hint() + ")"
	}
}

// markMissing marks a run as one without data, and returns how to get them.
func markMissing(r *Run, err error) (hint string) {
	r.Status, r.Problem = NoData, oneLine(err.Error())
	var data *dataset.Error
	if errors.As(err, &data) && data.Hint != "" {
		hint = data.Hint
		r.Problem += "; " + hint
	}
	return hint
}

// index returns the place of a run in the table's list, or -1.
func (w *worker) index(r *Run) int {
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
	list := make([]Run, len(w.runs))
	for i, r := range w.runs {
		list[i] = *r
	}
	w.o.Watch(fmt.Sprintf("%s, size %s, %s", w.grid.Name, w.o.Size, w.grid.Metrics[0].Printed), list, now)
}

// absent says where the files of a data set come from, and under which terms, if they are
// not in the folder of data sets. It is empty where they are there. Only the names of files
// are looked at.
func absent(name string) string {
	if strings.HasPrefix(name, experiment.ImportedData) { // an imported run keeps them itself
		return ""
	}
	for _, s := range slate.Sources() {
		if s.Name == name {
			if s.Absent("") {
				return "from " + s.From
			}
			return ""
		}
	}
	sets, err := registry.Absent(name, "")
	if err != nil {
		return err.Error() // a grid's names are checked when it is read
	}
	var from []string
	for _, s := range sets {
		line := fmt.Sprintf("from %s (%s)", s.Address, s.Licence)
		if s.Address == "" {
			line = s.Name
		}
		from = appendNew(from, line)
	}
	return strings.Join(from, "; ")
}

// sizeOf returns the size in which a row is made. With o.StandIns that is smoke where the
// row's data are missing: then its runs are those of the smoke table.
func (g *Grid) sizeOf(r *Row, o Options) string {
	p, _, err := g.size(o.Size, r.Setting)
	if o.StandIns && err == nil && !p.StandIn && absent(r.Data) != "" {
		return "smoke"
	}
	return o.Size
}

// replaced says in a note for each data set that generated rows stand in its place.
func (g *Grid) replaced(o Options, rows []*summary) (out []string) {
	for i := range g.Data {
		d := &g.Data[i]
		if j := slices.IndexFunc(rows,
			func(s *summary) bool { return s.entry.data == d && s.entry.size != o.Size }); j >= 0 {
			out = append(out, fmt.Sprintf("%s: the files of %s are missing; they come %s. Generated rows (%s) under "+
				"the settings of size %s stand in their place: level D, which says nothing about the paper",
				d.Printed, d.Name, absent(d.Name), rows[j].entry.name, rows[j].entry.size))
		}
	}
	return out
}
