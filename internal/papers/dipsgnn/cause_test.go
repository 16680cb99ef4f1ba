package dipsgnn

import (
	"errors"
	"path/filepath"
	"testing"

	"privrec/internal/run"
	"privrec/internal/run/runtest"
)

// An interruption is one whatever the reason that the context gives.
func TestInterruptionKeepsItsCause(t *testing.T) {
	operator := errors.New("the operator said so")
	_, s := uninterrupted(t, nil)
	for _, place := range []string{"epoch 1/2 begins", "epoch 1/2 trained", "evaluate"} {
		dir := filepath.Join(t.TempDir(), "run")
		err := try(runtest.NewFuse(t, s.at[place]+2, operator), Task(), dir, nil, run.Options{})
		if !run.WasInterrupted(err) || !errors.Is(err, operator) {
			t.Errorf("after %q: %v", place, err)
		}
		if m, err := run.ReadManifest(dir); err != nil || m.Status != run.StatusInterrupted {
			t.Errorf("after %q: status %q (%v)", place, m.Status, err)
		}
	}
}
