package audit

import (
	"math"
	"sort"
	"testing"

	"privrec/internal/privacy"
	"privrec/internal/privacy/accountant"
	"privrec/internal/privacy/binomial"
	"privrec/internal/privacy/mechanism/channel"
	"privrec/internal/rng"
)

const (
	canaries = 800000
	claimed  = 2.0  // the standard deviation that the ledger says
	delta    = 1e-7 // of the guarantee
	reach    = 3.0  // guesses are made beyond this many standard deviations of the middle
)

// accounted is the epsilon of one release as the accountant has it.
func accounted(t *testing.T) float64 {
	t.Helper()
	account, err := accountant.New(accountant.Analytic, privacy.Interaction, privacy.AddRemove)
	if err != nil {
		t.Fatal(err)
	}
	event := privacy.Gaussian{Sigma: claimed, Sensitivity: 1, Unit: privacy.Interaction, Neighbouring: privacy.AddRemove}
	if err := account.Charge(event, 1); err != nil {
		t.Fatal(err)
	}
	spent, err := account.Spent(delta)
	if err != nil {
		t.Fatal(err)
	}
	return spent.Epsilon
}

// A sampler with half the noise is caught, and a right one is not. The release is
// one sum: a canary adds 1 to a coordinate of its own, so that each is a unit of
// the add-remove relation and the mechanism is 1/sigma-Gaussian-DP for each.
//
// With guesses by threshold the right ones are binomial, so that the chance of
// either error of the one-run audits is known and asserted: below 1e-9. The two-run
// audit is at level 1e-10.
func TestHalvedNoiseIsCaught(t *testing.T) {
	spent := accounted(t)
	o := Options{Delta: delta, Level: 1e-3}
	methods := map[string]Bounder{"one run": OneRun, "one run f-DP": fdp}
	for name, drawn := range map[string]float64{"right": claimed, "halved": claimed / 2} {
		fault := name == "halved"
		coins, scores := release(t, canaries, drawn, 11)
		guesses, err := Threshold{Low: 0.5 - reach*drawn, High: 0.5 + reach*drawn}.Guess(scores)
		if err != nil {
			t.Fatal(err)
		}
		count, err := coins.Count(guesses)
		if err != nil {
			t.Fatal(err)
		}
		hit, miss := upper(reach-0.5/drawn), upper(reach+0.5/drawn)
		law := binomial.Law{N: count.Guesses, P: hit / (hit + miss), Q: miss / (hit + miss)}
		for method, bound := range methods {
			b, err := bound(count, o)
			if err != nil {
				t.Fatal(err)
			}
			t.Logf("%s noise, %s: audited %.3f (ceiling %.2f), accounted %.3f", name, method, b.Epsilon, b.Ceiling, spent)
			if b.Contradicts(spent) != fault || !(b.Epsilon > 0 && !b.AtCeiling()) {
				t.Errorf("%s noise, %s: accounted %v, %+v", name, method, spent, b)
			}
			least := sort.Search(int(count.Guesses), func(v int) bool {
				b, err := bound(Count{count.Canaries, count.Guesses, int64(v)}, o)
				return err == nil && b.Contradicts(spent)
			})
			wrong := law.Upper(int64(least))
			if fault {
				wrong = binomial.Law{N: law.N, P: law.Q, Q: law.P}.Upper(law.N - int64(least) + 1)
			}
			if wrong > 1e-9 {
				t.Errorf("%s noise, %s: errs with probability %v", name, method, wrong)
			}
		}
		// Each canary has a coordinate and noise of its own: here, and only for such a
		// mechanism, one release is as good as many runs.
		if guesses, err = (Threshold{Low: 0.5, High: 0.5}).Guess(scores); err != nil {
			t.Fatal(err)
		}
		rates, err := coins.Rates(guesses)
		if err != nil {
			t.Fatal(err)
		}
		b, err := TwoRunGDP(rates, Options{Delta: delta, Level: 1e-10}, accountant.Exact)
		if err != nil || b.Contradicts(spent) != fault {
			t.Errorf("%s noise, two runs: accounted %v, %+v, %v", name, spent, b, err)
		}
	}
}

func fdp(c Count, o Options) (Bound, error) { return OneRunFDP(c, o, accountant.Exact) }

func upper(x float64) float64 { return 0.5 * math.Erfc(x/math.Sqrt2) }

// release returns the coins of n canaries and the scores of an attacker who reads
// a Gaussian release of their indicators with standard deviation sigma.
func release(t *testing.T, n int, sigma float64, seed rng.Seed) (Coins, []float64) {
	t.Helper()
	coins, err := NewCoins(seed.Stream("coins"), n)
	if err != nil {
		t.Fatal(err)
	}
	ledger, err := privacy.NewLedger(privacy.Research)
	if err != nil {
		t.Fatal(err)
	}
	channel, err := channel.Open[float64](channel.Gaussian{
		Purpose: "sums", Sigma: sigma, Sensitivity: 1, Unit: privacy.Interaction, Neighbouring: privacy.AddRemove, Share: 1,
	}, ledger, seed.Stream("noise"))
	if err != nil {
		t.Fatal(err)
	}
	scores := make([]float64, n)
	for i := range scores {
		if coins.In(i) {
			scores[i] = 1
		}
	}
	if err := channel.Perturb(scores, n, 1); err != nil {
		t.Fatal(err)
	}
	return coins, scores
}

// Among many audits of a right mechanism no more contradict it than the level
// allows, at levels where contradictions do happen. With delta 0 and randomised
// response the p-value is tight, so that the share of false alarms is near the level
// as well. Of 2000 experiments at level 0.2 the false alarms are at most binomial
// with mean 400: more than 530 have probability 2e-12. Fewer than 60, of a share
// that is at least 0.08 for these counts, have probability below 1e-18.
func TestLevelIsKept(t *testing.T) {
	const (
		runs  = 2000
		m     = 200
		level = 0.2
		truth = 1.0
	)
	s, alarms := rng.Seed(3).Stream("responses"), 0
	for run := range runs {
		coins, err := NewCoins(rng.Seed(4).Stream("coins", uint64(run)), m)
		if err != nil {
			t.Fatal(err)
		}
		guesses := make([]Guess, m)
		for i := range guesses {
			guesses[i] = Out
			if coins.In(i) == (s.Float64() < 0.7310585786300049) { // e/(1+e)
				guesses[i] = In
			}
		}
		count, err := coins.Count(guesses)
		if err != nil {
			t.Fatal(err)
		}
		b, err := OneRun(count, Options{Level: level})
		if err != nil {
			t.Fatal(err)
		}
		if b.Contradicts(truth) {
			alarms++
		}
	}
	t.Logf("%d false alarms in %d runs at level %v", alarms, runs, level)
	if alarms > 530 || alarms < 60 {
		t.Errorf("%d false alarms in %d runs, want at most 530 and at least 60", alarms, runs)
	}
}
