package dipsgnn

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// The periods of a ledger follow the run: an epoch with its evaluations is one,
// and what comes after training is told apart.
func TestPeriods(t *testing.T) {
	for _, c := range []struct {
		name string
		sets []string
		want []string
	}{
		{"noise on and off", nil, []string{
			"before training: features", "epoch 1: train valid", "epoch 2: train valid",
			"refit, epoch 1: refit test", "refit, epoch 2: refit test", "final evaluation: test"}},
		{"no refit", []string{"train.refit=false"}, []string{
			"before training: features", "epoch 1: test train valid", "epoch 2: test train valid", "final evaluation: test"}},
		{"noise off", []string{`eval.noise=["off"]`, "train.refit=false"}, []string{
			"before training: features", "epoch 1: train", "epoch 2: train"}},
		{"no noise, ids", []string{"model.user_input=id", "privacy.transitions.epsilon=.inf", `eval.noise=["off"]`}, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "run")
			start(t, Task(), dir, c.sets)
			var got []string
			for _, e := range ledgerOf(t, dir) {
				if e.Period == "before the run" {
					if len(got) > 0 {
						t.Errorf("%+v comes after %q", e, got)
					}
					continue
				}
				word := e.Purpose[strings.LastIndex(e.Purpose, " ")+1:]
				if n := len(got) - 1; n < 0 || !strings.HasPrefix(got[n], e.Period+":") {
					got = append(got, e.Period+": "+word)
				} else if !strings.Contains(got[n], " "+word) {
					got[n] += " " + word
				}
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}
