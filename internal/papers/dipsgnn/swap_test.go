package dipsgnn

import (
	"context"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"privrec/internal/autograd"
	"privrec/internal/dataset"
	"privrec/internal/epsilons"
	"privrec/internal/graph"
	"privrec/internal/model/ggnn/ggnntest"
	"privrec/internal/model/userinput"
	"privrec/internal/privacy"
	"privrec/internal/protocol/nextitem"
	"privrec/internal/rng"
	"privrec/internal/run"
	"privrec/internal/run/runtest"
	"privrec/internal/tensor"
	"privrec/internal/train"
)

// swapped makes a run whose guarantee is for two items of a window that change places.
var swapped = []string{"privacy.transitions.count=swap", "privacy.transitions.stop_gradient=true", "privacy.transitions.window=6",
	"train.select=last", "train.patience=0", "train.validation=0", "train.refit=false", `eval.noise=["on"]`, "eval.every=false"}

// sequencesOf lists all sequences of a length over items 1..items.
func sequencesOf(items int32, length int) [][]int32 {
	all := [][]int32{{}}
	for range length {
		var longer [][]int32
		for _, s := range all {
			for i := int32(1); i <= items; i++ {
				longer = append(longer, append(slices.Clip(s), i))
			}
		}
		all = longer
	}
	return all
}

// swaps lists the sequences in which two neighbouring ones of the first items of s have changed places.
func swaps(s []int32, first int) (list [][]int32) {
	for p := 1; p < first; p++ {
		if s[p-1] != s[p] {
			o := slices.Clone(s)
			o[p-1], o[p] = o[p], o[p-1]
			list = append(list, o)
		}
	}
	return list
}

// farthest returns the largest squared distance that (A_in H, A_out H) can have between two sequences, over all H with
// rows of length 1. It is that of Σ Q_ij h_i·h_j with Q = D'D + DD', D the difference of the counts. Each h_i in turn
// takes the best direction, which only rises; with as many dimensions as items ascents end at the largest value.
func farthest(a, b []int32, items int, s rng.Stream) float64 {
	d := make([][]float64, items)
	for i := range d {
		d[i] = make([]float64, items)
	}
	for p := 1; p < len(a); p++ {
		d[a[p-1]-1][a[p]-1]++
	}
	for p := 1; p < len(b); p++ {
		d[b[p-1]-1][b[p]-1]--
	}
	q := make([][]float64, items)
	for i := range q {
		q[i] = make([]float64, items)
		for j := range q {
			for k := range q {
				q[i][j] += d[k][i]*d[k][j] + d[i][k]*d[j][k]
			}
		}
	}
	best := 0.0
	h := make([]float64, items*items)
	for try := range 3 {
		z := s.Sub(uint64(try))
		z.Normals64(h)
		for range 40 {
			for i := range items {
				g := make([]float64, items)
				for j := range items {
					if j != i {
						for k := range g {
							g[k] += q[i][j] * h[j*items+k]
						}
					}
				}
				if n := math.Sqrt(dot(g, g)); n > 1e-12 {
					for k := range g {
						h[i*items+k] = g[k] / n
					}
				} else if n := math.Sqrt(dot(h[i*items:(i+1)*items], h[i*items:(i+1)*items])); n > 0 {
					for k := range g {
						h[i*items+k] /= n
					}
				}
			}
		}
		value := 0.0
		for i := range items {
			for j := range items {
				value += q[i][j] * dot(h[i*items:(i+1)*items], h[j*items:(j+1)*items])
			}
		}
		best = max(best, value)
	}
	return best
}

func dot(a, b []float64) (sum float64) {
	for k := range a {
		sum += a[k] * b[k]
	}
	return sum
}

// No two sequences of up to five items out of four, equal but for two neighbours that changed places, are farther apart
// than the stated squared sensitivity, and some are that far apart.
func TestSwapSensitivity(t *testing.T) {
	const items = 4
	s := rng.Seed(1).Stream("swaps")
	worst := map[int]float64{}
	for _, length := range []int{2, 3, 4, 5} {
		if length == 5 && testing.Short() {
			continue
		}
		for _, a := range sequencesOf(items, length) {
			for _, b := range swaps(a, length) {
				worst[length] = max(worst[length], farthest(a, b, items, s))
			}
		}
		want := float64(ofMessages.swap)
		if length == 2 {
			want = float64(ofMessages.swapTwo)
		}
		if worst[length] > want+1e-6 {
			t.Errorf("length %d: squared distance %v, stated is %v", length, worst[length], want)
		}
		if length != 3 && worst[length] < want-1e-6 { // of three items, two neighbours have one on one side only
			t.Errorf("length %d: squared distance %v at most, stated is %v", length, worst[length], want)
		}
	}
}

// What a program that learns from every prefix reads in the clear is the sequence: labels, and the last item of each
// prefix. So no noise on transitions protects anything of it. Of a window that is one sample the same parts are equal for
// every order of the items before the last.
func TestWhatIsReadInTheClear(t *testing.T) {
	const items, length = 3, 5
	clear := func(sequences [][]int32, samples dataset.Samples) string {
		sessions, err := graph.NewSessions(sequences, items)
		if err != nil {
			t.Fatal(err)
		}
		var all []int32
		for i := range samples.Len() {
			all = append(all, int32(i))
		}
		g := &graph.Packed{}
		g.Pack(sessions, samples.User, samples.Length, all)
		seen := ""
		for b := range g.Len() {
			var nodes []string
			for i := g.NodeOff[b]; i < g.NodeOff[b+1]; i++ {
				nodes = append(nodes, fmt.Sprint(g.Node[i], "x", g.Count[i]))
			}
			slices.Sort(nodes)
			seen += fmt.Sprint(nodes, g.Node[g.Last[b]], g.Label[b], " ")
		}
		return seen
	}
	prefixes, windows := map[string]int{}, map[string]int{}
	for _, s := range sequencesOf(items, length) {
		one := [][]int32{s}
		prefixes[clear(one, dataset.Prefixes(one))]++
		w, _ := dataset.Windows(one, length)
		windows[clear(w, dataset.Whole(w))]++
		for _, o := range swaps(s, length-2) {
			w, _ := dataset.Windows([][]int32{o}, length)
			if own, _ := dataset.Windows(one, length); clear(w, dataset.Whole(w)) != clear(own, dataset.Whole(own)) {
				t.Errorf("%v and %v are told apart without their transitions", s, o)
			}
		}
	}
	if len(prefixes) != 243 {
		t.Errorf("%d of 243 sequences are told apart by the prefixes' items, last items and labels", len(prefixes))
	}
	if len(windows) != 90 { // 10 multisets of three items before the last, 3 last ones, 3 labels
		t.Errorf("%d classes of windows, want 90", len(windows))
	}
}

// held puts given messages in the place of what transitions give, as if these had been released; gradients go where
// they went.
type held struct{ graph *graph.Packed }

func (h *held) begin(_ nextitem.Pass, _ []int32, g *graph.Packed) Perturb {
	h.graph = g
	return func(y *autograd.Node, step int, dir Direction) *autograd.Node {
		return y.AddNoise("held", func(data []tensor.Float, rows, cols int) {
			for i := range rows {
				for k := range cols {
					data[i*cols+k] = tensor.Float(math.Sin(float64(1 + int(h.graph.Node[i])*31 + k*7 + step*5 + int(dir)*3)))
				}
			}
		})
	}
}

func (*held) end() error { return nil }

// lesson returns the loss and all gradients of one step over a sequence as one sample.
func lesson(t *testing.T, s []int32, stopped bool) []float64 {
	t.Helper()
	b := ggnntest.Batch{Items: 3, Sequences: [][]int32{s}, User: []int32{0}, Length: []int32{int32(len(s) - 1)}, Samples: []int32{0}}
	r := recommenderOf(t, b, ModelConfig{Dim: 3, UserDim: 2, Steps: 2, Norm: 0.7, Normalise: NormaliseRescale,
		Adjacency: AdjacencyCounts, UserInput: userinput.Features}, 6, &held{})
	r.net.Stopped = stopped
	tape := autograd.NewTape()
	loss, err := r.Loss(tape, train.Batch{Samples: []int32{0}})
	if err != nil {
		t.Fatal(err)
	}
	tape.Backward(loss)
	all := []float64{loss.Scalar()}
	for _, p := range r.net.Params() {
		m := tensor.New(p.Value.Rows, p.Value.Cols)
		if g, ok := tape.Grads().Dense(p); ok {
			copy(m.Data, g.Data)
		} else if rows, vals, ok := tape.Grads().Sparse(p); ok {
			for i, r := range rows {
				copy(tensor.Row(m, int(r)), tensor.Row(vals, i))
			}
		}
		for _, v := range m.Data {
			all = append(all, float64(v))
		}
	}
	return all
}

// Given what was released, a step over windows is the same for all neighbours, up to rounding: the order of items comes
// into losses and gradients through noisy messages alone. A backward pass through the transitions tells neighbours apart.
func TestStepKnowsTheOrderByReleasesAlone(t *testing.T) {
	for _, stopped := range []bool{true, false} {
		apart := 0.0
		for _, s := range sequencesOf(3, 5) {
			own := lesson(t, s, stopped)
			for _, o := range swaps(s, 3) { // before the last item and the label
				for i, v := range lesson(t, o, stopped) {
					apart = max(apart, math.Abs(v-own[i]))
				}
			}
		}
		if stopped && apart > 1e-5 || !stopped && apart < 1e-3 {
			t.Errorf("gradients that stop before transitions: %v; neighbours are %v apart", stopped, apart)
		}
	}
}

// A run with a guarantee for swaps: noise for all its releases, nothing open, and a ledger that composes to the account.
func TestSwapRun(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "run")
	start(t, Task(), dir, swapped)
	p, o := readJSON[Privacy](t, dir, "privacy.json"), readJSON[nextitem.Outcome](t, dir, "metrics.json")
	if len(p.Unbounded) != 0 || len(p.Public) == 0 || len(p.Units) != 2 || p.Units[1].Unit.Unit != "swap" || p.Claimed.Unit != "swap" || p.Claimed.Eps != 5 {
		t.Fatalf("%+v", p)
	}
	u := p.Units[1]
	if p.Total != u.Accounted.EpsExact || float64(u.Accounted.EpsRDP) > 5 || float64(u.Accounted.EpsRDP) < 5-1e-9 || u.Accounted.S2M != float64(p.Claimed.S2) {
		t.Errorf("in all %v, %+v", p.Total, u.Accounted)
	}
	if p.Units[0].Accounted.MTrain != 2 { // a transition is in one window, of two epochs
		t.Errorf("%+v", p.Units[0].Accounted)
	}
	entries := ledgerOf(t, dir)
	checkFeatures(t, entries, p.Features)
	checkPasses(t, entries, o, p, "train 2, valid 0, refit 0, test 1")
	for _, e := range entries {
		if _, open := privacy.AsUnprotected(e.Event); open {
			t.Errorf("%+v", e)
		}
	}
	if r := row(t, &p, "any order"); r.S2M != 8*16*2 { // four transitions a window, two epochs
		t.Errorf("%+v", r)
	}
}

// Without windows the account of the same noise stays without bound, and says why.
func TestCountedPrefixesStayOpen(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "run")
	start(t, Task(), dir, append(slices.Clone(swapped), "privacy.transitions.count=edge", "privacy.transitions.window=0"))
	p := readJSON[Privacy](t, dir, "privacy.json")
	if got := fmt.Sprint(p.Unbounded); len(p.Unbounded) != 2 || p.Unbounded[0].What != "labels" || p.Unbounded[1].What != "readout" || !math.IsInf(float64(p.Total), 1) {
		t.Errorf("total %v, open %s", p.Total, got)
	}
	if u := p.Units[0].Accounted; math.Abs(float64(u.EpsRDP)-5) > 1e-9 || p.Claimed.Unit != "edge-unit" {
		t.Errorf("%+v", u)
	}
}

// The same bytes by any number of workers and after an interruption.
func TestSwapResumes(t *testing.T) {
	whole := filepath.Join(t.TempDir(), "run")
	start(t, Task(), whole, swapped)
	want := runtest.Artefacts(t, whole)
	more := filepath.Join(t.TempDir(), "run")
	start(t, Task(), more, append(slices.Clone(swapped), "run.workers=3"))
	runtest.Same(t, "three workers", runtest.Artefacts(t, more), want)
	dir := filepath.Join(t.TempDir(), "run")
	saving := append(slices.Clone(swapped), "run.save_steps=1")
	if err := try(runtest.NewFuse(t, 5, nil), Task(), dir, saving, run.Options{}); !run.WasInterrupted(err) {
		t.Fatalf("not interrupted: %v", err)
	}
	if err := try(t.Context(), Task(), dir, saving, run.Options{Resume: true}); err != nil {
		t.Fatal(err)
	}
	runtest.Same(t, "interrupted", runtest.Artefacts(t, dir), want)
}

// The settings on MovieLens-1M have the noise of their rows in the list of epsilons.
func TestSwapRowsOfRealData(t *testing.T) {
	if os.Getenv("PRIVREC_DATA") == "" {
		t.Skip("PRIVREC_DATA is not set: skipping the check on real data")
	}
	t.Setenv("PRIVREC_CACHE", t.TempDir())
	rows := map[string]*epsilons.Reading{}
	list, err := EpsilonRows().Rows(os.DirFS("../../../configs"))
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range list {
		rows[r.Setting] = r.Repaired
	}
	for config, setting := range map[string]string{"ml-1m-v2": rowSwap, "ml-1m-v2-prefixes": rowPrefixes} {
		if rows[setting] == nil {
			t.Fatalf("no row %q", setting)
		}
		c := configOf[Config](t, config)
		task := taskOf(func(_ context.Context, env *run.Env, _ Config, x *nextitem.Experiment) error {
			p, err := newProtection(env, x, c)
			if err != nil {
				return err
			}
			a, err := p.planned()
			if err != nil {
				return err
			}
			for _, u := range a.(*Privacy).Units {
				if u.Unit.Unit == a.(*Privacy).Claimed.Unit {
					within(t, config, float64(u.Accounted.EpsExact), float64(*rows[setting].Exact), 1e-9)
				}
			}
			return nil
		})
		start(t, task, t.TempDir(), []string{"data.name=ml-1m", fmt.Sprint("privacy.transitions.window=", c.Privacy.Transitions.Window), "train.validation=0", "train.select=last", "train.refit=false", "train.patience=0"})
	}
}

// The rows of the list of epsilons that are about MovieLens-1M.
const (
	rowSwap     = "V2, swap of two items of a window of ten, ten epochs and the test, ML-1M"
	rowPrefixes = "V2 on every prefix, unit edge, ten epochs and the test, ML-1M"
)
