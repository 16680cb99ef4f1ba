package dipsgnn

import (
	"context"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"privrec/internal/autograd"
	"privrec/internal/dataset"
	"privrec/internal/graph"
	"privrec/internal/privacy"
	"privrec/internal/protocol/nextitem"
	"privrec/internal/rng"
	"privrec/internal/run"
	"privrec/internal/tensor"
)

// onEdges makes the small setting EdgeRand's.
var onEdges = slices.Clip([]string{"privacy.transitions.noise_on=edges", "model.normalise=none"})

// A claimed epsilon of 5 is calibrated for one prefix; an edge is in up to n-2 of them. The numbers are from a
// calculation outside of this program, whatever the epochs.
func TestEdgeRandClaimAndAccount(t *testing.T) {
	for data, want := range map[string]float64{"ML-1M": 68.7, "Yelp": 29.6, "Tmall": 42.1} {
		a := Accounting{Epsilon: 5, Delta: 2.5e-7, Steps: 1, Norm: 1, Edges: true, Epochs: 1}
		n := slices.Max(longest[data])
		var sequence, length []int32
		for l := 1; l < n; l++ {
			sequence, length = append(sequence, 0), append(length, int32(l))
		}
		var err error
		if a.Train, err = ofGraphs.count(sequence, length); err != nil {
			t.Fatal(err)
		}
		p := privacyOf(t, a)
		within(t, data+", sigma", p.Sigma, 1.1870, 1e-4)
		within(t, data+", one prefix", float64(row(t, p, "one prefix").EpsRDP), 5, 1e-9)
		within(t, data+", unit edge", float64(row(t, p, "unit edge, all prefixes").EpsRDP), want, 0.001)
		if u := p.Units[0].Accounted; u.S2 != 1 || u.MTrain != int64(n-2) || u.EpsExact >= u.EpsRDP {
			t.Errorf("%s: %+v", data, u)
		}
		if !math.IsInf(float64(p.Total), 1) {
			t.Errorf("%s: total %v, though labels and readout have no noise", data, p.Total)
		}
	}
}

// The squared sensitivities are the largest changes of a matrix of counts over all short sequences.
func TestEdgeRandSensitivity(t *testing.T) {
	const items, length = 4, 5
	found := sensitivity{edge: ofGraphs.edge, perUser: ofGraphs.perUser}
	counts := func(s []int) (m [items * items]int) {
		for p := 1; p < len(s); p++ {
			m[s[p-1]*items+s[p]]++
		}
		return m
	}
	apart := func(a, b []int) (sq int64) {
		x, y := counts(a), counts(b)
		for i := range x {
			sq += int64((x[i] - y[i]) * (x[i] - y[i]))
		}
		return sq
	}
	for code := range 1 << (2 * length) {
		s := make([]int, length)
		for p := range s {
			s[p] = code >> (2 * p) & 3
		}
		for p := 1; p < length; p++ {
			other := slices.Clone(s)
			other[p-1], other[p] = s[p], s[p-1]
			found.swap = max(found.swap, apart(s, other))
			found.swapTwo = max(found.swapTwo, apart(s[p-1:p+1], other[p-1:p+1]))
		}
		for p := range s {
			d := apart(s, slices.Concat(s[:p], s[p+1:]))
			end := p == 0 || p == length-1
			if end {
				found.deleteEnd = max(found.deleteEnd, d)
			} else {
				found.deleteInside = max(found.deleteInside, d)
			}
			for b := range items {
				other := slices.Clone(s)
				other[p] = b
				d := apart(s, other)
				if end {
					found.replaceEnd = max(found.replaceEnd, d)
					continue
				}
				found.replaceInside = max(found.replaceInside, d)
				if l, a, r := s[p-1], s[p], s[p+1]; l != a && l != r && a != r && b != a && b != l && b != r {
					found.replaceApart = max(found.replaceApart, d)
				}
			}
		}
	}
	if found != ofGraphs {
		t.Errorf("found %+v, stated %+v", found, ofGraphs)
	}
	if d := apart([]int{0, 0, 0, 0, 0}, []int{1, 1, 1, 1, 1}); d != ofGraphs.perUser*(length-1)*(length-1) {
		t.Errorf("a user for another: %d", d)
	}
}

// withGraphs calls f with the data and the protection of a small run of EdgeRand.
func withGraphs(t *testing.T, f func(x *nextitem.Experiment, p *protection)) {
	t.Helper()
	inRun(t, onEdges, func(_ context.Context, env *run.Env, c Config, x *nextitem.Experiment) error {
		p, err := newProtection(env, x, c)
		if err != nil {
			return err
		}
		if err := p.releaseGraphs(); err != nil {
			return err
		}
		f(x, p)
		return nil
	})
}

// matricesOf returns the released matrices of samples of a part.
func matricesOf(t *testing.T, p *protection, q *nextitem.Part, samples []int32) (*graphMatrices, *graph.Packed) {
	t.Helper()
	g, err := p.graphs(q)
	if err != nil {
		t.Fatal(err)
	}
	sessions, err := graph.NewSessions(q.Sequences, p.x.Items)
	if err != nil {
		t.Fatal(err)
	}
	b := &graph.Packed{}
	b.Pack(sessions, q.Samples.User, q.Samples.Length, samples)
	m, err := g.matrices(autograd.NewTape(), b, q.Samples, samples, true)
	if err != nil {
		t.Fatal(err)
	}
	return m, b
}

// A prefix has one noisy graph: in every epoch, in any batch, in the first training and in the second. Each is released
// once, and the ledger says in how many the worst edge is.
func TestEdgeRandReleasesEachPrefixOnce(t *testing.T) {
	withGraphs(t, func(x *nextitem.Experiment, p *protection) {
		one, _ := matricesOf(t, p, x.Train, []int32{7, 3, 11})
		again, _ := matricesOf(t, p, x.Train, []int32{3, 8})
		matrix := func(m *graphMatrices, k int) string { return fmt.Sprint(m.data[m.at[k]:m.at[k+1]]) }
		if matrix(one, 1) != matrix(again, 0) {
			t.Error("a prefix has another graph in another batch")
		}
		same := -1
		for i := range x.Refit.Samples.User {
			if x.Refit.Samples.User[i] == x.Train.Samples.User[3] && x.Refit.Samples.Length[i] == x.Train.Samples.Length[3] {
				same = i
			}
		}
		if refit, _ := matricesOf(t, p, x.Refit, []int32{int32(same)}); matrix(refit, 0) != matrix(one, 1) {
			t.Error("a prefix has another graph in the second training")
		}
		all := dataset.Prefixes(x.Data.Train)
		counts, err := CountPrefixes(all.User, all.Length)
		if err != nil {
			t.Fatal(err)
		}
		var train privacy.Entry
		for _, e := range p.ledger.Entries() {
			if e.Purpose == purposeGraphs+"train" {
				train = e
			}
		}
		if train.Count != int64(all.Len()) || train.PerUnit != counts.Edge || train.Period != "before training" {
			t.Errorf("%+v, want %d releases, %d for the worst edge", train, all.Len(), counts.Edge)
		}
	})
}

// A released matrix is the counts with normal noise on every entry, those without a transition included.
func TestEdgeRandMatrices(t *testing.T) {
	withGraphs(t, func(x *nextitem.Experiment, p *protection) {
		m, b := matricesOf(t, p, x.Train, x.Train.All()[:200])
		sum, sq, n := 0.0, 0.0, 0.0
		for k := range b.Len() {
			nodes := int(b.NodeOff[k+1] - b.NodeOff[k])
			clear := make([]float64, nodes*nodes)
			for e := b.EdgeOff[k]; e < b.EdgeOff[k+1]; e++ {
				clear[int(b.Src[e]-b.NodeOff[k])*nodes+int(b.Dst[e]-b.NodeOff[k])]++
			}
			for i, v := range clear {
				d := (float64(m.data[m.at[k]+i]) - v) / 1.1870
				sum, sq, n = sum+d, sq+d*d, n+1
			}
		}
		if math.Abs(sum) > 6.5*math.Sqrt(n) || math.Abs(sq-n) > 6.5*math.Sqrt(2*n)+3e-4*n { // 6.5 standard deviations, and the digits of sigma
			t.Errorf("noise of %v entries: sum %v, sum of squares %v, in units of sigma", n, sum, sq)
		}
	})
}

// Products with the released matrices are those of a loop, and so are their gradients.
func TestEdgeRandProducts(t *testing.T) {
	withGraphs(t, func(x *nextitem.Experiment, p *protection) {
		m, b := matricesOf(t, p, x.Train, []int32{5, 0, 9})
		const d = 3
		s := rng.Seed(1).Stream("x")
		param, weights := autograd.NewParam("x", b.Nodes(), d), tensor.New(b.Nodes(), d)
		for i := range param.Value.Data {
			param.Value.Data[i], weights.Data[i] = tensor.Float(s.Float64()), tensor.Float(s.Float64())
		}
		for _, dir := range []Direction{Incoming, Outgoing} {
			tape := autograd.NewTape()
			y := m.sum(tape, tape.Use(param), dir)
			tape.Backward(y.Mul(tape.Const(weights)).SumAll())
			g, _ := tape.Grads().Dense(param)
			for k := range b.Len() {
				from, n := int(b.NodeOff[k]), int(b.NodeOff[k+1]-b.NodeOff[k])
				for i := range n {
					for c := range d {
						sum, back := 0.0, 0.0
						for j := range n {
							to, fro := m.data[m.at[k]+i*n+j], m.data[m.at[k]+j*n+i]
							if dir == Incoming {
								to, fro = fro, to
							}
							sum += float64(to) * float64(tensor.Row(param.Value, from+j)[c])
							back += float64(fro) * float64(tensor.Row(weights, from+j)[c])
						}
						if math.Abs(float64(tensor.Row(y.V, from+i)[c])-sum) > 1e-4 || math.Abs(float64(tensor.Row(g, from+i)[c])-back) > 1e-4 {
							t.Fatalf("direction %d, session %d, node %d", dir, k, i)
						}
					}
				}
			}
		}
	})
}

// A run's ledger composes to its account, which does not grow with epochs or steps; noise in the test adds its own
// prefixes; and what stays in the clear is named, the backward pass not among it.
func TestEdgeRandRun(t *testing.T) {
	var first Accounted
	for i, sets := range [][]string{{}, {"train.epochs=3", "model.steps=2"}, {`eval.noise=["off"]`}} {
		dir := filepath.Join(t.TempDir(), "run")
		text := start(t, Task(), dir, append(onEdges, sets...))
		p := readJSON[Privacy](t, dir, "privacy.json")
		u := p.Units[0].Accounted
		switch i {
		case 0:
			if first = u; u.MEval == 0 || u.S2M != float64(u.MTrain+u.MEval) {
				t.Errorf("%+v", u)
			}
		case 1:
			if u != first {
				t.Errorf("more epochs and steps: %+v, want %+v", u, first)
			}
		case 2:
			if u.MEval != 0 || u.MTrain != first.MTrain {
				t.Errorf("noise off: %+v", u)
			}
		}
		for _, o := range p.Unbounded {
			if o.What == "backward" {
				t.Error("the backward pass reads released graphs alone")
			}
		}
		if len(p.Unbounded) == 0 || !strings.Contains(text, "\nEdgeRand on ") || !strings.Contains(text, "unit edge, all prefixes") {
			t.Errorf("%+v\n%s", p.Unbounded, text)
		}
	}
}

func TestEdgeRandRefuses(t *testing.T) {
	for set, want := range map[string]string{
		"privacy.transitions.noise_on=nodes": "privacy.transitions.noise_on", "privacy.transitions.noise_std=sigma_squared": "privacy.transitions.noise_std",
		"privacy.transitions.epsilon=.inf": "privacy.transitions.epsilon", "privacy.transitions.noise_on=messages": "model.normalise",
	} {
		if err := Task().Check("", append(onEdges, set)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", set, err)
		}
	}
	if err := Task().Check("", onEdges); err != nil {
		t.Error(err)
	}
}
