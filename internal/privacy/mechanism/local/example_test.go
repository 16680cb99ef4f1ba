package local_test

import (
	"fmt"
	"log"
	"math"

	"privrec/internal/privacy"
	"privrec/internal/privacy/mechanism"
	"privrec/internal/privacy/mechanism/local"
	"privrec/internal/rng"
)

// research opens a ledger for noise from a seed.
func research() *privacy.Ledger {
	l, err := privacy.NewLedger(privacy.Research)
	if err != nil {
		log.Fatal(err)
	}
	return l
}

// Every user sends one of four categories. The estimate of how many sent each needs
// no more than the two probabilities of the mechanism.
func ExamplePerturbResponses() {
	ledger := research()
	m := local.Response{Purpose: "age group", Epsilon: 2, Categories: 4, Unit: privacy.User}
	const users = 100_000
	answers := make([]int, users)
	for i := range answers {
		answers[i] = i % 10 / 4 // 40%, 40%, 20%, none
	}
	if err := local.PerturbResponses(m, ledger, mechanism.Keyed(rng.Seed(1).Stream("ages")), answers); err != nil {
		log.Fatal(err)
	}
	counts := make([]float64, 4)
	for _, a := range answers {
		counts[a]++
	}
	fmt.Printf("the truth with probability %.3f, any other with %.3f\n", m.Keep(), m.Other())
	for _, c := range counts {
		fmt.Printf("%.2f ", math.Abs((c/users-m.Other())/(m.Keep()-m.Other())))
	}
	fmt.Println()
	// Output:
	// the truth with probability 0.711, any other with 0.096
	// 0.40 0.40 0.20 0.00
}

// A frequency oracle turns answers into reports and reports into estimates that are
// right on average; the variance says how far off they are.
func ExampleReport() {
	ledger := research()
	m := local.Oracle{Purpose: "genres", Kind: local.OUE, Epsilon: 2, Categories: 3, Unit: privacy.User}
	answers := make([]int, 10000) // 60 % say 0, 30 % say 1
	for i := range answers {
		if i%10 >= 6 {
			answers[i] = 1
		}
		if i%10 == 9 {
			answers[i] = 2
		}
	}
	reports, err := local.Report(m, ledger, mechanism.Keyed(rng.Seed(1).Stream("genres")), answers)
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
		for _, kind := range []local.OracleKind{local.GRR, local.SUE, local.OUE} {
			m := local.Oracle{Kind: kind, Epsilon: 1, Categories: k}
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
	m := local.Piecewise{Purpose: "rating", Epsilon: 2, Unit: privacy.Feature}
	numbers := make([]float64, 50000)
	for i := range numbers {
		numbers[i] = 0.25
	}
	if err := local.PerturbPiecewise(m, research(), rng.Seed(1).Stream("rating"), numbers); err != nil {
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
	f := local.FeatureSampler{Purpose: "features", Epsilon: 10}
	for _, name := range []string{"age", "visits", "stars", "fans", "cool", "funny"} {
		f.Features = append(f.Features, local.FeatureKind{Name: name})
	}
	row := make([]float32, f.Width())
	if err := local.PerturbFeatures(f, research(), rng.Seed(1).Stream("features"), row); err != nil {
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
	m := local.UnaryEncoding{Purpose: "genre", Epsilon: math.Log(3), Unit: privacy.Feature}
	fmt.Printf("a 1 stays with %.2f, a 0 turns with %.2f\n", m.P(), m.Q())
	bits := []float32{0, 1, 0, 0}
	err := local.PerturbUnary(m, research(), rng.Seed(1).Stream("genre"), bits, 4)
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
