package auditing

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"privrec/internal/experiment"
	"privrec/internal/privacy"
	"privrec/internal/run"
)

// model describes one training of the target.
type model struct {
	dir   string // below the folder of models
	seed  uint64
	coins string // of the canaries: "" flips them
	off   bool   // without noise
}

// modelsFolder names the folder of the models in an audit's directory.
const modelsFolder = "models"

func (w *work) dir(name string) string { return filepath.Join(w.env.Dir, modelsFolder, name) }

// train trains a model of the target with canaries.
func (w *work) train(ctx context.Context, m model) error {
	return w.fit(ctx, m, "run.plant.unit="+w.plant.Unit, fmt.Sprintf("run.plant.canaries=%d", w.plant.Canaries),
		fmt.Sprintf("run.plant.rows=%d", w.plant.Rows),
		"run.plant.coins="+m.coins, fmt.Sprintf("run.plant.seed=%d", w.plant.Seed))
}

// fit trains a model of the target under further settings.
func (w *work) fit(ctx context.Context, m model, more ...string) error {
	sets := slices.Clone(w.Target.Set)
	if m.off {
		sets = append(sets, w.off...)
	}
	sets = append(append(sets, fmt.Sprintf("run.seed=%d", m.seed)), more...)
	if err := experiment.Within(ctx, w.task, w.Target.Config, w.dir(m.dir), m.seed, sets); err != nil {
		if m.off && !run.WasInterrupted(err) {
			return fmt.Errorf("train the positive control with %s: %w", strings.Join(w.off, " "), err)
		}
		return fmt.Errorf("train a model in %s: %w", w.dir(m.dir), err)
	}
	return nil
}

// large lists values of a key named epsilon that leave almost no noise, the largest first.
var large = []string{".inf", "1e6", "1e3", "100", "30", "20"}

// noiseOff returns the settings that switch off the noise of a task: the given ones, or every key named epsilon set to
// the largest value that the task takes. It returns none if there is no such key.
func (w *work) noiseOff() ([]string, error) {
	if len(w.Target.Off) > 0 {
		return w.Target.Off, w.task.Check(w.Target.Config, slices.Concat(w.Target.Set, w.Target.Off))
	}
	var off, keys []string
	for _, k := range w.task.Keys() {
		if k.Path != "epsilon" && !strings.HasSuffix(k.Path, ".epsilon") || k.List {
			continue
		}
		keys = append(keys, k.Path)
		for _, value := range large {
			set := k.Path + "=" + value
			if w.task.Check(w.Target.Config, slices.Concat(w.Target.Set, off, []string{set})) == nil {
				off = append(off, set)
				break
			}
		}
	}
	if len(keys) > 0 && len(off) == 0 {
		return nil, &run.UsageError{Message: fmt.Sprintf(
			"no value of %s leaves %s without noise, for the positive control", strings.Join(keys, ", "), w.task),
			Fix: "name the keys with target.off"}
	}
	return off, nil
}

// joint reports whether an account takes users' own results as public. Its guarantee then covers only what all others
// see.
func joint(a *experiment.Account) bool {
	return a != nil && slices.ContainsFunc(a.Public,
		func(p privacy.Assumption) bool { return strings.HasPrefix(p.What, "users' own") })
}
