package accountant

import (
	"context"
	"errors"
	"fmt"
	"math"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"

	"privrec/internal/privacy"
	"privrec/internal/privacy/accountant/exact"
	"privrec/internal/privacy/accountant/pld"
	"privrec/internal/privacy/accountant/rdp"
	"privrec/internal/privacy/accountant/terms"
	"privrec/internal/rng"
)

// setting is one composition of Poisson-sampled releases.
type setting struct {
	q, noise float64 // noise is sigma/D or scale/D
	n        int64
	delta    float64
	laplace  bool
	second   float64 // noise of a further unsampled Gaussian, 0: none
}

func (s setting) terms() []terms.Term {
	leaf := privacy.Event(noise(s.noise))
	if s.laplace {
		leaf = privacy.Laplace{Scale: s.noise, Sensitivity: 1, Unit: privacy.Record, Neighbouring: privacy.AddRemove}
	}
	t := terms.Term{Leaf: leaf, Rate: s.q, Relation: privacy.AddRemove, Count: s.n}
	if s.q < 1 {
		t.Method = privacy.Poisson
	}
	ts := []terms.Term{t}
	if s.second > 0 {
		ts = append(ts, terms.Term{Leaf: noise(s.second), Rate: 1, Relation: privacy.AddRemove, Count: 1})
	}
	return ts
}

// easier returns a setting that cannot cost more, changed in one coordinate.
func (s setting) easier(r *rng.Stream) (setting, string) {
	f := 1 + 0.5*r.Float64()
	switch r.IntN(4) {
	case 0:
		s.noise *= f
		return s, "more noise"
	case 1:
		s.q /= f
		return s, "a lower rate"
	case 2:
		s.n -= int64(float64(s.n) * (f - 1))
		return s, "fewer steps"
	}
	s.delta = math.Min(s.delta*f, 0.9)
	return s, "a larger delta"
}

func drawSetting(r *rng.Stream) setting {
	span := func(lo, hi float64) float64 {
		return math.Exp(math.Log(lo) + (math.Log(hi)-math.Log(lo))*r.Float64())
	}
	s := setting{q: span(1e-6, 2), noise: span(0.4, 100), n: int64(span(1, 1e6)), delta: span(1e-12, 0.1)}
	s.q = math.Min(s.q, 1)
	s.laplace = r.IntN(8) == 0
	if r.IntN(4) == 0 {
		s.second = span(0.5, 50)
	}
	return s
}

// seen counts what a property test covered.
type seen struct{ settings, covered, brackets atomic.Int64 }

// depth is how far a setting is checked.
type depth int

const (
	boundOnly depth = iota // the Rényi bound
	withExact
	withBracket
)

// checkSetting compares the methods on one setting, and each with itself on an
// easier one.
func checkSetting(s setting, r *rng.Stream, d depth, count *seen) error {
	count.settings.Add(1)
	eps := func(s setting) (renyi, value, gap float64, err error) {
		c, err := rdp.Total(s.terms())
		if err != nil {
			return 0, 0, 0, err
		}
		p, err := rdp.Epsilon(context.Background(), c, s.delta, rdp.Options{})
		if err != nil {
			return 0, 0, 0, err
		}
		if d == boundOnly {
			return p.Epsilon, math.NaN(), 0, nil
		}
		v, err := exact.Epsilon(context.Background(), s.terms(), s.delta)
		if errors.Is(err, exact.ErrNotCovered) {
			return p.Epsilon, math.NaN(), 0, nil
		}
		return p.Epsilon, v.Epsilon, v.Error, err
	}
	renyi, value, gap, err := eps(s)
	if err != nil {
		return err
	}
	if !(renyi >= 0) || math.IsInf(renyi, 1) {
		return fmt.Errorf("rényi bound %v", renyi)
	}
	const slack = 1e-9
	covered := !math.IsNaN(value)
	if covered {
		count.covered.Add(1)
		if !(value >= 0) || value-gap > renyi*(1+slack) {
			return fmt.Errorf("exact %v ± %v, rényi bound %v", value, gap, renyi)
		}
		if s.q == 1 && !s.laplace && s.second == 0 {
			want, err := Exact(math.Sqrt(float64(s.n))/s.noise, s.delta)
			if err != nil || math.Abs(value-want) > 1e-9*want {
				return fmt.Errorf("exact %v, in closed form %v (%v)", value, want, err)
			}
		}
	}
	e, how := s.easier(r)
	renyi2, value2, gap2, err := eps(e)
	if err != nil {
		return fmt.Errorf("%s: %w", how, err)
	}
	if renyi2 > renyi*(1+slack) {
		return fmt.Errorf("%s: the rényi bound rises from %v to %v (%+v)", how, renyi, renyi2, e)
	}
	if covered && value2-gap2 > value*(1+slack) { // false where NaN
		return fmt.Errorf("%s: exact rises from %v to %v (%+v)", how, value, value2, e)
	}
	if d != withBracket {
		return nil
	}
	b, err := pld.Bracket(context.Background(), s.terms(), s.delta, pld.Options{Bins: 1 << 12})
	if errors.Is(err, pld.ErrInfinite) || errors.Is(err, pld.ErrCheck) { // refused, not wrong
		return nil
	}
	if err != nil {
		return err
	}
	count.brackets.Add(1)
	switch {
	case !(b.Lower >= 0) || !(b.Lower <= b.Upper):
		return fmt.Errorf("bracket [%v, %v]", b.Lower, b.Upper)
	case covered && (b.Lower > value*(1+slack) || value-gap > b.Upper*(1+slack)):
		return fmt.Errorf("exact %v ± %v outside the bracket [%v, %v]", value, gap, b.Lower, b.Upper)
	case b.Lower > renyi*(1+slack):
		return fmt.Errorf("the certified lower bound %v is above the rényi bound %v", b.Lower, renyi)
	}
	return nil
}

// checkSettings runs checkSetting on n drawn settings on all processors, every
// k-th with the exact method, every k²-th with a bracket too. Which settings
// depends on the seed and on n alone.
func checkSettings(t *testing.T, n, k int) {
	var (
		next  atomic.Int64
		count seen
		wg    sync.WaitGroup
	)
	for range runtime.GOMAXPROCS(0) {
		wg.Go(func() {
			for !t.Failed() {
				i := int(next.Add(1)) - 1
				if i >= n {
					return
				}
				r := rng.Seed(7).Stream("property", uint64(i))
				s := drawSetting(&r)
				d := boundOnly
				if i%(k*k) == 0 {
					d = withBracket
				} else if i%k == 0 {
					d = withExact
				}
				if err := checkSetting(s, &r, d, &count); err != nil {
					t.Errorf("setting %d %+v: %v", i, s, err)
				}
			}
		})
	}
	wg.Wait()
	t.Logf("%d settings, %d covered by the exact method, %d brackets", count.settings.Load(), count.covered.Load(), count.brackets.Load())
	if c := count.covered.Load(); float64(c) < 0.5*float64(n/k) {
		t.Errorf("the exact method covered %d of %d settings: too few to have been compared", c, n/k)
	}
	if b := count.brackets.Load(); float64(b) < 0.5*float64(n/k/k) {
		t.Errorf("%d of %d brackets: too few to have been compared", b, n/k/k)
	}
}

func TestSettings(t *testing.T) { checkSettings(t, 600, 10) }

// The certified bracket at its own mesh: below the Rényi bound, with the exact
// value inside.
func TestBracketsBelowTheBound(t *testing.T) {
	compared := 0
	for i := range 40 {
		r := rng.Seed(11).Stream("brackets", uint64(i))
		s := drawSetting(&r)
		b, err := pld.Bracket(context.Background(), s.terms(), s.delta, pld.Options{})
		if errors.Is(err, pld.ErrCheck) || errors.Is(err, pld.ErrInfinite) || errors.Is(err, pld.ErrNotCovered) {
			continue // refused, not wrong
		}
		if err != nil {
			t.Errorf("%+v: %v", s, err)
			continue
		}
		c, err := rdp.Total(s.terms())
		if err != nil {
			t.Fatal(err)
		}
		p, err := rdp.Epsilon(context.Background(), c, s.delta, rdp.Options{})
		if err != nil {
			t.Fatal(err)
		}
		compared++
		if b.Upper > p.Epsilon*(1+1e-5) {
			t.Errorf("%+v: certified upper bound %v, rényi bound %v", s, b.Upper, p.Epsilon)
		}
		if v, err := exact.Epsilon(context.Background(), s.terms(), s.delta); err == nil && (v.Epsilon < b.Lower*(1-1e-9) || v.Epsilon-v.Error > b.Upper*(1+1e-9)) {
			t.Errorf("%+v: exact %v outside [%v, %v]", s, v.Epsilon, b.Lower, b.Upper)
		}
	}
	if compared < 30 {
		t.Errorf("%d of 40 settings were compared", compared)
	}
}
