package release

import (
	"errors"
	"fmt"
	"math"

	"privrec/internal/privacy"
	"privrec/internal/privacy/mechanism"
	"privrec/internal/privacy/mechanism/channel"
	"privrec/internal/privacy/mechanism/secure"
	"privrec/internal/rng"
)

// Releaser adds normal noise to sums over users and records the releases. It is for one goroutine.
type Releaser struct {
	Ledger *privacy.Ledger // marked secure if Secure
	Secure bool            // discrete noise from cryptographic bits
	// Noise returns the stream of seeded noise for a purpose. Streams of two purposes must be independent.
	Noise func(purpose string) (rng.Stream, error)
	// Releases is the number of sums that the run releases. Each gets its part of the run's probability that a noise
	// check fails by chance.
	Releases int

	used map[string]bool // purposes
}

// Sum describes a sum over users that is to be released.
type Sum struct {
	Purpose     string  // names the release in the ledger; unlike those of the run's other sums
	Sensitivity float64 // the largest l2 norm of a user's term, as it is added
	Multiplier  float64 // standard deviation of the noise, in units of Sensitivity
	Dimension   int     // the most values that a user's term has beside 0
	// Grid is a power of two; all values are multiples of it. 0: values are sums of floats, which have no secure form.
	// Sensitivity then includes rounding errors.
	Grid float64
	// OfAll states a secure release as one over a sample of all users, for runs that also release sums over samples.
	// Discrete noise on samples has an exact account, which such a release then shares.
	OfAll bool
}

// Deviation returns the standard deviation of the noise.
func (s Sum) Deviation() float64 { return s.Sensitivity * s.Multiplier }

// largest bounds sums before noise in the secure form, in steps of their grid. It is public and depends on no data:
// 2^46 steps.
const largest = 1 << 46

// Release adds noise to x, which holds rows of cols values. The event is in the ledger before a value changes. A
// purpose is released once, since the same stream would give the same noise again.
func (r *Releaser) Release(s Sum, x []float64, cols int) error {
	if r.used[s.Purpose] {
		return fmt.Errorf("release %s: it was released before", s.Purpose)
	}
	if err := s.check(x); err != nil {
		return fmt.Errorf("release %s: %w", s.Purpose, err)
	}
	c, err := r.open(s, true)
	if err != nil {
		return fmt.Errorf("release: %w", err)
	}
	if r.used == nil {
		r.used = map[string]bool{}
	}
	r.used[s.Purpose] = true
	return errors.Join(c.Perturb(x, cols, 1, 0), c.Check())
}

// Repeat records a release whose result is already on file: that of a run that was stopped after it. It draws nothing.
func (r *Releaser) Repeat(s Sum) error {
	if err := s.check(nil); err != nil {
		return fmt.Errorf("release %s: %w", s.Purpose, err)
	}
	c, err := r.open(s, false)
	if err != nil {
		return fmt.Errorf("release: %w", err)
	}
	return r.Ledger.Record(s.Purpose, c.Event(), 1)
}

// open opens the channel of a sum. Without draw it serves only to get the event.
func (r *Releaser) open(s Sum, draw bool) (*channel.Channel[float64], error) {
	share := mechanism.Share(1 / float64(max(1, r.Releases)))
	if !r.Secure {
		var noise rng.Stream
		if draw {
			var err error
			if noise, err = r.Noise(s.Purpose); err != nil {
				return nil, err
			}
		}
		return channel.Open[float64](channel.Gaussian{Purpose: s.Purpose, Sigma: s.Deviation(),
			Sensitivity: s.Sensitivity,
			Unit:        About.Unit, Neighbouring: About.Neighbouring, Share: share}, r.Ledger, noise)
	}
	if s.Grid == 0 {
		return nil, fmt.Errorf("%s is a sum of floats: it has no secure form", s.Purpose)
	}
	rate := 0.0
	if s.OfAll {
		rate = 1
	}
	return secure.OpenGaussian[float64](secure.DiscreteGaussian{Purpose: s.Purpose, Rate: rate, Sigma: s.Deviation(),
		Sensitivity: s.Sensitivity,
		Dimension:   int64(s.Dimension), Bound: largest * s.Grid, Grid: s.Grid, Whole: true,
		Unit: About.Unit, Neighbouring: About.Neighbouring, Share: share}, r.Ledger)
}

// check fails on values that do not fit the sum.
func (s Sum) check(x []float64) error {
	if s.Dimension < 1 {
		return fmt.Errorf("a user's term has %d values, want at least 1", s.Dimension)
	}
	for j, v := range x {
		switch {
		case math.IsNaN(v) || math.IsInf(v, 0):
			return fmt.Errorf("value %d is %v, want finite", j, v)
		case s.Grid != 0 && math.Trunc(v/s.Grid) != v/s.Grid:
			return fmt.Errorf("value %d is %v, want a multiple of %g", j, v, s.Grid)
		}
	}
	return nil
}

// CountsPurpose names the release of counts in ledgers.
const CountsPurpose = "counts"

// CountSum returns the sum of counts with at most k items contributed by each user, without a multiplier. Its
// sensitivity is sqrt(k).
func CountSum(k int) Sum {
	d := math.Sqrt(float64(k))
	if d*d < float64(k) {
		d = math.Nextafter(d, math.Inf(1))
	}
	return Sum{Purpose: CountsPurpose, Sensitivity: d, Dimension: k, Grid: 1}
}

// Counts returns noisy numbers of users who contributed each item, released as a CountSum with its multiplier. It fails
// if a user contributed more items than the sum allows, or one item twice.
func (r *Releaser) Counts(s Sum, contributed [][]int32, items int) ([]float64, error) {
	t := NewTally(s.Dimension, items)
	for _, list := range contributed {
		if err := t.Add(list); err != nil {
			return nil, fmt.Errorf("release counts: %w", err)
		}
	}
	counts := Exact(t.Counts)
	return counts, r.Release(s, counts, items)
}

// Tally counts how many users contribute each item, before noise.
type Tally struct {
	Counts []int64 // (items)
	most   int     // items of a user
	users  int
}

// NewTally returns a tally of users who contribute at most most items each.
func NewTally(most, items int) *Tally { return &Tally{Counts: make([]int64, items), most: most} }

// Add counts the contributions of one more user. It fails on too many items, and on a repeated one.
func (t *Tally) Add(list []int32) error {
	if len(list) > t.most {
		return fmt.Errorf("user %d contributes %d items, want at most %d", t.users, len(list), t.most)
	}
	for j, i := range list {
		if j > 0 && list[j-1] >= i {
			return fmt.Errorf("the items of user %d are not ascending", t.users)
		}
		t.Counts[i]++
	}
	t.users++
	return nil
}

// Exact returns whole numbers as floats. They are exact below 2^53.
func Exact(counts []int64) []float64 {
	out := make([]float64, len(counts))
	for i, n := range counts {
		out[i] = float64(n)
	}
	return out
}
