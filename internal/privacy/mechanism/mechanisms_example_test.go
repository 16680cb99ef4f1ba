package mechanism_test

import (
	"fmt"
	"log"

	"privrec/internal/privacy"
	"privrec/internal/privacy/mechanism"
	"privrec/internal/rng"
)

func research() *privacy.Ledger {
	l, err := privacy.NewLedger(privacy.Research)
	if err != nil {
		log.Fatal(err)
	}
	return l
}

// threeUsers is a matrix of three users and four items.
func threeUsers() mechanism.Adjacency {
	return mechanism.Adjacency{Rows: 3, Cols: 4, Ptr: []int64{0, 2, 3, 5}, Idx: []int32{0, 2, 1, 0, 3}}
}

// An adjacency matrix is perturbed once, before training: what is trained on it
// costs nothing more.
func ExamplePerturbEdgeRand() {
	ledger := research()
	m := mechanism.EdgeRand{Purpose: "graph", Epsilon: 6, Unit: privacy.Interaction}
	noisy, err := mechanism.PerturbEdgeRand(m, ledger, rng.Seed(1).Stream("graph"), threeUsers())
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(noisy.Rows, noisy.Cols, noisy.Validate())
	fmt.Printf("each cell changes with probability %.4f\n", m.Flip())
	ones, trueShare := m.Expected(29858*40981, 810128)
	fmt.Printf("a graph of 810128 edges becomes one of %.0f, of which %.1f%% are true\n", ones, 100*trueShare)
	fmt.Println(ledger.Entries()[0].Event.Kind())
	// Output:
	// 3 4 <nil>
	// each cell changes with probability 0.0025
	// a graph of 810128 edges becomes one of 3831650, of which 21.1% are true
	// randomized-response
}

// LapGraph releases the number of edges first, then that many cells: two entries.
func ExamplePerturbLapGraph() {
	ledger := research()
	m := mechanism.LapGraph{Purpose: "graph", Epsilon: 2, CountShare: 0.25, Unit: privacy.Edge}
	if _, err := mechanism.PerturbLapGraph(m, ledger, rng.Seed(1).Stream("graph"), threeUsers()); err != nil {
		log.Fatal(err)
	}
	for _, e := range ledger.Entries() {
		fmt.Printf("%s: scale %.3f\n", e.Purpose, e.Event.(privacy.Laplace).Scale)
	}
	// Output:
	// graph: scale 0.667
	// graph: scale 2.000
}

// A step of DP-SGD draws its own batch, so that the sampler on record is the one
// that was used.
func ExampleOpenDPSGD() {
	ledger := research()
	m := mechanism.DPSGD{Purpose: "gradient", Clip: 1, NoiseMultiplier: 1.1, Examples: 60000,
		Sampling: privacy.Poisson, Rate: 256.0 / 60000, Unit: privacy.Sample}
	steps, err := mechanism.OpenDPSGD[float32](m, 2, ledger, rng.Seed(1).Stream("sgd"))
	if err != nil {
		log.Fatal(err)
	}
	mean := make([]float32, 2)
	for step := range uint64(3) {
		batch, err := steps.Begin(0, step)
		if err != nil {
			log.Fatal(err)
		}
		for k := range batch {
			if err := steps.Add(k, []float32{3, 4}); err != nil { // the gradient of example batch[k]
				log.Fatal(err)
			}
		}
		if err := steps.Finish(mean); err != nil {
			log.Fatal(err)
		}
	}
	if err := steps.Check(); err != nil {
		log.Fatal(err)
	}
	e := ledger.Entries()[0]
	s := e.Event.(privacy.Sampled)
	fmt.Println(e.Count, s.Method, s.Event.(privacy.Gaussian).Neighbouring)
	// Output:
	// 3 poisson add-remove
}

// Clipped gradients are never longer than the bound, rounding included.
func ExampleClip() {
	v := []float64{3, 4}
	clipped, err := mechanism.Clip(v, 1)
	fmt.Printf("%v %.3f %v\n", clipped, v, err)
	// Output:
	// true [0.600 0.800] <nil>
}

// Both views of a bipartite graph, users from items and items from users, are two
// releases under one key.
func ExampleAggregator_Aggregate() {
	ledger := research()
	m := mechanism.Aggregation{Purpose: "propagate", Sigma: 0.3, Norm: 1, Weights: mechanism.RightWeights, Clamp: 10,
		Unit: privacy.Edge, Neighbouring: privacy.AddRemove}
	g, err := mechanism.OpenAggregation[float32](m, ledger, rng.Seed(1).Stream("graph"))
	if err != nil {
		log.Fatal(err)
	}
	const cols = 2
	byItems := threeUsers()
	users, items := make([]float32, 3*cols), []float32{1, 0, 0, 1, 1, 1, 2, 0}
	if err := g.Aggregate(users, items, cols, byItems, 0, 0); err != nil {
		log.Fatal(err)
	}
	if err := g.Aggregate(make([]float32, 4*cols), users, cols, byItems.Transpose(), 1, 0); err != nil {
		log.Fatal(err)
	}
	e := ledger.Entries()[0]
	fmt.Printf("%d releases of sensitivity %.4f\n", e.Count, e.Event.(privacy.Gaussian).Sensitivity)
	// Output:
	// 2 releases of sensitivity 0.3162
}

// For user-level privacy the number of rows that a user enters is bounded first.
func ExampleBoundColumns() {
	a := mechanism.Adjacency{Rows: 3, Cols: 1, Ptr: []int64{0, 1, 2, 3}, Idx: []int32{0, 0, 0}}
	b, err := mechanism.BoundColumns(a, 2, rng.Seed(1).Stream("bound"))
	if err != nil {
		log.Fatal(err)
	}
	m := mechanism.Aggregation{Purpose: "propagate", Sigma: 1, Norm: 1, Unit: privacy.User, Neighbouring: privacy.AddRemove, Columns: 2}
	d, err := m.Sensitivity()
	fmt.Printf("%d ones, sensitivity %.3f %v\n", b.Edges(), d, err)
	// Output:
	// 2 ones, sensitivity 1.414 <nil>
}

// The coefficients of a logistic loss get noise once; what minimises the noisy
// polynomial is free.
func ExampleOpenFunctional() {
	const dim, n = 60, 80000
	sum := mechanism.LogisticSensitivity(dim, true)
	fmt.Println("sensitivity of the sum:", sum, "in the paper:", mechanism.PaperLogisticSensitivity(dim))
	m := mechanism.Functional{Purpose: "loss", Epsilon: 0.4, Sensitivity: sum / n, Unit: privacy.Sample, Neighbouring: privacy.Replace}
	b, err := m.Scale()
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("scale of a coefficient of the mean: %.5f\n", b)
	ledger := research()
	o, err := mechanism.OpenFunctional[float64](m, ledger, rng.Seed(1).Stream("loss"))
	if err != nil {
		log.Fatal(err)
	}
	p := mechanism.NewPolynomial[float64](dim)
	if err := p.AddLogistic(1.0/n, make([]float64, dim)); err != nil {
		log.Fatal(err)
	}
	if err := o.Perturb(p, 0); err != nil {
		log.Fatal(err)
	}
	fmt.Println(ledger.Entries()[0].Count, ledger.Entries()[0].Event.Kind())
	// Output:
	// sensitivity of the sum: 480.5 in the paper: 960
	// scale of a coefficient of the mean: 0.01502
	// 1 laplace
}
