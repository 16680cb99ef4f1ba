package run

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// FuzzManifest reads manifests of all kinds: what is accepted names its task and
// its configuration and is written and read back the same.
func FuzzManifest(f *testing.F) {
	whole, err := json.Marshal(Manifest{Task: "train toy", ConfigHash: "ab", Data: []Data{{"x", "cd"}}, Attempts: []Attempt{{}}, Stages: map[string]float64{"load": 1}})
	if err != nil {
		f.Fatal(err)
	}
	for _, seed := range []string{string(whole), `{"task":"t","config_sha256":"h"}`, `{`, `null`, `[]`, ``} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, "manifest.json"), b, 0o600); err != nil {
			t.Fatal(err)
		}
		m, err := ReadManifest(dir)
		if err != nil {
			return
		}
		if m.Task == "" || m.ConfigHash == "" {
			t.Fatalf("accepted without task or configuration: %+v", m)
		}
		if err := writeJSON(filepath.Join(dir, "manifest.json"), m); err != nil {
			t.Fatal(err)
		}
		again, err := ReadManifest(dir)
		if err != nil {
			t.Fatal(err)
		}
		a, _ := json.Marshal(m)
		b, _ = json.Marshal(again)
		if !bytes.Equal(a, b) {
			t.Fatal(cmp.Diff(string(a), string(b)))
		}
	})
}

// FuzzLock finds a file called lock with anything in it: it is taken over and
// gone after use, or refused as it is.
func FuzzLock(f *testing.F) {
	for _, seed := range []string{``, `{"pid":1,"host":"elsewhere"}`, `{"pid":1,"host":"elsewhere"}` + "\n", `{"pid":-1}`, `{"pid":1e99}`, `junk`, `null`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		dir := t.TempDir()
		path := filepath.Join(dir, lockName)
		if err := os.WriteFile(path, b, 0o600); err != nil {
			t.Fatal(err)
		}
		l, err := acquire(dir)
		if err != nil {
			var usage *UsageError
			if !errors.As(err, &usage) {
				t.Fatal(err)
			}
			if after, err := os.ReadFile(path); err != nil || !bytes.Equal(after, b) {
				t.Fatalf("refused, and changed to %q (%v)", after, err)
			}
			return
		}
		if _, err := acquire(dir); err == nil {
			t.Fatal("taken twice")
		}
		if err := l.release(); err != nil {
			t.Fatal(err)
		}
		if _, err := os.Stat(path); err == nil {
			t.Fatal("still there after use")
		}
	})
}
