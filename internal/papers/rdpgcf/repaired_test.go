package rdpgcf

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"privrec/internal/dataset"
	"privrec/internal/experiment"
	"privrec/internal/graph"
	"privrec/internal/privacy"
	"privrec/internal/privacy/accountant"
	"privrec/internal/privacy/accountant/rdp"
	"privrec/internal/rng"
	"privrec/internal/run"
	"privrec/internal/tensor"
)

// TestLabelNoiseOfSpecification is item 2 of section 6.7: the noise multiplier of
// DP-SGD over edges alone, at whole orders, as the printed numbers have it. Real orders,
// which this program searches, need up to 3.5 per cent less.
func TestLabelNoiseOfSpecification(t *testing.T) {
	for _, c := range []struct {
		set, epochs int
		want        [4]float64
	}{
		{1, 20, [4]float64{1.005, 0.664, 0.581, 0.497}},
		{1, 50, [4]float64{1.227, 0.729, 0.624, 0.528}},
		{1, 300, [4]float64{2.591, 1.138, 0.862, 0.663}},
		{2, 50, [4]float64{1.073, 0.689, 0.590, 0.505}},
		{0, 50, [4]float64{1.233, 0.731, 0.625, 0.529}},
	} {
		a := specCalibration(specSets[c.set].edges, AccountingPoisson, CountLayer)
		a.Layers, a.Epochs, a.Conversion = 1, c.epochs, ConversionTight
		for e, epsilon := range []float64{1, 3, 5, 10} {
			budget := privacy.Budget{Epsilon: epsilon, Delta: 1e-5}
			whole, err := rdp.CalibrateSampledGaussian(context.Background(), a.Rate(), a.Steps(), budget, rdp.Options{Conversion: rdp.Tight, Orders: rdp.Whole(64), Fixed: true})
			if err != nil {
				t.Fatal(err)
			}
			what := fmt.Sprintf("%s, %d epochs, epsilon %v", specSets[c.set].name, c.epochs, epsilon)
			within(t, what, whole, c.want[e], half)
			if sigma, err := a.Sigma(epsilon); err != nil || sigma > whole || sigma < 0.96*whole {
				t.Errorf("%s: sigma %v (%v), %v at whole orders", what, sigma, err, whole)
			}
		}
	}
}

// TestGraphNoiseOfSpecification is item 1: one propagation alone, at epsilon 5, under a
// clamp of 10 and under the paper's normaliser.
func TestGraphNoiseOfSpecification(t *testing.T) {
	mu, err := accountant.MuFor(5, 1e-5)
	if err != nil {
		t.Fatal(err)
	}
	within(t, "mu", mu, 1.1212, 1e-4)
	for norm, want := range map[string]float64{"sym-clamp:10": 0.302, "sym": 2.18} {
		n, err := graph.ParseNormalizer(norm)
		if err != nil {
			t.Fatal(err)
		}
		_, joint := n.Sensitivity()
		within(t, "noise of "+norm, joint*math.Sqrt(3)/mu, want, half)
	}
}

// TestSplit: one finite epsilon holds for both parts together, exactly composed, below
// what Rényi curves add up to; half of mu² makes the graph's noise sqrt(2) larger.
func TestSplit(t *testing.T) {
	c := Repaired()
	c.Model.Norm = "sym-clamp:10"
	s, err := c.Split(810_128)
	if err != nil {
		t.Fatal(err)
	}
	within(t, "noise of the graph part", s.Sigma, math.Sqrt2*0.302, half)
	if !(s.Epsilon <= 5 && s.Epsilon > 4.999) {
		t.Errorf("both parts come to %v, the budget is 5", s.Epsilon)
	}
	a, err := s.account(c)
	if err != nil {
		t.Fatal(err)
	}
	if len(a.Unbounded) != 0 || len(a.Components) != 3 || float64(a.Total) != s.Epsilon {
		t.Errorf("the account is %+v", a)
	}
	within(t, "mu of the graph part", float64(a.Components[0].Mu), 1.1212/math.Sqrt2, 1e-4)
	for _, p := range a.Components {
		if !(p.Eps > 0 && p.Eps < a.Total) {
			t.Errorf("%s comes to %v of %v", p.Name, p.Eps, a.Total)
		}
	}
	if sum := a.Components[0].Eps + a.Components[1].Eps + a.Components[2].Eps; sum < a.Total {
		t.Errorf("the whole, %v, is above the sum of its parts, %v", a.Total, sum)
	}
	// The simple way adds Rényi curves and converts once. It is an upper bound.
	first, err := rdp.Gaussian(s.Sigma, s.Joint)
	if err != nil {
		t.Fatal(err)
	}
	second, err := rdp.SampledGaussian(s.Rate, s.Multiplier)
	if err != nil {
		t.Fatal(err)
	}
	counts, err := rdp.Gaussian(s.Counts, 1)
	if err != nil {
		t.Fatal(err)
	}
	bound, err := rdp.Epsilon(context.Background(), rdp.Sum(rdp.Times(first, 3), counts, rdp.Times(second, s.Steps)), 1e-5, rdp.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if bound.Epsilon < s.Epsilon || bound.Epsilon > 1.25*s.Epsilon {
		t.Errorf("added curves give %v, the exact composition %v", bound.Epsilon, s.Epsilon)
	}
	lines := strings.Join(a.Lines(), "\n")
	for _, want := range []string{"claimed:   eps=5.000", "one propagation", "mu=0.7928", "DP-SGD", "total: eps=" + short(a.Total)} {
		if !strings.Contains(lines, want) {
			t.Errorf("%q is not in\n%s", want, lines)
		}
	}
	// More for one part leaves less for the other.
	c.Privacy.Repaired.GraphShare = 0.8
	other, err := c.Split(810_128)
	if err != nil {
		t.Fatal(err)
	}
	if !(other.Sigma < s.Sigma && other.Multiplier > s.Multiplier) {
		t.Errorf("shares of 0.5 and 0.8 give %+v and %+v", s, other)
	}
}

// TestSplitTellsTheNumberOfEdges: one edge more may be a step more in every epoch, and
// always is another rate, both of which a run shows. The account says so. It also says that a
// user's list, which leaves out the items of the user's row, shows that row to its reader, and
// that check sums are of the rows as they are.
func TestSplitTellsTheNumberOfEdges(t *testing.T) {
	c := Repaired()
	s, err := c.Split(10 * 1024)
	if err != nil {
		t.Fatal(err)
	}
	more, err := c.Split(10*1024 + 1)
	if err != nil {
		t.Fatal(err)
	}
	if more.Steps != s.Steps+int64(c.Train.Epochs) || more.Rate >= s.Rate {
		t.Errorf("%d steps at rate %v and %d at %v", s.Steps, s.Rate, more.Steps, more.Rate)
	}
	a, err := s.account(c)
	if err != nil {
		t.Fatal(err)
	}
	c.Privacy.Repaired.Edges = 10 * 1024
	decided := experiment.Account{}
	if err := decided.Decide(run.Rehearse(1), dataset.Source{Title: "own", Items: &dataset.Stated{File: "items.txt"}, Users: &dataset.Stated{File: "users.txt"}}, c.takes()); err != nil {
		t.Fatal(err)
	}
	a.Adopt(decided)
	if len(a.Unbounded) != 0 {
		t.Errorf("with all stated there is open: %v", a.Unbounded)
	}
	for where, text := range map[string]string{"the account": a.PublicText(), "the printout": strings.Join(a.Lines(), "\n")} {
		for _, want := range []string{"10240 training edges", "settings", "rows were split", "items.txt", "users.txt", "held-out rows", "users' own lists", "check sums"} {
			if !strings.Contains(text, want) {
				t.Errorf("%s does not say that it takes the %s as public:\n%s", where, want, text)
			}
		}
	}
}

// TestMapGradients compares the derivatives of both maps with differences of the
// margin, which is quadratic in the weights: central differences are exact.
func TestMapGradients(t *testing.T) {
	c := testRows(t, 7, 9, 5, 2)
	bias := make([]tensor.Float, 9)
	for i := range bias {
		bias[i] = tensor.Float(i*i) / 9
	}
	weighed := newBiased(newLinearMap(2, 5, 3, rng.Seed(1).Stream("map")), bias)
	weighed.w[len(weighed.w)-1] = 0.7
	for _, m := range []pairMap{newLayerPairs(2), newLinearMap(2, 5, 3, rng.Seed(1).Stream("map")), newBiased(newLayerPairs(2), bias), weighed} {
		dst := make([]tensor.Float, m.size())
		m.margin(dst, c, 3, 4, 8)
		scratch := make([]tensor.Float, m.size())
		for k, w := range m.weights() {
			const h = 0.25
			m.weights()[k] = w + h
			up := m.margin(scratch, c, 3, 4, 8)
			m.weights()[k] = w - h
			down := m.margin(scratch, c, 3, 4, 8)
			m.weights()[k] = w
			if got, want := float64(dst[k]), (up-down)/(2*h); math.Abs(got-want) > 1e-5*(1+math.Abs(want)) {
				t.Errorf("%T: derivative %d is %v, want %v", m, k, got, want)
			}
		}
		// The vectors' inner products are the scores.
		users, items := m.vectors(c)
		for u := range 7 {
			got := float64(tensor.Dot(tensor.Row(users, u), tensor.Row(items, 2)) - tensor.Dot(tensor.Row(users, u), tensor.Row(items, 6)))
			if want := m.margin(scratch, c, int32(u), 2, 6); math.Abs(got-want) > 1e-5*(1+math.Abs(want)) {
				t.Errorf("%T: user %d has margin %v by vectors, %v by the map", m, u, got, want)
			}
		}
	}
}

// testRows are cached rows of random numbers.
func testRows(t *testing.T, users, items, dim, layers int) *cachedRows {
	t.Helper()
	c := &cachedRows{users: users}
	for l := range layers + 1 {
		x := tensor.New(users+items, dim)
		s := rng.Seed(2).Stream("rows", uint64(l))
		for k := range x.Data {
			x.Data[k] = tensor.Float(s.NormFloat64())
		}
		c.layer = append(c.layer, x)
	}
	return c
}

// blocks is a graph of communities: users have items of their own one alone, every
// pair with probability share.
func blocks(t *testing.T, communities, users, items int, share float64) *graph.Bipartite {
	t.Helper()
	s := rng.Seed(8).Stream("blocks")
	var edges []graph.Edge
	for u := range communities * users {
		for k := range items {
			if s.Float64() < share {
				edges = append(edges, graph.Edge{User: int32(u), Item: int32(u/users*items + k)})
			}
		}
	}
	g, err := graph.NewBipartite(communities*users, communities*items, edges)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

func smallRepaired(mapping string) Config {
	c := Repaired()
	c.Model.Dim, c.Model.Layers, c.Model.Norm = 16, 2, "sum"
	c.Train.Batch, c.Train.Epochs = 128, 4
	c.Privacy.Repaired.Map = mapping
	if mapping == MapLinear {
		c.Privacy.Repaired.Dim = 8
	}
	return c
}

// repairedVectors runs the whole method and returns the vectors and the ledger.
func repairedVectors(t *testing.T, c Config, s Split, g *graph.Bipartite) (users, items tensor.Matrix, l *privacy.Ledger) {
	t.Helper()
	l = researchLedger(t)
	r, err := newRepairedRun(c, s, g, g, l, testStreams)
	if err != nil {
		t.Fatal(err)
	}
	defer r.rows.close()
	steps := int64(0)
	if err := r.train(t.Context(), nil, func(n int) { steps += int64(n) }); err != nil {
		t.Fatal(err)
	}
	if steps != r.split.Steps {
		t.Errorf("%d steps, want %d", steps, r.split.Steps)
	}
	users, items = r.vectors()
	return users, items, l
}

// inside is the share of users whose best item is of their own community: 1/communities
// by chance.
func inside(users, items tensor.Matrix, communities int) float64 {
	hits := 0
	for u := range users.Rows {
		best, top := 0, math.Inf(-1)
		for i := range items.Rows {
			if s := float64(tensor.Dot(tensor.Row(users, u), tensor.Row(items, i))); s > top {
				best, top = i, s
			}
		}
		if best*communities/items.Rows == u*communities/users.Rows {
			hits++
		}
	}
	return float64(hits) / float64(users.Rows)
}

// TestRepairedRun: with a wide budget the method finds communities that are there, what
// the ledger holds is what the account says, and workers change no byte.
func TestRepairedRun(t *testing.T) {
	defer tensor.SetWorkers(tensor.Workers())
	g := blocks(t, 4, 60, 40, 0.5)
	c := smallRepaired(MapPairs)
	c.Privacy.Epsilon = 60
	split, err := c.Split(int64(g.Edges()))
	if err != nil {
		t.Fatal(err)
	}
	for _, mapping := range []string{MapPairs, MapLinear} {
		c.Privacy.Repaired = smallRepaired(mapping).Privacy.Repaired
		var want []tensor.Float
		for _, workers := range []int{1, 2, 5} {
			tensor.SetWorkers(workers)
			users, items, l := repairedVectors(t, c, split, g)
			if want == nil {
				want = users.Data
			} else if !slices.Equal(want, users.Data) {
				t.Errorf("%s: %d workers give other bytes", mapping, workers)
			}
			if got := inside(users, items, 4); got < 0.9 {
				t.Errorf("%s: %v of the users get an item of their community, 0.25 is chance", mapping, got)
			}
			a, err := split.account(c)
			if err != nil {
				t.Fatal(err)
			}
			if err := a.Agree(l); err != nil {
				t.Errorf("%s: %v", mapping, err)
			}
		}
	}
}

// TestEdgesApart: every edge is in one part, which part does not depend on the other
// edges, and both parts may spend the whole budget. Of 4,800 edges the share of labels
// is within 7 standard deviations of 0.2 but once in 1e11.
func TestEdgesApart(t *testing.T) {
	g := blocks(t, 4, 60, 40, 0.5)
	rows, labels, err := apart(g, 0.2, testStream(purposeApart))
	if err != nil {
		t.Fatal(err)
	}
	if n := rows.Edges() + labels.Edges(); n != g.Edges() {
		t.Errorf("%d edges in both parts, %d in the graph", n, g.Edges())
	}
	n := float64(g.Edges())
	if off := (float64(labels.Edges()) - 0.2*n) / math.Sqrt(0.16*n); math.Abs(off) > 7 {
		t.Errorf("%d of %v edges are labels", labels.Edges(), n)
	}
	var some []graph.Edge // every third edge is gone
	for e := range g.Edges() {
		if x := g.Edge(e); rows.Has(x.User, x.Item) == labels.Has(x.User, x.Item) {
			t.Fatalf("edge %v is in both parts or in none", x)
		} else if e%3 > 0 {
			some = append(some, x)
		}
	}
	fewer, err := graph.NewBipartite(g.Users, g.Items, some)
	if err != nil {
		t.Fatal(err)
	}
	fewRows, fewLabels, err := apart(fewer, 0.2, testStream(purposeApart))
	if err != nil {
		t.Fatal(err)
	}
	for _, x := range some {
		if fewRows.Has(x.User, x.Item) != rows.Has(x.User, x.Item) || fewLabels.Has(x.User, x.Item) != labels.Has(x.User, x.Item) {
			t.Fatalf("edge %v changed its part when others left", x)
		}
	}
	if a, b, err := apart(g, 0, testStream(purposeApart)); err != nil || a != g || b != g {
		t.Errorf("a share of 0 gives %v and %v (%v), want the graph twice", a, b, err)
	}
	if _, _, err := apart(g, 1e-12, testStream(purposeApart)); err == nil || !strings.Contains(err.Error(), "label_share") {
		t.Errorf("no label at all: %v", err)
	}

	c := smallRepaired(MapPairs)
	c.Privacy.Repaired.GraphShare, c.Privacy.Repaired.LabelShare = 0, 0.2
	split, err := c.Split(int64(labels.Edges()))
	if err != nil {
		t.Fatal(err)
	}
	if !(split.Epsilon <= 5 && split.Epsilon > 4.99) {
		t.Errorf("the parts come to %v, the budget is 5", split.Epsilon)
	}
	a, err := split.account(c)
	if err != nil {
		t.Fatal(err)
	}
	// Labels by themselves, and propagation and counts together, come to the budget each.
	within(t, "labels", float64(a.Components[2].Eps), 5, 1e-3)
	together := math.Hypot(float64(a.Components[0].Mu), float64(a.Components[1].Mu))
	mu, err := accountant.MuFor(5, 1e-5)
	if err != nil {
		t.Fatal(err)
	}
	within(t, "mu of propagation and counts", together, mu, 1e-6)
	l := researchLedger(t)
	r, err := newRepairedRun(c, split, rows, labels, l, testStreams)
	if err != nil {
		t.Fatal(err)
	}
	defer r.rows.close()
	if err := r.train(t.Context(), nil, func(int) {}); err != nil {
		t.Fatal(err)
	}
	if err := split.agree(a, l); err != nil {
		t.Error(err)
	}
	if err := l.Record(purposeCounts, privacy.Gaussian{Sigma: 1, Sensitivity: 1, Unit: privacy.Edge, Neighbouring: privacy.AddRemove}, 1); err != nil {
		t.Fatal(err)
	}
	if err := split.agree(a, l); err == nil {
		t.Error("a release that the account does not know agrees")
	}
}

// TestCounts: numbers of users come back but for their noise, on the scale of a bias.
func TestCounts(t *testing.T) {
	var edges []graph.Edge
	for i := range 200 {
		for u := range 1 + i {
			edges = append(edges, graph.Edge{User: int32(u), Item: int32(i)})
		}
	}
	g, err := graph.NewBipartite(200, 200, edges)
	if err != nil {
		t.Fatal(err)
	}
	l := researchLedger(t)
	bias, err := releaseCounts(g, 0.01, l, testStream(purposeCounts))
	if err != nil {
		t.Fatal(err)
	}
	var sum, square float64
	for i, b := range bias {
		sum, square = sum+float64(b), square+float64(b)*float64(b)
		if i > 0 && b < bias[i-1] {
			t.Errorf("item %d of %d users has bias %v, item %d has %v", i, i+1, b, i-1, bias[i-1])
		}
	}
	if math.Abs(sum) > 1e-3 || math.Abs(square/200-1) > 1e-4 {
		t.Errorf("biases have sum %v and mean square %v", sum, square/200)
	}
	if e := l.Entries(); len(e) != 1 || e[0].Count != 1 {
		t.Errorf("the ledger has %+v", e)
	}
	loud, err := releaseCounts(g, 100, researchLedger(t), testStream(purposeCounts))
	if err != nil {
		t.Fatal(err)
	}
	if slices.IsSorted(loud) {
		t.Error("noise of 100 users leaves the order as it was")
	}
}

// TestRepairedRowsSeeNoEdge: layer 0 is the same for any graph, and the later layers
// are unit rows.
func TestRepairedRowsSeeNoEdge(t *testing.T) {
	c, split := smallRepaired(MapPairs), Split{Sigma: 1, Joint: math.Sqrt2, Layers: 2}
	var first []tensor.Float
	for _, share := range []float64{0.1, 0.9} {
		g := blocks(t, 2, 30, 20, share)
		r, err := newRepairedRun(c, split, g, g, researchLedger(t), testStreams)
		if err != nil {
			t.Fatal(err)
		}
		if first == nil {
			first = slices.Clone(r.rows.layer[0].Data)
		} else if !slices.Equal(first, r.rows.layer[0].Data) {
			t.Error("layer 0 depends on the edges")
		}
		for l, x := range r.rows.layer {
			for v := range x.Rows {
				if norm := math.Sqrt(tensor.SumSq(tensor.Row(x, v))); norm > 1 || norm < 0.999 {
					t.Fatalf("row %d of layer %d has norm %v", v, l, norm)
				}
			}
		}
		r.rows.close()
	}
}

// TestRepairedInterrupted: a run that is stopped says so.
func TestRepairedInterrupted(t *testing.T) {
	g := blocks(t, 2, 30, 20, 0.5)
	r, err := newRepairedRun(smallRepaired(MapPairs), Split{Sigma: 1, Joint: math.Sqrt2, Layers: 2, Multiplier: 1, Rate: 0.1, Steps: 40}, g, g, researchLedger(t), testStreams)
	if err != nil {
		t.Fatal(err)
	}
	defer r.rows.close()
	ctx, cancel := context.WithCancel(t.Context())
	if err := r.train(ctx, nil, func(int) { cancel() }); err == nil || !strings.Contains(err.Error(), run.ErrInterrupted.Error()) {
		t.Errorf("the error is %v", err)
	}
}
