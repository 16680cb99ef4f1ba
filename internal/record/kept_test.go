package record

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"privrec/internal/compare"
	"privrec/internal/experiment"
	"privrec/internal/run"
)

// oldRuns are finished runs of every kind.
const oldRuns = "../../testdata/runs"

// What is kept of a run reads as the run does: results, account, manifest, configuration, and users' scores to six
// digits. Keeping it twice gives the same bytes, and names no place of a machine.
func TestKept(t *testing.T) {
	runs, err := filepath.Glob(filepath.Join(oldRuns, "*"))
	if err != nil || len(runs) < 10 {
		t.Fatal(len(runs), err)
	}
	for _, dir := range runs {
		name := filepath.Base(dir)
		t.Run(name, func(t *testing.T) {
			folder := t.TempDir()
			shelf, err := OpenShelf(folder)
			if err != nil {
				t.Fatal(err)
			}
			defer shelf.Close()
			if err := shelf.Keep(dir); err != nil {
				t.Fatal(err)
			}
			path := filepath.Join(folder, name+".json")
			first := text(t, path)
			if err := shelf.Keep(dir); err != nil || text(t, path) != first {
				t.Error("kept twice it has other bytes", err)
			}
			if strings.Contains(first, "/work/") || strings.Contains(first, "\\n  out:") {
				t.Errorf("it names a place:\n%s", first)
			}
			back, stale, ok, err := shelf.Find(name)
			if err != nil || !ok || stale != "" {
				t.Fatal(ok, stale, err)
			}
			same(t, "metrics.json", dir, back)
			same(t, "privacy.json", dir, back)
			was, err := run.ReadManifest(dir)
			if err != nil {
				t.Fatal(err)
			}
			got, err := run.ReadManifest(back)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(was.Attempts, got.Attempts); diff != "" || was.ConfigHash != got.ConfigHash {
				t.Errorf("the manifest: %s", diff)
			}
			if _, err := experiment.ReadAccount(back); err != nil {
				t.Error(err)
			}
			tables(t, dir, back)
			temp := back
			if err := shelf.Close(); err != nil {
				t.Fatal(err)
			}
			if _, err := os.Stat(temp); !os.IsNotExist(err) {
				t.Errorf("%s is left behind", temp)
			}
		})
	}
}

// TestKeptFiles checks that files of the data are kept under the folder of their data set, wherever that was.
func TestKeptFiles(t *testing.T) {
	runs, err := filepath.Glob(filepath.Join(oldRuns, "train-bprmf*"))
	if err != nil || len(runs) == 0 {
		t.Fatal(runs, err)
	}
	dir := filepath.Join(t.TempDir(), filepath.Base(runs[0]))
	if err := os.CopyFS(dir, os.DirFS(runs[0])); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "metrics.json")
	var all map[string]any
	if err := json.Unmarshal([]byte(text(t, path)), &all); err != nil {
		t.Fatal(err)
	}
	source := all["data"].(map[string]any)["source"].(map[string]any)
	source["files"] = []any{map[string]any{"path": "/home/somebody/data/ml-1m/ml-1m.inter.gz"},
		map[string]any{"path": "/home/somebody/data/ml-1m/ml-1m.user.gz"}}
	b, err := json.MarshalIndent(all, "", "  ")
	if err == nil {
		err = os.WriteFile(path, b, 0o644)
	}
	if err != nil {
		t.Fatal(err)
	}
	k, err := KeepRun(dir)
	if err != nil {
		t.Fatal(err)
	}
	data := string(k.Metrics["data"])
	if strings.Contains(data, "somebody") || !strings.Contains(data, `"path":"ml-1m/ml-1m.inter.gz"`) ||
		!strings.Contains(data, `"path":"ml-1m/ml-1m.user.gz"`) {
		t.Errorf("the files of the data are kept as %s", data)
	}
}

// Results under many protocols fit, and what does not is refused by its size.
func TestLargeResults(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "run")
	if err := os.CopyFS(dir, os.DirFS(filepath.Join(oldRuns, "train-ease"))); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(dir, "metrics.json")
	was := text(t, file)
	for field, fits := range map[string]bool{"protocols": true, "others": false} {
		list := strings.Repeat(`{"name": "full vocabulary", "value": 0.25}, `, 4000)
		more := fmt.Sprintf("{%q: [%s{}], ", field, list)
		if err := os.WriteFile(file, []byte(strings.Replace(was, "{", more, 1)), 0o600); err != nil {
			t.Fatal(err)
		}
		k, err := KeepRun(dir)
		if err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(t.TempDir(), "kept.json")
		err = k.Write(path)
		var large *LargeError
		if fits != (err == nil) || !fits && !errors.As(err, &large) {
			t.Errorf("%s: %v", field, err)
		}
		if !fits {
			continue
		}
		back := filepath.Join(t.TempDir(), "back")
		if k, err = ReadKept(path); err != nil {
			t.Fatal(err)
		}
		if err := k.Unpack(back); err != nil {
			t.Fatal(err)
		}
		same(t, "metrics.json", dir, back)
	}
}

func text(t *testing.T, path string) string {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// same fails unless a JSON file says the same in two directories, or is in neither.
func same(t *testing.T, name, a, b string) {
	t.Helper()
	var both [2]any
	for i, dir := range []string{a, b} {
		bytes, err := os.ReadFile(filepath.Join(dir, name))
		if err == nil {
			err = json.Unmarshal(bytes, &both[i])
		}
		if err != nil && !os.IsNotExist(err) {
			t.Fatal(err)
		}
	}
	if diff := cmp.Diff(both[0], both[1]); diff != "" {
		t.Errorf("%s: %s", name, diff)
	}
}

// tables fails unless the users' scores of two directories have the same means.
func tables(t *testing.T, a, b string) {
	t.Helper()
	was, err := compare.ReadAll(a)
	if err != nil {
		t.Fatal(err)
	}
	got, err := compare.ReadAll(b)
	if err != nil || len(got) != len(was) {
		t.Fatal(len(got), len(was), err)
	}
	for i := range was {
		for _, m := range was[i].Metrics {
			if x, y := was[i].Mean(m), got[i].Mean(m); x-y > 1e-6 || y-x > 1e-6 {
				t.Errorf("%s: mean %g, kept %g", m, x, y)
			}
		}
	}
}

// A file that is damaged, of another version, or of another run is an error that names it; what is not there is none.
func TestKeptFaults(t *testing.T) {
	folder := t.TempDir()
	shelf, err := OpenShelf(folder)
	if err != nil {
		t.Fatal(err)
	}
	if err := shelf.Keep(filepath.Join(oldRuns, "train-itemknn")); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(folder, "train-itemknn.json")
	whole := text(t, path)
	for name, c := range map[string]struct{ old, new, want string }{
		"cut":       {whole[len(whole)/2:], "", "unexpected EOF"},
		"a field":   {`"version": 1`, `"version": 1, "more": 2`, `"more"`},
		"a version": {`"version": 1`, `"version": 7`, "version: 7, want 1"},
		"a name":    {`"name": "train-itemknn"`, `"name": "train-ease"`, "it is of train-ease"},
		"a path":    {`"name": "train-itemknn"`, `"name": "../train"`, "is no name of a run directory"},
		"a file":    {`"scores.tsv.gz"`, `"../scores.tsv.gz"`, "is no name of a file"},
		"no result": {whole[strings.Index(whole, `"metrics"`):], `"metrics": {}}`, "manifest and metrics are needed"},
	} {
		t.Run(name, func(t *testing.T) {
			changed := strings.Replace(whole, c.old, c.new, 1)
			if changed == whole {
				t.Fatalf("no %s", c.old)
			}
			if err := os.WriteFile(path, []byte(changed), 0o644); err != nil {
				t.Fatal(err)
			}
			_, _, _, err := shelf.Find("train-itemknn")
			if err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), path) {
				t.Errorf("%v, want %q and the file", err, c.want)
			}
		})
	}
	if _, _, ok, err := shelf.Find("train-nothing"); ok || err != nil {
		t.Error(ok, err)
	}
	if _, err := OpenShelf(filepath.Join(folder, "none")); err == nil {
		t.Error("a folder that is not there is opened")
	}
}
