package rdp

import (
	"errors"
	"math"
	"testing"

	"privrec/internal/privacy"
	"privrec/internal/privacy/accountant/terms"
	"privrec/internal/privacy/numeric"
)

// enumerated returns E[R^a] for a whole order, by all ways to deal a draws to t steps.
func enumerated(mu float64, t, a int) float64 {
	sum := 0.0
	var deal func(step, left int, weight float64)
	deal = func(step, left int, weight float64) {
		if step == t-1 {
			j := float64(left)
			sum += weight * math.Exp((j*j-j)*mu*mu/2)
			return
		}
		choose := 1.0
		for j := 0; j <= left; j++ {
			x := float64(j)
			deal(step+1, left-j, weight*choose*math.Exp((x*x-x)*mu*mu/2))
			choose *= float64(left-j) / (x + 1)
		}
	}
	deal(0, a, math.Pow(float64(t), -float64(a)))
	return sum
}

// TestAllocatedMoments compares both ways to compute moments with all ways to deal, and with the closed form at
// order 2.
func TestAllocatedMoments(t *testing.T) {
	for _, mu := range []float64{0.3, 1, 2} {
		for _, steps := range []int{2, 3, 5} {
			logs := allocatedMoments(mu, int64(steps))
			for a := 2; a <= 7; a++ {
				want := math.Log(enumerated(mu, steps, a))
				if got := logs[a]; got < want || got > want+1e-9*(1+want) {
					t.Errorf("mu %v, %d steps, order %d: %v, want %v", mu, steps, a, got, want)
				}
			}
		}
		for _, steps := range []int64{2, 256, 257, 300, 5000, 1 << 24} {
			want := math.Log1p(math.Expm1(mu*mu) / float64(steps))
			if got := allocatedMoments(mu, steps)[2]; got < want || got > want+3e-10 {
				t.Errorf("mu %v, %d steps: order 2 is %v, want %v", mu, steps, got, want)
			}
		}
		// Both ways, where the first is close to the second.
		short, long := allocatedMoments(mu, mostAllocatedOrder), allocatedMoments(mu, mostAllocatedOrder+1)
		for a := 2; a <= 200; a++ {
			if off := short[a] - long[a]; off < -1e-9 || off > float64(a)/mostAllocatedOrder { // t^-a of the first term
				t.Errorf("mu %v, order %d: %v and %v", mu, a, short[a], long[a])
			}
		}
	}
}

// TestAllocatedBoundsTheAddedUnit integrates E[R^(1-a)] of two steps.
func TestAllocatedBoundsTheAddedUnit(t *testing.T) {
	for _, mu := range []float64{0.3, 1, 2} {
		c, err := Allocated(1, mu, 1, 2)
		if err != nil {
			t.Fatal(err)
		}
		for _, alpha := range []float64{1.3, 2, 3.7, 6} {
			const n, reach = 600, 20.0
			sum, h := 0.0, 2*reach/n
			for i := range n {
				for j := range n {
					y, z := -reach+h*(float64(i)+0.5), -reach+h*(float64(j)+0.5)
					r := numeric.LogAdd(mu*y-mu*mu/2, mu*z-mu*mu/2) - math.Ln2
					sum += math.Exp(numeric.LogPhi(y)+numeric.LogPhi(z)+(1-alpha)*r) * h * h
				}
			}
			if got, want := c(alpha), math.Log(sum)/(alpha-1); got < want {
				t.Errorf("mu %v, order %v: %v, want at least %v", mu, alpha, got, want)
			}
		}
	}
}

// TestAllocatedCurve demands a curve that rises, is below that of known steps, and that several steps cost what
// one step of each block does.
func TestAllocatedCurve(t *testing.T) {
	for _, sigma := range []float64{0.5, 1, 3, 50} {
		for _, steps := range []int64{2, 30, 400, 100_000} {
			c, err := Allocated(sigma, 1, 1, steps)
			if err != nil {
				t.Fatal(err)
			}
			last := 0.0
			for alpha := 1.0; alpha < 400; alpha *= 1.07 {
				v := c(alpha)
				if v < last-3e-8 || v > alpha/(2*sigma*sigma)*(1+1e-12) {
					t.Errorf("sigma %v, %d steps, order %v: %v after %v", sigma, steps, alpha, v, last)
				}
				last = v
			}
			if steps < 30 {
				continue
			}
			several, err := Allocated(sigma, 1, 3, steps)
			if err != nil {
				t.Fatal(err)
			}
			want := 0.0
			for _, size := range []int64{steps / 3, (steps + 1) / 3, (steps + 2) / 3} {
				block, err := Allocated(sigma, 1, 1, size)
				if err != nil {
					t.Fatal(err)
				}
				want += block(8)
			}
			if got, want := several(8), math.Min(want, 3*8/(2*sigma*sigma)); math.Abs(got-want) > 1e-12*want {
				t.Errorf("sigma %v, in 3 of %d steps: %v, want %v", sigma, steps, got, want)
			}
		}
	}
	if _, err := Allocated(1e-3, 1, 1, 5); !errors.Is(err, ErrNotCovered) {
		t.Errorf("too little noise: %v", err)
	}
	if _, err := Allocated(1, 1, 4, 3); err == nil {
		t.Error("in 4 of 3 steps")
	}
}

// TestAllocatedTerm prices an event, alone and on a sample, where it costs no more.
func TestAllocatedTerm(t *testing.T) {
	e := privacy.AllocatedGaussian{Sigma: 1, Sensitivity: 1, Times: 1, Steps: 100, Unit: privacy.User,
		Neighbouring: privacy.AddRemove}
	term := terms.Term{Leaf: e, Count: 3, Rate: 1, Relation: privacy.AddRemove}
	c, err := FromTerm(term)
	if err != nil {
		t.Fatal(err)
	}
	want, err := Allocated(1, 1, 1, 100)
	if err != nil || c(5) != 3*want(5) {
		t.Errorf("%v, %v, want %v", c(5), err, 3*want(5))
	}
	term.Rate, term.Method = 0.5, privacy.Poisson
	if c, err = FromTerm(term); err != nil || c(5) > 3*want(5) {
		t.Errorf("on a sample %v, %v", c(5), err)
	}
}
