package dipsgnn

import (
	"fmt"
	"path/filepath"
	"testing"

	"privrec/internal/experiment"
	"privrec/internal/protocol/nextitem"

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
		start(t, Task(), dir, append([]string{
			seed, fmt.Sprint("train.epochs=", refit.Selected), "train.select=last", "train.validation=0", "train.refit=false"}, sets...))
		plain := readJSON[nextitem.Outcome](t, dir, "metrics.json")
		for _, o := range []*nextitem.Outcome{&refit, &plain} {
			for i := range o.Epochs {
				o.Epochs[i].Best = false // by the first score, which is not looked at
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

// What is reported is the model of the selected epoch: without noise its final
// evaluation repeats what the test set gave after that epoch, to the last bit.
func TestSelectedModelIsReported(t *testing.T) {
	for _, c := range []struct{ rule, validation, refit string }{
		{nextitem.SelectValidation, "0.1", "true"}, {nextitem.SelectValidation, "0.1", "false"}, {nextitem.SelectLast, "0.1", "false"}, {nextitem.SelectTest, "0", "false"},
	} {
		sets := []string{
			"train.epochs=4", "train.patience=0", "train.rate=3", "train.decay_by=1", "train.select=" + c.rule, "train.validation=" + c.validation,
			`eval.noise=["off"]`, "privacy.transitions.epsilon=.inf", "privacy.features.epsilon=.inf", "train.refit=" + c.refit,
		}
		var o nextitem.Outcome
		if c.rule == nextitem.SelectValidation {
			o, _ = eventful(t, sets)
		} else {
			dir := t.TempDir() + "/run"
			start(t, Task(), dir, sets)
			o = readJSON[nextitem.Outcome](t, dir, "metrics.json")
		}
		of := func(e experiment.Epoch, name string) float64 {
			for _, s := range e.Scores {
				if s.Name == name {
					return s.Value
				}
			}
			t.Fatalf("epoch %d has no %s", e.Epoch, name)
			return 0
		}
		what := fmt.Sprintf("%s, refit %s", c.rule, c.refit)
		best, top := 4, -1.0
		chosen := o.Epochs // by validation, in the first training
		if len(o.Selection) > 0 {
			chosen = o.Selection
		}
		if c.rule == nextitem.SelectValidation {
			for _, e := range chosen {
				if v := of(e, "valid Recall@20"); v > top {
					best, top = e.Epoch, v
				}
			}
		}
		if o.Selected != best || c.refit == "true" && len(o.Epochs) != best {
			t.Errorf("%s: epoch %d selected of %d, want %d", what, o.Selected, len(o.Epochs), best)
		}
		for _, m := range o.Metrics {
			if got, want := o.Evaluations[0].Values[m.String()], of(o.Epochs[best-1], "test "+m.String()); got != want {
				t.Errorf("%s: %v is %v in the result and %v after the epoch", what, m, got, want)
			}
			top := 0.0
			for _, e := range o.Epochs {
				top = max(top, of(e, "test "+m.String()))
			}
			if got := o.Evaluations[1].Values[m.String()]; got != top {
				t.Errorf("%s: the best %v on test is %v, want %v", what, m, got, top)
			}
		}
	}
}
