package cli

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
	"github.com/spf13/cobra"

	"privrec/internal/config"
	"privrec/internal/demo"
	"privrec/internal/papers"
	"privrec/internal/run"
)

// notRun begins the examples that no test runs.
const notRun = "# Not run by a test"

// exampleRoot returns the root command with those that cobra adds.
func exampleRoot() (*App, *cobra.Command) {
	app := &App{Tasks: papers.All(), Demo: demo.Run, Benches: benches(), Stdout: io.Discard, Stderr: io.Discard}
	root := app.root()
	strict(root)
	return app, root
}

// shellWords splits a command line as a shell does, without what it says of its output.
func shellWords(t *testing.T, line string) (words []string) {
	t.Helper()
	line, _, _ = strings.Cut(line, " > ")
	parts := strings.Split(line, "'")
	if len(parts)%2 == 0 {
		t.Fatalf("%s: a quote does not end", line)
	}
	for i, part := range parts {
		if i%2 == 1 && strings.HasSuffix(parts[i-1], " ") {
			words = append(words, part)
		} else if i%2 == 1 {
			words[len(words)-1] += part
		} else {
			words = append(words, strings.Fields(part)...)
		}
	}
	return words
}

// Every command that does something has an example in its help, and every example is a command line that its command
// takes: words, flags, and keys of a configuration.
func TestEveryCommandHasAnExample(t *testing.T) {
	app, root := exampleRoot()
	for _, line := range app.examples() {
		if !strings.HasPrefix(line, "privrec ") || commandOf(root, line) == nil || commandOf(root, line) == root {
			t.Errorf("%s: no such command", line)
		}
	}
	var walk func(c *cobra.Command)
	walk = func(c *cobra.Command) {
		for _, sub := range c.Commands() {
			walk(sub)
		}
		if c.Example == "" {
			if c.IsAvailableCommand() && !c.HasSubCommands() {
				t.Errorf("%s has no example", c.CommandPath())
			}
			return
		}
		for line := range strings.Lines(c.Example) {
			if err := takes(t, app, c.CommandPath(), shellWords(t, strings.TrimSpace(line))); err != nil {
				t.Errorf("%s: %v (%s)", strings.TrimSpace(line), err, hint(err))
			}
		}
	}
	walk(root)
}

// takes parses a command line without carrying it out. It returns an error where the command is not the one at
// path, or does not take the words, the flags or the keys.
func takes(t *testing.T, app *App, path string, words []string) error {
	t.Helper()
	_, root := exampleRoot()
	c, rest, err := root.Find(words[1:])
	if err != nil {
		return err
	}
	if c.CommandPath() != path {
		return usagef("", "it calls %s", c.CommandPath())
	}
	if c.DisableFlagParsing {
		return nil
	}
	if err := c.ParseFlags(rest); err != nil {
		return err
	}
	if err := c.ValidateArgs(c.Flags().Args()); err != nil {
		return err
	}
	for _, task := range app.Tasks {
		if path != "privrec "+task.String() || !c.Flags().Changed("set") {
			continue
		}
		sets, err := c.Flags().GetStringArray("set")
		if err != nil {
			return err
		}
		for _, set := range sets {
			key, _, _ := strings.Cut(set, "=")
			if !slices.ContainsFunc(task.Keys(), func(k config.Key) bool { return k.Path == key }) {
				return usagef("", "no key %s", key)
			}
		}
	}
	return nil
}

// The test of examples finds what is planted.
func TestExamplesBite(t *testing.T) {
	app, root := exampleRoot()
	for line, path := range map[string]string{
		"privrec train ease --sets a=b":             "privrec train ease",
		"privrec train ease --set no.such=1":        "privrec train ease",
		"privrec train ease":                        "privrec train itemknn",
		"privrec account ledger --delta 1e-6":       "privrec account ledger",
		"privrec data stats standin-tiny and-more":  "privrec data stats",
		"privrec account gaussian --sigma 'a lot'":  "privrec account gaussian",
		"privrec recommend runs/a --user 1 --k 1.5": "privrec recommend",
	} {
		if err := takes(t, app, path, shellWords(t, line)); err == nil {
			t.Errorf("%s: taken as %s", line, path)
		}
	}
	for _, line := range []string{"privrec train esae --out x", "privrec nope", "privrec account nope"} {
		if c := commandOf(root, line); c != nil {
			t.Errorf("%s: is taken for %s", line, c.CommandPath())
		}
	}
}

// Examples work, one after the other. TestSlowExamplesRun has the rest.
func TestExamplesRun(t *testing.T) {
	runExamples(t, func(line string) bool { return !slowExample(line) })
}

// slowExample reports whether an example trains what no other one needs, or measures speed.
func slowExample(line string) bool {
	alone := !strings.Contains(line, " --out ") && !strings.Contains(line, " --defaults")
	return strings.HasPrefix(line, "privrec bench ") || strings.HasPrefix(line, "privrec train ") && alone
}

// ofOneEpoch returns a slow example with one epoch in place of three: the first one shows that the task trains. The
// configuration of three must be a good one.
func ofOneEpoch(t *testing.T, app *App, line string) string {
	t.Helper()
	short := strings.Replace(line, " train.epochs=3", " train.epochs=1", 1)
	at := slices.IndexFunc(app.Tasks, func(x run.Task) bool {
		return strings.HasPrefix(line, "privrec "+x.String()+" ")
	})
	if short == line || at < 0 || !slowExample(line) {
		return line
	}
	var sets []string
	words := shellWords(t, line)
	for i, word := range words {
		if word == "--set" {
			sets = append(sets, words[i+1])
		}
	}
	if err := app.Tasks[at].Check("", sets); err != nil {
		t.Fatalf("%s: %v", line, err)
	}
	return short
}

// runExamples runs the examples that are wanted, from top to bottom. Slow ones train for one epoch.
func runExamples(t *testing.T, wanted func(line string) bool) {
	t.Helper()
	var b strings.Builder
	b.WriteString(`exec privrec data synth tiny --out given
cp given/tiny.inter train.tsv
cp given/tiny.inter test.tsv
cp given/tiny.user users.tsv
`)
	commands, _, found := strings.Cut(exampleLines, notRun)
	if !found {
		t.Fatalf("no line begins with %q", notRun)
	}
	app, _ := exampleRoot()
	derived := app.examples()[len(exampleCommands()):]
	for line := range strings.Lines(commands + strings.Join(derived, "\n")) {
		if line = strings.TrimSpace(line); strings.HasPrefix(line, "privrec ") && wanted(line) {
			b.WriteString("# " + line + "\nexec sh -ec '" +
				strings.ReplaceAll(ofOneEpoch(t, app, line), "'", "''") + "'\n")
		}
	}
	b.WriteString("-- slates.csv --\nuser_id,item_1,item_2,item_3\n1,12,7,3\n2,3,44,19\n3,7,19,44\n")
	b.WriteString("-- catalogue.csv --\nitem_id\n")
	for i := range 300 {
		fmt.Fprintln(&b, i+1)
	}
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "examples.txt"), []byte(b.String()), 0o644); err != nil {
		t.Fatal(err)
	}
	testscript.Run(t, testscript.Params{Dir: dir, Setup: func(e *testscript.Env) error {
		e.Setenv("PRIVREC_CACHE", e.WorkDir+"/cache")
		e.Setenv("PRIVREC_DATA", "")
		e.Setenv("PRIVREC_SIMD", os.Getenv("PRIVREC_SIMD"))
		return nil
	}})
}

// Command lines that pages show in indented blocks are taken by their commands. Blocks with output run in TestPagesRun.
func TestPagesShowCommands(t *testing.T) {
	app, root := exampleRoot()
	pages, err := filepath.Glob("../../docs/*.md")
	if err != nil {
		t.Fatal(err)
	}
	checked := 0
	for _, page := range append(pages, "../../README.md") {
		if filepath.Base(page) == "commands.md" { // made of the help
			continue
		}
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		for i, line := range strings.Split(strings.ReplaceAll(string(text), "\\\n", ""), "\n") {
			line, ok := strings.CutPrefix(line, "    ")
			line, _, _ = strings.Cut(strings.TrimPrefix(line, "bin/"), " #")
			if !ok || !strings.HasPrefix(line, "privrec ") {
				continue
			}
			c := commandOf(root, line)
			if c == nil {
				t.Errorf("%s:%d: no such command: %s", page, i+1, line)
				continue
			}
			checked++
			if err := takes(t, app, c.CommandPath(), shellWords(t, strings.TrimSpace(line))); err != nil {
				t.Errorf("%s:%d: %s: %v (%s)", page, i+1, line, err, hint(err))
			}
		}
	}
	if checked < 50 {
		t.Errorf("%d command lines: the test looks in the wrong place", checked)
	}
}
