package run

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"privrec/internal/system"
)

// tree is every file below dir with its content.
func tree(t *testing.T, dir string) map[string]string {
	t.Helper()
	m := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || path == dir {
			return err
		}
		name, _ := filepath.Rel(dir, path)
		if d.IsDir() {
			m[name+"/"] = ""
			return nil
		}
		b, err := os.ReadFile(path)
		m[name] = string(b)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func put(t *testing.T, dir string, files map[string]string) {
	t.Helper()
	for name, text := range files {
		path := filepath.Join(dir, name)
		if strings.HasSuffix(name, "/") {
			if err := os.MkdirAll(path, 0o755); err != nil {
				t.Fatal(err)
			}
			continue
		}
		err := os.MkdirAll(filepath.Dir(path), 0o755)
		if err == nil {
			err = os.WriteFile(path, []byte(text), 0o644)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

// A directory that holds anything else than a run is refused and stays as it was, to the
// byte.
func TestForeignDirectoryIsLeftAlone(t *testing.T) {
	for name, files := range map[string]map[string]string{
		"a configuration with comments": {"config.yaml": "# mine\nsteps: 20\n"},
		"a lock of its own":             {"lock": "yale"},
		"a lock folder":                 {"lock/": ""},
		"a log of its own":              {"log.jsonl": "{}\n"},
		"a ledger of its own":           {"ledger.jsonl": "2026-01-01 opening balance\n"},
		"temporary notes":               {".tmp-notes": "mine"},
		"notes beside a lock":           {"lock": "yale", ".tmp-notes": "mine"},
		"a manifest of its own":         {"manifest.json": `{"name": "web app"}`, ".tmp-notes": "mine"},
		"a folder called checkpoint":    {"checkpoint/.tmp-x": "mine"},
	} {
		for _, resume := range []bool{false, true} {
			dir := t.TempDir()
			put(t, dir, files)
			before := tree(t, dir)
			_, err := toyTask(nil).Start(t.Context(), quiet(new(bytes.Buffer), Options{Sets: []string{"run.out=" + dir}, Resume: resume}))
			var h interface{ Hint() string }
			if !errors.As(err, &h) || h.Hint() == "" {
				t.Errorf("%s: %v", name, err)
			}
			if diff := cmp.Diff(before, tree(t, dir)); diff != "" {
				t.Errorf("%s: changed:\n%s", name, diff)
			}
		}
	}
}

// A configuration that says what the program would write is taken as it is, and
// survives a run that comes to nothing.
func TestOwnConfigurationInTheDirectory(t *testing.T) {
	dir := t.TempDir()
	b, err := toyTask(nil).Defaults()
	if err != nil {
		t.Fatal(err)
	}
	text := strings.Replace(string(b), `out: ""`, "out: "+dir, 1)
	put(t, dir, map[string]string{"config.yaml": text})
	start := func(fail bool) error {
		hook := func(int) error { return nil }
		if fail {
			hook = func(int) error { return errBoom }
		}
		_, err := toyTask(hook).Start(t.Context(), quiet(new(bytes.Buffer), Options{Config: filepath.Join(dir, "config.yaml")}))
		return err
	}
	if err := start(true); !errors.Is(err, errBoom) {
		t.Fatal(err)
	}
	if diff := cmp.Diff(map[string]string{"config.yaml": text}, tree(t, dir)); diff != "" {
		t.Error(diff)
	}
	if err := start(false); err != nil {
		t.Fatal(err)
	}
	if got := tree(t, dir)["config.yaml"]; got != text {
		t.Errorf("config.yaml became %q", got)
	}
}

// What a process leaves that is killed before its manifest stands does not bar
// the next one.
func TestRemainsOfAKill(t *testing.T) {
	dir := t.TempDir()
	put(t, dir, map[string]string{"lock": `{"pid":1,"host":"here"}` + "\n", ".tmp-manifest.json-123": "{"})
	if _, err := toyTask(nil).Start(t.Context(), quiet(new(bytes.Buffer), Options{Sets: []string{"run.out=" + dir}})); err != nil {
		t.Fatal(err)
	}
	for name := range tree(t, dir) {
		if name == "lock" || strings.HasPrefix(name, system.TempPrefix) {
			t.Errorf("%s is left", name)
		}
	}
}

// Two runs begin below one new folder while the other one removes what it made.
func TestDirectoriesMadeSideBySide(t *testing.T) {
	root := t.TempDir()
	var wg sync.WaitGroup
	for _, name := range []string{"a", "b"} {
		wg.Go(func() {
			dir := filepath.Join(root, "trials", name)
			for range 2000 {
				made, err := makeDir(dir)
				if err != nil {
					t.Error(err)
					return
				}
				if _, err := os.Stat(dir); err != nil {
					t.Error(err)
					return
				}
				removeEmpty(made)
			}
		})
	}
	wg.Wait()
}
