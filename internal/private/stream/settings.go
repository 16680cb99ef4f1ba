package stream

import (
	"errors"
	"fmt"
	"math"

	"privrec/internal/privacy"
	"privrec/internal/privacy/correlated"
	"privrec/internal/private/release"
)

// Settings are what is fixed when a stream begins. They are public.
type Settings struct {
	Epsilon float64 `json:"epsilon"` // of all releases together, for one user more or less
	Delta   float64 `json:"delta"`
	Horizon int     `json:"horizon"`         // the most releases
	Start   float64 `json:"start,omitempty"` // share of mu² of the counts that choose the matrix; 0: there are none
	Counts  float64 `json:"counts"`          // share of mu² of the counts of all steps; the matrix has the rest
	// Items is the most items of a user in the matrix, and CountItems in the counts.
	Items      int `json:"items"`
	CountItems int `json:"count_items"`
	Expected   int `json:"expected"` // E, see the package: the fewest items that use up a user's share
	// Design is the strategy of both sums, of Horizon steps. In a secure stream it is a column of multiples of 1/256.
	Design correlated.Design `json:"noise"`
	Secure bool              `json:"secure,omitempty"`
	Seed   uint64            `json:"seed"` // of the choice among a user's items
}

// Default returns epsilon 1 for a year of nights. How users contribute was chosen on MovieLens 100K, as for DP-EASE.
func Default() Settings {
	return Settings{Epsilon: 1, Delta: 1e-6, Horizon: 365, Counts: 0.1, Items: 150, CountItems: 20, Expected: 20,
		Seed: 1}
}

// DefaultBuffers is the number of buffers of a stream's strategy if none is named.
const DefaultBuffers = 4

// once says that what a user adds to an entry is in one step (see the package).
var once = correlated.Participation{Times: 1, Apart: 1}

// part is the finest part of the entries of a secure strategy.
const part = 1.0 / 256

// Design returns the design of a strategy for the steps of a stream: blt with at most this many buffers, banded with
// this many bands, or another one of package correlated that has no number. A secure stream needs bands, whose entries
// are rounded down to multiples of 1/256.
func Design(name string, steps, number int, secure bool) (correlated.Design, error) {
	if secure && name != correlated.NameBanded {
		return correlated.Design{}, noSecureForm(name)
	}
	switch name {
	case correlated.NameBuffered:
		buffers, err := correlated.Fit(steps, number, once)
		return correlated.BufferedDesign(steps, buffers), err
	case correlated.NameBanded:
		d := correlated.Design{Name: name, Steps: steps, Bands: number}
		if !secure {
			_, err := d.Strategy()
			return d, err
		}
		s, err := correlated.Banded(steps, number)
		if err != nil {
			return d, err
		}
		column := s.Column()
		for i, v := range column {
			column[i] = math.Floor(v/part) * part
		}
		return correlated.Design{Name: correlated.NameToeplitz, Steps: steps, Column: correlated.NumbersOf(column)}, nil
	}
	d := correlated.Design{Name: name, Steps: steps}
	_, err := d.Strategy()
	return d, err
}

// noSecureForm refuses a strategy of normal noise.
func noSecureForm(name string) error {
	return fmt.Errorf("the strategy %s has no secure form, want %s", name, correlated.NameBanded)
}

// Check returns an error for the first setting out of its range.
func (s Settings) Check() error {
	within := func(name string, v, low, high float64) error {
		if v >= low && v <= high {
			return nil
		}
		return fmt.Errorf("%s is %v, want %v to %v", name, v, low, high)
	}
	err := errors.Join(within("epsilon", s.Epsilon, 0.001, 1000), within("delta", s.Delta, 1e-15, 0.1),
		within("horizon", float64(s.Horizon), 1, correlated.MaxHorizon),
		within("counts", s.Counts, 1e-6, 1-1e-6), within("start", s.Start, 0, 1-1e-6),
		within("items", float64(s.Items), 1, 100_000), within("count-items", float64(s.CountItems), 1, 100_000),
		within("expected", float64(s.Expected), 1, 100_000))
	switch {
	case err != nil:
		return err
	case s.Start != 0 && s.Start < 1e-6:
		return fmt.Errorf("start is %v, want 0, or at least 1e-6", s.Start)
	case s.Start+s.Counts > 1-1e-6:
		return fmt.Errorf("start and counts are %v of the budget together, which leaves nothing for the matrix",
			s.Start+s.Counts)
	case s.Design.Steps != s.Horizon:
		return fmt.Errorf("the strategy has %d steps, want %d, the horizon", s.Design.Steps, s.Horizon)
	}
	strategy, err := s.Design.Strategy()
	switch {
	case err != nil:
		return fmt.Errorf("the strategy: %w", err)
	case s.Secure && s.Design.Name != correlated.NameToeplitz:
		return noSecureForm(s.Design.Name)
	case s.Secure:
		for i, v := range strategy.Column() {
			if v != math.Trunc(v/part)*part {
				return fmt.Errorf("entry %d of the strategy is %v, want a multiple of 1/256 in a secure stream", i+1, v)
			}
		}
	}
	return nil
}

// Purposes of the releases in ledgers.
const (
	StartPurpose  = "counts that choose the matrix"
	CountsPurpose = "counts of all steps"
	MatrixPurpose = "item matrix of all steps"
)

// Noise is the noise of a sum over users that is released at every step.
type Noise struct {
	Purpose string
	Norm    float64 // the most that a user adds, over all steps
	// Deviation is that of z, of which the strategy makes the noise of the steps, in the unit of the sum.
	Deviation float64
	// Step is the unit of a secure stream's noise; 0: noise is normal.
	Step float64

	design  correlated.Design
	reach   float64 // the strategy's sensitivity
	entries int64   // the most that a user sets
}

// At returns the deviation of the noise in the sum that is released at a step, from 1.
func (n Noise) At(step int) (float64, error) {
	d := n.design
	d.Steps = step
	if d.Bands > step {
		d.Bands = step
	}
	if d.Name == correlated.NameToeplitz {
		column := d.Column.Floats()
		d.Column = correlated.NumbersOf(column[:min(step, len(column))])
	}
	s, err := d.Strategy()
	if err != nil {
		return 0, err
	}
	e, err := s.Errors()
	return e.Last * n.Deviation, err
}

// event returns the event of all releases of the sum.
func (n Noise) event() privacy.Event {
	if n.Step > 0 {
		return privacy.DiscreteGaussian{Sigma: n.Deviation / n.Step, Sensitivity: math.Ceil(n.reach * n.Norm / n.Step),
			Dimension: n.entries * int64(len(n.design.Column.Floats())), Unit: release.About.Unit,
			Neighbouring: release.About.Neighbouring}
	}
	return privacy.CorrelatedGaussian{NoiseMultiplier: n.Deviation / n.Norm, Sensitivity: n.reach, Design: n.design,
		Participation: once, Unit: release.About.Unit, Neighbouring: release.About.Neighbouring}
}

// Terms are the noise that the settings' epsilon asks for.
type Terms struct {
	Start          release.Sum // the counts that choose the matrix; without a multiplier if there are none
	Counts, Matrix Noise
	Entries        []privacy.Entry // all releases of the stream
}

// Terms returns the least noise that makes all releases of the stream together private as the settings say.
func (s Settings) Terms() (Terms, error) {
	strategy, err := s.Design.Strategy()
	if err != nil {
		return Terms{}, err
	}
	reach, err := strategy.Sensitivity(once)
	if err != nil {
		return Terms{}, err
	}
	p := s.Privacy()
	t := Terms{Start: release.CountSum(s.CountItems)}
	t.Start.Purpose = StartPurpose
	shares := []float64{s.Counts, 1 - s.Counts - s.Start}
	if s.Start > 0 {
		shares = append(shares, s.Start)
	}
	m, err := p.Multipliers(shares...)
	if err != nil {
		return Terms{}, err
	}
	noise := func(purpose string, norm, unit, multiplier float64, entries int) Noise {
		n := Noise{Purpose: purpose, Norm: norm, Deviation: multiplier * reach * norm, design: s.Design, reach: reach,
			entries: int64(entries)}
		if s.Secure {
			n.Step = unit * part
			n.Deviation = math.Ceil(n.Deviation/n.Step) * n.Step
		}
		return n
	}
	widen := func(counts, by float64) error {
		t.Counts = noise(CountsPurpose, t.Start.Sensitivity, 1, m[0]*counts, s.CountItems)
		t.Matrix = noise(MatrixPurpose, 1, grid, m[1]*by, s.Items*(s.Items+1)/2)
		if s.Start > 0 {
			t.Start.Multiplier = m[2] * by
		}
		t.Entries, err = t.entries(p)
		return err
	}
	if !s.Secure {
		err := widen(1, 1)
		return t, err
	}
	// The noise of counts has a coarse unit. It is rounded first, and the noise of the matrix takes up what that
	// leaves.
	counts, err := p.Widen(func(by float64) ([]privacy.Entry, error) {
		err := widen(by, by)
		return t.Entries, err
	})
	if err != nil {
		return Terms{}, err
	}
	by, err := p.Widen(func(by float64) ([]privacy.Entry, error) {
		err := widen(counts, by)
		return t.Entries, err
	})
	if err == nil {
		err = widen(counts, by)
	}
	return t, err
}

// Privacy returns the settings as those of a private recommender.
func (s Settings) Privacy() release.Privacy {
	return release.Privacy{Epsilon: s.Epsilon, Delta: s.Delta, Items: s.Items, CountItems: s.CountItems,
		Counts: s.Counts, Secure: s.Secure}
}

// entries returns all releases of a stream with this noise.
func (t Terms) entries(p release.Privacy) ([]privacy.Entry, error) {
	l, err := privacy.NewLedger(p.Marks())
	if err != nil {
		return nil, err
	}
	for _, n := range []Noise{t.Counts, t.Matrix} {
		if err := l.Record(n.Purpose, n.event(), 1); err != nil {
			return nil, err
		}
	}
	if t.Start.Multiplier > 0 {
		r := release.Releaser{Ledger: l, Secure: p.Secure}
		if err := r.Repeat(t.Start); err != nil {
			return nil, err
		}
	}
	return l.Entries(), nil
}
