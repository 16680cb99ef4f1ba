package cli

import (
	_ "embed"
	"slices"
	"strings"

	"github.com/spf13/cobra"
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

// exemplify gives commands the examples that begin with their names. A command with a configuration also has one
// that prints a configuration to start from.
func exemplify(root *cobra.Command) {
	of := map[*cobra.Command][]string{}
	for _, line := range exampleCommands() {
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
