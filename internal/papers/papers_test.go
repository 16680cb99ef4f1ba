package papers

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode"

	"privrec/internal/run"
)

const configs = "../../configs"

// Every task can be listed and started: names are one word each, no two alike,
// and defaults pass their own check.
func TestTasks(t *testing.T) {
	seen := map[string]bool{}
	for _, task := range All() {
		if seen[task.String()] {
			t.Errorf("two tasks are called %q", task)
		}
		seen[task.String()] = true
		if strings.ContainsFunc(task.Name+task.Verb, func(r rune) bool { return unicode.IsSpace(r) || unicode.IsUpper(r) }) {
			t.Errorf("%q is not two lower-case words", task)
		}
		if task.Summary == "" || task.Cite == "" || strings.HasSuffix(task.Summary, ".") {
			t.Errorf("%s: summary %q, cite %q", task, task.Summary, task.Cite)
		}
		if err := task.Check("", nil); err != nil {
			t.Errorf("%s: its defaults: %v", task, err)
		}
		text, err := task.Defaults()
		if err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(t.TempDir(), "defaults.yaml")
		if err := os.WriteFile(path, text, 0o644); err != nil {
			t.Fatal(err)
		}
		if err := task.Check(path, nil); err != nil {
			t.Errorf("%s: its defaults as written: %v", task, err)
		}
	}
	if len(seen) == 0 {
		t.Fatal("no tasks")
	}
}

// ownerOf finds the task that a config file belongs to: the one that its last words name
// (ml-1m-srgnn, ml-1m-dp-ease), else the one that its folder names (dipsgnn/ml-1m-nonp). Imports
// have files in their own folder alone: gender-lists is of an attack.
func ownerOf(file string) (owner run.Task, ok bool) {
	name, folder := strings.TrimSuffix(filepath.Base(file), ".yaml"), filepath.Base(filepath.Dir(file))
	length := -1
	for _, task := range All() {
		switch {
		case task.Verb == "import" && folder != task.Verb:
		case name == task.Name || strings.HasSuffix(name, "-"+task.Name):
			if len(task.Name) > length {
				owner, ok, length = task, true, len(task.Name)
			}
		case (task.Name == folder || task.Verb == folder) && !ok:
			owner, ok = task, true
		}
	}
	return owner, ok
}

// others are the folders whose files are no configurations of tasks: packages reproduce, matrix,
// claims, printed and epsilons read all of them in their own tests.
var others = []string{"tables", "studies", "matrix", "causes", "claims", "printed", "epsilon"}

// Each config file belongs to a task. It must load, pass the task's check and say in a
// comment what it is; each paper has one that is quick.
func TestConfigFiles(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(configs, "*", "*.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	used := map[string]bool{}
	for _, file := range files {
		folder := filepath.Base(filepath.Dir(file))
		if slices.Contains(others, folder) {
			continue
		}
		if task, ok := ownerOf(file); !ok {
			if folder != "tune" { // whose other files are studies of package tune
				t.Errorf("%s belongs to no task", file)
			}
		} else {
			used[folder] = used[folder] || folder != "tune" // winners of searches are whole runs
			if err := task.Check(file, nil); err != nil {
				t.Error(err)
			}
		}
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if !strings.HasPrefix(string(text), "# ") {
			t.Errorf("%s does not begin with a comment that says what it is", file)
		}
		for i, line := range strings.Split(string(text), "\n") {
			if len(line) > 120 {
				t.Errorf("%s:%d is longer than 120 characters", file, i+1)
			}
		}
	}
	for folder, papers := range used {
		if !papers {
			continue
		}
		if quick, err := filepath.Glob(filepath.Join(configs, folder, "smoke*.yaml")); err != nil || len(quick) == 0 {
			t.Errorf("%s has no file smoke*.yaml (%v)", folder, err)
		}
	}
	if len(files) < 9 || !used["dipsgnn"] {
		t.Errorf("%d files found, in %v", len(files), used)
	}
}
