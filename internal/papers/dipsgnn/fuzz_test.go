package dipsgnn

import (
	"context"
	"testing"

	"privrec/internal/protocol/nextitem"

	"privrec/internal/run"
)

// The state of the noise comes from a file: whatever stands there, it is an error or a
// state.
func FuzzNoiseState(f *testing.F) {
	f.Add([]byte(`{"period":"epoch 1","channels":[]}`))
	f.Add([]byte(`{"channels":[{"purpose":"aggregation, incoming, train"}]}`))
	f.Add([]byte(`{"channels":[{"purpose":"other"}]}`))
	f.Add([]byte(`null`))
	f.Fuzz(func(t *testing.T, state []byte) {
		inRun(t, nil, func(_ context.Context, env *run.Env, cfg Config, x *nextitem.Experiment) error {
			p, err := newProtection(env, x, cfg)
			if err != nil {
				return err
			}
			_ = p.Load(state) // an error or a state; never a panic
			return nil
		})
	})
}
