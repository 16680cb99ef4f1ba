package runtest

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"math"
	"slices"
	"sync"
	"testing"

	"privrec/internal/privacy"
	"privrec/internal/privacy/mechanism/mechanismtest"
	"privrec/internal/run"
)

// Releases holds the inputs of a run's mechanisms before noise, and their outputs.
type Releases struct {
	mu   sync.Mutex
	list []*Release
	of   map[string][]*Release // by purpose, in their order
	as   *Releases             // whose outputs this run has in place of its own; nil: its own
}

// Release holds one release of a run.
type Release struct {
	Purpose string
	Number  int // among those of the purpose
	Event   privacy.Event
	Count   int64   // that the ledger recorded
	Step    float64 // unit of the event's distances

	all  *Releases
	rows map[releasedRow]*[2][]float64 // exact, and as released
}

type releasedRow struct {
	part int32
	key  uint64
}

// Release implements mechanismtest.Observer.
func (s *Releases) Release(purpose string, e privacy.Event, count int64, step float64) mechanismtest.Release {
	s.mu.Lock()
	defer s.mu.Unlock()
	r := &Release{Purpose: purpose, Number: len(s.of[purpose]), Event: e, Count: count, Step: step, all: s,
		rows: map[releasedRow]*[2][]float64{}}
	s.list, s.of[purpose] = append(s.list, r), append(s.of[purpose], r)
	return r
}

// Row implements mechanismtest.Release. In a repeated run it replaces the output by that of the first run, so that
// everything after it is the same.
func (r *Release) Row(part int32, key uint64, exact, released []float64) {
	r.all.mu.Lock()
	defer r.all.mu.Unlock()
	k := releasedRow{part, key}
	if was := r.all.as; was != nil {
		if list := was.of[r.Purpose]; r.Number < len(list) {
			if row := list[r.Number].rows[k]; row != nil && len(row[1]) == len(released) {
				copy(released, row[1])
			}
		}
	}
	r.rows[k] = &[2][]float64{exact, slices.Clone(released)}
}

// Observed starts a task and returns the inputs of its mechanisms. With as, its mechanisms output the releases of as,
// whatever their input: a run on other data that had the same outputs. It must not run beside other tasks. The error is
// that of the task.
func Observed(t testing.TB, task run.Task, o run.Options, as *Releases) (*Releases, error) {
	t.Helper()
	s := &Releases{of: map[string][]*Release{}, as: as}
	o.Stdout, o.Log, o.Progress = io.Discard, slog.New(slog.DiscardHandler), run.Silent{}
	var err error
	mechanismtest.Observe(t, s, func() { _, err = task.Start(context.Background(), o) })
	return s, err
}

// Move holds the distance of a release from that of a neighbour, as a share of the sensitivity that its event states. A
// share above 1 shows that the event is wrong.
type Move struct {
	Release string  // purpose and number
	Share   float64 // infinite where the two can be told apart without looking at a value
	Why     string  // what differs, where Share is infinite
}

func (m Move) String() string {
	if m.Why != "" {
		return m.Release + ": " + m.Why
	}
	return fmt.Sprintf("%s: moves by %.4g of what is stated", m.Release, m.Share)
}

// Moves compares two runs release by release. The second run has the outputs of the first.
func (s *Releases) Moves(o *Releases) (all []Move) {
	for k := range max(len(s.list), len(o.list)) {
		switch {
		case k >= len(o.list):
			all = append(all, s.list[k].move(nil))
		case k >= len(s.list):
			all = append(all, o.list[k].move(nil))
		default:
			all = append(all, s.list[k].move(o.list[k]))
		}
	}
	return all
}

// Largest returns the largest of moves.
func Largest(moves []Move) (m Move) {
	for _, x := range moves {
		if x.Share > m.Share {
			m = x
		}
	}
	return m
}

// Exact returns the inputs of the first release of a purpose, row by row.
func (s *Releases) Exact(purpose string) (all []float64) {
	if len(s.of[purpose]) == 0 {
		return nil
	}
	rows := s.of[purpose][0].rows
	for _, k := range slices.SortedFunc(maps.Keys(rows), func(a, b releasedRow) int {
		return cmp.Or(cmp.Compare(a.part, b.part), cmp.Compare(a.key, b.key))
	}) {
		all = append(all, rows[k][0]...)
	}
	return all
}

// About returns the subjects of all releases, each once.
func (s *Releases) About() (list []privacy.Subject) {
	for _, r := range s.list {
		for _, of := range privacy.Subjects(r.Event) {
			if !slices.Contains(list, of) {
				list = append(list, of)
			}
		}
	}
	return list
}

// move compares a release with that of a neighbour, which is nil where there is none.
func (r *Release) move(o *Release) Move {
	m := Move{Release: fmt.Sprintf("%s, release %d", r.Purpose, r.Number+1)}
	differ := func(why string, args ...any) Move {
		m.Share, m.Why = math.Inf(1), fmt.Sprintf(why, args...)
		return m
	}
	switch {
	case o == nil:
		return differ("it is there with one of the two data sets alone")
	case r.Purpose != o.Purpose || r.Number != o.Number:
		return differ("in its place is %s, release %d", o.Purpose, o.Number+1)
	case !sameEvent(r.Event, o.Event):
		return differ("its law is %+v, and %+v", r.Event, o.Event)
	case r.Count != o.Count:
		return differ("the ledger counts it %d times, and %d times", r.Count, o.Count)
	case len(r.rows) != len(o.rows):
		return differ("it has %d rows, and %d", len(r.rows), len(o.rows))
	}
	parts := map[int32][3]float64{} // l1, squares, values that differ
	local := map[releasedRow]bool{}
	for k, a := range r.rows {
		b := o.rows[k]
		if b == nil || len(a[0]) != len(b[0]) {
			return differ("row %d of part %d is of another length, or not there", k.key, k.part)
		}
		d := parts[k.part]
		for i, x := range a[0] {
			y := math.Abs(x-b[0][i]) / r.Step
			d[0] += y
			d[1] += y * y
			if y != 0 {
				d[2]++
				local[k] = true
			}
		}
		parts[k.part] = d
	}
	for _, d := range parts {
		m.Share = max(m.Share, share(r.Event, d[0], math.Sqrt(d[1]), d[2], float64(len(local))))
	}
	return m
}

func sameEvent(a, b privacy.Event) bool {
	x, errX := privacy.MarshalEvent(a)
	y, errY := privacy.MarshalEvent(b)
	return errX == nil && errY == nil && string(x) == string(y)
}

// share returns a distance as a share of the sensitivity that an event states, by its l1 and l2 norms and by the
// numbers of changed values and rows.
func share(e privacy.Event, l1, l2, values, rows float64) float64 {
	worst := 0.0
	for _, leaf := range privacy.Leaves(e) {
		switch x := privacy.LawOf(leaf).(type) {
		case privacy.Gaussian:
			worst = max(worst, l2/x.Sensitivity)
		case privacy.DiscreteGaussian:
			worst = max(worst, l2/x.Sensitivity)
		case privacy.AllocatedGaussian: // one of its steps
			worst = max(worst, l2/x.Sensitivity)
		case privacy.Laplace:
			worst = max(worst, l1/x.Sensitivity)
		case privacy.DiscreteLaplace:
			worst = max(worst, l1/x.Sensitivity)
		default:
			if s, ok := leaf.(privacy.SphericalLaplace); ok {
				worst = max(worst, l2/s.Sensitivity)
				continue
			}
			switch of, release := privacy.About(leaf); {
			case release && !privacy.Local(leaf): // a distance that is not known here
				return math.Inf(1)
			case of.Unit == privacy.Feature: // a local randomiser of every unit by itself
				worst = max(worst, rows)
			default:
				worst = max(worst, values)
			}
		}
	}
	return worst
}
