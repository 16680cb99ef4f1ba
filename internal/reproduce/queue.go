package reproduce

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"privrec/internal/claims"
	"privrec/internal/record"
	"privrec/internal/reproduce/costs"
	"privrec/internal/reproduce/grid"
	"privrec/internal/reproduce/phrase"
	"privrec/internal/reproduce/roster"
	"privrec/internal/run"
	"privrec/internal/tensor"
)

// Queue makes the runs of a plan one at a time, those first that add most to the evidence for the
// time that they take: printed numbers that have none of ours before further seeds, and among those
// the runs that claims need. A run that does not end in the time left gives way to one that does.
// Several queues of the same plan share the work.
type Queue struct {
	plan  *Plan
	shelf *record.Shelf // keeps every finished run; nil: none
	say   func(line string)

	wants  []*want
	first  map[string]*roster.Run // by directory
	kept   map[string]bool        // directories of runs that are done, or on the shelf
	tried  map[string]bool        // directories of runs that failed under this queue
	scale  float64                // seconds here for one of the machine that recorded costs
	took   float64                // seconds of the runs that this queue made by recorded costs
	meant  float64                // seconds that were expected of them
	before int                    // finished runs when it began
}

// want is a run whose result rows of tables show.
type want struct {
	run     *roster.Run
	tables  []string      // names
	entries []*grid.Entry // rows
	claims  []string      // ids of the claims that are about the rows
}

// choice is what a queue makes next.
type choice struct {
	want    *want
	run     *roster.Run // to make: that of want, or one that it is about
	cells   int         // printed numbers that have none of ours yet
	claims  int         // that are about its rows
	had     int         // seeds that the row has
	seconds float64     // until the result of want is there
}

// NewQueue returns a queue of the runs of a plan. Runs that shelf keeps are not made again, and every
// finished run is put on it; nil: there is none. say is called with a line for every step.
func NewQueue(p *Plan, papers []*claims.Paper, shelf *record.Shelf, say func(line string)) (*Queue, error) {
	q := &Queue{plan: p, shelf: shelf, say: say}
	q.first, q.kept, q.tried = map[string]*roster.Run{}, map[string]bool{}, map[string]bool{}
	recorded, err := costs.Known()
	if err != nil {
		return nil, err
	}
	if p.o.Workers > 0 {
		tensor.SetWorkers(p.o.Workers)
	}
	q.scale = recorded.Speed / costs.Speed()
	at := map[string]*want{}
	for _, t := range p.tables {
		for _, r := range t.runs {
			if q.first[r.Dir] == nil {
				q.first[r.Dir] = r
			}
			if !slices.Contains(t.entries, r.Entry) {
				continue // another run is about it
			}
			w := at[r.Dir]
			if w == nil {
				w = &want{run: r}
				at[r.Dir], q.wants = w, append(q.wants, w)
			}
			w.tables, w.entries = phrase.AppendNew(w.tables, t.grid.Name), append(w.entries, r.Entry)
			for _, paper := range papers {
				if paper.Name != t.grid.Paper {
					continue
				}
				for i := range paper.Claims {
					if c := &paper.Claims[i]; slices.Contains(c.Lines(t.grid.Name), r.Entry.Row.Line()) {
						w.claims = phrase.AppendNew(w.claims, paper.Name+"/"+c.ID)
					}
				}
			}
		}
	}
	for _, r := range p.runs {
		if err := q.keep(r); err != nil {
			return nil, err
		}
	}
	q.before = len(q.kept)
	return q, nil
}

// keep notes that a run needs not be made, where it is done or kept, and puts a done one on the shelf.
func (q *Queue) keep(r *roster.Run) error {
	if q.kept[r.Dir] {
		return nil
	}
	if _, err := r.Look(); err != nil {
		return err
	}
	if q.shelf == nil {
		if r.Status == roster.Done {
			q.kept[r.Dir] = true
			cost, _ := costs.Spent(r)
			return q.plan.learn(r, cost.Seconds)
		}
		return nil
	}
	fresh, err := q.shelf.Fresh(filepath.Base(r.Dir))
	if err != nil {
		return err
	}
	if !fresh && r.Status == roster.Done {
		err := q.shelf.Keep(r.Dir)
		if large := (*record.LargeError)(nil); errors.As(err, &large) { // its folder stays, and the others are made
			q.kept[r.Dir] = true
			q.say(err.Error())
			return nil
		}
		if err != nil {
			return err
		}
		fresh = true
	}
	if !fresh {
		return nil
	}
	q.kept[r.Dir] = true
	took, err := q.shelf.Took(filepath.Base(r.Dir))
	if err != nil {
		return err
	}
	return q.plan.learn(r, took)
}

// Make makes runs until the time is over, until nothing is left to make, or until ctx ends. What goes
// on at the end of the time stops at a checkpoint, and the next queue goes on from there.
func (q *Queue) Make(ctx context.Context, until time.Time) error {
	ctx, stop := context.WithDeadline(ctx, until)
	defer stop()
	for ctx.Err() == nil {
		c, busy, err := q.next(time.Until(until).Seconds())
		if err != nil {
			return err
		}
		if c == nil && !busy {
			q.say("nothing is left to make" + q.lacks())
			break
		}
		if c == nil {
			select {
			case <-ctx.Done():
			case <-time.After(pause):
			}
			continue
		}
		if err := q.make(ctx, c, until); err != nil && !run.WasInterrupted(err) {
			return err
		}
	}
	q.say(fmt.Sprintf("finished %d runs; %d of %d are done", len(q.kept)-q.before, len(q.kept), len(q.first)))
	if err := context.Cause(ctx); err != nil && !errors.Is(err, context.DeadlineExceeded) {
		return fmt.Errorf("%w: %w", run.ErrInterrupted, err)
	}
	return nil
}

// lacks says how many runs are not made because their data are not here.
func (q *Queue) lacks() string {
	n := 0
	var sets []string
	for dir, r := range q.first {
		if !q.kept[dir] && grid.Absent(r.Data) != "" {
			n++
			sets = phrase.AppendNew(sets, r.Data)
		}
	}
	if n == 0 {
		return ""
	}
	slices.Sort(sets)
	return fmt.Sprintf("; %s lack their data: %s", phrase.Plural(n, "run"), strings.Join(sets, ", "))
}

// make makes one run, and keeps it.
func (q *Queue) make(ctx context.Context, c *choice, until time.Time) error {
	r := c.run
	q.say(fmt.Sprintf("begin %s: %s", filepath.Base(r.Dir), c.why(time.Until(until))))
	began := time.Now()
	meant, known, err := q.seconds(r)
	if err != nil {
		return err
	}
	w := &worker{clock: q.plan.clock, grid: q.plan.from[r], o: q.plan.o, lacking: q.plan.lacking}
	err = w.makeRun(ctx, r)
	took := time.Since(began).Seconds()
	switch {
	case err != nil:
		q.say(fmt.Sprintf("stopped %s after %s; what it kept is gone on from", filepath.Base(r.Dir), phrase.Lasting(took)))
		return err
	case r.Status == roster.Elsewhere:
		return nil
	case r.Status != roster.Done:
		q.tried[r.Dir] = true
		q.say(fmt.Sprintf("%s %s: %s", r.Status, filepath.Base(r.Dir), r.Problem))
		return nil
	}
	if r.Now && !known {
		q.took, q.meant = q.took+took, q.meant+meant
	}
	if err := q.keep(r); err != nil {
		return err
	}
	score := cmp.Or(r.Score, "no score")
	q.say(fmt.Sprintf("done %s in %s (%s expected): %s", filepath.Base(r.Dir), phrase.Lasting(took),
		phrase.Lasting(meant), score))
	return nil
}

// why says what a choice is for.
func (c *choice) why(left time.Duration) string {
	text := fmt.Sprintf("for %s", strings.Join(c.want.tables, ", "))
	switch {
	case c.had > 0:
		text += fmt.Sprintf(", seed %d beside %d", c.want.run.Seed, c.had)
	case c.cells > 0:
		text += fmt.Sprintf(", %s without one of ours", phrase.Plural(c.cells, "printed number"))
	default:
		text += ", a row without results"
	}
	if c.claims > 0 {
		text += fmt.Sprintf(", %s about it", phrase.Plural(c.claims, "claim"))
	}
	if c.run != c.want.run {
		text += ", which is about it"
	}
	return fmt.Sprintf("%s; about %s of %s left", text, phrase.Lasting(c.seconds), phrase.Lasting(left.Seconds()))
}

// next chooses what to make. It returns nil where nothing can be begun now; busy says that other
// processes are at work on what is left.
func (q *Queue) next(left float64) (best *choice, busy bool, err error) {
	var all []*choice
	for _, w := range q.wants {
		c, elsewhere, err := q.choice(w)
		if err != nil {
			return nil, false, err
		}
		busy = busy || elsewhere
		if c != nil {
			all = append(all, c)
		}
	}
	slices.SortStableFunc(all, func(a, b *choice) int {
		return cmp.Or(cmp.Compare(a.had, b.had), -cmp.Compare(a.worth(), b.worth()))
	})
	for _, c := range all {
		if c.seconds*margin <= left {
			return c, busy, nil
		}
	}
	begun := func(c *choice) bool { return c.run.Status == roster.Resumable }
	if i := slices.IndexFunc(all, begun); i >= 0 { // rather end one of several halves
		return all[i], busy, nil
	}
	if len(all) > 0 {
		return all[0], busy, nil
	}
	return nil, busy, nil
}

// margin is how much longer than expected a run may take, and still ends in the time left.
const margin = 1.2

// worth is what a choice adds to the evidence for a second of work. A row without printed numbers and
// without claims is a point of a figure: it counts as half a number.
func (c *choice) worth() float64 {
	return (max(0.5, float64(c.cells)) + float64(c.claims)) / max(1, c.seconds)
}

// choice says what making a wanted run is worth, and which run comes first for it. It returns nil for
// what is kept, cannot be made here, or waits for another process; elsewhere says the last.
func (q *Queue) choice(w *want) (c *choice, elsewhere bool, err error) {
	if q.kept[w.run.Dir] {
		return nil, false, nil
	}
	c = &choice{want: w, had: len(w.entries[0].Seeds), claims: len(w.claims)}
	var list []*roster.Run
	var needs func(r *roster.Run)
	needs = func(r *roster.Run) {
		for _, of := range r.Before {
			needs(q.first[of.Dir])
		}
		if !slices.Contains(list, r) {
			list = append(list, r)
		}
	}
	needs(q.first[w.run.Dir])
	for _, r := range list {
		for _, of := range append([]*roster.Run{r}, r.Before...) {
			if _, err := of.Look(); err != nil {
				return nil, false, err
			}
		}
		switch {
		case r.Status == roster.Done:
			continue
		case r.Status == roster.Elsewhere:
			return nil, true, nil
		case r.Status == roster.Failed, q.tried[r.Dir], grid.Absent(r.Data) != "":
			return nil, false, nil
		}
		if roster.Unfit(q.plan.from[r], r) {
			return nil, false, nil
		}
		if c.run == nil {
			c.run = r
		}
		seconds, _, err := q.seconds(r)
		if err != nil {
			return nil, false, err
		}
		c.seconds += seconds
	}
	if c.run == nil { // done meanwhile by another process
		return nil, false, q.keep(w.run)
	}
	for _, e := range w.entries {
		had := q.had(e)
		if c.had = min(c.had, had); had > 0 {
			continue
		}
		if e.Row.Again {
			continue
		}
		for _, p := range e.Row.Printed {
			if p != nil {
				c.cells++
			}
		}
	}
	return c, false, nil
}

// had counts the seeds of a row that have results, or will have by another process.
func (q *Queue) had(e *grid.Entry) (n int) {
	for _, w := range q.wants {
		if slices.Contains(w.entries, e) && (q.kept[w.run.Dir] || q.first[w.run.Dir].Status == roster.Elsewhere) {
			n++
		}
	}
	return n
}

// seconds returns about how long a run takes: as finished runs of the task tell, or else as recorded costs say,
// scaled by what runs took under this queue. known says the first.
func (q *Queue) seconds(r *roster.Run) (seconds float64, known bool, err error) {
	if seconds, known, err = q.plan.took(r); known || err != nil {
		return seconds, known, err
	}
	return costs.Of(r).Seconds * q.scale * (q.took + prior) / (q.meant + prior), false, nil
}
