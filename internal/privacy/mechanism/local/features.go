package local

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"privrec/internal/privacy"
	"privrec/internal/privacy/mechanism"
	"privrec/internal/privacy/mechanism/internal/observe"
	"privrec/internal/rng"
)

// FeatureKind describes one feature of a user's vector.
type FeatureKind struct {
	Name       string
	Categories int // width of the one-hot vector; 0 is a number in [-1, 1]
}

// Width returns the number of values that the feature takes in a row.
func (f FeatureKind) Width() int { return max(1, f.Categories) }

// Unselected names what happens to the features that a user did not draw.
type Unselected string

const (
	// Zeroed outputs them as zeros, as in the paper, where every user draws k features. It satisfies epsilon-local
	// differential privacy.
	Zeroed Unselected = "zeroed"
	// SharedClear outputs them unchanged and draws one subset for all users, as DIPSGNN's published code does. With k <
	// n it does not protect these features, and the ledger says so.
	SharedClear Unselected = "shared-clear"
)

// FeatureSampler describes the perturbation of a vector of mixed features under one budget (DIPSGNN paper, algorithm 3,
// after Wang et al., ICDE 2019). Of n features it chooses k, and each gets Epsilon/k: numbers by the piecewise
// mechanism times n/k, categories by optimised unary encoding. A missing value is given as zeros: for a number the
// middle of its range, for a category no bit set. It is perturbed like any other input, each bit as a 0, so it stays
// hidden which users lack a value.
type FeatureSampler struct {
	Purpose    string
	Epsilon    float64 // eps1, of the whole vector
	Features   []FeatureKind
	Choose     int             // features that a user draws; 0: as many as the paper says, see K
	Unselected Unselected      // empty is Zeroed
	Share      mechanism.Share // of the run's false-alarm probability
}

// K returns the number of features that a user draws: Choose, or if that is 0 max(1, min(n,
// floor(eps/2.5))) (equation 3; its text says k < n but means k <= n).
func (f FeatureSampler) K() int {
	if f.Choose != 0 {
		return f.Choose
	}
	return int(max(1, math.Min(float64(len(f.Features)), math.Floor(f.Epsilon/2.5))))
}

// PerFeature returns the budget of one drawn feature, Epsilon/K.
func (f FeatureSampler) PerFeature() float64 { return f.Epsilon / float64(f.K()) }

// Width returns the number of values of a row.
func (f FeatureSampler) Width() (w int) {
	for _, k := range f.Features {
		w += k.Width()
	}
	return w
}

// Event returns the release of the rows of all users, once, as an accountant sees it.
func (f FeatureSampler) Event() privacy.PureLDP {
	return privacy.PureLDP{Epsilon: f.Epsilon, Unit: privacy.Feature}
}

func (f FeatureSampler) validate() error {
	if len(f.Features) == 0 {
		return fmt.Errorf("%s: no features", f.Purpose)
	}
	for _, k := range f.Features {
		if k.Categories < 0 || k.Name == "" {
			return fmt.Errorf("%s: feature %q has %d categories", f.Purpose, k.Name, k.Categories)
		}
	}
	if f.Choose < 0 || f.Choose > len(f.Features) {
		return fmt.Errorf("%s: %d features are to be drawn of %d", f.Purpose, f.Choose, len(f.Features))
	}
	if f.Unselected != "" && f.Unselected != Zeroed && f.Unselected != SharedClear {
		return fmt.Errorf("%s: unknown treatment %q of unselected features", f.Purpose, string(f.Unselected))
	}
	return nil
}

// PerturbFeatures replaces the features of all users, one row of Width values each. It first records one release: one
// user's features are in one row, so the rows compose in parallel. Call it once and reuse the rows. Before it records
// or changes anything, it fails on rows outside the mechanism's domain.
func PerturbFeatures[T mechanism.Float](f FeatureSampler, l *privacy.Ledger, s rng.Stream, data []T) error {
	if err := errors.Join(admit(f.Purpose, f.Event(), f.Share, l), f.validate()); err != nil {
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
	run := newFeatureRun(f, s)
	if err := f.record(l, run); err != nil {
		return err
	}
	r := observe.Begin(f.Purpose, f.Event(), 1, 1)
	for i := 0; i < len(data); i += w {
		var before []T
		if r != nil {
			before = slices.Clone(data[i : i+w])
		}
		perturbRow(run, s.Sub(0, uint64(i/w)), data[i:i+w])
		observe.Row(r, -1, uint64(i/w), before, data[i:i+w])
	}
	return run.check()
}

// record records the event of the chosen variant.
func (f FeatureSampler) record(l *privacy.Ledger, run *featureRun) error {
	if err := l.Record(f.Purpose, f.Event(), 1); err != nil {
		return err
	}
	if len(run.shared) == 0 || len(run.shared) == len(f.Features) {
		return nil
	}
	var clear []string
	for i, k := range f.Features {
		if !run.shared[i] {
			clear = append(clear, k.Name)
		}
	}
	return l.Record(f.Purpose, privacy.Unprotected{
		What: "features", Unit: privacy.Feature,
		Why: "the released code leaves the features it did not draw in the clear: " + strings.Join(clear, ", "),
	}, 1)
}

// featureRun holds the parts and the counts of one call.
type featureRun struct {
	f       FeatureSampler
	number  Piecewise
	unary   UnaryEncoding
	scale   float64 // n/k
	shared  map[int]bool
	order   []int
	numbers *piecewiseCheck
	bits    *unaryCheck
	drawn   []mechanism.Proportion // by feature
}

func newFeatureRun(f FeatureSampler, s rng.Stream) *featureRun {
	n, k, e := len(f.Features), f.K(), f.PerFeature()
	r := &featureRun{f: f, number: Piecewise{Epsilon: e}, unary: UnaryEncoding{Epsilon: e},
		scale: float64(n) / float64(k), order: make([]int, n), drawn: make([]mechanism.Proportion, n)}
	r.numbers, r.bits = r.number.newCheck(), r.unary.newCheck()
	for i := range r.order {
		r.order[i] = i
		r.drawn[i] = mechanism.Proportion{What: "number of users who drew " + f.Features[i].Name,
			P: float64(k) / float64(n)}
	}
	if f.Unselected == SharedClear {
		r.shared = map[int]bool{}
		all := s.Sub(1)
		r.draw(&all)
		for _, i := range r.order[:k] {
			r.shared[i] = true
		}
	}
	return r
}

// draw moves a uniform choice of k features to the front of order: the first k steps of a Fisher-Yates shuffle, from
// any arrangement.
func (r *featureRun) draw(s *rng.Stream) {
	for i := range r.f.K() {
		j := i + s.IntN(len(r.order)-i)
		r.order[i], r.order[j] = r.order[j], r.order[i]
	}
}

func perturbRow[T mechanism.Float](r *featureRun, s rng.Stream, row []T) {
	for i := range r.order { // start afresh: the draw depends only on this row
		r.order[i] = i
	}
	chosen := r.shared
	if chosen == nil {
		r.draw(&s)
	}
	at := 0
	for i, k := range r.f.Features {
		v := row[at : at+k.Width()]
		at += k.Width()
		in := chosen[i]
		if chosen == nil {
			in = contains(r.order[:r.f.K()], i)
			r.drawn[i].Count(in)
		}
		switch {
		case in && k.Categories == 0:
			y := r.number.sample(&s, float64(v[0]))
			r.numbers.see(float64(v[0]), y)
			v[0] = T(r.scale * y)
		case in:
			perturbUnary(r.unary, &s, v, r.bits)
		case chosen == nil:
			clear(v)
		}
	}
}

func contains(list []int, i int) bool {
	for _, v := range list {
		if v == i {
			return true
		}
	}
	return false
}

func (r *featureRun) check() error {
	checks := []mechanism.Checker{&r.numbers.centre, &r.numbers.bias, &r.bits.kept, &r.bits.flipped}
	for i := range r.drawn {
		checks = append(checks, &r.drawn[i])
	}
	return mechanism.CheckAll(r.f.Purpose, r.f.Share, checks...)
}

func checkRow[T mechanism.Float](f FeatureSampler, user int, row []T) error {
	at := 0
	for _, k := range f.Features {
		v := row[at : at+k.Width()]
		at += k.Width()
		var err error
		if k.Categories == 0 {
			err = inRange(f.Purpose, user, float64(v[0]))
		} else {
			err = oneHot(f.Purpose, user, v)
		}
		if err != nil {
			return fmt.Errorf("feature %s: %w", k.Name, err)
		}
	}
	return nil
}
