package dipsgnn

import (
	"fmt"
	"math"
	"testing"

	"privrec/internal/model/userinput"
	"privrec/internal/protocol/nextitem"

	"pgregory.net/rapid"

	"privrec/internal/autograd"
	"privrec/internal/autograd/gradcheck"
	"privrec/internal/dataset"
	"privrec/internal/graph"
	"privrec/internal/model/ggnn/ggnntest"
	"privrec/internal/nn"
	"privrec/internal/privacy"
	"privrec/internal/privacy/mechanism/channel"
	"privrec/internal/rng"
	"privrec/internal/tensor"
	"privrec/internal/train"
)

// drawn is the noise of one aggregation by item: what was added to the row of
// each item of the session.
type drawn func(step int, dir Direction, item int32) []float64

// none is no noise.
func none(int, Direction, int32) []float64 { return nil }

// dense is the network on one session, straight from the formulas of section 4.
func dense(n *Network, s ggnntest.Session, user []float64, noise drawn) []float64 {
	z, _ := denseWithMargin(n, s, user, noise)
	return z
}

// denseWithMargin tells too how close the norm of a row comes to C.
func denseWithMargin(n *Network, s ggnntest.Session, user []float64, noise drawn) (z []float64, margin float64) {
	d, margin := n.Item.Value.Cols, math.Inf(1)
	h := s.States(ggnntest.Values(n.Item))
	for step := range n.Steps {
		hb := make(ggnntest.Dense, len(h))
		for i, j := range ggnntest.Join(h, ggnntest.Repeat(user, len(h))) {
			norm := math.Sqrt(ggnntest.Dot(j, j))
			margin = min(margin, math.Abs(norm-n.Norm))
			scale := n.Norm / max(norm, 1e-12)
			if n.Clip {
				scale = min(1, n.Norm/norm)
			}
			for _, v := range j {
				hb[i] = append(hb[i], scale*v)
			}
		}
		noisy := func(adjacency ggnntest.Dense, dir Direction) ggnntest.Dense {
			y := ggnntest.Mul(adjacency, hb)
			for i := range y {
				if !n.Adjacency {
					clear(y[i])
				}
				for k, z := range noise(step, dir, s.Items[i]) {
					y[i][k] += z
				}
			}
			return y
		}
		in, out := noisy(s.In, Incoming), noisy(s.Out, Outgoing)
		g := make(ggnntest.Dense, len(hb))
		for i := range g {
			g[i] = hb[i][:d]
		}
		x := ggnntest.Join(ggnntest.Affine(n.In.W, n.In.B, in), ggnntest.Affine(n.Out.W, n.Out.B, out))
		h = ggnntest.Cell(n.Cell, x, g)
	}
	return ggnntest.Readout(n.Read, s, h, user), margin
}

// mixed gives every user a row of 0, 1 and fractions.
func mixed(users, width int, seed rng.Seed) tensor.Matrix {
	x, s := tensor.New(users, width), seed.Stream("features")
	for i := range x.Data[:users*width] {
		x.Data[i] = tensor.Float(s.IntN(3)) / 2
	}
	return x
}

// recommenderOf is a small model on a batch's prefixes.
// The noise is by's; nil: none.
func recommenderOf(t testing.TB, b ggnntest.Batch, c ModelConfig, seed rng.Seed, by noise) *recommender {
	t.Helper()
	p := nextitem.NewPart("train", b.Sequences, dataset.Samples{User: b.User, Length: b.Length}, b.Items)
	features := tensor.Matrix{}
	if c.UserInput == userinput.Features {
		features = mixed(len(b.Sequences), 3, seed)
	}
	return newRecommender(t, newNoisy(b.Items, len(b.Sequences), c, features, nn.Uniform(seed, 0.8)), p, by)
}

// userVectors are e_u of all users: features times E_U, or the learned rows.
func userVectors(u *userinput.Input) ggnntest.Dense {
	table := ggnntest.Values(u.Table)
	if u.Features.Cols == 0 {
		return table
	}
	x := make(ggnntest.Dense, u.Features.Rows)
	for i := range x {
		x[i] = ggnntest.Row(u.Features, i)
	}
	return ggnntest.Mul(x, table)
}

// captured wraps noise and keeps what was added, by sample and item.
type captured struct {
	noise
	added map[string][]float64
}

func (c *captured) begin(pass nextitem.Pass, samples []int32, g *graph.Packed) Perturb {
	perturb := c.noise.begin(pass, samples, g)
	c.added = map[string][]float64{}
	return func(y *autograd.Node, step int, dir Direction) *autograd.Node {
		clean := tensor.New(y.Rows(), y.Cols())
		for i := range clean.Rows {
			copy(tensor.Row(clean, i), tensor.Row(y.V, i))
		}
		y = perturb(y, step, dir)
		for i := range clean.Rows {
			z := ggnntest.Row(y.V, i)
			for k, v := range tensor.Row(clean, i) {
				z[k] -= float64(v)
			}
			c.added[fmt.Sprint(g.SampleOf[i], step, dir, g.Node[i])] = z
		}
		return y
	}
}

// noiseOf is the aggregation noise of a run, with the std given.
func noiseOf(t testing.TB, std float64, seed rng.Seed, part string) *aggregationNoise {
	t.Helper()
	l, err := privacy.NewLedger(privacy.Research)
	if err != nil {
		t.Fatal(err)
	}
	a := &aggregationNoise{period: func(nextitem.Pass) error { return nil }}
	for dir, purpose := range []string{Incoming: purposeIncoming, Outgoing: purposeOutgoing} {
		g := channel.Gaussian{Purpose: purpose + part, Sigma: std, Sensitivity: 1, Unit: privacy.Edge, Neighbouring: privacy.AddRemove}
		if a.to[dir], err = channel.Open[tensor.Float](g, l, seed.Stream("dipsgnn."+g.Purpose)); err != nil {
			t.Fatal(err)
		}
	}
	return a
}

// The packed batch gives what the formulas give sample by sample, with features
// and with ids, rescaled and clipped, with and without adjacency and noise.
func TestForwardEqualsTheFormulas(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		pick := func(name string, lo, hi int) int { return rapid.IntRange(lo, hi).Draw(rt, name) }
		b := ggnntest.Draw(pick)
		c := ModelConfig{
			Dim: pick("d", 1, 5), UserDim: pick("user d", 1, 3), Steps: pick("T", 1, 3), Norm: []float64{0.2, 0.7, 3}[pick("C", 0, 2)],
			Normalise: []string{NormaliseRescale, NormaliseClip}[pick("clip", 0, 1)],
			Adjacency: []string{AdjacencyCounts, AdjacencyZero}[pick("zero", 0, 1)],
			UserInput: []string{userinput.Features, userinput.ID}[pick("id", 0, 1)],
		}
		seed := rng.Seed(pick("seed", 0, 1000))
		var kept *captured
		var by noise
		if pick("noise", 0, 1) == 1 {
			kept = &captured{noise: noiseOf(t, 0.5, seed, "train")}
			by = kept
		}
		r := recommenderOf(t, b, c, seed, by)
		z, err := r.forward(autograd.NewTape(), 0, b.Samples, nil)
		if err != nil {
			rt.Fatal(err)
		}
		users := userVectors(r.net.user)
		for i, sample := range b.Samples {
			by := none
			if kept != nil {
				by = func(step int, dir Direction, item int32) []float64 { return kept.added[fmt.Sprint(i, step, dir, item)] }
			}
			want := dense(r.net.Network, ggnntest.NewSession(b.Prefix(i)), users[b.User[sample]], by)
			if err := ggnntest.Near(tensor.Row(z.V, i), want); err != nil {
				rt.Fatalf("%+v: sample %d, prefix %v: %v", c, i, b.Prefix(i), err)
			}
		}
	})
}

// Scores and loss too: inner products with the raw item rows from 1 on, and mean
// cross-entropy of their softmax.
func TestLossEqualsTheFormula(t *testing.T) {
	b := ggnntest.Tiny()
	c := ModelConfig{Dim: 3, UserDim: 2, Steps: 2, Norm: 0.6, Normalise: NormaliseRescale, Adjacency: AdjacencyCounts,
		UserInput: userinput.Features}
	r := recommenderOf(t, b, c, 9, nil)
	tape := autograd.NewTape()
	loss, err := r.Loss(tape, train.Batch{Samples: b.Samples})
	if err != nil {
		t.Fatal(err)
	}
	n, users := r.net.Network, userVectors(r.net.user)
	scores := tensor.New(len(b.Samples), b.Items)
	if err := r.Score(autograd.NewTape(), b.Samples, scores); err != nil {
		t.Fatal(err)
	}
	want := 0.0
	for i, sample := range b.Samples {
		z := dense(n, ggnntest.NewSession(b.Prefix(i)), users[b.User[sample]], none)
		all := ggnntest.Mul(ggnntest.Values(n.Item)[1:], func() ggnntest.Dense {
			column := ggnntest.New(len(z), 1)
			for k, v := range z {
				column[k][0] = v
			}
			return column
		}())
		row, sum := make([]float64, len(all)), 0.0
		for j := range all {
			row[j] = all[j][0]
			sum += math.Exp(row[j])
		}
		if err := ggnntest.Near(tensor.Row(scores, i), row); err != nil {
			t.Errorf("sample %d: scores: %v", i, err)
		}
		label := b.Sequences[b.User[sample]][b.Length[sample]]
		want += (math.Log(sum) - row[label-1]) / float64(len(b.Samples))
	}
	if err := ggnntest.Near([]tensor.Float{tensor.Float(loss.Scalar())}, []float64{want}); err != nil {
		t.Errorf("loss: %v", err)
	}
}

// repeated is noise that is the same at every pass, for differences.
type repeated struct{}

func (repeated) end() error { return nil }

func (repeated) begin(nextitem.Pass, []int32, *graph.Packed) Perturb {
	return func(y *autograd.Node, step int, dir Direction) *autograd.Node {
		return y.AddNoise("repeated", func(data []tensor.Float, rows, cols int) {
			s := rng.Seed(1).Stream("repeated", uint64(step), uint64(dir))
			for i := range data[:rows*cols] {
				data[i] += tensor.Float(0.3 * s.NormFloat64())
			}
		})
	}
}

// away draws a model none of whose rows comes near norm C, where clipping has no
// derivative.
func away(t *testing.T, b ggnntest.Batch, c ModelConfig, by noise) *recommender {
	for seed := rng.Seed(1); seed < 1000; seed++ {
		r := recommenderOf(t, b, c, seed, by)
		users, worst := userVectors(r.net.user), math.Inf(1)
		for i, sample := range b.Samples {
			_, margin := denseWithMargin(r.net.Network, ggnntest.NewSession(b.Prefix(i)), users[b.User[sample]], none)
			worst = min(worst, margin)
		}
		if c.Normalise == NormaliseRescale || worst > 0.05 {
			return r
		}
	}
	t.Fatal("no seed keeps every row away from norm C")
	return nil
}

// gradientCases are all shapes of the network.
func gradientCases() (cases []ModelConfig) {
	for steps := 1; steps <= 3; steps++ {
		for _, normalise := range []string{NormaliseRescale, NormaliseClip} {
			for _, input := range []string{userinput.Features, userinput.ID} {
				cases = append(cases, ModelConfig{
					Dim: 3, UserDim: 2, Steps: steps, Norm: 0.8, Normalise: normalise, Adjacency: AdjacencyCounts, UserInput: input,
				})
			}
		}
	}
	zero := cases[0]
	zero.Adjacency = AdjacencyZero
	return append(cases, zero)
}

// Gradients of the loss by central differences, over all parameters. Noise is on
// in some: it adds to values and has no gradient.
func TestGradients(t *testing.T) {
	for i, c := range gradientCases() {
		t.Run(fmt.Sprintf("T=%d,%s,%s,%s", c.Steps, c.Normalise, c.UserInput, c.Adjacency), func(t *testing.T) {
			b := ggnntest.Tiny()
			var by noise
			if i%4 == 1 {
				by = repeated{}
			}
			r := away(t, b, c, by)
			err := gradcheck.Check(r.Params(), func(tape *autograd.Tape) *autograd.Node {
				loss, err := r.Loss(tape, train.Batch{Samples: b.Samples})
				if err != nil {
					t.Fatal(err)
				}
				return loss
			})
			if err != nil {
				t.Error(err)
			}
			ggnntest.CheckParams(t, r.Params(), 16, "item")
		})
	}
}

// Without an adjacency nothing of the transitions comes through: another order
// of the same items before the same last one gives the same vector. With counts
// it does not.
func TestAdjacencyZero(t *testing.T) {
	for _, c := range []struct {
		adjacency string
		steps     int
		same      bool
	}{{AdjacencyZero, 1, true}, {AdjacencyZero, 3, true}, {AdjacencyCounts, 1, false}, {AdjacencyCounts, 3, false}} {
		b := ggnntest.Batch{
			Items: 4, Sequences: [][]int32{{1, 2, 2, 4, 3, 1}, {2, 4, 1, 2, 3, 1}, {2, 4, 1, 3, 2, 1}},
			User: []int32{0, 1, 2}, Length: []int32{5, 5, 5}, Samples: []int32{0, 1, 2},
		}
		r := recommenderOf(t, b, ModelConfig{
			Dim: 3, UserDim: 2, Steps: c.steps, Norm: 0.7, Normalise: NormaliseRescale,
			Adjacency: c.adjacency, UserInput: userinput.Features,
		}, 6, nil)
		one := []int32{0, 0, 0} // one user's vector, so that nothing else differs
		z, err := r.forward(autograd.NewTape(), 0, b.Samples, one)
		if err != nil {
			t.Fatal(err)
		}
		if same := ggnntest.Near(tensor.Row(z.V, 1), ggnntest.Row(z.V, 0)) == nil; same != c.same {
			t.Errorf("%s, T=%d: another order gives the same vector: %v, want %v", c.adjacency, c.steps, same, c.same)
		}
		if ggnntest.Near(tensor.Row(z.V, 2), ggnntest.Row(z.V, 0)) == nil {
			t.Errorf("%s, T=%d: another last item changes nothing", c.adjacency, c.steps)
		}
	}
}
