package local

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"sync"

	"privrec/internal/privacy"
	"privrec/internal/privacy/mechanism"
	"privrec/internal/privacy/mechanism/internal/observe"
)

// FeatureRun runs a FeatureSampler with exact choices on a stream of rows, such as the rows of a file. Output numbers
// are on a grid of 2^-20, before the factor n/k. Its event is in the ledger once, since every row is of another user.
// Rows hands out perturbers to goroutines, and Finish checks their draws.
//
// The choice of features is uniform and independent of the row. Each of the k chosen is perturbed with a budget e, the
// largest float64 with k e <= Epsilon, by a mechanism with privacy loss at most e: the numbers as gridPiecewise proves,
// the bits because a 0 is kept with probability at most e^e/(e^e + 1). So rows that differ in m features have
// probabilities within exp(min(m, k) e), and any two rows within exp(Epsilon).
type FeatureRun struct {
	f    FeatureSampler
	bits mechanism.Bits
	grid gridPiecewise
	one  mechanism.Odds // of keeping a 1: 1/2
	zero mechanism.Odds // of keeping a 0

	mu       sync.Mutex
	rows     []*FeatureRows
	done     bool
	observed observe.Release // nil: by no test
}

// Open opens a run of the sampler and records its release in the ledger. With Keyed bits a row
// depends on the stream, on its key and on nothing else: give every setting a stream of its own. It
// fails on features that are left in the clear.
func (f FeatureSampler) Open(l *privacy.Ledger, b mechanism.Bits) (*FeatureRun, error) {
	r, err := f.prepare(b, gridBits)
	if err := errors.Join(b.Admit(f.Purpose, f.Event(), f.Share, l), err); err != nil {
		return nil, err
	}
	if err := l.Record(f.Purpose, f.Event(), 1); err != nil {
		return nil, err
	}
	r.observed = observe.Begin(f.Purpose, f.Event(), 1, 1)
	return r, nil
}

// prepare returns a run without recording its release.
func (f FeatureSampler) prepare(b mechanism.Bits, bits int) (*FeatureRun, error) {
	if err := errors.Join(f.Event().Validate(), f.validate()); err != nil {
		return nil, err
	}
	if f.Unselected == SharedClear {
		return nil, fmt.Errorf("%s: exact choices leave no feature in the clear", f.Purpose)
	}
	e := f.budget()
	r := &FeatureRun{f: f, bits: b, one: mechanism.Odds{Hi: 1 << 63, Others: 1, P: 0.5},
		zero: mechanism.NewOdds(e, 1)[0]}
	for _, k := range f.Features {
		if k.Categories > 0 {
			continue
		}
		g, err := newGridPiecewise(e, bits)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", f.Purpose, err)
		}
		r.grid = g
		break
	}
	return r, nil
}

// budget returns the largest number that, times K, is at most Epsilon. PerFeature may be above it by its rounding.
func (f FeatureSampler) budget() float64 {
	e := f.PerFeature()
	if math.FMA(e, float64(f.K()), -f.Epsilon) > 0 {
		e = math.Nextafter(e, 0)
	}
	return e
}

// Rows returns a perturber of rows for one goroutine.
func (r *FeatureRun) Rows() (*FeatureRows, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.done {
		return nil, fmt.Errorf("%s: the run is finished", r.f.Purpose)
	}
	x := &FeatureRows{run: r, d: r.bits.Draws(), order: make([]int, len(r.f.Features)),
		chosen: make([]bool, len(r.f.Features)), drawn: make([]int64, len(r.f.Features))}
	r.rows = append(r.rows, x)
	return x, nil
}

// Finish ends the run and returns an error if its draws do not fit the law. No row may be perturbed meanwhile or
// afterwards.
func (r *FeatureRun) Finish() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.done {
		return fmt.Errorf("%s: the run is finished", r.f.Purpose)
	}
	r.done = true
	inside := mechanism.Proportion{What: "number of outputs in the centre", P: r.grid.odds.P}
	bias := mechanism.Bounded{What: "sum of deviations", Width: 2 * float64(r.grid.n) * r.grid.step}
	kept := mechanism.Proportion{What: "number of ones kept", P: r.one.P}
	same := mechanism.Proportion{What: "number of zeros kept", P: r.zero.P}
	checks := []mechanism.Checker{&inside, &bias, &kept, &same}
	for i, f := range r.f.Features {
		p := &mechanism.Proportion{What: "number of users who drew " + f.Name,
			P: float64(r.f.K()) / float64(len(r.f.Features))}
		for _, x := range r.rows {
			p.N += x.n
			p.Got += x.drawn[i]
		}
		checks = append(checks, p)
	}
	for _, x := range r.rows {
		inside.N += x.numbers
		inside.Got += x.inside
		bias.N += x.numbers
		bias.Sum += x.deviation
		kept.N += x.ones
		kept.Got += x.kept
		same.N += x.zeros
		same.Got += x.same
		x.run = nil
	}
	return mechanism.CheckAll(r.f.Purpose, r.f.Share, checks...)
}

// FeatureRows perturbs rows of a run for one goroutine.
type FeatureRows struct {
	run    *FeatureRun // nil: the run is finished
	d      mechanism.Draws
	order  []int
	chosen []bool

	n, numbers, inside, ones, kept, zeros, same int64
	deviation                                   float64
	drawn                                       []int64 // rows that drew a feature
}

// Row perturbs in place a row of Width values under a key that no other row of the run may have. It fails on a row
// outside the sampler's domain and leaves it as it is.
func (x *FeatureRows) Row(row []float64, key ...uint64) error {
	r := x.run
	if r == nil {
		return errors.New("rows of features: the run is finished")
	}
	if w := r.f.Width(); len(row) != w {
		return fmt.Errorf("%s: a row of %d values, want %d", r.f.Purpose, len(row), w)
	}
	if err := checkRow(r.f, 0, row); err != nil {
		return err
	}
	of := mechanism.Content(row)
	x.d.Row(append(key[:len(key):len(key)], of[0], of[1])...)
	if r.observed == nil {
		x.perturb(row)
		return nil
	}
	before := slices.Clone(row)
	x.perturb(row)
	observe.Row(r.observed, -1, key[0], before, row)
	return nil
}

// perturb draws the features of the row, then their outputs, in this order.
func (x *FeatureRows) perturb(row []float64) {
	r := x.run
	x.n++
	x.draw(r.f.K())
	at, scale := 0, float64(len(r.f.Features))/float64(r.f.K())
	for i, k := range r.f.Features {
		v := row[at : at+k.Width()]
		at += k.Width()
		switch {
		case !x.chosen[i]:
			clear(v)
			continue
		case k.Categories == 0:
			v[0] = scale * x.number(v[0])
		default:
			x.bits(v)
		}
		x.drawn[i]++
	}
}

// draw chooses k features: the first k steps of a Fisher-Yates shuffle.
func (x *FeatureRows) draw(k int) {
	for i := range x.order {
		x.order[i], x.chosen[i] = i, false
	}
	for i := range k {
		j := i + int(x.d.Below(uint64(len(x.order)-i)))
		x.order[i], x.order[j] = x.order[j], x.order[i]
		x.chosen[x.order[i]] = true
	}
}

func (x *FeatureRows) number(v float64) float64 {
	y, inside := x.run.grid.draw(&x.d, v)
	out := float64(y) * x.run.grid.step
	x.numbers++
	x.deviation += out - v
	if inside {
		x.inside++
	}
	return out
}

func (x *FeatureRows) bits(v []float64) {
	for i, b := range v {
		var one bool
		if b == 1 {
			one = x.d.Keep(&x.run.one)
			x.ones++
			if one {
				x.kept++
			}
		} else {
			one = !x.d.Keep(&x.run.zero)
			x.zeros++
			if !one {
				x.same++
			}
		}
		v[i] = 0
		if one {
			v[i] = 1
		}
	}
}

// DrawFeatures replaces the features of all users like PerturbFeatures, with the exact choices of a FeatureRun. Row i
// has the key i. Before it records or changes anything, it fails on rows outside the sampler's domain.
func DrawFeatures[T mechanism.Float](f FeatureSampler, l *privacy.Ledger, b mechanism.Bits, data []T) error {
	if _, err := f.prepare(b, gridBits); err != nil {
		return err
	}
	w := f.Width()
	if len(data)%w != 0 {
		return fmt.Errorf("%s: %d values in rows of %d", f.Purpose, len(data), w)
	}
	for i := 0; i < len(data); i += w {
		if err := checkRow(f, i/w, data[i:i+w]); err != nil {
			return err
		}
	}
	if len(data) == 0 {
		return nil
	}
	run, err := f.Open(l, b)
	if err != nil {
		return err
	}
	rows, err := run.Rows()
	if err != nil {
		return err
	}
	row := make([]float64, w)
	for i := 0; i < len(data); i += w {
		for k := range row {
			row[k] = float64(data[i+k])
		}
		if err := rows.Row(row, uint64(i/w)); err != nil {
			return err
		}
		for k, v := range row {
			data[i+k] = T(v)
		}
	}
	return run.Finish()
}
