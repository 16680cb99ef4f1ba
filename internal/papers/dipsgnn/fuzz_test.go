package dipsgnn

import (
	"context"
	"encoding/json"
	"testing"

	"privrec/internal/run"
	"privrec/internal/train"
)

// oneCheckpoint is a store that holds a given state.
type oneCheckpoint struct{ state []byte }

func (s oneCheckpoint) Save(*train.Checkpoint) error { return nil }
func (s oneCheckpoint) Load() (*train.Checkpoint, bool, error) {
	return &train.Checkpoint{State: s.state}, true, nil
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
		p, err := openPhases(oneCheckpoint{state})
		if err != nil {
			return
		}
		if p.at != 1 && p.at != 2 || (p.first != nil) != (p.at == 2) {
			t.Fatalf("phase %d with first %v", p.at, p.first)
		}
		if p.first != nil && (p.first.Best < 0 || p.first.Best >= len(p.first.Epochs)) {
			t.Fatalf("epoch %d chosen of %d", p.first.Best, len(p.first.Epochs))
		}
		if !json.Valid(p.loaded.State) {
			t.Fatalf("state %q", p.loaded.State)
		}
	})
}

// So does the state of the noise.
func FuzzNoiseState(f *testing.F) {
	f.Add([]byte(`{"period":"epoch 1","channels":[]}`))
	f.Add([]byte(`{"channels":[{"purpose":"aggregation, incoming, train"}]}`))
	f.Add([]byte(`{"channels":[{"purpose":"other"}]}`))
	f.Add([]byte(`null`))
	f.Fuzz(func(t *testing.T, state []byte) {
		inRun(t, nil, func(_ context.Context, env *run.Env, cfg Config, x *experiment) error {
			p, err := newProtection(env, x, cfg)
			if err != nil {
				return err
			}
			_ = p.Load(state) // an error or a state; never a panic
			return nil
		})
	})
}
