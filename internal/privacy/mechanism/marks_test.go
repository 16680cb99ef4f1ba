package mechanism

import (
	"math"
	"slices"
	"strings"
	"testing"

	"privrec/internal/privacy"
	"privrec/internal/rng"
)

// marksCase is one way to use a mechanism on data of its own: it returns whether
// the data changed.
type marksCase struct {
	name string
	bits []Bits // that the mechanism takes
	use  func(l *privacy.Ledger, b Bits) (changed bool, err error)
}

func marksCases() []marksCase {
	keyed, secret := Keyed(rng.Seed(1).Stream("marks")), Secret()
	both := []Bits{keyed, secret}
	stream := rng.Seed(1).Stream("floats")
	perturb := func(c *Channel[float64], err error) (bool, error) {
		if err != nil {
			return false, err
		}
		data := make([]float64, 8)
		err = c.Perturb(data, 8, 1)
		return !slices.Equal(data, make([]float64, 8)), err
	}
	response := Response{Purpose: "rr", Epsilon: 1, Categories: 1 << 20, Unit: privacy.User}
	sequence := Sequence{Purpose: "seq", Variant: SDPFixed, Epsilon: 1, Items: 1 << 20, Length: 3}
	dg := DiscreteGaussian{Purpose: "g", Sigma: 2, Sensitivity: 1, Dimension: 1, Bound: 8, Unit: privacy.User, Neighbouring: privacy.AddRemove}
	dl := DiscreteLaplace{Purpose: "l", Scale: 2, Sensitivity: 1, Dimension: 1, Bound: 8, Unit: privacy.User, Neighbouring: privacy.AddRemove}
	cases := []marksCase{
		{"response", both, func(l *privacy.Ledger, b Bits) (bool, error) {
			data := make([]int32, 8)
			err := PerturbResponses(response, l, b, data)
			return !slices.Equal(data, make([]int32, 8)), err
		}},
		{"sequences", both, func(l *privacy.Ledger, b Bits) (bool, error) {
			rows := []int32{1, 2, 3}
			err := PerturbSequences(sequence, l, b, nil, rows, 1)
			return !slices.Equal(rows, []int32{1, 2, 3}), err
		}},
		{"one sequence", both, func(l *privacy.Ledger, b Bits) (bool, error) {
			run, err := sequence.Open(l, b)
			if err != nil {
				return false, err
			}
			s, err := run.Sampler(0, 1)
			if err != nil {
				return false, err
			}
			row := []int32{1, 2, 3}
			err = s.Row(0, row)
			return !slices.Equal(row, []int32{1, 2, 3}), err
		}},
		{"gaussian", both[:1], func(l *privacy.Ledger, _ Bits) (bool, error) {
			return perturb(Open[float64](Gaussian{Purpose: "g", Sigma: 1, Sensitivity: 1, Unit: privacy.User, Neighbouring: privacy.AddRemove}, l, stream))
		}},
		{"laplace", both[:1], func(l *privacy.Ledger, _ Bits) (bool, error) {
			return perturb(OpenLaplace[float64](Laplace{Purpose: "l", Scale: 1, Sensitivity: 1, Unit: privacy.User, Neighbouring: privacy.AddRemove}, l, stream))
		}},
		{"piecewise", both[:1], func(l *privacy.Ledger, _ Bits) (bool, error) {
			data := make([]float64, 8)
			err := PerturbPiecewise(Piecewise{Purpose: "pm", Epsilon: 1, Unit: privacy.User}, l, stream, data)
			return !slices.Equal(data, make([]float64, 8)), err
		}},
		{"discrete gaussian", both, func(l *privacy.Ledger, b Bits) (bool, error) {
			if b.secret {
				return perturb(OpenSecureGaussian[float64](dg, l))
			}
			return perturb(OpenDiscreteGaussian[float64](dg, l, stream))
		}},
		{"discrete laplace", both, func(l *privacy.Ledger, b Bits) (bool, error) {
			if b.secret {
				return perturb(OpenSecureLaplace[float64](dl, l))
			}
			return perturb(OpenDiscreteLaplace[float64](dl, l, stream))
		}},
	}
	for _, kind := range allOracles {
		cases = append(cases, marksCase{"oracle " + string(kind), both, func(l *privacy.Ledger, b Bits) (bool, error) {
			r, err := Report(Oracle{Purpose: "o", Kind: kind, Epsilon: 1, Categories: 5, Unit: privacy.User}, l, b, []int{1})
			return r != nil, err
		}})
	}
	return cases
}

// A ledger's mark tells which noise a run had: every mechanism puts keyed noise in
// research ledgers and secret noise in secure ones, and nothing anywhere else;
// what it refuses it neither records nor changes.
func TestMarksTellTheNoise(t *testing.T) {
	for _, c := range marksCases() {
		for _, b := range c.bits {
			for _, noise := range []privacy.Noise{privacy.Research, privacy.Secure} {
				l, err := privacy.NewLedger(noise)
				if err != nil {
					t.Fatal(err)
				}
				changed, err := c.use(l, b)
				if b.secret == (noise == privacy.Secure) {
					if err != nil || !changed || len(l.Entries()) != 1 {
						t.Errorf("%s, secret bits %v, %s ledger: changed %v, %d entries, %v", c.name, b.secret, noise, changed, len(l.Entries()), err)
					}
					continue
				}
				if err == nil || !strings.Contains(err.Error(), "the ledger promises") || changed || len(l.Entries()) != 0 {
					t.Errorf("%s, secret bits %v, %s ledger: changed %v, %d entries, %v", c.name, b.secret, noise, changed, len(l.Entries()), err)
				}
			}
			if changed, err := c.use(nil, b); err == nil || !strings.Contains(err.Error(), "no ledger") || changed {
				t.Errorf("%s without a ledger: changed %v, %v", c.name, changed, err)
			}
		}
	}
}

// At the ends of epsilon the marks hold too, where nothing random happens.
func TestMarksAtTheLimits(t *testing.T) {
	for _, eps := range []float64{0, math.Inf(1)} {
		for _, b := range []Bits{Keyed(rng.Seed(1).Stream("marks")), Secret()} {
			other := Secret()
			if b.secret {
				other = Keyed(rng.Seed(1).Stream("marks"))
			}
			m := Response{Purpose: "rr", Epsilon: eps, Categories: 5, Unit: privacy.User, Limits: true}
			if err := PerturbResponses(m, ledgerFor(t, b), b, []int{1, 2}); err != nil {
				t.Errorf("epsilon %v: %v", eps, err)
			}
			if l := ledgerFor(t, b); PerturbResponses(m, l, other, []int{1, 2}) == nil || len(l.Entries()) != 0 {
				t.Errorf("epsilon %v: the other bits were taken", eps)
			}
		}
	}
}
