//go:build unix

package run

import (
	"bytes"
	"context"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"privrec/internal/privacy"
)

// A run directory is its owner's, and so is every file that holds rows or was computed from them. Who may read the
// others the umask says.
func TestModes(t *testing.T) {
	defer syscall.Umask(syscall.Umask(0o027))
	dir := filepath.Join(t.TempDir(), "runs", "one")
	task := Task{Verb: "train", Name: "modes", Action: Bind(func() spender { return spender{} }, nil, func(ctx context.Context, env *Env, _ spender) error {
		if _, err := env.Ledger(privacy.Research, privacy.Declaration{WithoutNoise: []privacy.Unprotected{toySum}}); err != nil {
			return err
		}
		err := env.SaveCheckpoint(Checkpoint{State: []byte("{}")})
		if err == nil {
			err = env.WriteArtefact("model.safetensors", func(w io.Writer) error { return nil })
		}
		if err == nil {
			err = env.WriteMetrics(map[string]int{"x": 1})
		}
		if err == nil {
			err = env.WriteScores("scores", Column{Name: "user", Values: []int32{1}})
		}
		return err
	})}
	if _, err := task.Start(t.Context(), quiet(new(bytes.Buffer), Options{Sets: []string{"run.out=" + dir}})); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]fs.FileMode{
		"..": 0o750, ".": 0o700, "checkpoint": 0o700, "checkpoint/checkpoint.safetensors": 0o600, "model.safetensors": 0o600, "scores.tsv.gz": 0o600,
		"metrics.json": 0o640, "manifest.json": 0o640, "config.yaml": 0o640, "log.jsonl": 0o640, LedgerName: 0o640,
	} {
		info, err := os.Stat(filepath.Join(dir, filepath.FromSlash(name)))
		if err != nil {
			t.Error(err)
		} else if got := info.Mode().Perm(); got != want {
			t.Errorf("%s has mode %o, want %o", name, got, want)
		}
	}
}
