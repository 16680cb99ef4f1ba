package membership

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"

	"privrec/internal/dataset"
	"privrec/internal/dataset/registry"
	"privrec/internal/experiment"
	"privrec/internal/rng"
	"privrec/internal/run"
	"privrec/internal/tensor"
)

// target is the run that is attacked.
type target struct {
	Target
	dir  string
	task run.Task
	seed uint64
	hold run.HoldOut
	of   dataset.HoldOut // what is held out, with the seed of the rows

	whole *dataset.Interactions // with all rows
	given *dataset.Interactions // without what was held out
}

// Target describes what is attacked.
type Target struct {
	Task    string      `json:"task"`
	Method  string      `json:"method"` // as its result calls it
	Setting string      `json:"setting"`
	Release string      `json:"release,omitempty"` // that was asked for
	Config  string      `json:"config_sha256"`
	HoldOut run.HoldOut `json:"hold_out"`
}

// find returns the task of a name.
func find(tasks []run.Task, name string) (run.Task, error) {
	for _, t := range tasks {
		if t.String() == name {
			return t, nil
		}
	}
	return run.Task{}, &run.UsageError{Message: fmt.Sprintf("there is no task %q whose runs can be attacked", name), Fix: "privrec list shows them, such as train ease"}
}

// openTarget reads what the attacked run is, and loads its data, with and without what was held
// out. It fails where there are no non-members, with the command that makes a run with some.
func (c Config) openTarget(ctx context.Context, dir string, tasks []run.Task) (*target, *experiment.Outcome[experiment.Data], error) {
	m, err := run.ReadRun(dir, "name a run directory with --on, as privrec train writes them")
	if err != nil {
		return nil, nil, err
	}
	if m.Status != run.StatusDone {
		return nil, nil, &run.UsageError{Message: fmt.Sprintf("the run in %s is not finished: %s", dir, m.Status), Fix: "finish it with --resume"}
	}
	o, err := experiment.ReadOutcome(dir)
	if err != nil {
		return nil, nil, err
	}
	if o.Protocol != "top-n" {
		return nil, nil, &run.UsageError{Message: fmt.Sprintf("the run in %s is of protocol %s, and users and rows can be held out of protocol top-n alone", dir, o.Protocol), Fix: "attack a run of a top-n model, such as train ease"}
	}
	t := &target{dir: dir, seed: m.Seed, Target: Target{Task: m.Task, Method: o.Method, Setting: o.Setting, Release: c.On.Release, Config: m.ConfigHash}}
	if t.task, err = find(tasks, m.Task); err != nil {
		return nil, nil, err
	}
	if m.HoldOut != nil {
		t.hold, t.HoldOut = *m.HoldOut, *m.HoldOut
	}
	if err := c.nonMembers(t); err != nil {
		return nil, nil, err
	}
	t.of = t.hold.Of(rng.Seed(t.seed))
	load := func(ctx context.Context) (*dataset.Interactions, error) {
		return registry.LoadInteractions(ctx, o.Data.Name, o.Data.Recipe, registry.Options{Seed: t.of.Seed})
	}
	if t.whole, err = load(ctx); err != nil {
		return nil, nil, err
	}
	if t.whole.Source.Hash != o.Data.Source.Hash {
		return nil, nil, &run.UsageError{Message: fmt.Sprintf("data %s are not those of the run in %s", o.Data.Name, dir), Fix: "restore the data"}
	}
	t.given = t.whole
	if m.HoldOut != nil {
		t.given, err = t.without(ctx, t.of)
	}
	return t, o, err
}

// nonMembers fails where the run was trained on all candidates.
func (c Config) nonMembers(t *target) error {
	key, other := "run.hold_out.rows", ""
	switch has := t.hold.Rows > 0; {
	case c.Attack.NonMembers == Test && (has || t.hold.Users > 0):
		return &run.UsageError{Message: fmt.Sprintf("attack.non_members: the run in %s has users or rows held out, which are better non-members than its test rows", t.dir), Fix: "leave attack.non_members out"}
	case c.Attack.NonMembers == Test || c.Attack.Level == LevelInteraction && has:
		return nil
	case c.Attack.Level == LevelUser:
		if t.hold.Users > 0 {
			return nil
		}
		key = "run.hold_out.users"
	default:
		other = "; or attack.non_members=test takes its test rows"
	}
	return &run.UsageError{Message: fmt.Sprintf("the run in %s was trained on every %s that could be asked about: there are no non-members", t.dir, c.Attack.Level),
		Fix: fmt.Sprintf("train it with some held out: privrec %s --config %s --set %s=0.5 --out %s-held-out%s", t.Task, filepath.Join(t.dir, "config.yaml"), key, filepath.Clean(t.dir), other)}
}

// without loads the data of the target without what h holds out.
func (t *target) without(ctx context.Context, h dataset.HoldOut) (*dataset.Interactions, error) {
	within, _, err := dataset.WithHoldOut(ctx, h)
	if err != nil {
		return nil, err
	}
	return registry.LoadInteractions(within, t.whole.Name, t.whole.Recipe, registry.Options{Seed: t.of.Seed})
}

// train trains a model in a directory, or goes on with one that was begun there. It keeps quiet.
func train(ctx context.Context, task run.Task, config, dir string, sets []string) error {
	workers := tensor.Workers() // the run sets those of its own configuration
	defer tensor.SetWorkers(workers)
	_, err := os.Stat(filepath.Join(dir, "manifest.json"))
	_, err = task.Start(ctx, run.Options{Config: config, Resume: err == nil, Stdout: io.Discard, Log: slog.New(slog.DiscardHandler), Progress: run.Silent{},
		Sets: append(append([]string{}, sets...), "run.out="+dir, fmt.Sprintf("run.workers=%d", workers))})
	return err
}

// makeTarget trains the target that the configuration describes.
func (c Config) makeTarget(ctx context.Context, env *run.Env, task run.Task) error {
	defer env.Stage("train the target")()
	key := "rows"
	if c.Attack.Level == LevelUser {
		key = "users"
	}
	sets := append(append([]string{}, c.Target.Set...), fmt.Sprintf("run.seed=%d", uint64(env.Seed)), fmt.Sprintf("run.hold_out.%s=%v", key, c.Target.Share))
	return train(ctx, task, c.Target.Config, c.where(env.Dir), sets)
}

// reference trains the k-th model of the attacker: as the target, with a seed of its own, on a
// draw of halves that no other pair of models has.
func (t *target) reference(ctx context.Context, own string, k int, level string) (dir string, h dataset.HoldOut, err error) {
	hold := run.HoldOut{Draw: t.hold.Draw + 1 + uint64(k/2), Swap: k%2 == 1, Seed: uint64(t.of.Seed)}
	if level == LevelUser {
		hold.Users = 0.5
	} else {
		hold.Users, hold.Rows = 0, 0.5
	}
	return t.practise(ctx, filepath.Join(own, "references", fmt.Sprint(k+1)), t.seed+1+uint64(k), hold)
}

// shadow trains the model on which the attacker practises: on half of the users who are not
// attacked.
func (t *target) shadow(ctx context.Context, own string, apart float64) (dir string, h dataset.HoldOut, err error) {
	return t.practise(ctx, filepath.Join(own, "references", "shadow"), t.seed+1_000_000, run.HoldOut{Users: 0.5, Apart: apart, Draw: t.hold.Draw, Seed: uint64(t.of.Seed)})
}

func (t *target) practise(ctx context.Context, dir string, seed uint64, h run.HoldOut) (string, dataset.HoldOut, error) {
	sets := []string{fmt.Sprintf("run.seed=%d", seed), fmt.Sprintf("run.hold_out.users=%v", h.Users), fmt.Sprintf("run.hold_out.rows=%v", h.Rows),
		fmt.Sprintf("run.hold_out.apart=%v", h.Apart), fmt.Sprintf("run.hold_out.draw=%d", h.Draw), fmt.Sprintf("run.hold_out.swap=%v", h.Swap), fmt.Sprintf("run.hold_out.seed=%d", h.Seed)}
	if err := train(ctx, t.task, filepath.Join(t.dir, "config.yaml"), dir, sets); err != nil {
		return dir, h.Of(0), fmt.Errorf("train a reference model in %s: %w", dir, err)
	}
	return dir, h.Of(0), nil
}
