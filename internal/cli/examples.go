package cli

import (
	_ "embed"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"privrec/internal/config"
)

//go:embed examples.txt
var exampleLines string

// exampleCommands returns the command lines of the help, in their order.
func exampleCommands() (lines []string) {
	for line := range strings.Lines(exampleLines) {
		if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "#") {
			lines = append(lines, line)
		}
	}
	return lines
}

// examples returns the command lines of the help, and one for each training that has none there: it trains on generated
// data.
func (a *App) examples() []string {
	lines := exampleCommands()
	for _, task := range a.Tasks {
		line := "privrec " + task.String()
		shown := slices.ContainsFunc(lines, func(l string) bool { return strings.HasPrefix(l, line+" ") })
		if shown || task.Verb != "train" {
			continue
		}
		line += " --set data.name=standin-tiny"
		if slices.ContainsFunc(task.Keys(), func(k config.Key) bool { return k.Path == "train.epochs" }) {
			line += " --set train.epochs=3"
		}
		lines = append(lines, line)
	}
	return lines
}

// exemplify gives commands the examples among lines that begin with their names. A command with a configuration also
// has one that prints a configuration to start from.
func exemplify(root *cobra.Command, lines []string) {
	of := map[*cobra.Command][]string{}
	for _, line := range lines {
		if c := commandOf(root, line); c != nil {
			of[c] = append(of[c], line)
		}
	}
	for c, lines := range of {
		if c.Flags().Lookup("defaults") != nil {
			lines = append(lines, c.CommandPath()+" --defaults > "+c.Name()+".yaml")
		}
		c.Example = "  " + strings.Join(lines, "\n  ")
	}
}

// commandOf returns the command below root that a command line calls, nil where the program does not have it.
func commandOf(root *cobra.Command, line string) *cobra.Command {
	at := root
	for _, word := range strings.Fields(line)[1:] {
		next := slices.IndexFunc(at.Commands(), func(c *cobra.Command) bool { return c.Name() == word })
		switch {
		case next >= 0:
			at = at.Commands()[next]
		case at.HasSubCommands() && strings.Trim(word, "abcdefghijklmnopqrstuvwxyz0123456789-") == "" && word[0] != '-':
			return nil // the name of a command that is not there
		default:
			return at
		}
	}
	return at
}
