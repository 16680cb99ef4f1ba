package mechanism_test

import (
	"math"
	"slices"
	"strings"
	"testing"

	"privrec/internal/privacy"
	"privrec/internal/privacy/mechanism"
	"privrec/internal/privacy/mechanism/channel"
	"privrec/internal/privacy/mechanism/local"
	"privrec/internal/privacy/mechanism/mechanismtest"
	"privrec/internal/privacy/mechanism/secure"
	"privrec/internal/privacy/mechanism/sequence"
	"privrec/internal/rng"
)

// marksCase is one way to use a mechanism on data of its own: it returns whether
// the data changed.
type marksCase struct {
	name string
	bits []mechanism.Bits // that the mechanism takes
	use  func(l *privacy.Ledger, b mechanism.Bits) (changed bool, err error)
}

func marksCases() []marksCase {
	keyed, secret := mechanism.Keyed(rng.Seed(1).Stream("marks")), mechanism.Secret()
	both := []mechanism.Bits{keyed, secret}
	stream := rng.Seed(1).Stream("floats")
	perturb := func(c *channel.Channel[float64], err error) (bool, error) {
		if err != nil {
			return false, err
		}
		data := make([]float64, 8)
		err = c.Perturb(data, 8, 1)
		return !slices.Equal(data, make([]float64, 8)), err
	}
	answers := local.Response{Purpose: "rr", Epsilon: 1, Categories: 1 << 20, Unit: privacy.User}
	swaps := sequence.Mechanism{Purpose: "seq", Variant: sequence.SDPFixed, Epsilon: 1, Items: 1 << 20, Length: 3}
	dg := secure.DiscreteGaussian{Purpose: "g", Sigma: 2, Sensitivity: 1, Dimension: 1, Bound: 8, Unit: privacy.User, Neighbouring: privacy.AddRemove}
	cases := []marksCase{
		{"response", both, func(l *privacy.Ledger, b mechanism.Bits) (bool, error) {
			data := make([]int32, 8)
			err := local.PerturbResponses(answers, l, b, data)
			return !slices.Equal(data, make([]int32, 8)), err
		}},
		{"sequences", both, func(l *privacy.Ledger, b mechanism.Bits) (bool, error) {
			rows := []int32{1, 2, 3}
			err := sequence.Perturb(swaps, l, b, nil, rows, 1)
			return !slices.Equal(rows, []int32{1, 2, 3}), err
		}},
		{"one sequence", both, func(l *privacy.Ledger, b mechanism.Bits) (bool, error) {
			run, err := swaps.Open(l, b)
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
		{"gaussian", both[:1], func(l *privacy.Ledger, _ mechanism.Bits) (bool, error) {
			return perturb(channel.Open[float64](channel.Gaussian{Purpose: "g", Sigma: 1, Sensitivity: 1, Unit: privacy.User, Neighbouring: privacy.AddRemove}, l, stream))
		}},
		{"laplace", both[:1], func(l *privacy.Ledger, _ mechanism.Bits) (bool, error) {
			return perturb(channel.OpenLaplace[float64](channel.Laplace{Purpose: "l", Scale: 1, Sensitivity: 1, Unit: privacy.User, Neighbouring: privacy.AddRemove}, l, stream))
		}},
		{"spherical laplace", both[:1], func(l *privacy.Ledger, _ mechanism.Bits) (bool, error) {
			return perturb(channel.OpenSphericalLaplace[float64](channel.SphericalLaplace{Purpose: "l", Scale: 1, Sensitivity: 1, Unit: privacy.User, Neighbouring: privacy.AddRemove}, l, stream))
		}},
		{"discrete gaussian", both[1:], func(l *privacy.Ledger, _ mechanism.Bits) (bool, error) {
			return perturb(secure.OpenGaussian[float64](dg, l))
		}},
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
				if b.Noise() == noise {
					if err != nil || !changed || len(l.Entries()) != 1 {
						t.Errorf("%s, bits of %s noise, %s ledger: changed %v, %d entries, %v", c.name, b.Noise(), noise, changed, len(l.Entries()), err)
					}
					continue
				}
				if err == nil || !strings.Contains(err.Error(), "the ledger promises") || changed || len(l.Entries()) != 0 {
					t.Errorf("%s, bits of %s noise, %s ledger: changed %v, %d entries, %v", c.name, b.Noise(), noise, changed, len(l.Entries()), err)
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
		for _, b := range []mechanism.Bits{mechanism.Keyed(rng.Seed(1).Stream("marks")), mechanism.Secret()} {
			other := mechanism.Secret()
			if b.Noise() == privacy.Secure {
				other = mechanism.Keyed(rng.Seed(1).Stream("marks"))
			}
			m := local.Response{Purpose: "rr", Epsilon: eps, Categories: 5, Unit: privacy.User, Limits: true}
			if err := local.PerturbResponses(m, mechanismtest.LedgerFor(t, b.Noise()), b, []int{1, 2}); err != nil {
				t.Errorf("epsilon %v: %v", eps, err)
			}
			if l := mechanismtest.LedgerFor(t, b.Noise()); local.PerturbResponses(m, l, other, []int{1, 2}) == nil || len(l.Entries()) != 0 {
				t.Errorf("epsilon %v: the other bits were taken", eps)
			}
		}
	}
}
