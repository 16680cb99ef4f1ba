package auditing

import (
	"context"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strings"

	"privrec/internal/experiment"
	"privrec/internal/privacy"
	"privrec/internal/run"
)

// model is one training of the target.
type model struct {
	dir   string // below the folder of models
	seed  uint64
	coins string // of the canaries: "" flips them
	off   bool   // without noise
}

// modelsFolder holds the models of an audit, in its directory.
const modelsFolder = "models"

func (w *work) dir(name string) string { return filepath.Join(w.env.Dir, modelsFolder, name) }

// train trains a model of the target with canaries.
func (w *work) train(ctx context.Context, m model) error {
	return w.fit(ctx, m, "run.plant.unit="+w.plant.Unit, fmt.Sprintf("run.plant.canaries=%d", w.plant.Canaries), fmt.Sprintf("run.plant.rows=%d", w.plant.Rows),
		"run.plant.coins="+m.coins, fmt.Sprintf("run.plant.seed=%d", w.plant.Seed))
}

// fit trains a model of the target under further settings.
func (w *work) fit(ctx context.Context, m model, more ...string) error {
	sets := slices.Clone(w.Target.Set)
	if m.off {
		sets = append(sets, w.off...)
	}
	sets = append(append(sets, fmt.Sprintf("run.seed=%d", m.seed)), more...)
	if err := experiment.Within(ctx, w.task, w.Target.Config, w.dir(m.dir), sets); err != nil {
		if m.off && !run.WasInterrupted(err) {
			return fmt.Errorf("train the positive control with %s: %w", strings.Join(w.off, " "), err)
		}
		return fmt.Errorf("train a model in %s: %w", w.dir(m.dir), err)
	}
	return nil
}

// large are values of a key named epsilon that leave next to no noise, the largest first.
var large = []string{".inf", "1e6", "1e3", "100", "30", "20"}

// noiseOff returns the settings that switch the noise of a task off: those that are given, or every
// key named epsilon set to the largest value that the task takes. None where there is no such key.
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
		return nil, &run.UsageError{Message: fmt.Sprintf("no value of %s leaves %s without noise, for the positive control", strings.Join(keys, ", "), w.task), Fix: "name the keys with target.off"}
	}
	return off, nil
}

// Accounted is what the account of the audited run promises for the unit of an audit.
type Accounted struct {
	Unit    string         `json:"unit"` // of the promise
	Epsilon privacy.Number `json:"epsilon"`
	Delta   float64        `json:"delta"`
	Claimed string         `json:"claimed,omitempty"` // what the paper claims, and of which unit
	// Why says why there is nothing to compare with, or how the units relate.
	Why string `json:"why,omitempty"`
}

// finite reports whether there is a promise that a bound can contradict.
func (a Accounted) finite() bool { return !math.IsInf(float64(a.Epsilon), 1) }

// covers lists the units of promises that hold for what is audited, the closest first.
var covers = map[string][]string{Edge: {"edge", "interaction", "rating", "user"}, User: {"user"}, Sequence: {"user"}}

// accounted picks the promise that an audit is held against. A promise for a larger unit covers a
// smaller one. One for a smaller unit says nothing of a larger without group privacy, and is not
// compared.
func accounted(a *experiment.Account, unit string) Accounted {
	out := Accounted{Unit: unit, Epsilon: privacy.Number(math.Inf(1))}
	if a == nil {
		out.Why = "the run has no account"
		return out
	}
	if c := a.Claimed; c != nil {
		out.Claimed = fmt.Sprintf("%v at delta %g for one %s", c.Eps, c.Delta, c.Unit)
	}
	if len(a.Unbounded) > 0 {
		out.Why = "without noise: " + strings.Join(experiment.Names(a.Unbounded), ", ")
		return out
	}
	for _, name := range covers[unit] {
		for _, u := range a.Units {
			if u.Unit != name {
				continue
			}
			out.Unit, out.Epsilon, out.Delta = name, u.Total, u.Delta
			if name == User && unit == Edge {
				out.Why = "a promise for users covers every edge of a user: the audit is the weaker of the two"
			}
			return out
		}
	}
	if len(a.Units) > 0 {
		out.Why = fmt.Sprintf("the account is for one %s; for one %s it would take the privacy of groups, so that the two are not compared", a.Units[0].Unit, unit)
	}
	return out
}

// joint reports whether an account takes what users are shown of their own row as public: the
// promise is then about what all others see.
func joint(a *experiment.Account) bool {
	return a != nil && slices.ContainsFunc(a.Public, func(p privacy.Assumption) bool { return strings.HasPrefix(p.What, "users' own") })
}
