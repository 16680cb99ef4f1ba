package rdpgcf

import (
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"privrec/internal/experiment"
	"privrec/internal/graph"
	"privrec/internal/privacy"
	"privrec/internal/privacy/mechanism/mechanismtest"
	"privrec/internal/privacy/mechanism/secure"
	"privrec/internal/rng"
	"privrec/internal/run"
	"privrec/internal/run/runtest"
	"privrec/internal/tensor"
)

// normOf reads a normaliser.
func normOf(t *testing.T, s string) graph.Normalizer {
	t.Helper()
	n, err := graph.ParseNormalizer(s)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// stepsOf returns the sums of all nodes of a graph in whole numbers.
func stepsOf(s *wholeSums, rows []int32, cols int) [][]int64 {
	out := make([][]int64, s.g.Nodes())
	for v := range out {
		out[v] = make([]int64, cols)
		s.into(out[v], rows, v)
	}
	return out
}

// No edge moves the sums of both sides by more than is stated, on random graphs with stars among them and
// rows of the greatest length: every edge of each is tried, and some come near. Sums are exact.
func TestWholeSumsMoveByWhatIsStated(t *testing.T) {
	const cols = 3
	s := rng.Seed(3).Stream("whole")
	for _, norm := range []string{"right-clamp:1", "right-clamp:3", "right-clamp:10", "sum"} {
		for _, sigma := range []float64{1e-3, 0.7, 90} {
			closest := 0.0
			for trial := range 40 {
				users, items := 1+s.IntN(12), 1+s.IntN(12)
				var edges []graph.Edge
				density := s.Float64()
				for u := range users {
					for i := range items {
						if trial%4 == 0 && (u == 0 || i == 0) || s.Float64() < density {
							edges = append(edges, graph.Edge{User: int32(u), Item: int32(i)})
						}
					}
				}
				if len(edges) == 0 {
					continue
				}
				whole, err := graph.NewBipartite(users, items, edges)
				if err != nil {
					t.Fatal(err)
				}
				x, err := newWholeSums(whole, normOf(t, norm), sigma)
				if err != nil {
					t.Fatal(err)
				}
				rows, z := make([]int32, (users+items)*cols), make([]float64, cols)
				for v := range users + items {
					s.Normals64(z)
					if v%2 == 0 {
						clear(z)
						z[v%cols] = 1 // as long as a row can be
					}
					if err := x.place(rows[v*cols:(v+1)*cols], z); err != nil {
						t.Fatal(err)
					}
				}
				with := stepsOf(x, rows, cols)
				for v, sum := range x.sum(rows, cols) {
					if got := sum / x.step; got != float64(with[v/cols][v%cols]) {
						t.Fatalf("a sum of %v steps, want %d", got, with[v/cols][v%cols])
					}
				}
				for e := range edges {
					g, err := graph.NewBipartite(users, items, slices.Delete(slices.Clone(edges), e, e+1))
					if err != nil {
						t.Fatal(err)
					}
					other := *x
					other.g = g
					square := 0.0
					for v, sum := range stepsOf(&other, rows, cols) {
						for k := range sum {
							d := float64(sum[k]-with[v][k]) * x.step
							square += d * d
						}
					}
					moved := math.Sqrt(square)
					if moved > x.joint {
						t.Fatalf("%s, sigma %g: an edge moves sums by %v, stated are %v", norm, sigma, moved, x.joint)
					}
					closest = max(closest, moved/x.joint)
				}
			}
			if closest < 0.9 {
				t.Errorf("%s, sigma %g: the worst edge moves sums by %.2f of what is stated: the test sees little", norm, sigma, closest)
			}
		}
	}
}

// A weight is the largest whole number that is not above the real one. What is stated of an edge is that of
// real numbers, but for the whole ones.
func TestWeightsAreRoots(t *testing.T) {
	for _, a := range []int{8, 13, 20} {
		for d := range 5000 {
			r := inverseRoot(a, d+1)
			if below, above := r*r*int64(d+1), (r+1)*(r+1)*int64(d+1); below > 1<<(2*a) || above <= 1<<(2*a) {
				t.Fatalf("2^%d/sqrt(%d): %d", a, d+1, r)
			}
		}
	}
	g, err := graph.NewBipartite(900, 1600, []graph.Edge{{User: 0, Item: 0}})
	if err != nil {
		t.Fatal(err)
	}
	for _, norm := range []string{"right-clamp:10", "sum"} {
		n := normOf(t, norm)
		x, err := newWholeSums(g, n, 0.7)
		if err != nil {
			t.Fatal(err)
		}
		if _, joint := n.Sensitivity(); math.Abs(x.joint/joint-1) > 1e-3 {
			t.Errorf("%s: %v, of real numbers %v", norm, x.joint, joint)
		}
	}
	var usage *run.UsageError
	for _, norm := range []string{"sym", "sym-clamp:10"} {
		if _, err := newWholeSums(g, normOf(t, norm), 1); !errors.As(err, &usage) {
			t.Errorf("%s: %v", norm, err)
		}
	}
}

// secretSplit returns a split with secure noise on a small graph, and a ledger for it.
func secretSplit(t *testing.T, c Config, edges ...graph.Edge) (Split, *graph.Bipartite, *privacy.Ledger) {
	t.Helper()
	g, err := graph.NewBipartite(8, 9, edges)
	if err != nil {
		t.Fatal(err)
	}
	s, err := c.secretly(g, g)
	if err != nil {
		t.Fatal(err)
	}
	return s, g, mechanismtest.SecureLedger(t)
}

// What a layer releases is the exact sums and discrete normal noise of the event in the ledger: chi-square
// of its steps and of their last bits, false alarm 1e-9 each. The next layer is made of what was released.
func TestLayersHaveTheLawOfTheirEvent(t *testing.T) {
	c := smallRepaired(MapPairs)
	c.Model.Layers, c.Model.Dim = 2, 200
	s, g, l := secretSplit(t, c, graph.Edge{User: 1, Item: 2}, graph.Edge{User: 1, Item: 3}, graph.Edge{User: 4, Item: 2})
	x, sigma := s.secret, s.secret.layers.Sigma/s.secret.sums.step
	e := x.events[0].(privacy.Sampled).Event.(privacy.DiscreteGaussian)
	if ratio := e.Sigma / e.Sensitivity / (s.Sigma / s.Joint); ratio < 1 || ratio > 1+1e-6 || e.Sigma < sigma {
		t.Errorf("%+v: noise of %v times what was asked", e, ratio)
	}
	now := drawRows(g, c.Model.Dim, testStream(purposeRows))
	rows, err := x.take(&cachedRows{users: g.Users}, now, c.Model.Dim)
	if err != nil {
		t.Fatal(err)
	}
	var noise []int64
	for range 30 {
		clean := x.sums.sum(rows, c.Model.Dim)
		ch, err := secure.OpenGaussian[float64](x.layers, l)
		if err != nil {
			t.Fatal(err)
		}
		y := slices.Clone(clean)
		if err := ch.Perturb(y, c.Model.Dim, 1, 1); err != nil {
			t.Fatal(err)
		}
		for i := range y {
			noise = append(noise, int64((y[i]-clean[i])/x.sums.step))
		}
	}
	i := -1
	mechanismtest.CheckLaw(t, "noise", len(noise), int64(e.Sigma/10), func() int64 { i++; return noise[i] }, secure.DiscreteGaussianLaw{Sigma: e.Sigma}.PMF)
	low := make([]int, 64)
	for _, k := range noise {
		low[k&63]++
	}
	mechanismtest.CheckCounts(t, "last bits", low, func(int) float64 { return 1.0 / 64 })

	own := mechanismtest.SecureLedger(t)
	kept, err := x.releaseRows(c.Model.Layers, c.Model.Dim, own, testStream(purposeRows))
	if err != nil {
		t.Fatal(err)
	}
	if n := mechanismtest.CountOf(own); n != int64(c.Model.Layers) || kept.layers() != c.Model.Layers {
		t.Errorf("%d releases of %d layers, %d rows kept", n, c.Model.Layers, kept.layers())
	}
	for l, m := range kept.layer {
		for v := range m.Rows {
			if n := float64(tensor.Dot(tensor.Row(m, v), tensor.Row(m, v))); n > 1+1e-6 || n < 0.99 {
				t.Fatalf("row %d of layer %d has length %v", v, l, math.Sqrt(n))
			}
		}
	}
}

// A whole run with secure noise has the epsilon of the seeded one, a ledger of discrete noise alone, and says
// which files may leave the house.
func TestSecureRepaired(t *testing.T) {
	sets := secureSets("model.layers=2")
	seeded, dir := filepath.Join(t.TempDir(), "run"), filepath.Join(t.TempDir(), "run")
	if err := trySecure(t, seeded, run.Options{}, sets...); err != nil {
		t.Fatal(err)
	}
	if err := trySecure(t, dir, run.Options{}, append(sets, "run.secure=true")...); err != nil {
		t.Fatal(err)
	}
	a, b := runtest.ReadJSON[Account](t, dir, "privacy.json", false), runtest.ReadJSON[Account](t, seeded, "privacy.json", false)
	if x, y := float64(a.Covered), float64(b.Covered); x > 5 || math.Abs(x-y) > 1e-3*y || a.Noise != string(privacy.Secure) || !slices.Equal(a.Published, []string{experiment.ModelFile, run.LedgerName}) {
		t.Errorf("epsilon %v with secure noise, %v with seeded: %+v", x, y, a.Account)
	}
	for i := range b.Components {
		if z := a.Components[i].Std / b.Components[i].Std; math.Abs(z-1) > 2e-3 {
			t.Errorf("%s: noise of %v with secure noise, %v with seeded", b.Components[i].Name, a.Components[i].Std, b.Components[i].Std)
		}
	}
	l, err := privacy.Reading{}.File(filepath.Join(dir, run.LedgerName))
	if err != nil || l.Noise() != privacy.Secure {
		t.Fatal(err)
	}
	for _, e := range l.Entries() {
		if s, ok := e.Event.(privacy.Sampled); !ok || s.Event.Kind() != (privacy.DiscreteGaussian{}).Kind() {
			t.Errorf("the ledger has %+v", e)
		}
	}
	if _, err := os.Stat(filepath.Join(dir, experiment.ModelFile)); err != nil {
		t.Error(err)
	}
}

// A run that was stopped releases its rows once, passes over the steps that were lost, and never draws more
// than it planned. Without its checkpoint it is refused: other rows would be a second release.
func TestSecureRepairedResumes(t *testing.T) {
	sets := append(secureSets("model.layers=1"), "run.secure=true", "run.save_steps=2")
	dir := filepath.Join(t.TempDir(), "run")
	checkpoint := filepath.Join(dir, "checkpoint", "checkpoint.safetensors")
	stopped := func(at int, resume bool) {
		t.Helper()
		if err := try(runtest.NewFuse(t, at, nil), Tasks()[0], dir, sets, run.Options{Resume: resume}); !run.WasInterrupted(err) {
			t.Fatal(err)
		}
	}
	stopped(6, false)
	early, err := os.ReadFile(checkpoint)
	if err != nil {
		t.Fatal(err)
	}
	known := releasesOf(t, dir)
	stopped(11, true)
	lost := releasesOf(t, dir)["labels"] - known["labels"]
	if err := os.WriteFile(checkpoint, early, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := trySecure(t, dir, run.Options{Resume: true}, sets...); err != nil {
		t.Fatal(err)
	}
	a, n := runtest.ReadJSON[Account](t, dir, "privacy.json", false), releasesOf(t, dir)
	if n[purposeReleases] != 1 || n[purposeCounts] != 1 || n[purposeLabels] != a.Components[2].Releases || lost == 0 {
		t.Errorf("%v after %d steps were lost, planned were %d steps", n, lost, a.Components[2].Releases)
	}

	dir = filepath.Join(t.TempDir(), "run")
	checkpoint = filepath.Join(dir, "checkpoint", "checkpoint.safetensors")
	stopped(6, false)
	if err := os.Remove(checkpoint); err != nil {
		t.Fatal(err)
	}
	if err := trySecure(t, dir, run.Options{Resume: true}, sets...); err == nil || !strings.Contains(err.Error(), "second release") {
		t.Error(err)
	}
}

// secureSets are those of a small run of the repaired method.
func secureSets(more ...string) []string {
	return append(slices.Concat(suite.Sets["rdpgcf"], repairedSets()), more...)
}

// trySecure starts a run in a directory.
func trySecure(t *testing.T, dir string, o run.Options, sets ...string) error {
	t.Helper()
	return try(t.Context(), Tasks()[0], dir, sets, o)
}

// releasesOf counts the releases in the ledger of a run by their purpose.
func releasesOf(t *testing.T, dir string) map[string]int64 {
	t.Helper()
	l, err := privacy.Reading{Unfinished: true}.File(filepath.Join(dir, run.LedgerName))
	if err != nil {
		t.Fatal(err)
	}
	n := map[string]int64{}
	for _, e := range l.Entries() {
		n[e.Purpose] += e.Count
	}
	return n
}

// The gradient of an edge does not depend on which other edges there are, so that one edge more moves a sum
// by its own gradient alone: its negative is drawn by the edge, and not by its place.
func TestNegativesBelongToEdges(t *testing.T) {
	c := smallRepaired(MapPairs)
	some := []graph.Edge{{User: 1, Item: 2}, {User: 4, Item: 2}, {User: 7, Item: 8}}
	keys := func(edges ...graph.Edge) map[graph.Edge]uint64 {
		_, g, _ := secretSplit(t, c, edges...)
		m := &mapTraining{r: &repairedRun{cfg: c, graph: g}}
		out := map[graph.Edge]uint64{}
		for e := range g.Edges() {
			out[g.Edge(e)] = m.key(int32(e))
		}
		return out
	}
	few, more := keys(some...), keys(append(slices.Clone(some), graph.Edge{User: 0, Item: 5})...)
	for e, k := range few {
		if more[e] != k {
			t.Errorf("edge %v has key %d, and %d beside another edge", e, k, more[e])
		}
	}
	if len(few) != 3 || len(more) != 4 {
		t.Error(few, more)
	}
}

// The published method has no guarantee for secure noise to keep, and a stated number of edges one up to
// which the grid does not tell it.
func TestSecureRefuses(t *testing.T) {
	var usage *run.UsageError
	for want, sets := range map[string][]string{
		"privacy.method=layers": {"data.name=standin-tiny", "run.secure=true"},
		"model.norm=sym":        secureSets("model.layers=1", "run.secure=true", "model.norm=sym-clamp:10"),
	} {
		if err := trySecure(t, filepath.Join(t.TempDir(), "run"), run.Options{}, sets...); !errors.As(err, &usage) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", want, err)
		}
	}
	c := smallRepaired(MapPairs)
	c.Privacy.Repaired.Edges = largestStated + 1
	g, err := graph.NewBipartite(1, 1, []graph.Edge{{}})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.secretly(g, g); err == nil || !strings.Contains(err.Error(), fmt.Sprint(largestStated)) {
		t.Error(err)
	}
}
