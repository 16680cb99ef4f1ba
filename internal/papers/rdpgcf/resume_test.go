package rdpgcf

import (
	"bytes"
	"context"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"privrec/internal/run"
	"privrec/internal/run/runtest"
	"privrec/internal/tensor"
)

// fuse is a context that ends at its n-th look: interruption at an exact place.
type fuse struct {
	context.Context
	cancel context.CancelFunc
	looks  int
	at     int // 0: never
}

func newFuse(t *testing.T, at int) *fuse {
	ctx, cancel := context.WithCancel(t.Context())
	t.Cleanup(cancel)
	return &fuse{Context: ctx, cancel: cancel, at: at}
}

func (f *fuse) Err() error {
	f.looks++
	if f.looks == f.at {
		f.cancel()
	}
	return f.Context.Err()
}

// A run that is interrupted anywhere, even twice, and resumed leaves the bytes of the
// one that was not: parameters, vectors, scores, ledger and account.
func TestResume(t *testing.T) {
	for _, c := range []struct {
		title, name string
		sets        []string
	}{
		{"bprmf", "bprmf", []string{"eval.every=true"}},
		{"ngcf", "ngcf", []string{"eval.every=true"}},
		{"rdpgcf", "rdpgcf", []string{"eval.every=true"}},
		{"edgerand", "edgerand", []string{"eval.every=true"}},
		{"repaired", "rdpgcf", repairedSets()},
		{"repaired, linear, edges apart", "rdpgcf", append(repairedSets(), "privacy.repaired.graph_share=0", "privacy.repaired.label_share=0.3",
			"privacy.repaired.count_share=0", "privacy.repaired.map=linear", "privacy.repaired.dim=3", "run.save_steps=4")},
	} {
		t.Run(c.title, func(t *testing.T) {
			t.Parallel()
			name, sets := c.name, append([]string{"train.epochs=3", "train.batch=700"}, c.sets...)
			whole := newFuse(t, 0)
			dir := filepath.Join(t.TempDir(), "whole")
			if err := try(whole, task(t, name), dir, sets, run.Options{}); err != nil {
				t.Fatal(err)
			}
			want := runtest.Artefacts(t, dir)
			step := (whole.looks + 2) / 3
			for at := 1; at <= whole.looks; at += step {
				dir := filepath.Join(t.TempDir(), fmt.Sprint("run", at))
				for again, look := range []int{at, max(1, (whole.looks-at)/2)} {
					err := try(newFuse(t, look), task(t, name), dir, sets, run.Options{Resume: again > 0})
					if err == nil { // the second fuse may be longer than what was left
						break
					}
					if !run.WasInterrupted(err) {
						t.Fatalf("interrupted at look %d: %v", look, err)
					}
					for _, file := range []string{"metrics.json", "privacy.json", "result.json"} {
						if _, err := os.Stat(filepath.Join(dir, file)); err == nil && look < whole.looks-1 {
							t.Errorf("interrupted at look %d: %s is there", look, file)
						}
					}
				}
				if err := try(t.Context(), task(t, name), dir, sets, run.Options{Resume: true}); err != nil {
					t.Fatal(err)
				}
				runtest.Same(t, fmt.Sprintf("interrupted at look %d of %d", at, whole.looks), runtest.Artefacts(t, dir), want)
			}
		})
	}
}

// A checkpoint of the repaired method that does not fit the run is refused, and nothing
// of it is taken.
func TestMapCheckpoint(t *testing.T) {
	g := blocks(t, 2, 30, 20, 0.5)
	open := func() (*repairedRun, *mapTraining) {
		r, err := newRepairedRun(smallRepaired(MapPairs), Split{Sigma: 1, Joint: math.Sqrt2, Layers: 2, Multiplier: 1, Rate: 0.1, Steps: 40}, g, g, researchLedger(t), testStream)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(r.rows.close)
		m, err := r.newTraining()
		if err != nil {
			t.Fatal(err)
		}
		return r, m
	}
	r, m := open()
	for range 4 {
		if err := m.advance(); err != nil {
			t.Fatal(err)
		}
	}
	good, err := m.checkpoint()
	if err != nil {
		t.Fatal(err)
	}
	_, again := open()
	if err := again.restore(good); err != nil || again.step != 4 {
		t.Fatalf("at step %d: %v", again.step, err)
	}
	for _, m := range []*mapTraining{m, again} {
		if err := m.advance(); err != nil {
			t.Fatal(err)
		}
	}
	if !slices.Equal(r.m.weights(), again.r.m.weights()) {
		t.Error("the next step differs")
	}
	for name, change := range map[string]func(c *run.Checkpoint){
		"no state":                 func(c *run.Checkpoint) { c.State = []byte("[]") },
		"a step too many":          func(c *run.Checkpoint) { c.State = bytes.Replace(c.State, []byte(`"step":4`), []byte(`"step":41`), 1) },
		"a step before the first":  func(c *run.Checkpoint) { c.State = bytes.Replace(c.State, []byte(`"step":4`), []byte(`"step":-1`), 1) },
		"fewer steps than batches": func(c *run.Checkpoint) { c.State = bytes.Replace(c.State, []byte(`"step":4`), []byte(`"step":2`), 1) },
		"between two steps": func(c *run.Checkpoint) {
			c.State = bytes.Replace(bytes.Replace(c.State, []byte(`"step":4`), []byte(`"step":3`), 1), []byte(`"batches":4`), []byte(`"batches":3`), 1)
		},
		"a tensor missing": func(c *run.Checkpoint) { c.Tensors = c.Tensors[:2] },
		"another shape": func(c *run.Checkpoint) {
			c.Tensors[1] = run.MatrixTensor(c.Tensors[1].Name, tensor.New(1, 2))
		},
		"another name": func(c *run.Checkpoint) { c.Tensors[0].Name = "weight" },
	} {
		bad := run.Checkpoint{State: slices.Clone(good.State), Tensors: slices.Clone(good.Tensors)}
		change(&bad)
		fresh, m := open()
		before := slices.Clone(fresh.m.weights())
		if err := m.restore(bad); err == nil || !strings.Contains(err.Error(), "checkpoint") {
			t.Errorf("%s: %v", name, err)
		}
		if !slices.Equal(fresh.m.weights(), before) || m.step != 0 {
			t.Errorf("%s: the run has changed", name)
		}
	}
}
