package bench

import (
	"context"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"privrec/internal/tensor"
)

func fewPairs() Sizes { return Sizes{Users: 30, Items: 40, Edges: 100, Dim: 8, Layers: 1, Batch: 20} }

func TestDPSGD(t *testing.T) {
	got, err := DPSGD(context.Background(), Options{Time: time.Microsecond, Sizes: fewPairs()})
	if err != nil || len(got) != 5 {
		t.Fatalf("%d results, %v", len(got), err)
	}
	for i, name := range []string{"private_adam", "plain_adam", "private_sgd", "plain_sgd",
		"private_sgd_deferred"} {
		if r := got[i]; r.Name != name || !strings.HasPrefix(r.Shape, "table=70x8 pairs=100 batch=20 loss=") || !(r.MinS > 0) {
			t.Errorf("%+v, want %s", r, name)
		}
	}
	if _, err := DPSGD(context.Background(), Options{Sizes: Sizes{Users: 3}}); err == nil {
		t.Error("sizes that cannot be")
	}
}

// The gradients of pairs sum to that of the mean loss of a batch, by central differences: the gradient that a step
// without privacy takes.
func TestPairGradientsSumToTheBatch(t *testing.T) {
	s, err := newPairsStep(fewPairs(), pairsKind{})
	if err != nil {
		t.Fatal(err)
	}
	batch := []int32{3, 3, 17, 40, 99}
	s.draws(batch, false)
	s.gradients()
	sum := make([]float64, len(s.table.Data))
	for k, r := range s.rows {
		for j, v := range s.values[k*s.Dim : (k+1)*s.Dim] {
			sum[int(r)*s.Dim+j] += float64(v)
		}
	}
	values := make([]float64, len(s.table.Data))
	for i, v := range s.table.Data {
		values[i] = float64(v)
	}
	loss := func() (total float64) {
		for k := range batch {
			x := 0.0
			row := func(n int) []float64 { return values[int(s.rows[3*k+n])*s.Dim:][:s.Dim] }
			for j, u := range row(0) {
				x += u * (row(1)[j] - row(2)[j])
			}
			total += math.Log1p(math.Exp(-x))
		}
		return total
	}
	const step = 1e-5
	for i, v := range values {
		values[i] = v + step
		up := loss()
		values[i] = v - step
		if want := (up - loss()) / (2 * step); math.Abs(sum[i]-want) > 1e-5 {
			t.Fatalf("value %d: gradients sum to %g, want %g", i, sum[i], want)
		}
		values[i] = v
	}
}

// A step with privacy moves every value of the table, and one without only the rows of its pairs.
func TestPairsStepsMove(t *testing.T) {
	for _, private := range []bool{false, true} {
		for _, adam := range []bool{false, true} {
			s, err := newPairsStep(fewPairs(), pairsKind{private: private, adam: adam})
			if err != nil {
				t.Fatal(err)
			}
			before := slices.Clone(s.table.Data)
			if err := s.run(); err != nil {
				t.Fatal(err)
			}
			moved := 0
			for i, v := range s.table.Data {
				touched := slices.Contains(s.rows, int32(i/s.Dim))
				if v != before[i] {
					moved++
				}
				if !private && v != before[i] && !touched {
					t.Fatalf("adam %v: value %d moved, of a row that no pair has", adam, i)
				}
			}
			if all := len(before); private && moved < all*9/10 || moved == 0 {
				t.Errorf("private %v, adam %v: %d of %d values moved", private, adam, moved, all)
			}
			tensor.Free(s.table)
		}
	}
}

// A step with deferred noise moves only the rows of its pairs; the others get their noise when they are read.
func TestDeferredPairsStep(t *testing.T) {
	s, err := newPairsStep(fewPairs(), pairsKind{private: true, deferred: true})
	if err != nil {
		t.Fatal(err)
	}
	before := slices.Clone(s.table.Data)
	if err := s.run(); err != nil {
		t.Fatal(err)
	}
	moved := map[int32]bool{}
	for i, v := range s.table.Data {
		if v != before[i] {
			moved[int32(i/s.Dim)] = true
		}
	}
	for r := range moved {
		if !slices.Contains(s.rows, r) {
			t.Errorf("row %d moved, which no pair has", r)
		}
	}
	if err := s.late.Flush(tensor.Parallel); err != nil || len(moved) == 0 {
		t.Fatalf("%d rows moved, %v", len(moved), err)
	}
	same := 0
	for i, v := range s.table.Data {
		if v == before[i] {
			same++
		}
	}
	if same > len(before)/10 {
		t.Errorf("%d of %d values have no noise", same, len(before))
	}
}

func TestPairsCheck(t *testing.T) {
	if got := pairsCheck(); math.Abs(got-0.490979) > 1e-5 {
		t.Errorf("loss %v, want that of scripts/bench/dpsgd.py, 0.490979", got)
	}
}
