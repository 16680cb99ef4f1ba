package dipsgnn

import (
	"fmt"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
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
