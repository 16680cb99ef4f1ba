package dipsgnn

import (
	"errors"
	"path/filepath"
	"testing"

	"privrec/internal/run"
)

// An interruption is one whatever the reason that the context gives.
func TestInterruptionKeepsItsCause(t *testing.T) {
	operator := errors.New("the operator said so")
	_, s := uninterrupted(t, "dipsgnn", nil)
	for _, place := range []string{"epoch 1/2 begins", "epoch 1/2 trained", "evaluate"} {
		dir := filepath.Join(t.TempDir(), "run")
		err := try(newFuse(t, s.at[place]+2, operator), task(t, "dipsgnn"), dir, nil, run.Options{})
		if !run.WasInterrupted(err) || !errors.Is(err, operator) {
			t.Errorf("after %q: %v", place, err)
		}
		if m, err := run.ReadManifest(dir); err != nil || m.Status != run.StatusInterrupted {
			t.Errorf("after %q: status %q (%v)", place, m.Status, err)
		}
	}
}
