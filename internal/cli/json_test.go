package cli

import (
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"privrec/internal/demo"
	"privrec/internal/papers"
)

// commandsWithJSON lists the commands that have --json.
func commandsWithJSON(c *cobra.Command) (out []string) {
	if c.Flags().Lookup("json") != nil {
		out = append(out, c.CommandPath())
	}
	for _, sub := range c.Commands() {
		out = append(out, commandsWithJSON(sub)...)
	}
	return out
}

// A script runs every command with --json, or its sibling that is the same code, and the script's
// program (observed) demands one JSON document of each.
func TestEveryJSONIsRun(t *testing.T) {
	app := &App{Tasks: papers.All(), Demo: demo.Run, Benches: benches(), Stdout: io.Discard, Stderr: io.Discard}
	root := app.root()
	scripts, err := filepath.Glob("../../testdata/script/*.txt")
	if err != nil || len(scripts) == 0 {
		t.Fatal(scripts, err)
	}
	var run []string
	for _, s := range scripts {
		text, err := os.ReadFile(s)
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(text)) {
			words := strings.Fields(line)
			at := slices.Index(words, "privrec")
			if at < 0 || !slices.Contains(words, "--json") || words[0] == "fails" {
				continue
			}
			line, _ := movedLine(words[at+1:])
			c, _, err := root.Find(line)
			if err != nil {
				t.Fatalf("%s: %s: %v", s, words, err)
			}
			run = append(run, c.CommandPath())
		}
	}
	// All tasks are one code (App.task), which run.txt runs with a task of its own.
	same := map[string]string{}
	for _, task := range app.Tasks {
		same["privrec "+task.String()] = "train adder"
	}
	for _, b := range app.Benches {
		same["privrec bench "+b.Name] = "privrec bench gemm"
	}
	// The commands of one folder, as of privrec account, are one code for several mechanisms.
	folders := []string{"privrec account", "privrec account curve", "privrec account rdp", "privrec account selection",
		"privrec account calibrate", "privrec audit exact"}
	// Not run by a script here: what they print is a run.Result that run.Show writes, as above.
	slow := []string{"privrec demo", "privrec run"}
	for _, c := range commandsWithJSON(root) {
		as := same[c]
		folder := c[:strings.LastIndexByte(c, ' ')]
		if slices.Contains(slow, c) || slices.Contains(folders, folder) && slices.ContainsFunc(run, func(r string) bool { return strings.HasPrefix(r, folder+" ") }) {
			continue
		}
		if !slices.Contains(run, c) && as != "train adder" && !slices.Contains(run, as) {
			t.Errorf("no script runs %s --json", c)
		}
	}
}
