//go:build unix

package run

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
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

// What is at the path decides how it is written: a link stays, a pipe and a device are written to, a folder is refused.
func TestWriteFileIntoWhatIsThere(t *testing.T) {
	defer syscall.Umask(syscall.Umask(0o022))
	hello := func(w io.Writer) error { _, err := io.WriteString(w, "hello"); return err }
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	for link, to := range map[string]string{"link": "there", "dangling": "new", "twice": "link", "absolute": at("there")} {
		if err := os.Symlink(to, at(link)); err != nil {
			t.Fatal(err)
		}
	}
	for link, to := range map[string]string{"link": "there", "dangling": "new", "twice": "there", "absolute": "there"} {
		if err := os.WriteFile(at("there"), []byte("old"), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := WriteFile(at(link), hello); err != nil {
			t.Fatal(err)
		}
		info, err := os.Lstat(at(link))
		if err != nil || info.Mode()&fs.ModeSymlink == 0 {
			t.Errorf("%s: no link any more: %v, %v", link, info, err)
		}
		if b, err := os.ReadFile(at(to)); err != nil || string(b) != "hello" {
			t.Errorf("%s: the file that it names has %q, %v", link, b, err)
		}
	}
	if err := os.Symlink("round", at("round")); err != nil {
		t.Fatal(err)
	}
	if err := WriteFile(at("round"), hello); err == nil {
		t.Error("a link to itself was written")
	}
	if err := WriteFile(dir, hello); err == nil || !strings.Contains(err.Error(), "it is a folder") {
		t.Errorf("a folder: %v", err)
	}
	if err := syscall.Mkfifo(at("pipe"), 0o600); err != nil {
		t.Fatal(err)
	}
	got := make(chan string, 1)
	go func() {
		b, err := os.ReadFile(at("pipe"))
		got <- fmt.Sprint(string(b), err)
	}()
	if err := WriteFile(at("pipe"), hello); err != nil {
		t.Fatal(err)
	}
	if b := <-got; b != "hello<nil>" {
		t.Errorf("the pipe gave %s", b)
	}
	if info, err := os.Lstat(at("pipe")); err != nil || info.Mode()&fs.ModeNamedPipe == 0 {
		t.Errorf("no pipe any more: %v, %v", info, err)
	}
	for name, write := range map[string]func(string, func(io.Writer) error) error{"shown": WriteFile, "private": WritePrivate} {
		if err := write(at(name), hello); err != nil {
			t.Fatal(err)
		}
		want := map[string]fs.FileMode{"shown": 0o644, "private": 0o600}[name]
		if info, err := os.Stat(at(name)); err != nil || info.Mode().Perm() != want {
			t.Errorf("%s: mode %v, want %v (%v)", name, info.Mode(), want, err)
		}
	}
}
