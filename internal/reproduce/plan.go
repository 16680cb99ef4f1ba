package reproduce

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"privrec/internal/run"
	"privrec/internal/system"
)

// Plan is what some tables need: their runs, each once, in the order in which they are made.
type Plan struct {
	o       Options
	tables  []*planned
	runs    []*Run           // of all tables, each directory once
	from    map[*Run]*Grid   // the first table that needs a run
	clock   *clock           // of the runs that this process makes
	lacking map[string]error // why data sets are missing, by name
	now     func() time.Time
	spent   map[string]mean // seconds an epoch of runs that are finished, by effort
	shares  map[string]mean // what finished runs took of what is recorded of such runs, by task
}

// mean is a mean of so many values.
type mean struct {
	sum float64
	n   int
}

// learn notes what a finished run took.
func (p *Plan) learn(r *Run, seconds float64) error {
	key, epochs, err := r.effort()
	if err != nil {
		return err
	}
	m := p.spent[key]
	p.spent[key] = mean{m.sum + seconds/float64(epochs), m.n + 1}
	if c := r.cost(); c.Seconds > 0 && seconds > 0 {
		s := p.shares[r.entry.task.String()]
		p.shares[r.entry.task.String()] = mean{s.sum + math.Log(seconds/c.Seconds), s.n + 1}
	}
	return nil
}

// fewest is how many finished runs of a task correct what is recorded of its other runs.
const fewest = 3

// took returns what a run takes: as finished runs of equal steps did, or else what is recorded of such runs, times
// the geometric mean of what finished runs of the task took of theirs. That counts in epochs saved by early stopping,
// and the machine. known is false where too few runs of the task are finished.
func (p *Plan) took(r *Run) (seconds float64, known bool, err error) {
	key, epochs, err := r.effort()
	if err != nil {
		return 0, false, err
	}
	if m := p.spent[key]; m.n > 0 {
		return m.sum / float64(m.n) * float64(epochs), true, nil
	}
	if s := p.shares[r.entry.task.String()]; s.n >= fewest {
		return r.cost().Seconds * math.Exp(s.sum/float64(s.n)), true, nil
	}
	return 0, false, nil
}

// planned is one table with the runs behind its rows. Rows that share a run have one each.
type planned struct {
	grid    *Grid
	entries []*entry
	runs    []*Run
}

// NewPlan plans some tables. It writes nothing.
func NewPlan(grids []*Grid, o Options) (*Plan, error) {
	p := &Plan{o: o, from: map[*Run]*Grid{}, lacking: map[string]error{}, now: time.Now, spent: map[string]mean{},
		shares: map[string]mean{}}
	p.tables = make([]*planned, len(grids))
	err := system.Together(len(grids), func(i int) (err error) {
		t := &planned{grid: grids[i]}
		t.entries, t.runs, err = t.grid.runs(o)
		p.tables[i] = t
		return err
	})
	if err != nil {
		return nil, err
	}
	byDir := map[string]*Run{}
	for _, t := range p.tables {
		for _, r := range t.runs {
			if byDir[r.Dir] == nil {
				byDir[r.Dir] = r
				p.runs = append(p.runs, r)
				p.from[r] = t.grid
			}
		}
	}
	if o.Shard.Of > 0 {
		p.deal(o.Shard.Of)
	}
	p.clock = newClock(p)
	return p, nil
}

// Shard is the part of the runs that one of several processes makes: number I of Of, from 1.
// The zero value is all runs.
type Shard struct{ I, Of int }

// ParseShard reads a shard such as "2/3". Empty text is all runs.
func ParseShard(text string) (s Shard, err error) {
	s.I, s.Of, err = run.ParsePart("--shard", text)
	return s, err
}

// String writes a shard as in "shard 2 of 3".
func (s Shard) String() string { return fmt.Sprintf("shard %d of %d", s.I, s.Of) }

// has reports whether a run is made by the process of this shard.
func (s Shard) has(r *Run) bool { return s.Of == 0 || r.shard == s.I }

// deal gives each run to one of n shards. Runs that are about one another go together, so
// that no shard repeats what another one trains. Groups are dealt in turn, in the order of
// their first runs.
func (p *Plan) deal(n int) {
	for i, group := range p.groups() {
		for _, dir := range group {
			for _, t := range p.tables {
				for _, r := range t.runs {
					if r.Dir == dir {
						r.shard = i%n + 1
					}
				}
			}
		}
	}
}

// groups lists the directories of runs that are about one another, directly or through
// others, in the order of their first runs.
func (p *Plan) groups() [][]string {
	group := map[string]int{} // by directory
	var members [][]string
	for _, r := range p.runs { // after those that it is about
		at := len(members)
		for _, of := range r.about {
			at = min(at, group[of.Dir])
		}
		if at == len(members) {
			members = append(members, nil)
		}
		for _, of := range r.about { // of groups that meet in this run, the first takes all
			if from := group[of.Dir]; from != at {
				for _, dir := range members[from] {
					group[dir] = at
				}
				members[at], members[from] = append(members[at], members[from]...), nil
			}
		}
		group[r.Dir], members[at] = at, append(members[at], r.Dir)
	}
	return slices.DeleteFunc(members, func(g []string) bool { return len(g) == 0 })
}

// Tables returns how many tables are planned.
func (p *Plan) Tables() int { return len(p.tables) }

// Finish makes the runs that table i needs, and no table.
func (p *Plan) Finish(ctx context.Context, i int) (*Outcome, error) {
	t := p.tables[i]
	w := &worker{clock: p.clock, grid: t.grid, o: p.o, runs: t.runs, lacking: p.lacking}
	if err := w.makeAll(ctx); err != nil {
		return nil, err
	}
	out := &Outcome{Table: &Table{Name: t.grid.FileName(p.o.Size, p.o.Sets)}, shard: p.o.Shard, hint: w.hint}
	for _, r := range t.runs {
		out.Runs = append(out.Runs, *r)
	}
	return out, nil
}

// Make trains what table i needs and writes it to o.Out/tables, as Grid.Make does. A shard
// writes no table: it lacks the runs of the others.
func (p *Plan) Make(ctx context.Context, i int) (*Outcome, error) {
	out, err := p.Finish(ctx, i)
	if err != nil || p.o.Shard.Of > 0 {
		return out, err
	}
	t := p.tables[i]
	if out.Table, err = t.grid.table(p.o, t.entries, t.runs); err != nil {
		return nil, err
	}
	for k, r := range t.runs { // the table says of results that cannot be read
		out.Runs[k] = *r
	}
	files, err := out.Table.write(filepath.Join(p.o.Out, "tables"), t.runs)
	out.Files = files
	return out, err
}

// shardOf returns the shard that made a run, by its manifest.
func shardOf(m *run.Manifest) (s Shard, ok bool) {
	for _, note := range m.Notes {
		if at := strings.LastIndex(note, shardNote); at >= 0 {
			if n, _ := fmt.Sscanf(note[at:], shardNote+"%d of %d", &s.I, &s.Of); n == 2 {
				return s, true
			}
		}
	}
	return s, false
}

// Missing says in a line which shards lack finished runs, where some runs were made by
// shards. The runs that are there say how many shards there are. It is empty where none
// lacks, or where no run says.
func (p *Plan) Missing() string {
	numbers := map[int]bool{}
	var open []*Run
	for _, r := range p.runs {
		m, err := r.look()
		if err != nil || r.Status != Done {
			open = append(open, r)
		} else if s, ok := shardOf(m); ok {
			numbers[s.Of] = true
		}
	}
	all := slices.Sorted(maps.Keys(numbers))
	switch {
	case len(all) == 0 || len(open) == 0:
		return ""
	case len(all) > 1:
		return fmt.Sprintf("not finished: %s; there are shards of several numbers (%v), which deal the runs "+
			"differently: make all of one", plural(len(open), "run"), all)
	}
	of := all[0]
	p.deal(of)
	lack := make([]int, of+1)
	for _, r := range open {
		lack[r.shard]++
	}
	var out []string
	for i, n := range lack {
		if n > 0 {
			out = append(out, fmt.Sprintf("%v (%s)", Shard{i, of}, plural(n, "run")))
		}
	}
	return "not finished: " + strings.Join(out, ", ")
}

// OneKind fails where shards made runs in numbers of different widths, whose results are not
// of one table. It says in a line where they were made by several programs or kernels, whose
// results may differ in their last digits.
func (p *Plan) OneKind() (note string, err error) {
	floats, programs, kernels := map[string]bool{}, map[string]bool{}, map[string]bool{}
	for _, r := range p.runs {
		m, err := r.look()
		if err != nil || r.Status != Done || len(m.Attempts) == 0 {
			continue
		}
		if _, ok := shardOf(m); ok {
			b := m.Attempts[len(m.Attempts)-1].Build
			floats[b.Float], programs[cmp.Or(b.Commit, "no commit")], kernels[b.SIMD] = true, true, true
		}
	}
	if len(floats) > 1 {
		return "", run.Usagef("make all shards with one program",
			"the shards are not of one kind: some were made in %s", strings.Join(slices.Sorted(maps.Keys(floats)),
				", others in "))
	}
	for _, x := range []struct {
		what string
		of   map[string]bool
	}{{"programs", programs}, {"kernels", kernels}} {
		if len(x.of) > 1 {
			note += fmt.Sprintf("; shards were made by several %s (%s): last digits may differ from those of one "+
				"machine", x.what, strings.Join(slices.Sorted(maps.Keys(x.of)), ", "))
		}
	}
	return strings.TrimPrefix(note, "; "), nil
}

// shardNote begins what the manifest of a run says of its shard.
const shardNote = ", shard "

// clock tells how long the runs that a process still has to make will take: their recorded
// costs, scaled by what the runs so far took. It is safe for several goroutines.
type clock struct {
	now func() time.Time

	mu             sync.Mutex
	left           map[string]float64 // expected seconds of the unfinished runs, by directory
	at             string             // the run that goes on; "": none
	began          time.Time          // it did
	took, expected float64            // seconds of the runs that this process made
	known          bool               // a cost of a run like one of them is recorded
}

// newClock returns a clock of the runs of a plan that are not finished.
func newClock(p *Plan) *clock {
	c := &clock{now: time.Now, left: map[string]float64{}}
	if p.o.NoRun {
		return c
	}
	for _, t := range p.tables {
		for _, r := range t.runs {
			m, err := run.ReadManifest(r.Dir)
			done := err == nil && (m.Status == run.StatusDone || m.Final)
			if !done && p.o.Shard.has(r) && !t.grid.unfit(r) {
				cost := r.cost()
				c.left[r.Dir] = cost.Seconds
				c.known = c.known || cost.how != guessed
			}
		}
	}
	return c
}

// begin notes that a run goes on from now.
func (c *clock) begin(r *Run) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.at, c.began = r.Dir, c.now()
}

// end notes that the run is over, whatever came of it.
func (c *clock) end(r *Run) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.took += c.now().Sub(c.began).Seconds()
	c.expected += c.left[r.Dir]
	c.at = ""
	delete(c.left, r.Dir)
}

// prior is the seconds of work for which recorded costs are believed: after that, what the
// runs take here counts more.
const prior = 30

// Ahead returns how many runs this process still has to make, the one that goes on among
// them, and about how long they take; less than 0: nothing like them is recorded, and none was made yet.
func (p *Plan) Ahead() (runs int, left time.Duration) {
	c := p.clock
	c.mu.Lock()
	defer c.mu.Unlock()
	scale := (c.took + prior) / (c.expected + prior)
	seconds := 0.0
	for dir, s := range c.left {
		if s *= scale; dir == c.at {
			s = max(0, s-c.now().Sub(c.began).Seconds())
		}
		seconds += s
	}
	if !c.known && c.took == 0 {
		return len(c.left), -1
	}
	return len(c.left), time.Duration(seconds * float64(time.Second))
}
