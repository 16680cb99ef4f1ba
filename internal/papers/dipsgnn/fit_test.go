package dipsgnn

import (
	"errors"
	"fmt"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"privrec/internal/autograd"
	"privrec/internal/train"
)

// The refit is a training like any other: from the initial values, on all
// samples, for as long as validation chose. A run that is told that length
// beforehand and holds nothing out gives the same epochs and the same result.
func TestRefitIsATrainingOfItsOwn(t *testing.T) {
	clear := []string{"privacy.transitions.epsilon=.inf", "privacy.features.epsilon=.inf", `eval.noise=["off"]`, "train.patience=0", "train.rate=3", "train.decay_by=1"}
	for _, misaligned := range []string{"false", "true"} {
		sets := append([]string{"train.misalign_users=" + misaligned}, clear...)
		refit, seed := eventful(t, append([]string{"train.epochs=4"}, sets...))
		if len(refit.Selection) != 4 {
			t.Fatalf("%d epochs to choose from", len(refit.Selection))
		}
		dir := filepath.Join(t.TempDir(), "plain")
		start(t, task(t, "dipsgnn"), dir, append([]string{
			seed, fmt.Sprint("train.epochs=", refit.Selected), "train.select=last", "train.validation=0", "train.refit=false"}, sets...))
		plain := readJSON[Outcome](t, dir, "metrics.json")
		for _, o := range []*Outcome{&refit, &plain} {
			for i := range o.Epochs {
				o.Epochs[i].Best = false // by the first score, which nobody looks at
			}
		}
		if diff := cmp.Diff(plain.Epochs, refit.Epochs); diff != "" {
			t.Errorf("misaligned %s: epochs: %s", misaligned, diff)
		}
		if diff := cmp.Diff(plain.Evaluations, refit.Evaluations); diff != "" {
			t.Errorf("misaligned %s: results: %s", misaligned, diff)
		}
	}
}

// slot is a store of one checkpoint.
type slot struct {
	held *train.Checkpoint
	err  error
}

func (s *slot) Save(c *train.Checkpoint) error {
	s.held = &train.Checkpoint{State: c.State, Tensors: append([]autograd.NamedTensor(nil), c.Tensors...)}
	return nil
}

func (s *slot) Load() (*train.Checkpoint, bool, error) {
	if s.held == nil {
		return nil, false, s.err
	}
	c := *s.held
	return &c, true, s.err
}

// One store serves both trainings: each finds its own checkpoint and not the
// other's, and the second remembers what the first came to.
func TestPhases(t *testing.T) {
	store := &slot{}
	load := func(phase int) (string, *train.Result) {
		t.Helper()
		p, err := openPhases(store)
		if err != nil {
			t.Fatal(err)
		}
		c, ok, err := p.store(phase).Load()
		if err != nil {
			t.Fatal(err)
		}
		if !ok {
			return "", p.first
		}
		return string(c.State), p.first
	}
	if state, first := load(1); state != "" || first != nil {
		t.Errorf("an empty store holds %q", state)
	}
	p, err := openPhases(store)
	if err != nil {
		t.Fatal(err)
	}
	if err := p.store(1).Save(&train.Checkpoint{State: []byte(`{"a":1}`)}); err != nil {
		t.Fatal(err)
	}
	if state, first := load(1); state != `{"a":1}` || first != nil {
		t.Errorf("the first training finds %q", state)
	}
	if state, _ := load(2); state != "" {
		t.Errorf("the second training finds the first one's %q", state)
	}
	p.first = &train.Result{Best: 3, Steps: 7, Epochs: make([]train.EpochRecord, 5)}
	if err := p.store(2).Save(&train.Checkpoint{State: []byte(`{"b":2}`)}); err != nil {
		t.Fatal(err)
	}
	if state, first := load(2); state != `{"b":2}` || first == nil || first.Best != 3 || first.Steps != 7 {
		t.Errorf("the second training finds %q and %+v", state, first)
	}
	if state, _ := load(1); state != "" {
		t.Errorf("the first training finds the second one's %q", state)
	}
	for _, bad := range []string{`{`, `{"phase":0}`, `{"phase":3}`, `{"phase":2}`, `{"phase":1,"first":{}}`} {
		store.held = &train.Checkpoint{State: []byte(bad)}
		if _, err := openPhases(store); err == nil {
			t.Errorf("state %s is taken", bad)
		}
	}
	store.err = errors.New("gone")
	if _, err := openPhases(store); !errors.Is(err, store.err) {
		t.Errorf("%v", err)
	}
}
