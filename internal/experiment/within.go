package experiment

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"

	"privrec/internal/run"
	"privrec/internal/tensor"
)

// Find returns the task with a name, if its runs can be attacked or audited.
func Find(tasks []run.Task, name, what string) (run.Task, error) {
	for _, t := range tasks {
		if t.String() == name {
			return t, nil
		}
	}
	return run.Task{}, &run.UsageError{Message: fmt.Sprintf("there is no task %q whose runs can be %s", name, what),
		Fix: "privrec list shows them, such as train ease"}
}

// Within trains a model in a directory as part of another run, or continues one that was started there. It prints
// nothing. sets override keys of the configuration file; an empty config means the defaults. The seed noise makes the
// model's noise as repeatable as that of the outer run.
func Within(ctx context.Context, task run.Task, config, dir string, noise uint64, sets []string) error {
	workers := tensor.Workers() // the run sets those of its own configuration
	defer tensor.SetWorkers(workers)
	_, err := os.Stat(filepath.Join(dir, "manifest.json"))
	_, err = task.Start(ctx, run.Options{Config: config, NoiseSeed: run.NoiseSeedOf(noise), Resume: err == nil,
		Stdout: io.Discard, Log: slog.New(slog.DiscardHandler), Progress: run.Silent{},
		Sets: append(append([]string{}, sets...), "run.out="+dir, fmt.Sprintf("run.workers=%d", workers))})
	return err
}

// HoldsRuns marks the directory of a run as resumable before a model is trained in it. The models are runs with
// checkpoints of their own, so this checkpoint stays empty.
func HoldsRuns(env *run.Env) error {
	if _, _, err := env.LoadCheckpoint(); err != nil {
		return err
	}
	return env.SaveCheckpoint(run.Checkpoint{State: json.RawMessage("{}")})
}
