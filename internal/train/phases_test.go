package train

import (
	"encoding/json"
	"errors"
	"testing"

	"privrec/internal/autograd"
)

// slot is a store of one checkpoint.
type slot struct {
	held *Checkpoint
	err  error
}

func (s *slot) Save(c *Checkpoint) error {
	s.held = &Checkpoint{State: c.State, Tensors: append([]autograd.NamedTensor(nil), c.Tensors...)}
	return nil
}

func (s *slot) Load() (*Checkpoint, bool, error) {
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
	load := func(phase int) (string, *Result) {
		t.Helper()
		p, err := OpenPhases(store)
		if err != nil {
			t.Fatal(err)
		}
		c, ok, err := p.Store(phase).Load()
		if err != nil {
			t.Fatal(err)
		}
		if !ok {
			return "", p.First
		}
		return string(c.State), p.First
	}
	if state, first := load(1); state != "" || first != nil {
		t.Errorf("an empty store holds %q", state)
	}
	p, err := OpenPhases(store)
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Store(1).Save(&Checkpoint{State: []byte(`{"a":1}`)}); err != nil {
		t.Fatal(err)
	}
	if state, first := load(1); state != `{"a":1}` || first != nil {
		t.Errorf("the first training finds %q", state)
	}
	if state, _ := load(2); state != "" {
		t.Errorf("the second training finds the first one's %q", state)
	}
	p.First = &Result{Best: 3, Steps: 7, Epochs: make([]EpochRecord, 5)}
	if err := p.Store(2).Save(&Checkpoint{State: []byte(`{"b":2}`)}); err != nil {
		t.Fatal(err)
	}
	if state, first := load(2); state != `{"b":2}` || first == nil || first.Best != 3 || first.Steps != 7 {
		t.Errorf("the second training finds %q and %+v", state, first)
	}
	if state, _ := load(1); state != "" {
		t.Errorf("the first training finds the second one's %q", state)
	}
	for _, bad := range []string{`{`, `{"phase":0}`, `{"phase":3}`, `{"phase":2}`, `{"phase":1,"first":{}}`} {
		store.held = &Checkpoint{State: []byte(bad)}
		if _, err := OpenPhases(store); err == nil {
			t.Errorf("state %s is taken", bad)
		}
	}
	store.err = errors.New("gone")
	if _, err := OpenPhases(store); !errors.Is(err, store.err) {
		t.Errorf("%v", err)
	}
}

// oneCheckpoint is a store that holds a given state.
type oneCheckpoint struct{ state []byte }

func (s oneCheckpoint) Save(*Checkpoint) error { return nil }
func (s oneCheckpoint) Load() (*Checkpoint, bool, error) {
	return &Checkpoint{State: s.state}, true, nil
}

// The state of a training in two phases comes from a file: whatever stands there,
// opening it fails or gives a phase with what that phase needs.
func FuzzPhases(f *testing.F) {
	for _, seed := range []string{
		`{"phase":1,"state":{}}`, `{"phase":2,"first":{"Best":1,"Epochs":[{},{}]},"state":{}}`, `{"phase":2,"state":{}}`,
		`{"phase":2,"first":{"Best":-1},"state":{}}`, `{"phase":3}`, `{}`, ``, `null`, `[1]`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, state []byte) {
		p, err := OpenPhases(oneCheckpoint{state})
		if err != nil {
			return
		}
		if p.at != 1 && p.at != 2 || (p.First != nil) != (p.at == 2) {
			t.Fatalf("phase %d with first %v", p.at, p.First)
		}
		if p.First != nil && (p.First.Best < 0 || p.First.Best >= len(p.First.Epochs)) {
			t.Fatalf("epoch %d chosen of %d", p.First.Best, len(p.First.Epochs))
		}
		if !json.Valid(p.loaded.State) {
			t.Fatalf("state %q", p.loaded.State)
		}
	})
}
