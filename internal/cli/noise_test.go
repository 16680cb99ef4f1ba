package cli

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"privrec/internal/papers"
	"privrec/internal/run"
)

// The secret key of a run's noise is in its own file, which only the owner reads, and in nothing that a run or a
// command about it writes or prints.
func TestNoiseKeyIsNowhereElse(t *testing.T) {
	root := t.TempDir()
	dir := filepath.Join(root, "run")
	var shown bytes.Buffer
	do := func(args ...string) {
		t.Helper()
		var stderr bytes.Buffer
		app := &App{Tasks: papers.All(), Stdout: &shown, Stderr: &stderr}
		if code := app.Execute(t.Context(), args); code != 0 {
			t.Fatalf("%v: exit %d\n%s", args, code, stderr.String())
		}
		shown.Write(stderr.Bytes())
	}
	do("train", "rdpgcf", "--config", "../../configs/rdpgcf/smoke.yaml", "--out", dir, "--set", "train.epochs=2", "--set", "run.save_steps=2", "--set", "model.dim=4", "--set", "run.workers=1")
	do("report", "vectors", dir, "--out", filepath.Join(root, "vectors"))
	do("report", dir, "--out", filepath.Join(root, "report"))
	do("report", "record", dir, "--out", filepath.Join(root, "record.json"), "--name", "a")
	do("report", "privacy", dir, "--out", filepath.Join(root, "review.html"))
	do("recommend", dir, "--user", "3", "--k", "2")
	do("evaluate", dir)
	do("account", "ledger", filepath.Join(dir, run.LedgerName), "--delta", "1e-6")
	if err := os.WriteFile(filepath.Join(root, "printed"), shown.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}

	text, err := os.ReadFile(filepath.Join(dir, run.NoiseFile))
	if err != nil {
		t.Fatal(err)
	}
	key, _, _ := strings.Cut(string(text), " ")
	raw, err := hex.DecodeString(key)
	if err != nil || len(raw) != 32 {
		t.Fatalf("%d bytes: %v", len(raw), err)
	}
	forms := [][]byte{raw, []byte(key), []byte(strings.ToUpper(key)), []byte(base64.StdEncoding.EncodeToString(raw)[:42]), []byte(base64.RawURLEncoding.EncodeToString(raw)[:42])}
	read := 0
	err = filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		if d.Name() == run.NoiseFile {
			if filepath.Dir(path) != dir {
				t.Errorf("%s is a copy of the key", path)
			}
			return nil
		}
		b, err := os.ReadFile(path)
		read++
		for _, f := range forms {
			if bytes.Contains(b, f) {
				t.Errorf("%s has the key of the noise", path)
			}
		}
		return err
	})
	if err != nil || read < 15 {
		t.Fatalf("%d files read: %v", read, err)
	}
}
