package pld

import (
	"context"
	"encoding/csv"
	"math"
	"os"
	"strconv"
	"testing"

	"privrec/internal/privacy"
	"privrec/internal/privacy/accountant/terms"
	"privrec/internal/rng"
)

// epochs returns a term of epochs in which a record is in so many of the steps.
func epochs(sigma float64, times, steps, count int64) terms.Term {
	return terms.Term{Leaf: privacy.AllocatedGaussian{Sigma: sigma, Sensitivity: 1, Times: times, Steps: steps,
		Unit: privacy.Record, Neighbouring: privacy.AddRemove}, Count: count, Rate: 1, Relation: privacy.AddRemove}
}

// TestAllocationAgainstPLDAccounting compares brackets with those of PLD_accounting 2.0, which scripts/
// allocation-goldens.py wrote: they overlap, ours is narrower than a hundredth where each record is in one step, and it
// is never below theirs. Where a record is in several steps both bound the same composition of blocks from above.
func TestAllocationAgainstPLDAccounting(t *testing.T) {
	f, err := os.Open("testdata/allocation.csv")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	rows, err := csv.NewReader(f).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	compared, widest := 0, 0.0
	for i, r := range rows[1:] {
		if r[7] != "" { // it has no answer within a minute
			continue
		}
		var x [7]float64
		for k := range x {
			if x[k], err = strconv.ParseFloat(r[k], 64); err != nil {
				t.Fatalf("line %d: %v", i+2, err)
			}
		}
		b, err := Bracket(context.Background(), []terms.Term{epochs(x[0], int64(x[2]), int64(x[1]), int64(x[3]))}, x[4],
			Options{})
		if err != nil {
			t.Errorf("%v: %v", r, err)
			continue
		}
		compared++
		if b.Upper < x[5] || x[2] == 1 && b.Lower > x[6] || x[2] > 1 && b.Upper > x[6]*1.01 {
			t.Errorf("line %d, %v: [%v, %v]", i+2, r, b.Lower, b.Upper)
		}
		if x[2] == 1 {
			widest = max(widest, b.Upper/b.Lower-1)
		}
	}
	if compared < 20 || widest > 0.01 {
		t.Errorf("%d settings compared, the widest bracket has %v", compared, widest)
	}
}

func TestAllocationsAreNarrow(t *testing.T) { checkAllocations(t, 30) }

// checkAllocations draws settings with one step a record: the bracket is narrower than a hundredth or 1e-5, and below
// that of an observer who knows the steps.
func checkAllocations(t *testing.T, settings int) {
	s := rng.Seed(7).Stream("settings")
	for range settings {
		sigma := 0.4 * math.Pow(20, s.Float64())
		steps := int64(2 * math.Pow(20_000, s.Float64()))
		count := int64(1 + 30*s.Float64()*s.Float64())
		delta := math.Pow(10, -3-6*s.Float64())
		b, err := Bracket(context.Background(), []terms.Term{epochs(sigma, 1, steps, count)}, delta, Options{})
		if err != nil {
			t.Errorf("sigma %v, %d steps, %d epochs, delta %v: %v", sigma, steps, count, delta, err)
			continue
		}
		known, err := Bracket(context.Background(), []terms.Term{{Leaf: privacy.Gaussian{Sigma: sigma, Sensitivity: 1,
			Unit: privacy.Record, Neighbouring: privacy.AddRemove}, Count: count, Rate: 1,
			Relation: privacy.AddRemove}}, delta, Options{})
		if err != nil {
			t.Fatal(err)
		}
		if b.Upper > b.Lower*1.01+1e-5 || b.Upper > known.Upper*(1+1e-9) {
			t.Errorf("sigma %v, %d steps, %d epochs, delta %v: [%v, %v], with known steps %v",
				sigma, steps, count, delta, b.Lower, b.Upper, known.Upper)
		}
	}
}

// TestAllocationHoldsSamples draws the loss of several epochs: delta at both ends of the bracket of epsilon, from
// samples with the record, is within six standard deviations of what was asked for, a false alarm of 1e-9 each.
func TestAllocationHoldsSamples(t *testing.T) {
	for i, c := range []struct {
		sigma        float64
		steps, count int64
		delta        float64
	}{{1, 40, 3, 0.01}, {0.7, 100, 2, 0.02}, {2, 10, 5, 0.005}} {
		b, err := Bracket(context.Background(), []terms.Term{epochs(c.sigma, 1, c.steps, c.count)}, c.delta, Options{})
		if err != nil {
			t.Fatal(err)
		}
		s, mu := rng.Seed(5).Stream("losses", uint64(i)), 1/c.sigma
		const draws = 30_000
		var sum, square [2]float64 // at the lower and the upper end
		for range draws {
			loss := 0.0
			for range c.count {
				r := 0.0
				for k := range c.steps {
					z := s.NormFloat64()
					if k == 0 { // by symmetry the record is in the first step
						z += mu
					}
					r += math.Exp(mu*z - mu*mu/2)
				}
				loss += math.Log(r / float64(c.steps))
			}
			for k, epsilon := range [2]float64{b.Lower, b.Upper} {
				v := max(0, -math.Expm1(epsilon-loss))
				sum[k] += v / draws
				square[k] += v * v / draws
			}
		}
		for k, name := range [2]string{"lower", "upper"} {
			sd := math.Sqrt((square[k] - sum[k]*sum[k]) / draws)
			if off := (sum[k] - c.delta) / sd; math.Abs(off) > 6 {
				t.Errorf("%+v: at the %s end delta is %v by samples, %v deviations away", c, name, sum[k], off)
			}
		}
	}
}

// TestAllocationInCompany composes epochs with other releases, samples them, and puts a record into several steps.
func TestAllocationInCompany(t *testing.T) {
	ask := func(ts ...terms.Term) Bounds {
		t.Helper()
		b, err := Bracket(context.Background(), ts, 1e-5, Options{})
		if err != nil {
			t.Fatalf("%+v: %v", ts, err)
		}
		return b
	}
	normal := terms.Term{Leaf: privacy.Gaussian{Sigma: 3, Sensitivity: 1, Unit: privacy.Record,
		Neighbouring: privacy.AddRemove}, Count: 1, Rate: 1, Relation: privacy.AddRemove}
	one, alone := epochs(1, 1, 50, 2), Bounds{}
	alone = ask(one)
	if both, rest := ask(one, normal), ask(normal); !(both.Lower > alone.Upper && both.Lower > rest.Upper) ||
		both.Upper > (alone.Upper+rest.Upper)*1.5 || both.Upper > both.Lower*1.01 {
		t.Errorf("with normal noise [%v, %v], alone [%v, %v]", both.Lower, both.Upper, alone.Lower, alone.Upper)
	}
	sampled := one
	sampled.Rate, sampled.Method = 0.1, privacy.Poisson
	if b := ask(sampled); !(b.Upper < alone.Lower/2) || !(b.Lower > 0) || b.Upper > b.Lower*1.02 {
		t.Errorf("on samples [%v, %v]", b.Lower, b.Upper)
	}
	several := epochs(1, 3, 50, 1)
	b, blocks := ask(several), ask(epochs(1, 1, 16, 1), epochs(1, 1, 17, 2))
	if b.Upper != blocks.Upper || !(b.Lower > 0 && b.Lower < b.Upper) {
		t.Errorf("in 3 of 50 steps [%v, %v], in one of 16, 17 and 17 [%v, %v]", b.Lower, b.Upper, blocks.Lower,
			blocks.Upper)
	}
	several.Rate, several.Method = 0.5, privacy.Poisson
	if _, err := Bracket(context.Background(), []terms.Term{several}, 1e-5, Options{}); err == nil {
		t.Error("several steps of a sample have a bracket")
	}
	// All steps, or units that are exchanged: as without allocation.
	all := epochs(2, 50, 50, 1)
	known := terms.Term{Leaf: privacy.Gaussian{Sigma: 2, Sensitivity: math.Sqrt(50), Unit: privacy.Record,
		Neighbouring: privacy.AddRemove}, Count: 1, Rate: 1, Relation: privacy.AddRemove}
	if b, want := ask(all), ask(known); b.Upper != want.Upper || b.Lower != want.Lower {
		t.Errorf("in all steps [%v, %v], want [%v, %v]", b.Lower, b.Upper, want.Lower, want.Upper)
	}
}

// TestAllocationFallsWithSteps demands a smaller epsilon of more steps and of more noise.
func TestAllocationFallsWithSteps(t *testing.T) {
	s := rng.Seed(11).Stream("settings")
	for range 12 {
		sigma, steps := 0.5*math.Pow(10, s.Float64()), int64(2*math.Pow(150, s.Float64()))
		ask := func(sigma float64, steps int64) Bounds {
			b, err := Bracket(context.Background(), []terms.Term{epochs(sigma, 1, steps, 2)}, 1e-6,
				Options{Bins: 1 << 13})
			if err != nil {
				t.Fatal(err)
			}
			return b
		}
		b := ask(sigma, steps)
		if more := ask(sigma, 2*steps); more.Lower > b.Upper {
			t.Errorf("%d steps: %v, twice as many: at least %v", steps, b.Upper, more.Lower)
		}
		if more := ask(2*sigma, steps); more.Lower > b.Upper {
			t.Errorf("sigma %v: %v, twice as much: at least %v", sigma, b.Upper, more.Lower)
		}
	}
}
