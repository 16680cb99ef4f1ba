package privacy_test

import (
	"fmt"
	"log"
	"os"
	"path/filepath"

	"privrec/internal/privacy"
	"privrec/internal/privacy/accountant"
	"privrec/internal/privacy/audit"
	"privrec/internal/privacy/descent"
	"privrec/internal/privacy/mechanism"
	"privrec/internal/privacy/mechanism/local"
	"privrec/internal/rng"
)

// A promise from the budget to the report: the noise that it allows, releases with
// that noise, and the account of what was released.
func Example() {
	budget := privacy.Budget{Epsilon: 2, Delta: 1e-5}
	const steps = 50
	describe := func(multiplier float64) descent.DPSGD {
		return descent.DPSGD{Purpose: "gradient", Clip: 1, NoiseMultiplier: multiplier, Examples: 1000,
			Sampling: privacy.Poisson, Rate: 0.05, Unit: privacy.User}
	}

	// 1. The least noise that keeps the promise.
	spent := func(charge func(a *accountant.Account) error) (accountant.Result, error) {
		a, err := accountant.New(accountant.Contour, privacy.User, privacy.AddRemove)
		if err != nil {
			return accountant.Result{}, err
		}
		if err := charge(a); err != nil {
			return accountant.Result{}, err
		}
		return a.Spent(budget.Delta)
	}
	goal := accountant.Goal{Epsilon: budget.Epsilon, Delta: budget.Delta, Exposed: accountant.Exposed(describe(1).Rate, steps)}
	least, err := accountant.Calibrate(goal, 1, func(multiplier float64) (float64, error) {
		r, err := spent(func(a *accountant.Account) error { return a.Charge(describe(multiplier).Event(), steps) })
		return r.Epsilon, err
	})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("noise multiplier %.3f\n", least.Noise)

	// 2. Releases, recorded in a file before a value changes.
	folder, err := os.MkdirTemp("", "ledger")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(folder)
	path := filepath.Join(folder, "privacy.jsonl")
	ledger, err := privacy.CreateLedger(path, privacy.Research, nil)
	if err != nil {
		log.Fatal(err)
	}
	sgd, err := descent.Open[float32](describe(least.Noise), 2, ledger, rng.Seed(7).Stream("sgd"))
	if err != nil {
		log.Fatal(err)
	}
	gradient := make([]float32, 2)
	for step := range uint64(steps) {
		batch, err := sgd.Begin(0, step)
		if err != nil {
			log.Fatal(err)
		}
		for k := range batch {
			if err := sgd.Add(k, []float32{3, 4}); err != nil { // of user batch[k], clipped there
				log.Fatal(err)
			}
		}
		if err := sgd.Finish(gradient); err != nil {
			log.Fatal(err)
		}
	}
	if err := sgd.Check(); err != nil { // was it this noise?
		log.Fatal(err)
	}
	if err := ledger.Flush("epoch 1"); err != nil {
		log.Fatal(err)
	}
	if err := ledger.Close(); err != nil {
		log.Fatal(err)
	}

	// 3. The report, from the file alone.
	read, err := privacy.Reading{}.File(path)
	if err != nil {
		log.Fatal(err)
	}
	r, err := spent(func(a *accountant.Account) error { return accountant.ChargeLedger(a, read.Entries()) })
	if err != nil {
		log.Fatal(err)
	}
	e := read.Entries()[0]
	fmt.Printf("%s: %d releases for %s, %s\n", e.Period, e.Count, e.Purpose, read.Noise())
	fmt.Printf("epsilon %.3f at delta %g, per %s, %s\n", r.Epsilon, r.Delta, r.Unit, r.Neighbouring)
	fmt.Println("within the budget:", r.Epsilon <= budget.Epsilon)
	// Output:
	// noise multiplier 1.146
	// epoch 1: 50 releases for gradient, research noise
	// epsilon 2.000 at delta 1e-05, per user, add-remove
	// within the budget: true
}

// What an attacker sees of a mechanism, against what it promises. Of one that keeps
// epsilon 1 a little less is seen; one that promises 1 and keeps 3 is found out.
func Example_audit() {
	const canaries, promised = 4000, 1.0
	for _, kept := range []float64{1, 3} {
		ledger, err := privacy.NewLedger(privacy.Research)
		if err != nil {
			log.Fatal(err)
		}
		coins, err := audit.NewCoins(rng.Seed(3).Stream("coins"), canaries)
		if err != nil {
			log.Fatal(err)
		}
		answers := make([]int, canaries)
		for i := range answers {
			if coins.In(i) {
				answers[i] = 1
			}
		}
		m := local.Response{Purpose: "who is in", Epsilon: kept, Categories: 2, Unit: privacy.User}
		if err := local.PerturbResponses(m, ledger, mechanism.Keyed(rng.Seed(3).Stream("answers")), answers); err != nil {
			log.Fatal(err)
		}
		scores := make([]float64, canaries)
		for i, a := range answers {
			scores[i] = float64(a)
		}
		guesses, err := audit.Rule{In: canaries / 4, Out: canaries / 4}.Guess(scores)
		if err != nil {
			log.Fatal(err)
		}
		count, err := coins.Count(guesses)
		if err != nil {
			log.Fatal(err)
		}
		bound, err := audit.OneRun(count, audit.Options{Level: 0.01})
		if err != nil {
			log.Fatal(err)
		}
		fmt.Printf("promised %v, seen at least %.2f, contradiction: %v\n", promised, bound.Epsilon, bound.Contradicts(promised))
	}
	// Output:
	// promised 1, seen at least 0.83, contradiction: false
	// promised 1, seen at least 2.74, contradiction: true
}
