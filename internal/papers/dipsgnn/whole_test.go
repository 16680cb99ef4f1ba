package dipsgnn

import (
	"errors"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"privrec/internal/autograd"
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

// packed packs one session.
func packed(t *testing.T, items []int32) *graph.Packed {
	t.Helper()
	s, err := graph.NewSessions([][]int32{items}, int(slices.Max(items)))
	if err != nil {
		t.Fatal(err)
	}
	g := &graph.Packed{}
	g.Pack(s, []int32{0}, []int32{int32(len(items))}, []int32{0})
	return g
}

// Two neighbouring items of a session that change places, neither of them the last, change nothing of its sorted graph
// but edges: not which node is where, how often it came, or which one is the last. Unsorted, they do.
func TestSortedGraphsHideTheOrder(t *testing.T) {
	told := 0
	for _, s := range sequencesOf(4, 5) {
		own, err := sorted(packed(t, s))
		if err != nil {
			t.Fatal(err)
		}
		if !slices.IsSorted(own.Node) {
			t.Fatalf("%v: nodes %v", s, own.Node)
		}
		edges := map[[2]int32]int{}
		for i, src := range own.Src {
			edges[[2]int32{own.Node[src], own.Node[own.Dst[i]]}]++
		}
		for p := 1; p < len(s); p++ {
			edges[[2]int32{s[p-1], s[p]}]--
		}
		for e, n := range edges {
			if n != 0 {
				t.Fatalf("%v: %d edges %v too many", s, n, e)
			}
		}
		for _, o := range swaps(s, len(s)-1) {
			other, err := sorted(packed(t, o))
			if err != nil {
				t.Fatal(err)
			}
			if !slices.Equal(own.Node, other.Node) || !slices.Equal(own.Count, other.Count) || !slices.Equal(own.Last, other.Last) || !slices.Equal(own.NodeOff, other.NodeOff) {
				t.Fatalf("%v and %v: %+v, %+v", s, o, own, other)
			}
			if !slices.Equal(packed(t, s).Node, packed(t, o).Node) {
				told++
			}
		}
	}
	if told == 0 {
		t.Error("nodes that are not sorted tell nothing either: this test sees nothing")
	}
	long := make([]int32, mostEdges+2)
	for i := range long {
		long[i] = int32(i + 1)
	}
	var usage *run.UsageError
	if _, err := sorted(packed(t, long)); !errors.As(err, &usage) {
		t.Error(err)
	}
}

// A message is whole steps and not longer than C, also where its row was, and next to what it was. Sums of the most
// messages are exact in any order: one transition more moves them by that message and nothing else.
func TestWholeMessages(t *testing.T) {
	s := rng.Seed(4).Stream("messages")
	for _, norm := range []float64{0.2, 1, 3} {
		w, err := newWholeMessages(norm, 7*norm)
		if err != nil {
			t.Fatal(err)
		}
		const rows, cols = 40, 150
		x := tensor.New(rows, cols)
		for i := range rows {
			z := make([]float64, cols)
			s.Normals64(z)
			for k, v := range z {
				tensor.Row(x, i)[k] = tensor.Float(v)
			}
		}
		tape := autograd.NewTape()
		hb := tape.Const(x).NormalizeRows(norm, minNorm)
		q := w.messages(tape, hb)
		if err := w.fault(); err != nil {
			t.Fatal(err)
		}
		for i := range rows {
			square := int64(0)
			for k, v := range tensor.Row(q.V, i) {
				steps := float64(v) * w.perStep
				if steps != math.Trunc(steps) || math.Abs(float64(v-tensor.Row(hb.V, i)[k])) > 1.01*w.step {
					t.Fatalf("%v of %v steps for %v", v, steps, tensor.Row(hb.V, i)[k])
				}
				square += int64(steps) * int64(steps)
			}
			if n := math.Sqrt(float64(square)) * w.step; n > norm || n < 0.99*norm {
				t.Errorf("a message of length %v, C is %v", n, norm)
			}
		}
		var src, dst []int32
		for range mostEdges {
			src, dst = append(src, int32(s.IntN(rows))), append(dst, 0)
		}
		sum := tape.EdgeSum(q, src, dst, nil, 1)
		less := tape.EdgeSum(q, src[1:], dst[1:], nil, 1)
		slices.Reverse(src)
		back := tape.EdgeSum(q, src, dst, nil, 1)
		for k := range cols {
			a, b := tensor.Row(sum.V, 0)[k], tensor.Row(less.V, 0)[k]
			if a != tensor.Row(back.V, 0)[k] || a-b != tensor.Row(q.V, int(src[mostEdges-1]))[k] {
				t.Fatalf("value %d: %v, %v backwards, %v without an edge", k, a, tensor.Row(back.V, 0)[k], b)
			}
		}
		for k := range cols {
			tensor.Row(x, 0)[k] = tensor.Float(norm)
		}
		if w.messages(tape, tape.Const(x)); w.fault() == nil || w.fault() != nil {
			t.Error("a message that is too long was taken, or its error stays")
		}
	}
	for _, std := range []float64{1e-3, 1e6} {
		var usage *run.UsageError
		if _, err := newWholeMessages(1, std); !errors.As(err, &usage) {
			t.Errorf("noise of %v: %v", std, err)
		}
	}
}

// The noise on sums has the law of its event: chi-square of its steps, and of its last bits, false alarm 1e-9 each. It is
// at least as private as the normal noise by which runs are accounted for.
func TestWholeNoiseHasTheLawOfItsEvent(t *testing.T) {
	const norm, std = 0.2, 1.7
	w, err := newWholeMessages(norm, std)
	if err != nil {
		t.Fatal(err)
	}
	m := w.mechanism("messages", norm, std, 150)
	event, err := m.Event()
	if err != nil {
		t.Fatal(err)
	}
	e := event.(privacy.Sampled).Event.(privacy.DiscreteGaussian)
	if normal := std * w.perStep; e.Sigma*e.Sigma-8 < normal*normal || e.Sigma > normal*(1+1e-6) || e.Sensitivity < norm*w.perStep {
		t.Errorf("%+v, normal noise has %v steps", e, normal)
	}
	c, err := secure.OpenGaussian[tensor.Float](m, mechanismtest.SecureLedger(t))
	if err != nil {
		t.Fatal(err)
	}
	const n = 60_000
	y := make([]tensor.Float, n)
	base := tensor.Float(12345 * w.step)
	for i := range y {
		y[i] = base
	}
	if err := c.Perturb(y, 150, 1, 0); err != nil {
		t.Fatal(err)
	}
	at := -1
	noise := func() int64 { at++; return int64(float64(y[at])*w.perStep) - 12345 }
	mechanismtest.CheckLaw(t, "noise", n, int64(e.Sigma/10), noise, secure.DiscreteGaussianLaw{Sigma: e.Sigma}.PMF)
	low := make([]int, 64)
	for _, v := range y {
		low[int64(float64(v)*w.perStep)&63]++
	}
	mechanismtest.CheckCounts(t, "last bits", low, func(int) float64 { return 1.0 / 64 })
}

var secretSets = append(slices.Clone(swapped), "model.user_input=id", "train.epochs=2")

// A run with secure noise has the account of the same run with seeded noise, a ledger of discrete noise alone, and says
// which files may leave the house.
func TestSecureOrders(t *testing.T) {
	seeded, dir := filepath.Join(t.TempDir(), "run"), filepath.Join(t.TempDir(), "run")
	start(t, Task(), seeded, secretSets)
	text := start(t, Task(), dir, append(slices.Clone(secretSets), "run.secure=true"))
	a, b := runtest.ReadJSON[Privacy](t, dir, "privacy.json", false), runtest.ReadJSON[Privacy](t, seeded, "privacy.json", false)
	if a.Total != b.Total || a.NoiseStd != b.NoiseStd || a.Noise != string(privacy.Secure) || !slices.Equal(a.Published, []string{experiment.ModelFile, run.LedgerName}) || !strings.Contains(text, "may leave the house") {
		t.Errorf("epsilon %v and noise of %v with secure noise, %v and %v with seeded; %+v", a.Total, a.NoiseStd, b.Total, b.NoiseStd, a.Account)
	}
	l, err := privacy.Reading{}.File(filepath.Join(dir, run.LedgerName))
	if err != nil || l.Noise() != privacy.Secure || len(l.Entries()) == 0 {
		t.Fatal(err)
	}
	for _, e := range l.Entries() {
		if s, ok := e.Event.(privacy.Sampled); !ok || s.Event.Kind() != (privacy.DiscreteGaussian{}).Kind() {
			t.Errorf("the ledger has %+v", e)
		}
	}
}

// A run that was interrupted goes on and releases what it planned. One that was killed after its last checkpoint is
// refused, with its checkpoint and without: the same windows would be released twice.
func TestSecureOrdersResume(t *testing.T) {
	sets := append(slices.Clone(secretSets), "run.secure=true", "run.save_steps=1")
	total := func(dir string) (n int64) {
		l, err := privacy.Reading{Unfinished: true}.File(filepath.Join(dir, run.LedgerName))
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range l.Entries() {
			n += e.Count
		}
		return n
	}
	whole, dir := filepath.Join(t.TempDir(), "run"), filepath.Join(t.TempDir(), "run")
	start(t, Task(), whole, sets)
	stopped := func(at int, resume bool) {
		t.Helper()
		if err := try(runtest.NewFuse(t, at, nil), Task(), dir, sets, run.Options{Resume: resume}); !run.WasInterrupted(err) {
			t.Fatal(err)
		}
	}
	stopped(4, false)
	checkpoint := filepath.Join(dir, "checkpoint", "checkpoint.safetensors")
	early, err := os.ReadFile(checkpoint)
	if err != nil {
		t.Fatal(err)
	}
	stopped(9, true)
	late, err := os.ReadFile(checkpoint)
	if err != nil {
		t.Fatal(err)
	}
	if err := try(t.Context(), Task(), dir, sets, run.Options{Resume: true}); err != nil {
		t.Fatal(err)
	}
	if got, want := total(dir), total(whole); got != want || string(early) == string(late) {
		t.Errorf("%d releases after two interruptions, %d without", got, want)
	}

	for _, kept := range []bool{true, false} {
		dir = filepath.Join(t.TempDir(), "run")
		checkpoint = filepath.Join(dir, "checkpoint", "checkpoint.safetensors")
		stopped(4, false)
		early, err := os.ReadFile(checkpoint)
		if err != nil {
			t.Fatal(err)
		}
		stopped(9, true)
		before := total(dir)
		if err = os.WriteFile(checkpoint, early, 0o600); !kept {
			err = os.Remove(checkpoint)
		}
		if err != nil {
			t.Fatal(err)
		}
		for range 2 { // and again
			if err := try(t.Context(), Task(), dir, sets, run.Options{Resume: true}); err == nil || !strings.Contains(err.Error(), "second release") {
				t.Errorf("with a checkpoint %v: %v", kept, err)
			}
			if n := total(dir); n < before {
				t.Errorf("with a checkpoint %v: the ledger has %d releases, %d were made", kept, n, before)
			}
		}
	}
}

// What has no guarantee to keep has no secure noise.
func TestSecureOrdersRefuse(t *testing.T) {
	var usage *run.UsageError
	for want, sets := range map[string][]string{
		"as published": {"model.user_input=id"},
		"user_input":   swapped,
		"noise on":     {"model.user_input=id", "privacy.transitions.noise_on=edges", "model.normalise=none"},
	} {
		if err := try(t.Context(), Task(), filepath.Join(t.TempDir(), "run"), append(slices.Clone(sets), "run.secure=true"), run.Options{}); !errors.As(err, &usage) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", want, err)
		}
	}
}
