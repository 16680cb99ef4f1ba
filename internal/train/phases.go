package train

import (
	"encoding/json"
	"fmt"
)

// Phases keeps the checkpoints of two trainings in one store, one after the other. The best epoch of the first training
// sets the length of the second, which has more data.
type Phases struct {
	First *Result // result of the first training; nil until the caller sets it at its end

	inner  Store
	loaded *Checkpoint // as found at the start, of phase number at
	at     int
}

// phaseState holds the state of a checkpoint with the number of its training and what the first one came to.
type phaseState struct {
	Phase int             `json:"phase"`
	First *Result         `json:"first,omitempty"`
	State json.RawMessage `json:"state"`
}

// OpenPhases returns the phases in a store. If it holds a checkpoint of the second training, First is set from it.
// OpenPhases fails if the store does, and on a checkpoint of another kind of run.
func OpenPhases(inner Store) (*Phases, error) {
	c, ok, err := inner.Load()
	if err != nil || !ok {
		return &Phases{inner: inner}, err
	}
	var s phaseState
	if err := json.Unmarshal(c.State, &s); err != nil {
		return nil, fmt.Errorf("load checkpoint: %w", err)
	}
	if s.Phase < 1 || s.Phase > 2 || (s.Phase == 2) != (s.First != nil) {
		return nil, fmt.Errorf("load checkpoint: phase %d of a training in two", s.Phase)
	}
	if f := s.First; f != nil && (f.Best < 0 || f.Best >= len(f.Epochs)) {
		return nil, fmt.Errorf("load checkpoint: epoch %d chosen of %d", f.Best+1, len(f.Epochs))
	}
	if len(s.State) == 0 {
		return nil, fmt.Errorf("load checkpoint: phase %d without its state", s.Phase)
	}
	c.State = s.State
	return &Phases{First: s.First, inner: inner, loaded: c, at: s.Phase}, nil
}

// Store returns the store of training number phase, 1 or 2. It finds only the checkpoints of this training.
func (p *Phases) Store(phase int) Store { return phaseStore{p, phase} }

type phaseStore struct {
	p     *Phases
	phase int
}

// Load implements Store.
func (s phaseStore) Load() (*Checkpoint, bool, error) {
	if s.p.loaded == nil || s.p.at != s.phase {
		return nil, false, nil
	}
	return s.p.loaded, true, nil
}

// Save implements Store.
func (s phaseStore) Save(c *Checkpoint) error {
	state := phaseState{Phase: s.phase, State: c.State}
	if s.phase == 2 {
		state.First = s.p.First
	}
	text, err := json.Marshal(state)
	if err != nil {
		return fmt.Errorf("save checkpoint: %w", err)
	}
	return s.p.inner.Save(&Checkpoint{State: text, Tensors: c.Tensors})
}
