//go:build slow

package dipsgnn

import (
	"fmt"
	"path/filepath"
	"testing"

	"privrec/internal/run/runtest"
)

// Interruption at every place where a run looks at its context. The batches are large, so that an epoch has a first, a
// middle and a last one, and few that are alike.
func TestResumeAfterEveryInterruption(t *testing.T) {
	sets := []string{"train.batch=400"}
	want, s := uninterrupted(t, sets)
	for at := 1; at <= s.fuse.Looks; at++ {
		t.Run(fmt.Sprintf("look %d of %d", at, s.fuse.Looks), func(t *testing.T) {
			t.Parallel()
			dir := filepath.Join(t.TempDir(), "run")
			interrupt(t, dir, sets, at, false)
			runtest.Same(t, "resumed", resume(t, dir, sets), want)
		})
	}
}

// The rest of the variants.
func TestMoreVariants(t *testing.T) {
	for _, v := range []variant{
		{"noise on only", []string{`eval.noise=["on"]`}, "labels,readout,backward,selection", 5, 1.18703, "20 []", "train 2, valid 2, refit R, test R+1", true},
		{"no test passes between", []string{"eval.every=false"}, "labels,readout,backward,eval_noise_off,selection", 5, 1.18703, "20 []", "train 2, valid 2, refit R, test 1", true},
		{"unselected raw, none", []string{"privacy.features.unselected=raw"},
			"labels,readout,backward,eval_noise_off,selection", 5, 1.18703, "20 []", "train 2, valid 2, refit R, test R+1", true},
		{"by user, clipped", []string{"train.validation_split=user", "model.normalise=clip"},
			"labels,readout,backward,eval_noise_off,selection", 5, 1.18703, "20 []", "train 2, valid 2, refit R, test R+1", true},
		{"epsilon 3", []string{"privacy.transitions.epsilon=3"}, "labels,readout,backward,eval_noise_off,selection", 3, 1.92458, "20 []", "train 2, valid 2, refit R, test R+1", true},
		{"last, all samples", []string{"train.select=last", "train.validation=0", "train.refit=false"},
			"labels,readout,backward,eval_noise_off,selection", 5, 1.18703, "20 []", "train 2, valid 0, refit 0, test 3", true},
	} {
		t.Run(v.name, v.test)
	}
}
