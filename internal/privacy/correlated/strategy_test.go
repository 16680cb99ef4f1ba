package correlated

import (
	"errors"
	"math"
	"testing"

	"gonum.org/v1/gonum/mat"
	"pgregory.net/rapid"
)

// made lists the strategies of n steps, by name.
func made(t interface {
	Helper()
	Fatal(...any)
}, n int) map[string]Strategy {
	t.Helper()
	all := map[string]Strategy{}
	put := func(name string, s Strategy, err error) {
		t.Helper()
		if err != nil {
			t.Fatal(name, n, err)
		}
		all[name] = s
	}
	s, err := Banded(n, n)
	put("square root", s, err)
	s, err = Banded(n, 1)
	put("independent", s, err)
	s, err = Composed(n)
	put("composed", s, err)
	s, err = Banded(n, (n+1)/2)
	put("banded", s, err)
	return all
}

// errorsOf returns the errors of a strategy.
func errorsOf(t interface {
	Helper()
	Fatal(...any)
}, s Strategy) Errors {
	t.Helper()
	e, err := s.Errors()
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// dense returns C whole.
func (s Strategy) dense() *mat.Dense {
	if s.tree {
		var nodes []float64
		rows := 0
		for length := 1; length <= s.steps; length *= 2 {
			for from := 0; from+length <= s.steps; from += length {
				row := make([]float64, s.steps)
				for j := range length {
					row[from+j] = 1
				}
				nodes, rows = append(nodes, row...), rows+1
			}
		}
		return mat.NewDense(rows, s.steps, nodes)
	}
	c := mat.NewDense(s.steps, s.steps, nil)
	for i := range s.steps {
		for j := max(0, i-len(s.column)+1); j <= i; j++ {
			c.Set(i, j, s.column[i-j])
		}
	}
	return c
}

// triangle returns the lower triangle of ones.
func triangle(n int) *mat.Dense {
	a := mat.NewDense(n, n, nil)
	for i := range n {
		for j := range i + 1 {
			a.Set(i, j, 1)
		}
	}
	return a
}

// TestSquareRootSquared multiplies the square root with itself.
func TestSquareRootSquared(t *testing.T) {
	for _, n := range []int{1, 2, 3, 10, 100} {
		s, err := Banded(n, n)
		if err != nil {
			t.Fatal(err)
		}
		var got mat.Dense
		got.Mul(s.dense(), s.dense())
		if !mat.EqualApprox(&got, triangle(n), 1e-12) {
			t.Errorf("%d steps: C C is %v", n, mat.Formatted(&got))
		}
	}
}

// TestSensitivityIsTheLargest tries every pattern of a unit that takes part with 1, -1 or not at all.
func TestSensitivityIsTheLargest(t *testing.T) {
	for n := 1; n <= 7; n++ {
		for name, s := range made(t, n) {
			for times := 1; times <= n+1; times++ {
				for apart := 1; apart <= n+1; apart++ {
					got, err := s.Sensitivity(Participation{times, apart})
					if err != nil {
						t.Fatal(err)
					}
					if want := largest(s, times, apart); math.Abs(got-want) > 1e-12 {
						t.Errorf("%s, %d steps, %d times, %d apart: sensitivity %v, the largest is %v", name, n, times,
							apart, got, want)
					}
				}
			}
		}
	}
}

// largest returns the norm of the longest C u over all u with entries of -1, 0 and 1 that a participation allows.
func largest(s Strategy, times, apart int) (most float64) {
	c, n := s.dense(), s.steps
	u := make([]float64, n)
	var from func(t, left, last int)
	from = func(t, left, last int) {
		if t == n {
			var x mat.VecDense
			x.MulVec(c, mat.NewVecDense(n, u))
			most = math.Max(most, mat.Norm(&x, 2))
			return
		}
		from(t+1, left, last)
		if left > 0 && (last < 0 || t-last >= apart) {
			for _, v := range []float64{-1, 1} {
				u[t] = v
				from(t+1, left-1, t)
			}
			u[t] = 0
		}
	}
	from(0, times, -1)
	return most
}

// TestErrorsAreThoseOfB compares with the dense product of the triangle and the inverse.
func TestErrorsAreThoseOfB(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 40).Draw(t, "steps")
		s, err := Banded(n, rapid.IntRange(1, n).Draw(t, "bands"))
		if rapid.IntRange(0, 9).Draw(t, "composed") == 0 {
			s, err = Composed(n)
		}
		if err != nil {
			t.Fatal(err)
		}
		var inverse, b mat.Dense
		if err := inverse.Inverse(s.dense()); err != nil {
			t.Fatal(err)
		}
		b.Mul(triangle(n), &inverse)
		sum, last := 0.0, 0.0
		for i := range n {
			last = 0
			for j := range n {
				last += b.At(i, j) * b.At(i, j)
			}
			sum += last
		}
		got := errorsOf(t, s)
		for _, x := range [][2]float64{{got.Mean, math.Sqrt(sum / float64(n))}, {got.Last, math.Sqrt(last)}} {
			if math.Abs(x[0]-x[1]) > 1e-9*x[1] {
				t.Errorf("%d steps, column %v: errors %v, want mean %v, last %v", n, s.column, got,
					math.Sqrt(sum/float64(n)), math.Sqrt(last))
			}
		}
	})
}

// TestGrowth states what the strategies are for: at 365 steps of a unit that takes part once, with noise for the same
// guarantee. Independent noise on steps or on sums errs by the root of the number of steps. The square root errs by the
// sum of its squared entries: the one at k is at most 1/(pi k), so that is at most 1 + (gamma + ln n)/pi.
func TestGrowth(t *testing.T) {
	const n = 365
	all := made(t, n)
	last := func(name string) float64 {
		d, err := all[name].Sensitivity(Participation{1, 1})
		if err != nil {
			t.Fatal(err)
		}
		return d * errorsOf(t, all[name]).Last
	}
	for _, name := range []string{"independent", "composed"} {
		if got := last(name); math.Abs(got-math.Sqrt(n)) > 1e-9 {
			t.Errorf("%s: error %v, want the root of %d", name, got, n)
		}
	}
	bound := 1 + (0.5772156649+math.Log(n))/math.Pi
	if got := last("square root"); got > bound || got < bound-0.2 {
		t.Errorf("square root: error %v, want just below %v", got, bound)
	}
}

func TestRefused(t *testing.T) {
	for name, err := range map[string]error{
		"no step":        second(Banded(0, 0)),
		"too many steps": second(Composed(MaxHorizon + 1)),
		"no band":        second(Banded(5, 0)),
		"six of five":    second(Banded(5, 6)),
	} {
		if err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	s, err := Banded(3, 3)
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range []Participation{{0, 1}, {1, 0}, {-1, 1}} {
		if _, err := s.Sensitivity(p); !errors.Is(err, ErrParticipation) {
			t.Errorf("%v: error %v", p, err)
		}
	}
}

func second[T any](_ T, err error) error { return err }
