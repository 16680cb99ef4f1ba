package mechanism_test

import (
	"errors"
	"fmt"
	"log"
	"math"

	"privrec/internal/privacy"
	"privrec/internal/privacy/mechanism"
	"privrec/internal/rng"
)

// A frequency oracle turns answers into reports and reports into estimates that are
// right on average; the variance says how far off they are.
func ExampleReport() {
	ledger := research()
	m := mechanism.Oracle{Purpose: "genres", Kind: mechanism.OUE, Epsilon: 2, Categories: 3, Unit: privacy.User}
	answers := make([]int, 10000) // 60 % say 0, 30 % say 1
	for i := range answers {
		if i%10 >= 6 {
			answers[i] = 1
		}
		if i%10 == 9 {
			answers[i] = 2
		}
	}
	reports, err := mechanism.Report(m, ledger, mechanism.Keyed(rng.Seed(1).Stream("genres")), answers)
	if err != nil {
		log.Fatal(err)
	}
	shares, err := reports.Frequencies()
	if err != nil {
		log.Fatal(err)
	}
	for i, want := range []float64{0.6, 0.3, 0.1} {
		off := math.Abs(shares[i]-want) / math.Sqrt(m.FrequencyVariance(float64(reports.Len()), want))
		fmt.Printf("%.1f within 4 standard errors: %v\n", want, off < 4)
	}
	fmt.Println(ledger.Entries()[0].Event.Kind())
	// Output:
	// 0.6 within 4 standard errors: true
	// 0.3 within 4 standard errors: true
	// 0.1 within 4 standard errors: true
	// pure-ldp
}

// Which protocol has the smallest variance depends on the number of categories.
func ExampleOracle_FrequencyVariance() {
	for _, k := range []int{4, 4000} {
		fmt.Print(k, " categories:")
		for _, kind := range []mechanism.OracleKind{mechanism.GRR, mechanism.SUE, mechanism.OUE} {
			m := mechanism.Oracle{Kind: kind, Epsilon: 1, Categories: k}
			fmt.Printf(" %s %.2g", kind, m.FrequencyVariance(1000, 0))
		}
		fmt.Println()
	}
	// Output:
	// 4 categories: grr 0.0016 sue 0.0039 oue 0.0037
	// 4000 categories: grr 1.4 sue 0.0039 oue 0.0037
}

// A number in [-1, 1] comes out within [-C, C], right on average.
func ExamplePerturbPiecewise() {
	m := mechanism.Piecewise{Purpose: "rating", Epsilon: 2, Unit: privacy.Feature}
	numbers := make([]float64, 50000)
	for i := range numbers {
		numbers[i] = 0.25
	}
	if err := mechanism.PerturbPiecewise(m, research(), rng.Seed(1).Stream("rating"), numbers); err != nil {
		log.Fatal(err)
	}
	sum := 0.0
	for _, y := range numbers {
		sum += y
	}
	deviation := math.Sqrt(m.Variance(0.25))
	fmt.Printf("within ±%.2f, standard deviation %.2f\n", m.C(), deviation)
	fmt.Println("mean within 4 standard errors:", math.Abs(sum/50000-0.25) < 4*deviation/math.Sqrt(50000))
	// Output:
	// within ±2.16, standard deviation 0.83
	// mean within 4 standard errors: true
}

// Of six numbers at a budget of 10 every user sends four, the others as zeros.
func ExamplePerturbFeatures() {
	f := mechanism.FeatureSampler{Purpose: "features", Epsilon: 10}
	for _, name := range []string{"age", "visits", "stars", "fans", "cool", "funny"} {
		f.Features = append(f.Features, mechanism.FeatureKind{Name: name})
	}
	row := make([]float32, f.Width())
	if err := mechanism.PerturbFeatures(f, research(), rng.Seed(1).Stream("features"), row); err != nil {
		log.Fatal(err)
	}
	zeros := 0
	for _, v := range row {
		if v == 0 {
			zeros++
		}
	}
	fmt.Printf("%d of %d drawn, %.1f of the budget each, %d zeros\n", f.K(), len(f.Features), f.PerFeature(), zeros)
	// Output:
	// 4 of 6 drawn, 2.5 of the budget each, 2 zeros
}

// The one-hot vector of a category, bit by bit.
func ExamplePerturbUnary() {
	m := mechanism.UnaryEncoding{Purpose: "genre", Epsilon: math.Log(3), Unit: privacy.Feature}
	fmt.Printf("a 1 stays with %.2f, a 0 turns with %.2f\n", m.P(), m.Q())
	bits := []float32{0, 1, 0, 0}
	err := mechanism.PerturbUnary(m, research(), rng.Seed(1).Stream("genre"), bits, 4)
	for _, b := range bits {
		if b != 0 && b != 1 {
			log.Fatal("not a bit")
		}
	}
	fmt.Println(len(bits), err)
	// Output:
	// a 1 stays with 0.50, a 0 turns with 0.25
	// 4 <nil>
}

// The noisy adjacency matrix of a session, thresholded: how it flips is known
// beforehand.
func ExamplePerturbGaussianEdgeRand() {
	ledger := research()
	m := mechanism.GaussianEdgeRand{Purpose: "session", Sigma: 1, Unit: privacy.Edge}
	one, zero := m.Flip()
	fmt.Printf("lost %.4f, made %.4f\n", one, zero)
	out, err := mechanism.PerturbGaussianEdgeRand(m, ledger, rng.Seed(1).Stream("session"), threeUsers())
	if err != nil {
		log.Fatal(err)
	}
	e := ledger.Entries()[0].Event.(privacy.Gaussian)
	fmt.Println(out.Rows, out.Cols, e.Sigma, e.Sensitivity)
	// Output:
	// lost 0.3085, made 0.3085
	// 3 4 1 1
}

// Rows of a matrix are cut to a number of ones, each row for itself.
func ExampleBoundRows() {
	a := threeUsers()
	b, err := mechanism.BoundRows(a, 1, rng.Seed(1).Stream("bound"))
	before, _ := a.Degrees()
	after, _ := b.Degrees()
	fmt.Println(before, after, err)
	// Output:
	// [2 1 2] [1 1 1] <nil>
}

// The same law by a formula and by exact draws: no floating point is in the sampler.
func ExampleGaussianSampler() {
	sigma, err := mechanism.RatioOf(2.5)
	if err != nil {
		log.Fatal(err)
	}
	sampler, err := mechanism.NewGaussianSampler(sigma)
	if err != nil {
		log.Fatal(err)
	}
	bits := rng.Seed(1).Stream("bits")
	zeros := 0
	for range 20000 {
		if sampler.Sample(&bits) == 0 {
			zeros++
		}
	}
	law := mechanism.DiscreteGaussianLaw{Sigma: 2.5}
	off := math.Abs(float64(zeros)/20000-law.PMF(0)) / math.Sqrt(law.PMF(0)/20000)
	fmt.Printf("sigma %s, 0 with probability %.4f, seen as often within 4 standard errors: %v\n", sigma, law.PMF(0), off < 4)
	// Output:
	// sigma 5/2, 0 with probability 0.1596, seen as often within 4 standard errors: true
}

// exp(-x) without computing it: sums of budgets are products of coins.
func ExampleBernoulliExp() {
	bits := rng.Seed(1).Stream("coin")
	yes := 0
	for range 20000 {
		b, err := mechanism.BernoulliExp(&bits, mechanism.Ratio{Num: 1, Den: 2})
		if err != nil {
			log.Fatal(err)
		}
		if b {
			yes++
		}
	}
	off := math.Abs(float64(yes)/20000-math.Exp(-0.5)) / math.Sqrt(0.25/20000)
	fmt.Println("within 4 standard errors:", off < 4)
	// Output: within 4 standard errors: true
}

// The scale of Laplace noise for a budget, never rounded down, and how far it goes.
func ExampleLaplaceScale() {
	b, err := mechanism.LaplaceScale(0.5, 1)
	if err != nil {
		log.Fatal(err)
	}
	m := mechanism.Laplace{Scale: b}
	fmt.Printf("scale %g, variance %g, beyond 20 with %.1e\n", b, m.Variance(), m.Tail(20))
	_, err = mechanism.LaplaceScale(0, 1)
	fmt.Println(err)
	// Output:
	// scale 2, variance 8, beyond 20 with 4.5e-05
	// laplace: epsilon 0 and sensitivity 1, want positive and finite
}

// A channel goes through a checkpoint: the next process makes the same noise and
// remembers which keys were used.
func ExampleChannel_Restore() {
	g := mechanism.Gaussian{Purpose: "noise", Sigma: 1, Sensitivity: 1, Unit: privacy.Edge, Neighbouring: privacy.AddRemove}
	open := func() *mechanism.Channel[float32] {
		c, err := mechanism.Open[float32](g, research(), rng.Seed(1).Stream("noise"))
		if err != nil {
			log.Fatal(err)
		}
		return c
	}
	first := open()
	if err := first.Perturb(make([]float32, 4), 4, 1, 0, 1); err != nil {
		log.Fatal(err)
	}
	second := open()
	if err := second.Restore(first.State()); err != nil {
		log.Fatal(err)
	}
	fmt.Println(second.State().Values, "values before")
	err := second.Perturb(make([]float32, 4), 4, 1, 0, 1)
	fmt.Println(err)
	// Output:
	// 4 values before
	// noise: key [0 1] is used twice: the noise would be the same
}

// Noise that is not what the ledger says ends a run for good: here values so large
// that rounding leaves nothing of it.
func ExampleCheckError() {
	g := mechanism.Gaussian{Purpose: "noise", Sigma: 1, Sensitivity: 1, Unit: privacy.Edge, Neighbouring: privacy.AddRemove}
	c, err := mechanism.Open[float32](g, research(), rng.Seed(1).Stream("noise"))
	if err != nil {
		log.Fatal(err)
	}
	huge := make([]float32, 1000)
	for i := range huge {
		huge[i] = 1e12
	}
	var failed *mechanism.CheckError
	if errors.As(c.Perturb(huge, 1000, 1), &failed) {
		fmt.Println(failed.Purpose, failed.What, failed.Got, failed.Final())
	}
	// Output: noise number of unchanged values 1000 true
}
