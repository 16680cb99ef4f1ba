package cli

import (
	"bytes"
	"context"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"privrec/internal/demo"
	"privrec/internal/papers"
)

// bothSpellings are command lines by their old and their new names. Those that write have the same --out in both, and
// each runs in a folder of its own, with finished runs in runs.
var bothSpellings = []struct {
	was, is string
	code    int
}{
	{"calibrate gaussian --sensitivity 1 --steps 1 --delta 1e-5 --epsilon 1",
		"account calibrate gaussian --sensitivity 1 --steps 1 --delta 1e-5 --epsilon 1", exitDone},
	{"calibrate laplace --help", "account calibrate laplace --help", exitDone},
	{"help calibrate laplace", "help account calibrate laplace", exitDone},
	{"-h calibrate", "-h account calibrate", exitDone},
	{"calibrate", "account calibrate", exitUsage},
	{"calibrate laplace --epsilon 1", "account calibrate laplace --epsilon 1", exitUsage},
	{"epsilon --paper pricdsr --json", "account epsilon --paper pricdsr --json", exitDone},
	{"epsilon --on runs/train-dp-als", "account epsilon --on runs/train-dp-als", exitDone},
	{"matrix --no-run --profile smoke --attack member-user --out m",
		"attack matrix --no-run --profile smoke --attack member-user --out m", exitFailed},
	{"matrix --help", "attack matrix --help", exitDone},
	{"matrix --runs nowhere", "attack matrix --runs nowhere", exitUsage},
	{"lint tables", "audit tables", exitDone},
	{"lint tables --strict --json", "audit tables --strict --json", exitFailed},
	{"lint", "audit", exitUsage},
	{"serve nowhere", "report serve nowhere", exitUsage},
	{"serve --port 70000", "report serve --port 70000", exitUsage},
	{"record runs/train-ease --out kept.json --name ease",
		"report record runs/train-ease --out kept.json --name ease", exitDone},
	{"record runs/train-ease", "report record runs/train-ease", exitUsage},
	{"export --vectors runs/train-bprmf --out v --format npy",
		"report vectors runs/train-bprmf --out v --format npy", exitDone},
	{"export --out=v.npz --vectors=runs/train-bprmf --json",
		"report vectors --out=v.npz --json runs/train-bprmf", exitDone},
	{"export --vectors gone --vectors runs/train-bprmf --out v -- more",
		"report vectors runs/train-bprmf more --out v", exitUsage},
	{"export --out v", "report vectors --out v", exitUsage},
	{"export --out v --vectors", "report vectors --out v --vectors", exitUsage},
	{"export --vectors= --out v", "report vectors --out v", exitUsage},
	{"export --vectors nowhere --out v", "report vectors nowhere --out v", exitUsage},
	{"scores runs/train-ease --all --out s.tsv", "recommend runs/train-ease --all --k all --out s.tsv", exitDone},
	{"scores runs/train-bprmf --user 3 --out s.parquet",
		"recommend runs/train-bprmf --k=all --user 3 --out s.parquet", exitDone},
	{"scores runs/train-ease --out s.tsv", "recommend runs/train-ease --k all --out s.tsv", exitUsage},
	{"scores runs/train-ease --all", "recommend runs/train-ease --all --k all", exitUsage},
	{"doctor --json surplus", "list machine --json surplus", exitUsage},
	{"doctor --help", "list machine --help", exitDone},
	{"schema train lightgcn", "list schema train lightgcn", exitDone},
	{"schema answer doctor", "list schema answer list machine", exitDone},
	{"schema answer calibrate gaussian", "list schema answer account calibrate gaussian", exitDone},
	{"schema answer lint tables", "list schema answer audit tables", exitDone},
	{"schema nothing", "list schema nothing", exitUsage},
	{"schema --out schemas grid", "list schema --out schemas grid", exitUsage},
}

// threeRuns trains the runs that bothSpellings name, and returns their folder.
func threeRuns(t *testing.T) string {
	t.Helper()
	t.Setenv("PRIVREC_DATA", "")
	dir := t.TempDir()
	for _, line := range []string{
		"train bprmf --set data.name=standin-tiny --set model.dim=4 --set train.epochs=1 --out train-bprmf",
		"train ease --set data.name=standin-tiny --set data.recipe=rdpgcf --out train-ease",
		"train dp-als --set data.name=standin-tiny --set data.recipe=rdpgcf --out train-dp-als",
	} {
		words := strings.Fields(line)
		words[len(words)-1] = filepath.Join(dir, words[len(words)-1])
		var errs bytes.Buffer
		app := &App{Tasks: papers.All(), Stdout: io.Discard, Stderr: &errs}
		if code := app.Execute(context.Background(), words); code != exitDone {
			t.Fatalf("%s: exit code %d: %s", line, code, &errs)
		}
	}
	return dir
}

// spoken carries out a command line in a folder of its own, with a folder of runs at runs. It returns the exit code,
// what was printed, and the files that are new, by their names.
func spoken(t *testing.T, line, runs string) (code int, stdout, stderr string, files map[string]string) {
	t.Helper()
	dir := t.TempDir()
	if err := os.Symlink(runs, filepath.Join(dir, "runs")); err != nil {
		t.Fatal(err)
	}
	t.Chdir(dir)
	var out, errs bytes.Buffer
	app := &App{Tasks: papers.All(), Demo: demo.Run, Benches: benches(), Stdout: &out, Stderr: &errs}
	code = app.Execute(context.Background(), strings.Fields(line))
	files = map[string]string{}
	if err := filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		text, err := os.ReadFile(path)
		files[path] = string(text)
		return err
	}); err != nil {
		t.Fatal(err)
	}
	return code, out.String(), errs.String(), files
}

// Both names of a command that has moved do the same, and the old one says the new one in one line.
func TestMovedCommandsDoTheSame(t *testing.T) {
	runs, tried := threeRuns(t), map[string]bool{}
	for _, c := range bothSpellings {
		t.Run(c.was, func(t *testing.T) {
			wasCode, wasOut, wasErr, wasFiles := spoken(t, c.was, runs)
			isCode, isOut, isErr, isFiles := spoken(t, c.is, runs)
			if wasCode != c.code || isCode != c.code {
				t.Errorf("exit codes %d and %d, want %d: %s%s", wasCode, isCode, c.code, wasErr, isErr)
			}
			if wasOut != isOut {
				t.Errorf("other standard output:\n%s\nand\n%s", wasOut, isOut)
			}
			for name, text := range wasFiles {
				if isFiles[name] != text {
					t.Errorf("other bytes in %s", name)
				}
			}
			writes := c.code == exitDone && strings.Contains(c.is, "--out")
			if len(wasFiles) != len(isFiles) || writes && len(isFiles) == 0 {
				t.Errorf("files: %d and %d", len(wasFiles), len(isFiles))
			}
			_, m := movedLine(strings.Fields(c.was))
			if m == nil {
				t.Fatal("is no old name")
			}
			tried[m.was] = true
			note, _, _ := strings.Cut(wasErr, "\n")
			want := "note: privrec " + m.was
			if !strings.HasPrefix(note, want) || !strings.HasSuffix(note, "; the old name goes in the next release") ||
				!strings.Contains(note, " is now privrec "+m.is) || strings.Count(wasErr, "note: ") != 1 {
				t.Errorf("the notice is %q", wasErr)
			}
			if strings.Contains(isErr, "note: ") {
				t.Errorf("the new name has a notice: %q", isErr)
			}
		})
	}
	for _, m := range moves {
		if !tried[m.was] && m.was != "data list" { // which TestOldListOfData tries
			t.Errorf("privrec %s was not tried", m.was)
		}
	}
}

// The old list of data sets prints the end of the list of tasks and data sets.
func TestOldListOfData(t *testing.T) {
	code, was, stderr, _ := spoken(t, "data list", t.TempDir())
	_, is, _, _ := spoken(t, "list", t.TempDir())
	_, tables, found := strings.Cut(was, "\n")
	if code != exitDone || !found || !strings.HasSuffix(is, tables) || len(tables) < 1000 {
		t.Errorf("exit code %d:\n%s", code, was)
	}
	if want := "note: privrec data list is now privrec list; the old name goes in the next release\n"; stderr != want {
		t.Errorf("%q, want %q", stderr, want)
	}
}

// The notice names a command below the one that moved, and stays with --quiet.
func TestNoticesOfMovedCommands(t *testing.T) {
	for line, want := range map[string]string{
		"calibrate gaussian --epsilon 1": "privrec calibrate gaussian is now privrec account calibrate gaussian",
		"calibrate":                      "privrec calibrate is now privrec account calibrate",
		"help calibrate laplace":         "privrec calibrate laplace is now privrec account calibrate laplace",
		"matrix --quiet --runs nowhere":  "privrec matrix is now privrec attack matrix",
		"lint tables nowhere":            "privrec lint tables is now privrec audit tables",
		"lint":                           "privrec lint is now privrec audit",
		"export --vectors nowhere":       "privrec export is now privrec report vectors RUN",
		"scores nowhere":                 "privrec scores is now privrec recommend RUN --k all",
	} {
		_, _, stderr, _ := spoken(t, line, t.TempDir())
		note, _, _ := strings.Cut(stderr, "\n")
		if note != "note: "+want+"; the old name goes in the next release" {
			t.Errorf("%s: %q", line, note)
		}
	}
}

// oldName finds the old name of a command that has moved.
func oldName() *regexp.Regexp {
	var names []string
	for _, m := range moves {
		names = append(names, m.was)
	}
	return regexp.MustCompile(`\bprivrec (` + strings.Join(names, "|") + `)\b`)
}

// No help, completion or error of a command that is visible says an old name.
func TestHelpSaysNewNames(t *testing.T) {
	old := oldName()
	_, root := exampleRoot()
	var walk func(c *cobra.Command)
	walk = func(c *cobra.Command) {
		if c.Hidden {
			return
		}
		texts := []string{c.CommandPath(), c.Short, c.Long, c.UseLine(), c.Example}
		c.Flags().VisitAll(func(f *pflag.Flag) { texts = append(texts, f.Usage) })
		for _, text := range texts {
			if at := old.FindString(text); at != "" {
				t.Errorf("%s says %s", c.CommandPath(), at)
			}
		}
		for _, sub := range c.Commands() {
			walk(sub)
		}
	}
	walk(root)
	for _, m := range moves {
		c, rest, err := root.Find(strings.Fields(m.was))
		if err == nil && len(rest) == 0 && !c.Hidden {
			t.Errorf("privrec %s is visible", m.was)
		}
		if c, rest, err = root.Find(strings.Fields(m.is)); err != nil || len(rest) > 0 || c.Hidden {
			t.Errorf("privrec %s is not there", m.is)
		}
	}
	if !old.MatchString("see privrec data list --json") || old.MatchString("privrec list, privrec report record") {
		t.Error("the test does not tell old names from new ones")
	}
}

// Sources, pages, configurations and scripts say the new names.
func TestTreeSaysNewNames(t *testing.T) {
	old, read := oldName(), 0
	roots := []string{
		"cmd", "internal", "configs", "docs", "scripts", ".ci", "README.md", "CONTRIBUTING.md", "Makefile",
	}
	for _, root := range roots {
		if err := filepath.WalkDir("../../"+root, func(path string, d fs.DirEntry, err error) error {
			switch {
			case err != nil:
				return err
			case d.IsDir() && (d.Name() == "testdata" || d.Name() == "records"): // records keep what was typed
				return fs.SkipDir
			case d.IsDir() || d.Name() == "moved.go" || d.Name() == "moved_test.go":
				return nil
			}
			text, err := os.ReadFile(path)
			read++
			for i, line := range strings.Split(string(text), "\n") {
				if at := old.FindString(line); at != "" {
					t.Errorf("%s:%d says %s", path, i+1, at)
				}
			}
			return err
		}); err != nil {
			t.Fatal(err)
		}
	}
	if read < 1000 {
		t.Errorf("only %d files were read", read)
	}
}
