package dipsgnn

import (
	"context"
	"fmt"
	"math"
	"slices"
	"testing"

	"privrec/internal/experiment"
	"privrec/internal/model/userinput"
	"privrec/internal/protocol/nextitem"

	"privrec/internal/autograd"
	"privrec/internal/graph"
	"privrec/internal/model/ggnn/ggnntest"
	"privrec/internal/run"
	"privrec/internal/tensor"
)

// falseAlarm bounds the probability that one of these tests fails with a right
// sampler.
const falseAlarm = 1e-9

// uncorrelated reports whether the sum of products of two vectors of standard
// normals is one of independent ones. Its logarithmic moment generating function
// is -n/2 ln(1-l²) <= n l²/(2(1-l)), so P(|S| > sqrt(2 n x) + x) <= 2 exp(-x).
func uncorrelated(a, b []float64, tests int) error {
	n, x := float64(len(a)), math.Log(2*float64(tests)/falseAlarm)
	if s, bound := ggnntest.Dot(a, b), math.Sqrt(2*n*x)+x; !(math.Abs(s) <= bound) {
		return fmt.Errorf("the sum of %d products is %.1f, beyond %.1f", len(a), s, bound)
	}
	return nil
}

// Every draw of a run has a key of its own: part, direction, pass, sample, step
// and node. Any two differ in one of these and are independent; the same key gives
// the same noise, on which resuming rests.
func TestNoiseKeys(t *testing.T) {
	type key struct {
		part   string
		dir    Direction
		pass   nextitem.Pass
		sample int32
		step   int
	}
	const rows, cols = 60, 50
	var keys []key
	for _, part := range []string{"train", "valid", "refit", "test"} {
		for _, dir := range []Direction{Incoming, Outgoing} {
			for _, pass := range []nextitem.Pass{0, 1} {
				for _, sample := range []int32{0, 256} {
					for _, step := range []int{0, 1} {
						keys = append(keys, key{part, dir, pass, sample, step})
					}
				}
			}
		}
	}
	// drawn is the noise under the keys, over its standard deviation.
	drawn := func(sets ...string) (noise [][]float64) {
		inRun(t, sets, func(_ context.Context, env *run.Env, cfg Config, x *nextitem.Experiment) error {
			p, err := newProtection(env, x, cfg)
			if err != nil {
				return err
			}
			_, std := cfg.deviations()
			parts := map[string]*nextitem.Part{"train": x.Train, "valid": x.Valid, "refit": x.Refit, "test": x.Test}
			for _, k := range keys {
				a, err := p.on(parts[k.part])
				if err != nil {
					return err
				}
				perturb := a.begin(k.pass, []int32{k.sample}, nodes(rows))
				y := perturb(autograd.NewTape().Const(tensor.New(rows, cols)), k.step, k.dir)
				var z []float64
				for i := range rows {
					for _, v := range ggnntest.Row(y.V, i) {
						z = append(z, v/std)
					}
				}
				noise = append(noise, z)
				if err := a.end(); err != nil {
					return err
				}
			}
			return p.check()
		})
		return noise
	}
	noise := drawn()
	pairs := len(keys) * len(keys)
	for i := range keys {
		for j := range i {
			if err := uncorrelated(noise[i], noise[j], pairs); err != nil {
				t.Errorf("%+v and %+v: %v", keys[j], keys[i], err)
			}
		}
	}
	if again := drawn(); !slices.EqualFunc(again, noise, slices.Equal) {
		t.Error("the same keys give other noise")
	}
	// Another seed and another budget share no normals: their difference would
	// otherwise show the data.
	for _, set := range []string{"run.seed=2", "privacy.transitions.epsilon=4"} {
		for i, other := range drawn(set) {
			if err := uncorrelated(noise[i], other, pairs); err != nil {
				t.Errorf("%s, %+v: %v", set, keys[i], err)
			}
		}
	}
}

// nodes is a batch of graphs with so many nodes a sample, and nothing else.
func nodes(perSample ...int) *graph.Packed {
	g := &graph.Packed{NodeOff: []int32{0}}
	for b, n := range perSample {
		for range n {
			g.SampleOf = append(g.SampleOf, int32(b))
		}
		g.NodeOff = append(g.NodeOff, int32(len(g.SampleOf)))
	}
	return g
}

// A sample's noise does not depend on the samples that are batched with it.
func TestNoiseOfASampleIsItsOwn(t *testing.T) {
	const cols = 8
	draw := func(batches ...[]int32) map[int32][]tensor.Float {
		a, out := noiseOf(t, 1, 1, "test"), map[int32][]tensor.Float{}
		for _, samples := range batches {
			var sizes []int
			for _, s := range samples {
				sizes = append(sizes, 1+int(s))
			}
			g := nodes(sizes...)
			y := a.begin(3, samples, g)(autograd.NewTape().Const(tensor.New(len(g.SampleOf), cols)), 0, Outgoing)
			if err := a.end(); err != nil {
				t.Fatal(err)
			}
			for i, b := range g.SampleOf {
				out[samples[b]] = append(out[samples[b]], tensor.Row(y.V, i)...)
			}
		}
		return out
	}
	together, apart := draw([]int32{2, 5, 9}), draw([]int32{9}, []int32{2, 5})
	for s, want := range together {
		if !slices.Equal(apart[s], want) {
			t.Errorf("sample %d has other noise in another batch", s)
		}
	}
}

// Two passes over the same samples, as two epochs make them, and two rows and
// two directions of one pass get noise of their own.
func TestPassesAreIndependent(t *testing.T) {
	b := ggnntest.Batch{Items: 40}
	var seq []int32
	for i := range int32(41) {
		seq = append(seq, i%40+1)
	}
	b.Sequences, b.User, b.Length, b.Samples = [][]int32{seq}, []int32{0}, []int32{40}, []int32{0}
	kept := &captured{noise: noiseOf(t, 1, 2, "train")}
	r := recommenderOf(t, b, ModelConfig{Dim: 40, UserDim: 10, Steps: 2, Norm: 1, Normalise: NormaliseRescale,
		Adjacency: AdjacencyCounts, UserInput: userinput.ID}, 1, kept)
	vectors := map[string][]float64{}
	for pass := range nextitem.Pass(2) {
		if _, err := r.forward(autograd.NewTape(), pass, b.Samples, nil); err != nil {
			t.Fatal(err)
		}
		for step := range 2 {
			for _, dir := range []Direction{Incoming, Outgoing} {
				var all []float64
				for item := int32(1); item <= 40; item++ {
					all = append(all, kept.added[fmt.Sprint(0, step, dir, item)]...)
				}
				vectors[fmt.Sprint("pass ", pass, " step ", step, " direction ", dir)] = all
			}
		}
		vectors[fmt.Sprint("first rows, pass ", pass)] = vectors[fmt.Sprint("pass ", pass, " step 0 direction 0")][:1000]
		vectors[fmt.Sprint("last rows, pass ", pass)] = vectors[fmt.Sprint("pass ", pass, " step 0 direction 0")][1000:]
	}
	for i, a := range vectors {
		for j, b := range vectors {
			if i < j && len(a) == len(b) {
				if err := uncorrelated(a, b, 100); err != nil {
					t.Errorf("%s and %s: %v", i, j, err)
				}
			}
		}
	}
}

// spyNoise notes which samples of which pass were perturbed.
type spyNoise struct {
	noise
	note func(pass nextitem.Pass, samples []int32)
}

func (s spyNoise) begin(pass nextitem.Pass, samples []int32, g *graph.Packed) Perturb {
	s.note(pass, samples)
	return s.noise.begin(pass, samples, g)
}

// A whole run perturbs every sample of every pass once under a key that no other
// draw has, and nothing where noise is off.
func TestNoiseOfARun(t *testing.T) {
	for _, c := range []struct {
		modes string
		every bool
		want  map[string]int // passes by part
	}{
		{`["on","off"]`, true, map[string]int{"train": 2, "valid": 2, "refit": 2, "test": 3}},
		{`["off","on"]`, true, map[string]int{"train": 2, "refit": 2, "test": 1}},
		{`["off"]`, true, map[string]int{"train": 2, "refit": 2}},
		{`["on"]`, false, map[string]int{"train": 2, "valid": 2, "refit": 2, "test": 1}},
	} {
		t.Run(c.modes, func(t *testing.T) {
			seen, keys := map[string]int{}, map[string]bool{}
			inRun(t, []string{"train.epochs=2", "eval.noise=" + c.modes, fmt.Sprint("eval.every=", c.every)}, func(ctx context.Context, env *run.Env, cfg Config, x *nextitem.Experiment) error {
				p, err := newProtection(env, x, cfg)
				if err != nil {
					return err
				}
				spy := func(q *nextitem.Part) (noise, error) {
					a, err := p.on(q)
					return spyNoise{a, func(pass nextitem.Pass, samples []int32) {
						seen[q.Name] += len(samples)
						key := fmt.Sprint(q.Name, " pass ", pass, " first ", samples[0])
						if keys[key] {
							t.Errorf("%s is drawn twice", key)
						}
						keys[key] = true
					}}, err
				}
				x.New = func(q *nextitem.Part) (nextitem.Learner, error) {
					net := newNoisy(x.Items, x.Data.Users, cfg.Model, tensor.Matrix{}, x.Uniform(cfg.Model.Dim))
					net.noise = spy
					return &nextitem.Sessions{Net: net, Part: q, Batch: cfg.Train.Batch}, nil
				}
				x.Modes, x.Extra = cfg.Eval.Noise, p
				x.Account = func(f *experiment.Fitted) (experiment.Privacy, error) {
					if len(f.Epochs) != 2 {
						t.Fatalf("refitted for %d epochs: choose another seed", len(f.Epochs))
					}
					return p.account(f)
				}
				if err := x.Run(ctx); err != nil {
					return err
				}
				for part, q := range map[string]*nextitem.Part{"train": x.Train, "valid": x.Valid, "refit": x.Refit, "test": x.Test} {
					if want := c.want[part] * q.Samples.Len(); seen[part] != want {
						t.Errorf("%s: %d samples perturbed, want %d passes over %d", part, seen[part], c.want[part], q.Samples.Len())
					}
				}
				return p.check()
			})
		})
	}
}
