package descent

import (
	"math"
	"strings"
	"testing"

	"privrec/internal/privacy/mechanism/channel"
)

// A sum that the caller clipped gives the steps of examples added one by one.
func TestAddSumEqualsAdd(t *testing.T) {
	const dim, steps = 40, 30
	one, _ := openSGD[float64](t, poissonSGD, dim)
	want, sizes, err := descend(one, 0, steps)
	if err != nil {
		t.Fatal(err)
	}
	all, _ := openSGD[float64](t, poissonSGD, dim)
	g, mean := make([]float64, dim), make([]float64, dim)
	for step := range steps {
		batch, err := all.Begin(0, uint64(step))
		if err != nil {
			t.Fatal(err)
		}
		sum, norms := make([]float64, dim), make([]float64, len(batch))
		for k, i := range batch {
			gradient(g, i)
			if _, err := channel.Clip(g, poissonSGD.Clip); err != nil {
				t.Fatal(err)
			}
			for j, x := range g {
				sum[j] += x
				norms[k] += x * x
			}
			norms[k] = min(poissonSGD.Clip, math.Sqrt(norms[k]))
		}
		if err := all.AddSum(norms, sum); err != nil {
			t.Fatal(err)
		}
		if err := all.Finish(mean); err != nil {
			t.Fatal(err)
		}
		if len(batch) != sizes[step] {
			t.Errorf("step %d: batches of %d and %d", step, len(batch), sizes[step])
		}
		for j, x := range mean {
			if math.Abs(x-want[step*dim+j]) > 1e-12 {
				t.Fatalf("step %d, value %d: %v, by examples %v", step, j, x, want[step*dim+j])
			}
		}
	}
	if err := all.Check(); err != nil {
		t.Error(err)
	}
}

// What cannot be a sum of clipped gradients ends the run.
func TestAddSumRefuses(t *testing.T) {
	const dim = 5
	fill := func(n int, v float64) []float64 {
		x := make([]float64, n)
		for i := range x {
			x[i] = v
		}
		return x
	}
	for name, c := range map[string]struct {
		norms func(batch int) []float64
		sum   func(batch int) []float64
		want  string
	}{
		"a norm above the clip":    {func(n int) []float64 { return fill(n, 0.751) }, func(int) []float64 { return fill(dim, 0) }, "not clipped"},
		"a norm of a NaN":          {func(n int) []float64 { return fill(n, math.NaN()) }, func(int) []float64 { return fill(dim, 0) }, "not clipped"},
		"a sum longer than norms":  {func(n int) []float64 { return fill(n, 0.5) }, func(n int) []float64 { return fill(dim, 0.51*float64(n)/math.Sqrt(dim)) }, "not clipped"},
		"a sum that is not finite": {func(n int) []float64 { return fill(n, 0.5) }, func(int) []float64 { return fill(dim, math.Inf(1)) }, "not clipped"},
		"a norm too few":           {func(n int) []float64 { return fill(n-1, 0.5) }, func(int) []float64 { return fill(dim, 0) }, "want all of them"},
		"another dimension":        {func(n int) []float64 { return fill(n, 0.5) }, func(int) []float64 { return fill(dim+1, 0) }, "want 5"},
	} {
		s, _ := openSGD[float64](t, poissonSGD, dim)
		batch, err := s.Begin(0, 0)
		if err != nil || len(batch) == 0 {
			t.Fatal(len(batch), err)
		}
		err = s.AddSum(c.norms(len(batch)), c.sum(len(batch)))
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", name, err)
		}
		if _, again := s.Begin(0, 1); again == nil {
			t.Errorf("%s: the run went on", name)
		}
	}
	s, _ := openSGD[float64](t, poissonSGD, dim)
	batch, err := s.Begin(0, 0)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Add(0, fill(dim, 0)); err != nil {
		t.Fatal(err)
	}
	if err := s.AddSum(fill(len(batch), 0), fill(dim, 0)); err == nil {
		t.Error("a sum after an example was accepted")
	}
}

// An empty batch has the sum 0, and noise all the same.
func TestAddSumOfAnEmptyBatch(t *testing.T) {
	rare := poissonSGD
	rare.Rate = 1e-6
	s, l := openSGD[float64](t, rare, 5)
	batch, err := s.Begin(0, 0)
	if err != nil || len(batch) != 0 {
		t.Fatal(batch, err)
	}
	if err := s.AddSum(nil, make([]float64, 5)); err != nil {
		t.Fatal(err)
	}
	mean := make([]float64, 5)
	if err := s.Finish(mean); err != nil {
		t.Fatal(err)
	}
	if mean[0] == 0 || l.Entries()[0].Count != 1 {
		t.Errorf("mean %v, %v", mean, l.Entries())
	}
	if _, err := s.Begin(0, 1); err != nil {
		t.Fatal(err)
	}
	if err := s.AddSum(nil, []float64{0, 0, 1e-300, 0, 0}); err == nil {
		t.Error("an empty batch had a sum")
	}
}
