package run

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"

	"privrec/internal/rng"
	"privrec/internal/system"
)

// ReadRun reads the manifest of a directory that a user named, as [ReadManifest] does. It fails with a UsageError that
// carries fix if the directory holds no run or is a file.
func ReadRun(dir, fix string) (Manifest, error) {
	m, err := ReadManifest(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return m, &UsageError{Message: "there is no run in " + dir, Fix: fix}
	case system.NotAFolder(err):
		return m, &UsageError{Message: fmt.Sprintf("there is no run in %s, which is not a directory", dir), Fix: fix}
	}
	return m, err
}

// ReadMetrics reads the metrics.json of a run directory into v.
func ReadMetrics(dir string, v any) error { return ReadJSON(dir, "metrics.json", v) }

// ReadJSON reads a JSON file of a run directory into v.
func ReadJSON(dir, name string, v any) error {
	path := filepath.Join(dir, name)
	b, err := system.ReadFile(path, system.MostOfRun)
	if err != nil {
		return fmt.Errorf("read %s: %w", strings.TrimSuffix(name, ".json"), err)
	}
	if err := json.Unmarshal(b, v); err != nil {
		return fmt.Errorf("read %s: %s: %w", strings.TrimSuffix(name, ".json"), path, err)
	}
	return nil
}

// Serve opens the finished run in a directory, which one of the tasks must have made. With the coins CoinsIn or
// CoinsOut it answers with all its canaries in, or all out, and with all rows if some were held out. The model stays as
// it was trained; only the users' own rows that it is asked with change, and they then depend on no draw. With coins ""
// the run keeps its own.
func Serve(ctx context.Context, tasks []Task, dir, coins string) (Answers, error) {
	m, err := ReadRun(dir, "name a run directory, as privrec train writes them")
	if err != nil {
		return nil, err
	}
	if m.Status != StatusDone {
		return nil, &UsageError{Message: fmt.Sprintf("the run in %s is not finished: %s", dir, m.Status),
			Fix: "finish it with --resume"}
	}
	for _, t := range tasks {
		if t.String() != m.Task {
			continue
		}
		if !t.Action.answers {
			return nil, &UsageError{Message: fmt.Sprintf("%s: runs of %s cannot be asked for recommendations", dir,
				m.Task)}
		}
		path := filepath.Join(dir, configName)
		b, err := t.Action.load(t, source{path: path, effective: true}, nil)
		if err != nil {
			return nil, err
		}
		if b.hash != m.ConfigHash {
			return nil, &UsageError{Message: fmt.Sprintf("%s is not the configuration of the run in %s", path, dir),
				Fix: "restore it, or train again with another --out"}
		}
		setWorkers(b.settings.Workers)
		return b.answer(ctx, Finished{Dir: dir, Seed: rng.Seed(b.settings.Seed), Manifest: m,
			noiseSeed: b.settings.NoiseSeed}, coins)
	}
	return nil, &UsageError{Message: fmt.Sprintf("%s is a run of %q, which this program does not know", dir, m.Task)}
}
