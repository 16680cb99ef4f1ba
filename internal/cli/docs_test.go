package cli

import (
	"flag"
	"fmt"
	"io"
	"os"
	"strings"
	"testing"

	"privrec/internal/demo"
	"privrec/internal/papers"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/cobra"
)

var update = flag.Bool("update", false, "rewrite docs/commands.md, docs/data, testdata/answers and testdata/perturbed")

// The command reference is what the program says of itself; it is written by
// this test (make docs) and fails when the two drift apart.
func TestCommandReference(t *testing.T) {
	app := &App{Tasks: papers.All(), Demo: demo.Run, Benches: benches(), Stdout: io.Discard, Stderr: io.Discard}
	var b strings.Builder
	b.WriteString("# Commands\n\nWritten from the program's own help by `make docs`.\n")
	reference(&b, app.root())
	const path = "../../docs/commands.md"
	if *update {
		if err := os.WriteFile(path, []byte(b.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), b.String()); diff != "" {
		t.Errorf("docs/commands.md is out of date, run make docs:\n%s", diff)
	}
}

func reference(b *strings.Builder, c *cobra.Command) {
	if !c.IsAvailableCommand() && c.HasParent() {
		return
	}
	fmt.Fprintf(b, "\n## %s\n\n", c.CommandPath())
	text := c.Long
	if text == "" {
		text = c.Short + "."
	}
	b.WriteString(strings.ReplaceAll(text, "\n  ", "\n    ") + "\n") // indented lines are code
	if !c.HasSubCommands() {
		fmt.Fprintf(b, "\n    %s\n", c.UseLine())
	}
	if flags := c.NonInheritedFlags().FlagUsages(); flags != "" {
		b.WriteString("\n```\n" + flags + "```\n")
	}
	for _, sub := range c.Commands() {
		reference(b, sub)
	}
}
