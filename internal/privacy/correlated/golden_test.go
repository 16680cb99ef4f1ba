package correlated

import (
	"encoding/json"
	"math"
	"os"
	"testing"
)

// peer holds what testdata/jax_privacy.json has of jax_privacy, whose library of correlated noise shares no code with
// this package. scripts/jax-privacy-goldens.py writes it and says what each row holds.
type peer struct {
	Version string `json:"jax_privacy"`
	Stated, Largest, Columns, Signed,
	Buffers, Fitted, Optimal, Banded []row
}

// row is a row of numbers, lists and texts.
type row []json.RawMessage

// read returns value i of a row.
func read[T any](t *testing.T, r row, i int) (v T) {
	t.Helper()
	if err := json.Unmarshal(r[i], &v); err != nil {
		t.Fatalf("value %d of %s: %v", i, r, err)
	}
	return v
}

// peers returns the file, which has rows of every sort.
func peers(t *testing.T) (p peer) {
	t.Helper()
	b, err := os.ReadFile("testdata/jax_privacy.json")
	if err == nil {
		err = json.Unmarshal(b, &p)
	}
	if err != nil || p.Version != "2.0.0" {
		t.Fatal(p.Version, err)
	}
	for name, c := range map[string][2]int{"stated": {len(p.Stated), 22}, "largest": {len(p.Largest), 6},
		"columns": {len(p.Columns), 125}, "signed": {len(p.Signed), 40}, "buffers": {len(p.Buffers), 32},
		"fitted": {len(p.Fitted), 8}, "optimal": {len(p.Optimal), 3}, "banded": {len(p.Banded), 27}} {
		if c[0] != c[1] {
			t.Fatalf("%d rows of %s, want %d", c[0], name, c[1])
		}
	}
	return p
}

// near reports whether a number is that of the peer, of which the file has 13 digits.
func near(got, want float64) bool { return math.Abs(got-want) <= 1e-9*math.Abs(want)+1e-9 }

// strategyOf returns the strategy of a column: its entries, or a name.
func strategyOf(t *testing.T, r row, i, n int) Strategy {
	t.Helper()
	var name string
	if json.Unmarshal(r[i], &name) != nil {
		s, err := Toeplitz(n, read[[]float64](t, r, i))
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	column := make([]float64, n)
	for k := range column {
		switch name {
		case "root":
			column[k] = squareRoot(n)[k]
		case "line":
			column[k] = 1 - 0.9*float64(k)/float64(n-1)
		case "flat":
			column[k] = 1
		case "slow":
			column[k] = math.Pow(1+float64(k), -0.3)
		default:
			t.Fatalf("no column %q", name)
		}
	}
	s, err := Toeplitz(n, column)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// TestPeerSensitivities holds sensitivities and errors of columns that do not increase against the peer's functions and
// the numbers that its tests state.
func TestPeerSensitivities(t *testing.T) {
	p := peers(t)
	for _, r := range p.Stated {
		n := read[int](t, r, 2)
		s := strategyOf(t, r, 1, n)
		got, err := s.Sensitivity(Participation{read[int](t, r, 3), read[int](t, r, 4)})
		mean := read[float64](t, r, 6)
		if want := read[float64](t, r, 5); err != nil || !near(got*got, want) {
			t.Errorf("%s: squared sensitivity %v, %v, want %v", r, got*got, err, want)
		}
		if e := errorsOf(t, s).Mean; mean != 0 && !near(e*e, mean) {
			t.Errorf("%s: squared error %v, want %v", r, e*e, mean)
		}
	}
	for _, r := range p.Columns {
		n := read[int](t, r, 1)
		s := strategyOf(t, r, 0, n)
		got, err := s.Sensitivity(Participation{read[int](t, r, 2), read[int](t, r, 3)})
		if want := read[float64](t, r, 4); err != nil || !near(got, want) {
			t.Errorf("%s: sensitivity %v, %v, want %v", r, got, err, want)
		}
		e := errorsOf(t, s)
		if mean, last := read[float64](t, r, 5), read[float64](t, r, 6); !near(e.Mean, mean) || !near(e.Last, last) {
			t.Errorf("%s: errors %v, want %v and %v", r, e, mean, last)
		}
	}
}

// TestPeerBounds holds bounds of columns with signs against the peer's, whose steps need not go together: never above
// it, and the same for a unit that takes part once.
func TestPeerBounds(t *testing.T) {
	p := peers(t)
	for _, r := range p.Largest {
		values, times := read[[]float64](t, r, 1), read[int](t, r, 2)
		if times == 0 {
			times = len(values)
		}
		u := Participation{times, read[int](t, r, 3)}
		if got, want := u.largest(values, times), read[float64](t, r, 4); !near(got, want) {
			t.Errorf("%s: %v, want %v", r, got, want)
		}
	}
	for _, r := range p.Signed {
		u := Participation{read[int](t, r, 2), read[int](t, r, 3)}
		got, err := strategyOf(t, r, 0, read[int](t, r, 1)).Sensitivity(u)
		want := read[float64](t, r, 4)
		if err != nil || got > want*(1+1e-9) || u.Times == 1 && !near(got, want) {
			t.Errorf("%s: bound %v, %v, the peer has %v", r, got, err, want)
		}
	}
}

// TestPeerBuffers holds the column, errors and noise of buffered strategies against the peer's.
func TestPeerBuffers(t *testing.T) {
	for _, r := range peers(t).Buffers {
		n := read[int](t, r, 2)
		var buffers []Buffer
		for i, w := range read[[]float64](t, r, 1) {
			buffers = append(buffers, Buffer{w, read[[]float64](t, r, 0)[i]})
		}
		s, err := Buffered(n, buffers)
		if err != nil {
			t.Fatal(err)
		}
		got, err := s.Sensitivity(Participation{52, 7})
		if want := read[float64](t, r, 3); err != nil || !near(got, want) {
			t.Errorf("%s: sensitivity %v, %v, want %v", r, got, err, want)
		}
		e := errorsOf(t, s)
		if mean, last := read[float64](t, r, 4), read[float64](t, r, 5); !near(e.Mean, mean) || !near(e.Last, last) {
			t.Errorf("%s: errors %v, want %v and %v", r, e, mean, last)
		}
		g, err := s.Generator(State{Width: 1})
		if err != nil {
			t.Fatal(err)
		}
		last := read[[]float64](t, r, 6)
		for step := range n {
			z := []float64{math.Cos(float64(step))}
			if err := g.Next(z); err != nil {
				t.Fatal(err)
			}
			if i := step - n + len(last); i >= 0 && !near(z[0], last[i]) {
				t.Errorf("%s: noise %v of step %d, want %v", r, z[0], step+1, last[i])
			}
		}
	}
}

// TestPeerFits demands a loss of no more than what the peer's search finds with as many buffers, and no less than that
// of the best column, but for one part in a thousand.
func TestPeerFits(t *testing.T) {
	p := peers(t)
	for _, r := range p.Fitted {
		n, u := read[int](t, r, 0), Participation{read[int](t, r, 1), read[int](t, r, 2)}
		if got, want := fitted(t, n, read[int](t, r, 3), u).loss(u), read[float64](t, r, 4); got > want*(1+1e-6) {
			t.Errorf("%s: loss %v, want at most %v", r, got, want)
		}
	}
	once := Participation{1, 1}
	for _, r := range p.Optimal {
		got, best := fitted(t, read[int](t, r, 0), 4, once).loss(once), read[float64](t, r, 1)
		if got < best*(1-1e-3) || got > best*(1+1e-3) {
			t.Errorf("%s: loss %v, that of the best column is %v", r, got, best)
		}
	}
}

// TestPeerColumns demands the loss of the best banded column that the peer's search finds, and for a unit that takes
// part more often, in steps that are at least so many bands apart, no more than that: the last step cuts some columns.
func TestPeerColumns(t *testing.T) {
	for _, r := range peers(t).Banded {
		n, bands := read[int](t, r, 0), read[int](t, r, 1)
		p := Participation{read[int](t, r, 2), read[int](t, r, 3)}
		got, want := fittedColumn(t, n, bands, p).loss(p), read[float64](t, r, 4)
		if got > want*(1+1e-6) || p.Times == 1 && got < want*(1-1e-6) {
			t.Errorf("%s: loss %v, want %v", r, got, want)
		}
	}
}
