package descent

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"privrec/internal/privacy"
	"privrec/internal/privacy/mechanism"
	"privrec/internal/privacy/mechanism/channel"
	"privrec/internal/privacy/mechanism/mechanismtest"
	"privrec/internal/rng"
)

// blend is a Blend by a plain loop.
func blend[T mechanism.Float](a T, x []T, b T, y []T) {
	for i, v := range x {
		y[i] = a*v + b*y[i]
	}
}

func openDeferred[T mechanism.Float](t testing.TB, d DPSGD, m Move, table []T, cols int) (*Deferred[T],
	*privacy.Ledger) {
	t.Helper()
	l := mechanismtest.Ledger(t)
	s, err := OpenDeferred(d, m, blend[T], table, cols, l, rng.Seed(8).Stream("sgd"))
	if err != nil {
		t.Fatal(err)
	}
	return s, l
}

// mover makes steps on a table, with noise at once or deferred.
type mover[T mechanism.Float] struct {
	table []T
	dense *RowSteps[T]
	late  *Deferred[T]
	move  Move
}

// newMovers returns both ways from the same table and seed.
func newMovers[T mechanism.Float](t testing.TB, d DPSGD, m Move, table []T, cols int) [2]*mover[T] {
	t.Helper()
	dense, _ := openRows[T](t, d, len(table)/cols, cols)
	own := slices.Clone(table)
	late, _ := openDeferred(t, d, m, own, cols)
	return [2]*mover[T]{{table: slices.Clone(table), dense: dense, move: m}, {table: own, late: late, move: m}}
}

// gradientOf returns the rows and values of an example, computed from the table as it is read.
type gradientOf[T mechanism.Float] func(table []T, example int32) (rows []int32, values []T)

// step makes a step that reads rows, and hands the table to seen when they are read.
func (m *mover[T]) step(parallel Parallel, key uint64, reads func(example int32) []int32, of gradientOf[T],
	seen func(table []T)) error {
	if m.late == nil {
		batch, err := m.dense.Begin(0, key)
		if err != nil {
			return err
		}
		seen(m.table)
		for k, e := range batch {
			rows, values := of(m.table, e)
			if err := m.dense.Add(k, rows, values); err != nil {
				return err
			}
		}
		by, keep := T(m.move.Rate/m.dense.ExpectedBatch()), T(1-m.move.Decay)
		return m.dense.Finish(parallel, func(at int, sum []T) { blend(by, sum, keep, m.table[at:at+len(sum)]) })
	}
	batch, err := m.late.Begin(0, key)
	if err != nil {
		return err
	}
	var rows []int32
	for _, e := range batch {
		rows = append(rows, reads(e)...)
	}
	if err := m.late.Read(parallel, rows); err != nil {
		return err
	}
	seen(m.table)
	var ends []int
	var allRows []int32
	var allValues []T
	for k, e := range batch {
		rows, values := of(m.table, e)
		if key%2 == 1 { // every other step adds all at once
			allRows, allValues = append(allRows, rows...), append(allValues, values...)
			ends = append(ends, len(allRows))
		} else if err := m.late.Add(k, rows, values); err != nil {
			return err
		}
	}
	if len(ends) > 0 {
		if err := m.late.AddAll(parallel, ends, allRows, allValues); err != nil {
			return err
		}
	}
	return m.late.Finish(parallel)
}

// flush brings the table up to date.
func (m *mover[T]) flush() error {
	if m.late == nil {
		return m.dense.Check()
	}
	return errors.Join(m.late.Flush(backwards), m.late.Check())
}

// rowsOf is rowGradient with values that follow from the table.
func rowsOf[T mechanism.Float](rows, cols int) gradientOf[T] {
	return func(table []T, example int32) ([]int32, []T) {
		touched, values := rowGradient[T](rows, cols, example)
		for i, r := range touched {
			for j := range cols {
				values[i*cols+j] -= 0.1 * table[int(r)*cols+j]
			}
		}
		return touched, values
	}
}

// Almost without noise, both ways make the same moves to the rounding of double precision: for any shape, rate, decay
// and batches, gradients that follow from the table, and rows that are read without being moved.
func TestDeferredMovesAsDense(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		d := rapid.SampledFrom([]DPSGD{poissonSGD, fixedSGD}).Draw(rt, "sampling")
		d.NoiseMultiplier, d.Examples = 1e-13, 60
		if d.Batch > 0 {
			d.Batch = 7
		}
		rows, cols := rapid.IntRange(1, 80).Draw(rt, "rows"), rapid.SampledFrom([]int{1, 3, 64}).Draw(rt, "cols")
		m := Move{rapid.SampledFrom([]float64{-0.5, 1, 30}).Draw(rt, "rate"),
			rapid.SampledFrom([]float64{0, 0.05, 0.5}).Draw(rt, "decay")}
		table, s := make([]float64, rows*cols), rng.Seed(3).Stream("table")
		s.Normals64(table)
		ways := newMovers(t, d, m, table, cols)
		parallel := rapid.SampledFrom([]Parallel{inOrder, backwards, scattered}).Draw(rt, "order")
		reads := func(example int32) []int32 { // some more than are moved
			touched, _ := rowGradient[float64](rows, cols, example)
			return append(touched, example%int32(rows))
		}
		for step := range uint64(5) {
			for _, w := range ways {
				if err := w.step(parallel, step, reads, rowsOf[float64](rows, cols), func([]float64) {}); err != nil {
					rt.Fatal(err)
				}
			}
		}
		if err := errors.Join(ways[0].flush(), ways[1].flush()); err != nil {
			rt.Fatal(err)
		}
		for i, x := range ways[0].table {
			if got := ways[1].table[i]; math.Abs(got-x) > 1e-9*(1+math.Abs(x)) {
				rt.Fatalf("value %d: %v, of the dense steps %v", i, got, x)
			}
		}
	})
}

// lawRows is the number of rows of each kind in a test of the law, of lawCols values, and lawSteps that of steps.
const (
	lawRows, lawCols = 1000, 64
	lawSteps         = 7
)

// lawOf makes lawSteps steps on three kinds of rows, from zeros: the first are never read, the second are read in the
// steps 2 and 5 (counted from 0), the third are read and moved in step 3. With one example, that is in every batch. It
// returns what each kind was at the moments when it was read, and at the end.
func lawOf(t *testing.T, w *mover[float64], flush bool) (seen map[string][]float64) {
	t.Helper()
	seen = map[string][]float64{}
	part := func(kind int) []float64 {
		return slices.Clone(w.table[kind*lawRows*lawCols : (kind+1)*lawRows*lawCols])
	}
	rows := func(kind int) (list []int32) {
		for r := range lawRows {
			list = append(list, int32(kind*lawRows+r))
		}
		return list
	}
	for step := range uint64(lawSteps) {
		reads := func(int32) []int32 {
			switch step {
			case 2, 5:
				return rows(1)
			case 3:
				return rows(2)
			}
			return nil
		}
		of := func([]float64, int32) ([]int32, []float64) {
			if step != 3 {
				return nil, nil
			}
			return rows(2), make([]float64, lawRows*lawCols)
		}
		err := w.step(scattered, step, reads, of, func([]float64) {
			switch step {
			case 2, 5:
				seen[fmt.Sprint("second at ", step)] = part(1)
			case 3:
				seen["third at 3"] = part(2)
			}
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if flush {
		if err := w.flush(); err != nil {
			t.Fatal(err)
		}
	}
	for kind, name := range []string{"first", "second", "third"} {
		seen[name+" at 7"] = part(kind)
	}
	return seen
}

// lawError returns an error unless the covariances of all moments are those of steps with noise at once, within 7
// standard deviations of 64,000 samples: for the ten numbers together that fails once in 10^10 for normal values.
func lawError(d DPSGD, m Move, seen map[string][]float64) error {
	c := m.Rate / d.ExpectedBatch() * d.Sigma()
	variance := func(steps int) (v float64) { // after so many steps
		for i := range steps {
			v += c * c * math.Pow(1-m.Decay, float64(2*i))
		}
		return v
	}
	for _, pair := range []struct {
		a, b         string
		early, later int // steps before the moments
	}{
		{"first at 7", "first at 7", 7, 7}, {"second at 2", "second at 2", 2, 2}, {"second at 5", "second at 5", 5, 5},
		{"second at 7", "second at 7", 7, 7}, {"third at 3", "third at 3", 3, 3}, {"third at 7", "third at 7", 7, 7},
		{"second at 2", "second at 5", 2, 5}, {"second at 5", "second at 7", 5, 7}, {"third at 3", "third at 7", 3, 7},
		{"first at 7", "second at 7", 0, 7}, // of two rows
	} {
		x, y := seen[pair.a], seen[pair.b]
		sum, n := 0.0, float64(len(x))
		for i := range x {
			sum += x[i] * y[i]
		}
		vx, vy := variance(cmp.Or(pair.early, lawSteps)), variance(pair.later)
		want := math.Pow(1-m.Decay, float64(pair.later-pair.early)) * variance(pair.early)
		if r := 7 * math.Sqrt((vx*vy+want*want)/n); math.Abs(sum/n-want) > r {
			return fmt.Errorf("%s and %s: covariance %g, want %g within %g", pair.a, pair.b, sum/n, want, r)
		}
	}
	return nil
}

// lawSGD has one example, in every batch.
var lawSGD = DPSGD{Purpose: "gradient", Clip: 1, NoiseMultiplier: 2, Examples: 1, Sampling: privacy.Poisson, Rate: 1,
	Unit: privacy.Sample}

// Rows that are read, and the flushed table, have the covariances of noise at once: a row after steps without it, a row
// between two moments, a row that was moved, two rows. The same test passes for noise at once. See lawError for its
// rate of false alarms.
func TestDeferredLaw(t *testing.T) {
	for _, m := range []Move{{Rate: 1}, {Rate: -0.5, Decay: 0.1}} {
		for k, w := range newMovers(t, lawSGD, m, make([]float64, 3*lawRows*lawCols), lawCols) {
			if err := lawError(lawSGD, m, lawOf(t, w, true)); err != nil {
				t.Errorf("%+v, deferred %v: %v", m, k == 1, err)
			}
		}
	}
}

// The test of the law finds a table that was not flushed, and deviations that are off by one step.
func TestDeferredLawFindsFaults(t *testing.T) {
	for name, plant := range map[string]func(s *Deferred[float64], w func(int64) float64) bool{
		"not flushed": func(*Deferred[float64], func(int64) float64) bool { return false },
		"a step more": func(s *Deferred[float64], w func(int64) float64) bool {
			s.from.late = mechanismtest.Must(s.own.noise.Late(s.rows, s.cols, func(n int64) float64 { return w(n + 1) },
				rng.Seed(1).Stream("fault")))
			return true
		},
		"a step less": func(s *Deferred[float64], w func(int64) float64) bool {
			s.from.late = mechanismtest.Must(s.own.noise.Late(s.rows, s.cols,
				func(n int64) float64 { return w(max(1, n-1)) }, rng.Seed(1).Stream("fault")))
			return true
		},
	} {
		for _, m := range []Move{{Rate: 1}, {Rate: -0.5, Decay: 0.1}} {
			w := newMovers(t, lawSGD, m, make([]float64, 3*lawRows*lawCols), lawCols)[1]
			flush := plant(w.late, channel.Weighted(m.Decay))
			if err := lawError(lawSGD, m, lawOf(t, w, flush)); err == nil {
				t.Errorf("%s, %+v: not found", name, m)
			}
		}
	}
}

// The same seed gives the same table whatever the order of the work, and a run that continues from a checkpoint of
// table and state, after any step, ends with the bytes of one that never stopped.
func TestDeferredResumes(t *testing.T) {
	const rows, cols, steps = 50, 7, 6
	of := rowsOf[float32](rows, cols)
	reads := func(example int32) []int32 {
		touched, _ := rowGradient[float32](rows, cols, example)
		return touched
	}
	for _, d := range []DPSGD{poissonSGD, allocatedSGD} {
		for _, m := range []Move{{Rate: -0.3}, {Rate: 2, Decay: 0.02}} {
			d.Examples = 300
			run := func(parallel Parallel, s *Deferred[float32], table []float32, from int, at func(step int)) {
				w := &mover[float32]{table: table, late: s, move: m}
				for step := from; step < steps; step++ {
					at(step)
					if err := w.step(parallel, uint64(step), reads, of, func([]float32) {}); err != nil {
						t.Fatal(err)
					}
				}
				if err := w.flush(); err != nil {
					t.Fatal(err)
				}
			}
			whole := make([]float32, rows*cols)
			s, _ := openDeferred(t, d, m, whole, cols)
			var states [][]byte
			var tables [][]float32
			run(inOrder, s, whole, 0, func(int) {
				b, err := json.Marshal(s.State())
				if err != nil {
					t.Fatal(err)
				}
				states, tables = append(states, b), append(tables, slices.Clone(whole))
			})
			for from := range steps {
				var st State
				if err := json.Unmarshal(states[from], &st); err != nil {
					t.Fatal(err)
				}
				table := slices.Clone(tables[from])
				s, _ := openDeferred(t, d, m, table, cols)
				if err := s.Restore(st); err != nil {
					t.Fatal(err)
				}
				run([]Parallel{backwards, scattered}[from%2], s, table, from, func(int) {})
				if !slices.Equal(table, whole) {
					t.Fatalf("%+v: other bytes after a restore at step %d", m, from)
				}
			}
		}
	}
}

// The ledger has what noise at once records, each step before its noise is drawn.
func TestDeferredLedger(t *testing.T) {
	for _, d := range []DPSGD{poissonSGD, fixedSGD, allocatedSGD} {
		dense, l := openRows[float32](t, d, 9, 3)
		late, m := openDeferred(t, d, Move{Rate: 1}, make([]float32, 27), 3)
		for step := range uint64(6) {
			a, err := dense.Begin(0, step)
			if err != nil {
				t.Fatal(err)
			}
			b, err := late.Begin(0, step)
			if err != nil || !slices.Equal(a, b) {
				t.Fatalf("batches %v and %v, %v", a, b, err)
			}
			same := func(x, y privacy.Entry) bool {
				return x.Event == y.Event && x.Count == y.Count && x.Purpose == y.Purpose
			}
			if !slices.EqualFunc(l.Entries(), m.Entries(), same) {
				t.Fatalf("step %d: ledger %+v, with noise at once %+v", step, m.Entries(), l.Entries())
			}
			for k := range a {
				if err := errors.Join(dense.Add(k, nil, nil), late.Add(k, nil, nil)); err != nil {
					t.Fatal(err)
				}
			}
			err = errors.Join(dense.Finish(inOrder, func(int, []float32) {}), late.Finish(inOrder))
			if err != nil {
				t.Fatal(err)
			}
		}
	}
}

// What is not a step of deferred noise, or not in order, ends the run.
func TestDeferredRefuses(t *testing.T) {
	zeros := func(n int) []float32 { return make([]float32, n) }
	ends := func(s *Deferred[float32], n int) []int { return slices.Repeat([]int{n}, len(s.batch)) }
	for name, misuse := range map[string]func(s *Deferred[float32]) error{
		"row 3, which was not read": func(s *Deferred[float32]) error { return s.Add(0, []int32{1, 3}, zeros(6)) },
		"gradient of row 3, which": func(s *Deferred[float32]) error {
			return s.AddAll(inOrder, ends(s, 1), []int32{3}, zeros(3))
		},
		"row 2 twice": func(s *Deferred[float32]) error { return s.Add(0, []int32{2, 1, 2}, zeros(9)) },
		"a gradient has row 2 twice": func(s *Deferred[float32]) error {
			return s.AddAll(inOrder, ends(s, 2), []int32{2, 2}, zeros(6))
		},
		"row 5, the table has 5": func(s *Deferred[float32]) error { return s.Add(0, []int32{5}, zeros(3)) },
		"of row -1, the table has 5": func(s *Deferred[float32]) error {
			return s.AddAll(inOrder, ends(s, 1), []int32{-1}, zeros(3))
		},
		"noise for row 5, the table": func(s *Deferred[float32]) error { return s.Read(inOrder, []int32{5}) },
		"want them in order":         func(s *Deferred[float32]) error { return s.Add(1, nil, nil) },
		"a step ends after 0":        func(s *Deferred[float32]) error { return s.Finish(inOrder) },
		"flushed within a step":      func(s *Deferred[float32]) error { return s.Flush(inOrder) },
		"want all of them":           func(s *Deferred[float32]) error { return s.AddAll(inOrder, nil, nil, nil) },
		"finished as one with noise": finishDense,
		"a row of the release got no": func(s *Deferred[float32]) error {
			return s.Read(func(int, int, func(_, _, _ int)) {}, []int32{3})
		},
		"not clipped": func(s *Deferred[float32]) error {
			s.own.clip = func([]float32, float64) (bool, error) { return false, nil }
			return s.Add(0, []int32{1, 2}, []float32{1, 0, 0, 0, 0, 1})
		},
	} {
		s, l := openDeferred(t, poissonSGD, Move{Rate: 1}, zeros(15), 3)
		for step := range uint64(2) {
			batch, err := s.Begin(0, step)
			if err == nil {
				err = s.Read(inOrder, []int32{1, 2, 1})
			}
			if err != nil || len(batch) < 2 {
				t.Fatal(len(batch), err)
			}
			if step == 1 {
				break
			}
			for k := range batch {
				if err := s.Add(k, nil, nil); err != nil {
					t.Fatal(err)
				}
			}
			if err := s.Finish(inOrder); err != nil {
				t.Fatal(err)
			}
		}
		if err := misuse(s); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: %v", name, err)
		}
		if s.Add(0, nil, nil) == nil || s.Finish(inOrder) == nil || s.Read(inOrder, nil) == nil || s.Check() == nil ||
			mechanismtest.CountOf(l) != 2 {
			t.Errorf("%s: the run goes on", name)
		}
	}
}

func finishDense(s *Deferred[float32]) error {
	for k := range s.batch {
		if err := s.Add(k, nil, nil); err != nil {
			return err
		}
	}
	return s.Rows.Finish(inOrder, func(int, []float32) {})
}

// Settings and states that are not of deferred noise are refused, and leave the ledger empty.
func TestDeferredRefusesSettings(t *testing.T) {
	l := mechanismtest.Ledger(t)
	open := func(d DPSGD, m Move, values, cols int, l *privacy.Ledger) error {
		_, err := OpenDeferred(d, m, blend[float32], make([]float32, values), cols, l, rng.Seed(8).Stream("sgd"))
		return err
	}
	bad := poissonSGD
	bad.Clip = -1
	secure := mechanismtest.Must(privacy.NewLedger(privacy.Secure))
	for name, err := range map[string]error{
		"no rows": open(poissonSGD, Move{Rate: 1}, 0, 3, l), "no columns": open(poissonSGD, Move{Rate: 1}, 3, 0, l),
		"half a row": open(poissonSGD, Move{Rate: 1}, 4, 3, l), "no rate": open(poissonSGD, Move{}, 3, 3, l),
		"rate":           open(poissonSGD, Move{Rate: math.NaN()}, 3, 3, l),
		"infinite rate":  open(poissonSGD, Move{Rate: math.Inf(1)}, 3, 3, l),
		"decay of all":   open(poissonSGD, Move{Rate: 1, Decay: 1}, 3, 3, l),
		"negative decay": open(poissonSGD, Move{Rate: 1, Decay: -0.1}, 3, 3, l),
		"clip":           open(bad, Move{Rate: 1}, 3, 3, l), "secure": open(poissonSGD, Move{Rate: 1}, 3, 3, secure),
	} {
		if err == nil {
			t.Errorf("%s: opened", name)
		}
	}
	if mechanismtest.CountOf(l) != 0 {
		t.Error("the ledger has a release of a run that was refused")
	}

	s, _ := openDeferred(t, poissonSGD, Move{Rate: 1, Decay: 0.1}, make([]float32, 6), 3)
	st := s.State()
	dense, _ := openRows[float32](t, poissonSGD, 2, 3)
	if err := dense.Restore(st); err == nil || !strings.Contains(err.Error(), "deferred noise") {
		t.Errorf("noise at once takes over deferred noise: %v", err)
	}
	for name, change := range map[string]func(st *State){
		"noise at once": func(st *State) { st.Noised, st.Moved = nil, nil },
		"no decay":      func(st *State) { st.Moved = nil },
		"rows":          func(st *State) { st.Noised = make([]int32, 3) },
		"later":         func(st *State) { st.Noised, st.Moved = []int32{0, 1}, []int32{0, 1} },
		"moved":         func(st *State) { st.Moved = []int32{0, 1} },
		"below":         func(st *State) { st.Noised = []int32{-1, 0} },
	} {
		st := s.State()
		st.Noised, st.Moved = slices.Clone(st.Noised), slices.Clone(st.Moved)
		change(&st)
		again, _ := openDeferred(t, poissonSGD, Move{Rate: 1, Decay: 0.1}, make([]float32, 6), 3)
		if err := again.Restore(st); err == nil {
			t.Errorf("%s: restored", name)
		}
	}
}

// Noise of another scale ends the run when it is drawn.
func TestDeferredPlantedScale(t *testing.T) {
	s, _ := openDeferred(t, poissonSGD, Move{Rate: 1}, make([]float32, 2000*64), 64)
	c := faulty(func(r rng.Stream, dst []float32, sigma float32) { addNormals(r, dst, 0.9*sigma) })
	s.from.late = mechanismtest.Must(c.Late(2000, 64, channel.Weighted(0), rng.Seed(1).Stream("late")))
	w := &mover[float32]{late: s}
	err := w.step(inOrder, 0, func(int32) []int32 { return nil },
		func([]float32, int32) ([]int32, []float32) { return nil, nil }, func([]float32) {})
	if err != nil {
		t.Fatal(err)
	}
	var ce *mechanism.CheckError
	if err := s.Flush(scattered); !errors.As(err, &ce) || ce.What != "scale" {
		t.Error(err)
	}
}
