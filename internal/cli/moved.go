package cli

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
)

// move is a command that has another name now. The old name works for one release and says the new one.
type move struct {
	was, is string // words after privrec

	// args turns what stands after the old words into what stands after the new ones; nil leaves it as it is.
	args func([]string) []string

	// shown are the new words in the notice, with arguments where these have changed; empty: is.
	shown string

	// kept is true where the old command is in the tree, hidden: it does less than the new one, or has another flag.
	kept bool
}

// moves lists the commands that have moved. Of several that a command line begins with the first one counts.
var moves = []move{
	{was: "calibrate", is: "account calibrate"},
	{was: "data list", is: "list", kept: true},
	{was: "doctor", is: "list machine"},
	{was: "epsilon", is: "account epsilon"},
	{was: "export", is: "report vectors", args: runOfVectors, shown: "report vectors RUN"},
	{was: "lint tables", is: "audit tables"},
	{was: "lint", is: "audit"},
	{was: "matrix", is: "attack matrix"},
	{was: "record", is: "report record"},
	{was: "schema", is: "list schema"},
	{was: "scores", is: "recommend", shown: "recommend RUN --k all", kept: true},
	{was: "serve", is: "report serve"},
}

// movedLine returns a command line with the new words for the old ones that it begins with, and the move; nil where
// nothing has moved. It looks behind help and -h.
func movedLine(args []string) ([]string, *move) {
	at := beforeWords(args)
	for i := range moves {
		m := &moves[i]
		was := strings.Fields(m.was)
		if len(args) < at+len(was) || !slices.Equal(args[at:at+len(was)], was) {
			continue
		}
		if m.kept {
			return args, m
		}
		rest := args[at+len(was):]
		if m.args != nil {
			rest = m.args(rest)
		}
		return slices.Concat(args[:at], strings.Fields(m.is), rest), m
	}
	return args, nil
}

// beforeWords counts the words of a command line before those of its command: help or -h.
func beforeWords(args []string) int {
	if len(args) > 0 && (args[0] == "help" || args[0] == "-h") {
		return 1
	}
	return 0
}

// notice returns the line that says the new name of the command that a line calls, which has the new words.
func (m *move) notice(root *cobra.Command, line []string) string {
	is, below := m.is, ""
	if m.shown != "" {
		is = m.shown
	} else if c, _, err := root.Find(line[beforeWords(line):]); err == nil {
		if rest, ok := strings.CutPrefix(c.CommandPath(), root.Name()+" "+m.is+" "); ok {
			below = " " + rest
		}
	}
	return fmt.Sprintf("note: privrec %s%s is now privrec %s%s; the old name goes in the next release",
		m.was, below, is, below)
}

// runOfVectors turns the flag --vectors of privrec export into the argument of privrec report vectors.
func runOfVectors(args []string) (out []string) {
	run, given, ended := "", false, false
	for i := 0; i < len(args); i++ {
		value, joined := strings.CutPrefix(args[i], "--vectors=")
		switch {
		case ended:
			out = append(out, args[i])
		case args[i] == "--":
			ended = true
			out = append(out, args[i])
		case joined:
			run, given = value, true
		case args[i] == "--vectors" && i+1 < len(args):
			i++
			run, given = args[i], true
		default:
			out = append(out, args[i])
		}
	}
	switch {
	case !given:
		return out
	case !ended:
		out = append(out, "--")
	}
	return append(out, run)
}
