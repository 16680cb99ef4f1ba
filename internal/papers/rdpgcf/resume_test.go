package rdpgcf

import (
	"bytes"
	"math"
	"slices"
	"strings"
	"testing"

	"privrec/internal/run"
	"privrec/internal/tensor"
)

func TestResume(t *testing.T) {
	suite.Resume(t, "rdpgcf", "rdpgcf", "eval.every=true")
	suite.Resume(t, "edgerand", "edgerand", "eval.every=true")
	suite.Resume(t, "repaired", "rdpgcf", repairedSets()...)
	suite.Resume(t, "repaired, linear, edges apart", "rdpgcf", append(repairedSets(), "privacy.repaired.graph_share=0", "privacy.repaired.label_share=0.3",
		"privacy.repaired.count_share=0", "privacy.repaired.map=linear", "privacy.repaired.dim=3", "run.save_steps=4")...)
}

// A checkpoint of the repaired method that does not fit the run is refused, and nothing
// of it is taken.
func TestMapCheckpoint(t *testing.T) {
	g := blocks(t, 2, 30, 20, 0.5)
	open := func() (*repairedRun, *mapTraining) {
		r, err := newRepairedRun(smallRepaired(MapPairs), Split{Sigma: 1, Joint: math.Sqrt2, Layers: 2, Multiplier: 1, Rate: 0.1, Steps: 40}, g, g, researchLedger(t), testStreams)
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
