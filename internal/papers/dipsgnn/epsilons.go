package dipsgnn

import (
	"errors"
	"fmt"
	"math"
	"strings"

	"privrec/internal/epsilons"
	"privrec/internal/privacy"
	"privrec/internal/privacy/accountant"
)

// EpsilonRows returns the settings of this paper for privrec account epsilon.
func EpsilonRows() epsilons.Paper { return epsilons.Of[EpsilonReading]("dipsgnn") }

// EpsilonReading holds one reading of a setting: how the noise was set, and which releases one unit is in.
type EpsilonReading struct {
	// Count says which releases are counted, by the first words of a row of an account (countings), such as "both
	// matrices" or "unit edge, all". The name of a unit, edge-unit or swap, counts all releases of the run.
	Count   string  `yaml:"count"`
	Norm    float64 `yaml:"norm"`
	Steps   int     `yaml:"steps"`   // T, number of propagation steps; 0: one
	Longest int     `yaml:"longest"` // number of items of the longest training sequence; 0: no counting needs it
	Epochs  int     `yaml:"epochs"`
	Squared bool    `yaml:"squared"` // the noise has standard deviation sigma²
	Edges   bool    `yaml:"edges"`   // true: session graphs have the noise (EdgeRand), not messages
	EvalOff bool    `yaml:"eval_off"`
	Chosen  bool    `yaml:"chosen"`  // held-out rows decide which epoch is reported
	Stopped bool    `yaml:"stopped"` // the backward pass does not go through the transitions
	// Window cuts sequences into windows of so many rows, each one sample. 0: every prefix is a sample.
	Window int `yaml:"window"`
	// number of items of the longest test sequence, whose prefixes are ranked with noise once; 0: none is
	Test int `yaml:"test"`
	// Calibrated sets the noise so that all counted releases together come to the claim by the theorem's formula.
	// False: one release of one matrix does.
	Calibrated bool `yaml:"calibrated"`
	Width      int  `yaml:"width"` // D, width of a message; 0: its norm is not stated
	// Descent sets DP-SGD in place of noise on messages, and excludes all other keys. Left out: messages have the
	// noise.
	Descent *Descent `yaml:"descent"`
}

// Releases implements epsilons.Source.
func (r EpsilonReading) Releases(s epsilons.Setting) (of epsilons.Releases, err error) {
	if r.Descent != nil {
		if r != (EpsilonReading{Descent: r.Descent}) {
			return of, errors.New("descent: stands alone")
		}
		return r.Descent.Releases(s)
	}
	a := Accounting{Epsilon: s.Claimed, Delta: s.Delta, Steps: max(r.Steps, 1), Norm: r.Norm, SquaredStd: r.Squared,
		Epochs: r.Epochs, EvalNoiseOff: r.EvalOff, Selected: r.Chosen, Edges: r.Edges,
		Windows: r.Window > 0, StopGradient: r.Stopped}
	if r.Edges {
		a.Norm = 1
	}
	if err := a.validate(); err != nil {
		return of, err
	}
	if r.Window > 0 {
		a.Train = prefixes(r.Window-1, r.Window-1).multiplicity(a.sensitivity())
	} else {
		a.Train = prefixes(1, r.Longest-1).multiplicity(a.sensitivity())
	}
	if r.Test > 0 {
		a.Evaluations = []Evaluation{{Name: "test", Counts: prefixes(1, r.Test-1).multiplicity(a.sensitivity()),
			Passes: 1}}
	}
	s2m, err := a.counted(r.Count)
	if err != nil {
		return of, err
	}
	std := a.NoiseStd()
	if r.Calibrated {
		std = accountant.ClosedSigma(a.Norm, float64(a.Steps)*float64(s2m), s.Claimed, s.Delta)
	}
	g := privacy.Gaussian{Sigma: std, Sensitivity: a.Norm * math.Sqrt(float64(s2m)), Unit: s.Unit,
		Neighbouring: s.Neighbouring}
	mu := g.Sensitivity / std
	of = epsilons.Releases{
		Charges: []epsilons.Charge{{Event: g, Count: int64(a.Steps)}},
		Stated:  accountant.Closed(float64(a.Steps)*mu*mu, s.Delta), Open: a.unbounded(),
		Noise: fmt.Sprintf("std %.4g (%.4g C), squared sensitivity x releases %d", std, std/a.Norm, s2m),
	}
	if r.Width > 0 {
		of.Noise += fmt.Sprintf(", noise %.4g times as long as a message", std/a.Norm*math.Sqrt(float64(r.Width)))
	}
	return of, nil
}

// prefixes counts the prefixes of one sequence, from the shortest to the longest.
func prefixes(shortest, longest int) (c tallied) {
	for length := shortest; length <= longest; length++ {
		c.add(int64(length))
	}
	return c
}

// counted returns the s² M over all releases of the unit with this name, or of the way to count whose name begins with
// these words.
func (a Accounting) counted(words string) (int64, error) {
	for _, u := range a.kinds() {
		if u.name == words {
			return a.whole(u.of), nil
		}
	}
	for _, c := range a.countings() {
		if words == "" || !strings.HasPrefix(c.name, words) {
			continue
		}
		if c.s2m <= 0 {
			return 0, fmt.Errorf("count %q: no release has the unit, longest and epochs are needed", words)
		}
		return c.s2m, nil
	}
	return 0, fmt.Errorf("count is %q, which is no row of an account", words)
}
