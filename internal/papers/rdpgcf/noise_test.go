package rdpgcf

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"privrec/internal/graph"
	"privrec/internal/nn"
	"privrec/internal/privacy"
	"privrec/internal/rng"
	"privrec/internal/tensor"
)

// ringGraph joins every user to the items at some distances on a ring: no node is
// isolated.
func ringGraph(t *testing.T, users, items int, distances ...int) *graph.Bipartite {
	t.Helper()
	seen := map[graph.Edge]bool{}
	var edges []graph.Edge
	for u := range max(users, items) {
		for _, d := range distances {
			if e := (graph.Edge{User: int32(u % users), Item: int32((u + d) % items)}); !seen[e] {
				seen[e] = true
				edges = append(edges, e)
			}
		}
	}
	g, err := graph.NewBipartite(users, items, edges)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

func researchLedger(t *testing.T) *privacy.Ledger {
	t.Helper()
	l, err := privacy.NewLedger(privacy.Research)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func testStream(purpose string) rng.Stream { return rng.Seed(5).Stream("test." + purpose) }

func noiseStream(purpose string) (rng.Stream, error) { return testStream(purpose), nil }

// testStreams gives both kinds of streams by their purposes.
var testStreams = streams{testStream, noiseStream}

func openTestNoise(t *testing.T, o layerNoiseOptions, l *privacy.Ledger) *layerNoise {
	t.Helper()
	a, err := newLayerNoise(o, l, noiseStream)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

var testNoise = layerNoiseOptions{sigma: 0.5, joint: math.Sqrt2, layers: 3, rate: 1, perEpoch: 4, share: 1}

// unitTables are rows of random numbers for a graph.
func unitTables(g *graph.Bipartite, dim int) (users, items tensor.Matrix) {
	users, items = tensor.New(g.Users, dim), tensor.New(g.Items, dim)
	for side, x := range []tensor.Matrix{users, items} {
		s := rng.Seed(9).Stream("tables", uint64(side))
		for k := range x.Data {
			x.Data[k] = tensor.Float(s.NormFloat64())
		}
	}
	return users, items
}

// layersOf are the rows of every layer of one propagation, copied.
func layersOf(t *testing.T, p *nn.Propagation, users, items tensor.Matrix) (all [][]tensor.Float) {
	t.Helper()
	err := p.Each(users, items, func(_ int, x tensor.Matrix) error {
		all = append(all, slices.Clone(x.Data))
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// TestNoiseOfPropagation looks at the noise through a graph without edges: what comes
// out of a layer is the noise alone. A million values; bands of 6.5 standard errors fail
// a right sampler once in 1e10.
func TestNoiseOfPropagation(t *testing.T) {
	g, err := graph.NewBipartite(3000, 2000, nil)
	if err != nil {
		t.Fatal(err)
	}
	l := researchLedger(t)
	a := openTestNoise(t, testNoise, l)
	users, items := unitTables(g, 64)
	p := &nn.Propagation{Graph: g, Layers: 3, Weights: nn.EvenWeights(3), Noise: a}
	defer p.Close()
	if err := a.At(phaseTrain, 0); err != nil {
		t.Fatal(err)
	}
	n, sum, square := 0.0, 0.0, 0.0
	var first []tensor.Float
	for layer, x := range layersOf(t, p, users, items) {
		if layer == 0 {
			continue
		}
		if layer == 1 {
			first = x
		} else if slices.Equal(first, x) {
			t.Error("two layers got the same noise")
		}
		for _, v := range x {
			z := float64(v) / testNoise.sigma
			n, sum, square = n+1, sum+z, square+z*z
		}
	}
	if n != 3*5000*64 {
		t.Fatalf("%v values", n)
	}
	if mean := sum / math.Sqrt(n); math.Abs(mean) > 6.5 {
		t.Errorf("the mean is %v standard errors off", mean)
	}
	if off := (square/n - 1) / math.Sqrt(2/n); math.Abs(off) > 6.5 {
		t.Errorf("the variance is %v standard errors off", off)
	}
	if err := a.check(); err != nil {
		t.Error(err)
	}
	if err := l.Flush("end"); err != nil {
		t.Fatal(err)
	}
	want := privacy.Gaussian{Sigma: 0.5, Sensitivity: math.Sqrt2, Unit: privacy.Edge, Neighbouring: privacy.AddRemove}
	entries := l.Entries()
	if len(entries) != 1 || entries[0].Count != 3 || entries[0].Event != want || entries[0].Purpose != purposeTraining {
		t.Errorf("the ledger has %+v, want three releases of both views together", entries)
	}
}

// TestNoiseKeys: noise depends on phase, call, layer, side and node, and on neither
// the workers nor which other rows a frontier needs.
func TestNoiseKeys(t *testing.T) {
	defer tensor.SetWorkers(tensor.Workers())
	g := ringGraph(t, 700, 500, 0, 1, 5)
	users, items := unitTables(g, 16)
	run := func(workers int, phase string, call propagation) [][]tensor.Float {
		tensor.SetWorkers(workers)
		a := openTestNoise(t, testNoise, researchLedger(t))
		p := &nn.Propagation{Graph: g, Layers: 3, Weights: nn.EvenWeights(3), NormalizeRows: true, Noise: a}
		defer p.Close()
		if err := a.At(phase, call); err != nil {
			t.Fatal(err)
		}
		return layersOf(t, p, users, items)
	}
	want := run(1, phaseTrain, 3)
	for _, workers := range []int{2, 5} {
		for l, x := range run(workers, phaseTrain, 3) {
			if !slices.Equal(x, want[l]) {
				t.Errorf("layer %d with %d workers has other bytes", l, workers)
			}
		}
	}
	for _, c := range []struct {
		phase string
		call  propagation
	}{{phaseTrain, 4}, {phaseRelease, 3}, {phaseTrain, 3 + 1<<passBits}} {
		if x := run(2, c.phase, c.call); slices.Equal(x[1], want[1]) {
			t.Errorf("%s %d has the noise of training step 3", c.phase, c.call)
		}
	}
}

// TestNoiseOfFrontier compares what single nodes get from calls with other rows about.
func TestNoiseOfFrontier(t *testing.T) {
	add := func(users, items []int) map[string][]tensor.Float {
		a := openTestNoise(t, testNoise, researchLedger(t))
		if err := a.At(phaseTrain, 7); err != nil {
			t.Fatal(err)
		}
		if err := a.Begin(2, [2]int{len(users), len(items)}, 8); err != nil {
			t.Fatal(err)
		}
		got := map[string][]tensor.Float{}
		for side, nodes := range [][]int{users, items} {
			for rank, v := range nodes {
				row := make([]tensor.Float, 8)
				if err := a.Add(2, nn.Side(side), v, rank, row); err != nil {
					t.Fatal(err)
				}
				got[fmt.Sprint(side, v)] = row
			}
		}
		if err := a.End(2); err != nil {
			t.Fatal(err)
		}
		return got
	}
	all := add([]int{0, 1, 2, 3, 4}, []int{0, 1, 2, 3})
	some := add([]int{1, 4}, []int{3})
	for node, row := range some {
		if !slices.Equal(row, all[node]) {
			t.Errorf("node %s has other noise when fewer rows come", node)
		}
	}
	if slices.Equal(all["0 1"], all["1 1"]) {
		t.Error("a user and an item of the same number share noise")
	}
}

// TestNoiseFaults: what would make the ledger lie is found.
func TestNoiseFaults(t *testing.T) {
	rows := func() []tensor.Float { return make([]tensor.Float, 2*4) }
	for _, c := range []struct {
		name string
		do   func(a *layerNoise) error
		want string
	}{
		{"a layer without a propagation", func(a *layerNoise) error { return a.Begin(1, [2]int{1, 1}, 4) }, "no propagation"},
		{"an unknown phase", func(a *layerNoise) error { return a.At("test", 0) }, "unknown phase"},
		{"a row without noise", func(a *layerNoise) error {
			_ = a.At(phaseTrain, 0)
			_ = a.Begin(1, [2]int{2, 1}, 4)
			_ = a.Add(1, nn.UserSide, 0, 0, rows())
			return a.End(1)
		}, "got no noise"},
		{"a row twice", func(a *layerNoise) error {
			_ = a.At(phaseTrain, 0)
			_ = a.Begin(1, [2]int{2, 0}, 4)
			_ = a.Add(1, nn.UserSide, 0, 0, rows())
			_ = a.Add(1, nn.UserSide, 0, 0, rows())
			return a.End(1)
		}, "given twice"},
		{"a call twice", func(a *layerNoise) error {
			for range 2 {
				if err := a.At(phaseTrain, 5); err != nil {
					return err
				}
				if err := a.Begin(1, [2]int{2, 0}, 4); err != nil {
					return err
				}
				_ = a.Add(1, nn.UserSide, 0, 0, rows())
				if err := a.End(1); err != nil {
					return err
				}
			}
			return nil
		}, "used twice"},
		{"a call inside a layer", func(a *layerNoise) error {
			_ = a.At(phaseTrain, 0)
			_ = a.Begin(1, [2]int{2, 0}, 4)
			return a.At(phaseTrain, 1)
		}, "before a layer"},
	} {
		a := openTestNoise(t, testNoise, researchLedger(t))
		if err := c.do(a); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", c.name, err, c.want)
		}
	}
	for name, change := range map[string]func(o *layerNoiseOptions){
		"sigma":  func(o *layerNoiseOptions) { o.sigma = 0 },
		"joint":  func(o *layerNoiseOptions) { o.joint = math.NaN() },
		"layers": func(o *layerNoiseOptions) { o.layers = 0 },
		"epoch":  func(o *layerNoiseOptions) { o.perEpoch = 0 },
		"rate":   func(o *layerNoiseOptions) { o.rate = 0 },
	} {
		o := testNoise
		change(&o)
		if _, err := newLayerNoise(o, researchLedger(t), noiseStream); err == nil {
			t.Errorf("noise with a wrong %s was opened", name)
		}
	}
}

// TestNoisePeriods: steps of one epoch, and propagations of one release, are one line
// of the ledger each.
func TestNoisePeriods(t *testing.T) {
	g := ringGraph(t, 6, 4, 0, 1)
	users, items := unitTables(g, 8)
	l := researchLedger(t)
	a := openTestNoise(t, testNoise, l)
	p := &nn.Propagation{Graph: g, Layers: 3, Weights: nn.EvenWeights(3), Noise: a}
	defer p.Close()
	for _, c := range []struct {
		phase string
		call  propagation
	}{{phaseTrain, 0}, {phaseTrain, 3}, {phaseRelease, 0}, {phaseRelease, 1}, {phaseTrain, 4}, {phaseRelease, maxAverage}} {
		if err := a.At(c.phase, c.call); err != nil {
			t.Fatal(err)
		}
		layersOf(t, p, users, items)
	}
	var got []string
	for _, e := range l.Entries() {
		got = append(got, fmt.Sprintf("%s: %s %d", e.Period, e.Purpose, e.Count))
	}
	want := []string{"epoch 1: propagation, training 6", "release 1: propagation, releases 6", "epoch 2: propagation, training 3", ": propagation, releases 3"}
	if !slices.Equal(got, want) {
		t.Errorf("the ledger has %q, want %q", got, want)
	}
	if a.calls[phaseTrain] != 3 || a.calls[phaseRelease] != 3 {
		t.Errorf("calls are %v", a.calls)
	}
}

// TestNoiseOfSampledSteps: a step on a Poisson sample is one sampled event of all its
// layers, and propagations outside training are not sampled.
func TestNoiseOfSampledSteps(t *testing.T) {
	g := ringGraph(t, 6, 4, 0, 1)
	users, items := unitTables(g, 8)
	l := researchLedger(t)
	o := testNoise
	o.rate = 0.25
	a := openTestNoise(t, o, l)
	p := &nn.Propagation{Graph: g, Layers: 3, Weights: nn.EvenWeights(3), Noise: a}
	defer p.Close()
	for step := range 2 {
		if err := a.At(phaseTrain, propagation(step)); err != nil {
			t.Fatal(err)
		}
		layersOf(t, p, users, items)
	}
	if err := a.At(phaseRelease, 0); err != nil {
		t.Fatal(err)
	}
	layersOf(t, p, users, items)
	c := Default()
	c.Model.Norm, c.Privacy.Propagation, c.Train.Sampler = "sum", PropagationSampled, "poisson"
	c.Train.Batch = 3
	account, err := c.Account(Ran{Edges: 12, Sigma: o.sigma, Steps: 2, Releases: 1})
	if err != nil {
		t.Fatal(err)
	}
	if len(account.Components) != 2 || account.Components[0].Rate != 0.25 || account.Components[0].Releases != 6 || account.Components[1].Rate != 1 {
		t.Errorf("components are %+v", account.Components)
	}
	if err := account.Agree(l); err != nil {
		t.Error(err)
	}
	// A run that forgot to record a step is found.
	account.Covered *= 1.01
	if err := account.Agree(l); err == nil || !strings.Contains(err.Error(), "composes to") {
		t.Errorf("an account 1 %% off agrees: %v", err)
	}
}

// TestNoiseState stops in the middle of a run and goes on elsewhere, to the same noise.
func TestNoiseState(t *testing.T) {
	g := ringGraph(t, 30, 20, 0, 1)
	users, items := unitTables(g, 8)
	step := func(a *layerNoise, call propagation) [][]tensor.Float {
		p := &nn.Propagation{Graph: g, Layers: 3, Weights: nn.EvenWeights(3), Noise: a}
		defer p.Close()
		if err := a.At(phaseTrain, call); err != nil {
			t.Fatal(err)
		}
		return layersOf(t, p, users, items)
	}
	a := openTestNoise(t, testNoise, researchLedger(t))
	step(a, 0)
	b, err := a.Save()
	if err != nil {
		t.Fatal(err)
	}
	want := step(a, 1)
	resumed := openTestNoise(t, testNoise, researchLedger(t))
	if err := resumed.Load(b); err != nil {
		t.Fatal(err)
	}
	for l, x := range step(resumed, 1) {
		if !slices.Equal(x, want[l]) {
			t.Errorf("layer %d has other noise after the resume", l)
		}
	}
	if resumed.calls[phaseTrain] != 2 {
		t.Errorf("calls are %v", resumed.calls)
	}
	other := testNoise
	other.sigma = 0.6
	if err := openTestNoise(t, other, researchLedger(t)).Load(b); err == nil {
		t.Error("the state of other noise was accepted")
	}
	var s noiseState
	if err := json.Unmarshal(b, &s); err != nil {
		t.Fatal(err)
	}
	for _, bad := range []string{"", "{}", "[]", `{"steps": -1}`} {
		if err := openTestNoise(t, testNoise, researchLedger(t)).Load([]byte(bad)); err == nil {
			t.Errorf("state %q was accepted", bad)
		}
	}
}

// BenchmarkLayerNoise is the noise of one layer of Gowalla, all nodes, on one core.
func BenchmarkLayerNoise(b *testing.B) {
	const users, items, cols = 29858, 40981, 64
	l, err := privacy.NewLedger(privacy.Research)
	if err != nil {
		b.Fatal(err)
	}
	a, err := newLayerNoise(testNoise, l, noiseStream)
	if err != nil {
		b.Fatal(err)
	}
	rows := make([]tensor.Float, 16*cols)
	b.SetBytes(int64(users+items) * cols * 4)
	for call := 0; b.Loop(); call++ {
		if err := a.At(phaseTrain, propagation(call)); err != nil {
			b.Fatal(err)
		}
		if err := a.Begin(1, [2]int{users, items}, cols); err != nil {
			b.Fatal(err)
		}
		for side, n := range []int{users, items} {
			for v := 0; v < n; v += 16 {
				k := min(16, n-v)
				if err := a.Add(1, nn.Side(side), v, v, rows[:k*cols]); err != nil {
					b.Fatal(err)
				}
			}
		}
		if err := a.End(1); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64((users+items)*cols), "ns/value")
}
