package reproduce

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	"privrec/internal/reproduce/costs"
	"privrec/internal/reproduce/grid"
	"privrec/internal/reproduce/phrase"
	"privrec/internal/reproduce/roster"
	"privrec/internal/run"
	"privrec/internal/system"
)

// Plan is what some tables need: their runs, each once, in the order in which they are made.
type Plan struct {
	o       roster.Options
	tables  []*planned
	runs    []*roster.Run              // of all tables, each directory once
	from    map[*roster.Run]*grid.Grid // the first table that needs a run
	clock   *clock                     // of the runs that this process makes
	lacking map[string]error           // why data sets are missing, by name
	now     func() time.Time
	spent   map[string]mean // seconds an epoch of runs that are finished, by effort
	shares  map[string]mean // what finished runs took of what is recorded of such runs, by task
}

// planned is one table with the runs behind its rows. Rows that share a run have one each.
type planned struct {
	grid    *grid.Grid
	entries []*grid.Entry
	runs    []*roster.Run
}

// NewPlan plans some tables. It writes nothing.
func NewPlan(grids []*grid.Grid, o roster.Options) (*Plan, error) {
	p := &Plan{o: o, from: map[*roster.Run]*grid.Grid{}, lacking: map[string]error{}, now: time.Now,
		spent: map[string]mean{}, shares: map[string]mean{}}
	p.tables = make([]*planned, len(grids))
	err := system.Together(len(grids), func(i int) (err error) {
		t := &planned{grid: grids[i]}
		t.entries, t.runs, err = roster.Of(t.grid, o)
		p.tables[i] = t
		return err
	})
	if err != nil {
		return nil, err
	}
	byDir := map[string]*roster.Run{}
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
			if !done && r.In(p.o.Shard) && !roster.Unfit(t.grid, r) {
				cost := costs.Of(r)
				c.left[r.Dir] = cost.Seconds
				c.known = c.known || cost.How != costs.Guessed
			}
		}
	}
	return c
}

// deal gives each run to one of n shards. Runs that are about one another go together, so
// that no shard repeats what another one trains. Groups are dealt in turn, in the order of
// their first runs.
func (p *Plan) deal(n int) {
	for i, group := range p.groups() {
		for _, dir := range group {
			for _, t := range p.tables {
				for _, r := range t.runs {
					if r.Dir == dir {
						r.Part = i%n + 1
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
		for _, of := range r.Before {
			at = min(at, group[of.Dir])
		}
		if at == len(members) {
			members = append(members, nil)
		}
		for _, of := range r.Before { // of groups that meet in this run, the first takes all
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

// shardOf returns the shard that made a run, by its manifest.
func shardOf(m *run.Manifest) (s run.Shard, ok bool) {
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
	var open []*roster.Run
	for _, r := range p.runs {
		m, err := r.Look()
		if err != nil || r.Status != roster.Done {
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
			"differently: make all of one", phrase.Plural(len(open), "run"), all)
	}
	of := all[0]
	p.deal(of)
	lack := make([]int, of+1)
	for _, r := range open {
		lack[r.Part]++
	}
	var out []string
	for i, n := range lack {
		if n > 0 {
			out = append(out, fmt.Sprintf("%v (%s)", run.Shard{I: i, Of: of}, phrase.Plural(n, "run")))
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
		m, err := r.Look()
		if err != nil || r.Status != roster.Done || len(m.Attempts) == 0 {
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

// Left returns how many runs this process still has to make, the one that goes on among
// them, and about how long they take; less than 0: nothing like them is recorded, and none was made yet.
func (p *Plan) Left() (runs int, left time.Duration) {
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

// Recorded counts the runs of a plan whose cost is recorded, and the others.
func (p *Plan) Recorded() (have, lack int) {
	for _, r := range p.runs {
		if costs.Of(r).How == costs.Recorded {
			have++
		} else {
			lack++
		}
	}
	return have, lack
}

// mean is a mean of so many values.
type mean struct {
	sum float64
	n   int
}

// learn notes what a finished run took.
func (p *Plan) learn(r *roster.Run, seconds float64) error {
	key, epochs, err := costs.Effort(r)
	if err != nil {
		return err
	}
	m := p.spent[key]
	p.spent[key] = mean{m.sum + seconds/float64(epochs), m.n + 1}
	if c := costs.Of(r); c.Seconds > 0 && seconds > 0 {
		s := p.shares[r.Entry.Task.String()]
		p.shares[r.Entry.Task.String()] = mean{s.sum + math.Log(seconds/c.Seconds), s.n + 1}
	}
	return nil
}

// fewest is how many finished runs of a task correct what is recorded of its other runs.
const fewest = 3

// took returns what a run takes: as finished runs of equal steps did, or else what is recorded of such runs, times
// the geometric mean of what finished runs of the task took of theirs. That counts in epochs saved by early stopping,
// and the machine. known is false where too few runs of the task are finished.
func (p *Plan) took(r *roster.Run) (seconds float64, known bool, err error) {
	key, epochs, err := costs.Effort(r)
	if err != nil {
		return 0, false, err
	}
	if m := p.spent[key]; m.n > 0 {
		return m.sum / float64(m.n) * float64(epochs), true, nil
	}
	if s := p.shares[r.Entry.Task.String()]; s.n >= fewest {
		return costs.Of(r).Seconds * math.Exp(s.sum/float64(s.n)), true, nil
	}
	return 0, false, nil
}
