package local

import (
	"errors"
	"fmt"
	"math"

	"privrec/internal/privacy"
	"privrec/internal/privacy/mechanism"
	"privrec/internal/privacy/mechanism/internal/observe"
)

// Response describes m-ary randomised response (Warner, JASA 1965; Kairouz, Oh, Viswanath, "Extremal mechanisms for
// local differential privacy", JMLR 2016, section 4). It sends a category as it is with probability e^eps/(e^eps +
// Categories - 1), and otherwise one of the others, all equally likely. The choice is exact: 128 random bits against a
// threshold rounded to the private side.
type Response struct {
	Purpose    string
	Epsilon    float64 // of one value
	Categories int64   // values are 0 .. Categories-1, at least 2 of them
	Unit       privacy.Unit
	Share      mechanism.Share // of the run's false-alarm probability
	// Limits allows the two extreme values of Epsilon. With 0 the output is uniform and independent of the input. With
	// +Inf it is the input, and the ledger records that nothing is protected.
	Limits bool
}

// maxCategories is the largest number of categories; it keeps every sum of categories within 64 bits.
const maxCategories = 1 << 31

// Keep returns the probability that a value is sent as it is.
func (m Response) Keep() float64 {
	return mechanism.KeepProbability(m.Epsilon, float64(m.Categories-1))
}

// Other returns the probability of one particular other value.
func (m Response) Other() float64 {
	return mechanism.ReplaceProbability(m.Epsilon, float64(m.Categories-1)) / float64(m.Categories-1)
}

// Event returns one release as an accountant sees it: randomised response, or at the limits a pure event with an
// epsilon just above 0 and an unprotected one.
func (m Response) Event() privacy.Event {
	switch {
	case m.Limits && m.Epsilon == 0:
		return privacy.PureLDP{Epsilon: mechanism.FlatBelow, Unit: m.Unit}
	case m.Limits && math.IsInf(m.Epsilon, 1):
		return privacy.Unprotected{What: m.Purpose, Why: "epsilon is infinite: every value is released as it is",
			Unit: m.Unit}
	}
	return privacy.RandomizedResponse{Epsilon: m.Epsilon, Categories: m.Categories, Unit: m.Unit}
}

func (m Response) validate() error {
	var c error
	if m.Categories < 2 || m.Categories > maxCategories {
		c = fmt.Errorf("%s: categories is %d, want 2 to %d", m.Purpose, m.Categories, int64(maxCategories))
	}
	return errors.Join(c, m.Unit.Validate())
}

// Category is the type of the values of randomised response.
type Category interface{ ~int | ~int32 | ~int64 }

// PerturbResponses replaces every value of data, each of another unit, by an output of the
// mechanism. It first records one release. With Keyed bits value i depends on the stream and on
// i. Before it records or changes anything, it fails on values outside [0, Categories).
func PerturbResponses[T Category](m Response, l *privacy.Ledger, b mechanism.Bits, data []T) error {
	if err := b.Admit(m.Purpose, m.Event(), m.Share, l); err != nil {
		return err
	}
	if err := m.validate(); err != nil {
		return err
	}
	if err := inCategories(m.Purpose, m.Categories, data); err != nil {
		return err
	}
	if len(data) == 0 {
		return nil
	}
	if err := l.Record(m.Purpose, m.Event(), 1); err != nil {
		return err
	}
	if math.IsInf(m.Epsilon, 1) {
		return nil
	}
	r := m.responder()
	d := b.Draws()
	w := observe.Begin(m.Purpose, m.Event(), 1, 1)
	for i, x := range data {
		d.Row(uint64(i))
		data[i] = T(r.respond(&d, uint64(x)))
		if w != nil {
			exact, released := []float64{float64(x)}, []float64{float64(data[i])}
			w.Row(-1, uint64(i), exact, released)
			data[i] = T(released[0])
		}
	}
	return mechanism.CheckAll(m.Purpose, m.Share, r.checks()...)
}

func inCategories[T Category](purpose string, categories int64, data []T) error {
	for i, x := range data {
		if x < 0 || int64(x) >= categories {
			return fmt.Errorf("%s: value %d is %d, want 0 to %d", purpose, i, int64(x), categories-1)
		}
	}
	return nil
}

// responder draws the outputs of a Response and counts them.
type responder struct {
	odds  mechanism.Odds
	kept  mechanism.Proportion
	moved mechanism.Drift
}

func (m Response) responder() *responder {
	o := mechanism.NewOdds(m.Epsilon, uint64(m.Categories-1))[0]
	return &responder{odds: o,
		kept:  mechanism.Proportion{What: "number of values kept", P: o.P},
		moved: mechanism.Drift{What: "sum of replaced values about their mean", B: float64(m.Categories)}}
}

// respond draws an output. Values run from 0 to odds.others.
func (r *responder) respond(d *mechanism.Draws, x uint64) uint64 {
	y := x
	if !d.Keep(&r.odds) {
		if y = d.Below(r.odds.Others); y >= x {
			y++
		}
	}
	r.see(x, y)
	return y
}

// see counts an output by its value, not the one that was meant.
func (r *responder) see(x, y uint64) {
	r.kept.Count(x == y)
	n := float64(r.odds.Others)
	mean := (n*(n+1)/2 - float64(x)) / n // mean of the others
	r.moved.Expect((1 - r.odds.P) * (n + 1) * (n + 1) / 4)
	if x != y {
		r.moved.Add(float64(y) - mean)
	}
}

func (r *responder) checks() []mechanism.Checker { return []mechanism.Checker{&r.kept, &r.moved} }
