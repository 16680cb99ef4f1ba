package cli

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"privrec/internal/config"
)

// beside are commands whose own are not offered in the place of others.
var beside = map[string]bool{"completion": true, "help": true, "bench": true}

// commandHint is the hint for a word after c that is no command there: the nearest one, and
// for the name of a command elsewhere, as in "privrec srgnn", that; else what is known after c.
func commandHint(c *cobra.Command, word, known string) string {
	paths := map[string][]string{} // by name, in the order of the tree
	var walk func(*cobra.Command)
	walk = func(at *cobra.Command) {
		for _, sub := range at.Commands() {
			if sub.IsAvailableCommand() && !beside[sub.Name()] {
				paths[sub.Name()] = append(paths[sub.Name()], sub.CommandPath())
				walk(sub)
			}
		}
	}
	walk(c.Root())
	var here []string
	for _, sub := range c.Commands() {
		if sub.IsAvailableCommand() {
			here = append(here, sub.Name())
		}
	}
	switch best := config.Nearest(word, here); {
	case len(paths[word]) > 0 && c.HasParent():
		return meant(paths[word]) + " " + known
	case len(paths[word]) > 0:
		return meant(paths[word])
	case best != "":
		return meant([]string{c.CommandPath() + " " + best})
	}
	if best := config.Nearest(word, slices.Sorted(maps.Keys(paths))); best != "" && !c.HasParent() {
		return meant(paths[best])
	}
	return known
}

// meant offers command lines, of which a few are enough.
func meant(paths []string) string {
	return "did you mean " + strings.Join(paths[:min(len(paths), 3)], ", or ") + "?"
}

// flagHint is the hint for a flag that was not understood: the nearest one of the command
// where it is not known, and else where to read about flags.
func flagHint(c *cobra.Command, err error) string {
	see := fmt.Sprintf("see %s --help", c.CommandPath())
	var unknown *pflag.NotExistError
	if !errors.As(err, &unknown) || unknown.GetSpecifiedShortnames() != "" {
		return see
	}
	var known []string
	c.Flags().VisitAll(func(f *pflag.Flag) {
		if !f.Hidden {
			known = append(known, f.Name)
		}
	})
	if best := config.Nearest(unknown.GetSpecifiedName(), known); best != "" {
		return fmt.Sprintf("did you mean --%s? %s", best, see)
	}
	return see
}
