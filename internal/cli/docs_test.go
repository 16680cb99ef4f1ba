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
	b.WriteString("# Commands\n\nWritten from the program's own help by `make docs`, in the groups of `privrec --help`.\n")
	groups := commandGroups(app.root())
	contents(&b, groups)
	reference(&b, app.root())
	for _, g := range groups {
		fmt.Fprintf(&b, "\n## %s\n", g.title)
		for _, c := range g.commands {
			walkCommands(c, func(c *cobra.Command) { reference(&b, c) })
		}
	}
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

// commandGroup is a group of the first screen.
type commandGroup struct {
	title    string
	commands []*cobra.Command
}

// commandGroups returns the groups of the first screen, the commands without a group last.
func commandGroups(root *cobra.Command) (out []commandGroup) {
	of := func(id string) (list []*cobra.Command) {
		for _, c := range root.Commands() {
			if c.GroupID == id && c.IsAvailableCommand() {
				list = append(list, c)
			}
		}
		return list
	}
	for _, g := range root.Groups() {
		out = append(out, commandGroup{strings.TrimSuffix(g.Title, ":"), of(g.ID)})
	}
	return append(out, commandGroup{"Additional commands", of("")})
}

// walkCommands calls visit with a command and with all below it.
func walkCommands(c *cobra.Command, visit func(*cobra.Command)) {
	if !c.IsAvailableCommand() {
		return
	}
	visit(c)
	for _, sub := range c.Commands() {
		walkCommands(sub, visit)
	}
}

// contents writes a table of contents: a line for each command of a group, with the commands below it.
func contents(b *strings.Builder, groups []commandGroup) {
	link := func(text string, c *cobra.Command) string {
		return fmt.Sprintf("[%s](#%s)", text, strings.ReplaceAll(c.CommandPath(), " ", "-"))
	}
	for _, g := range groups {
		anchor := strings.ReplaceAll(notInAnchor.ReplaceAllString(strings.ToLower(g.title), ""), " ", "-")
		fmt.Fprintf(b, "\n**[%s](#%s)**\n\n", g.title, anchor)
		for _, top := range g.commands {
			fmt.Fprintf(b, "- %s: %s\n", link(top.Name(), top), top.Short)
			var below []string
			walkCommands(top, func(c *cobra.Command) {
				if c != top && !c.HasSubCommands() {
					below = append(below, link(strings.TrimPrefix(c.CommandPath(), top.CommandPath()+" "), c))
				}
			})
			if len(below) > 0 {
				fmt.Fprintf(b, "  - %s\n", strings.Join(below, ",\n    "))
			}
		}
	}
}

// reference writes the help of a command, as a section.
func reference(b *strings.Builder, c *cobra.Command) {
	level := "###"
	if !c.HasParent() {
		level = "##"
	}
	fmt.Fprintf(b, "\n%s %s\n\n", level, c.CommandPath())
	text := c.Long
	if text == "" {
		text = strings.ToUpper(c.Short[:1]) + c.Short[1:] + "."
	}
	b.WriteString(strings.ReplaceAll(text, "\n  ", "\n    ") + "\n") // indented lines are code
	if !c.HasSubCommands() {
		fmt.Fprintf(b, "\n    %s\n", c.UseLine())
	}
	if c.Example != "" {
		fmt.Fprintf(b, "\nFor example:\n\n%s\n", strings.ReplaceAll("  "+c.Example, "\n", "\n  "))
	}
	if flags := c.NonInheritedFlags().FlagUsages(); flags != "" {
		b.WriteString("\n```\n" + flags + "```\n")
	}
}
