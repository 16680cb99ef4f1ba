package cli

import (
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"privrec/internal/config"
	"privrec/internal/run"
	"privrec/internal/system"
)

// firstCommands returns the part of the first screen that says where to begin: commands that need no data,
// of those that the program has.
func (a *App) firstCommands() string {
	has := func(name string) bool {
		return slices.ContainsFunc(a.Tasks, func(t run.Task) bool { return t.String() == name })
	}
	var lines [][2]string
	if a.Demo != nil {
		lines = append(lines, [2]string{"privrec demo",
			"a recommender with noise beside one without, and what its epsilon is worth; offline"})
	}
	if has("train lightgcn") {
		lines = append(lines, [2]string{"privrec train lightgcn --set data.name=standin-demo",
			"a run of your own, on generated data"})
	}
	if has("train dipsgnn") {
		lines = append(lines, [2]string{"privrec reproduce dipsgnn --profile smoke", "a paper's table, small"})
	}
	lines = append(lines, [2]string{"privrec list", "what there is to run, and on which data"})
	wide := 0
	for _, l := range lines {
		wide = max(wide, len(l[0]))
	}
	var b strings.Builder
	b.WriteString("First commands, which need no data:\n\n")
	for _, l := range lines {
		fmt.Fprintf(&b, "  %-*s  %s\n", wide, l[0], l[1])
	}
	return b.String() + "\n"
}

// arrange puts the commands of the first screen under headings.
func arrange(root *cobra.Command) {
	for _, g := range []struct {
		id, title string
		names     []string
	}{
		{"look", "Look around:", []string{"demo", "list", "data"}},
		{"run", "Train, protect, attack, compare:", []string{
			"run", "train", "tune", "stream", "release", "forget", "perturb", "attack", "import", "recommend",
			"evaluate", "compare", "reproduce", "report",
		}},
		{"price", "Account for privacy:", []string{"account", "audit"}},
	} {
		group := &cobra.Group{ID: g.id, Title: g.title}
		for _, c := range root.Commands() {
			if slices.Contains(g.names, c.Name()) {
				c.GroupID = g.id
				if !root.ContainsGroup(g.id) {
					root.AddGroup(group)
				}
			}
		}
	}
}

// strict makes cobra's own commands refuse what they do not know, as ours do.
func strict(root *cobra.Command) {
	root.InitDefaultHelpCmd()
	root.InitDefaultCompletionCmd()
	for _, c := range root.Commands() {
		switch c.Name() {
		case "completion":
			c.Short = "print what a shell needs to complete commands, keys and names"
			c.Args, c.RunE = cobra.ArbitraryArgs, group("shell")
		case "help":
			c.Short = "show the help of a command"
			show := c.Run
			c.Run = nil
			c.RunE = func(c *cobra.Command, args []string) error {
				if at, rest, err := root.Find(args); err != nil || len(rest) > 0 {
					return group("command")(at, rest)
				}
				show(c, args)
				return nil
			}
		}
	}
	exemplify(root, exampleCommands())
}

// group returns what a command does that only holds others: without a word it shows its help, and on a wrong
// word it returns an error that lists the right ones.
func group(kind string) func(c *cobra.Command, args []string) error {
	return func(c *cobra.Command, args []string) error {
		if len(args) == 0 && !c.HasParent() {
			return c.Help()
		}
		var names []string
		for _, sub := range c.Commands() {
			if sub.IsAvailableCommand() {
				names = append(names, sub.Name())
			}
		}
		known := "known: " + join(names)
		if len(args) == 0 {
			return usagef(known+"; "+c.CommandPath()+" --help says what each is", "%s wants a %s", c.CommandPath(),
				kind)
		}
		return usagef(commandHint(c, args[0], known), "unknown %s %q for %s", kind, args[0], c.CommandPath())
	}
}

// notSuggested are commands that are not named, nor those below them, in place of an unknown word.
var notSuggested = map[string]bool{"completion": true, "help": true, "exact": true}

// commandHint returns the hint for a word after c that is no command there. It names the nearest command
// after c, or the command of that name elsewhere, as for "privrec srgnn". Without either it lists what is
// known after c.
func commandHint(c *cobra.Command, word, known string) string {
	paths := map[string][]string{} // by name, in the order of the tree
	var walk func(*cobra.Command)
	walk = func(at *cobra.Command) {
		for _, sub := range at.Commands() {
			if sub.IsAvailableCommand() && !notSuggested[sub.Name()] {
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

// meant asks whether one of these command lines was meant, of the first three.
func meant(paths []string) string {
	return "did you mean " + strings.Join(paths[:min(len(paths), 3)], ", or ") + "?"
}

// flagHint returns the hint for a flag that was not understood: the nearest flag of the command where the flag is
// unknown, or what sets the key of the task that it stands for, and where to read about flags.
func (a *App) flagHint(c *cobra.Command, err error) string {
	see := fmt.Sprintf("see %s --help", c.CommandPath())
	var unknown *pflag.NotExistError
	if !errors.As(err, &unknown) || unknown.GetSpecifiedShortnames() != "" {
		return see
	}
	name := unknown.GetSpecifiedName()
	var known []string
	c.Flags().VisitAll(func(f *pflag.Flag) {
		if !f.Hidden {
			known = append(known, f.Name)
		}
	})
	if best := config.Nearest(name, known); best != "" {
		return fmt.Sprintf("did you mean --%s? %s", best, see)
	}
	var sets []string
	for _, t := range a.Tasks {
		if c.CommandPath() == c.Root().Name()+" "+t.String() {
			for _, key := range keysNamed(t, name) {
				sets = append(sets, "--set "+system.ShellQuote(key+"="+a.given(name)))
			}
		}
	}
	if len(sets) > 0 {
		return meant(sets) + " " + see
	}
	return see
}

// keyNames are words for keys that have another name.
var keyNames = map[string]string{"data": "name", "dataset": "name", "lr": "rate", "learning_rate": "rate",
	"batch_size": "batch", "embedding_dim": "dim"}

// keysNamed lists the keys of a task that end in a word, with dashes for underscores, or in what the word stands for.
func keysNamed(t run.Task, word string) (keys []string) {
	word = strings.ReplaceAll(word, "-", "_")
	for _, k := range t.Keys() {
		group, last := "", k.Path
		if at := strings.LastIndex(k.Path, "."); at >= 0 {
			group, last = k.Path[:at], k.Path[at+1:]
		}
		if last == word || k.Path == word || keyNames[word] == last && (last != "name" || group == "data") {
			keys = append(keys, k.Path)
		}
	}
	return keys
}

// given returns what the command line gives a flag, VALUE where it gives nothing.
func (a *App) given(flag string) string {
	for i, word := range a.args {
		if value, ok := strings.CutPrefix(word, "--"+flag+"="); ok {
			return value
		}
		if word == "--"+flag && i+1 < len(a.args) && !strings.HasPrefix(a.args[i+1], "-") {
			return a.args[i+1]
		}
	}
	return "VALUE"
}

// noWords refuses words after the name of a task, and says what they can have meant: a key, a configuration file, or a
// data set.
func noWords(t run.Task) cobra.PositionalArgs {
	return func(c *cobra.Command, args []string) error {
		if len(args) == 0 {
			return nil
		}
		word, fix := args[0], ""
		switch ext := filepath.Ext(word); {
		case strings.Contains(word, "="):
			fix = "--set " + system.ShellQuote(word)
		case ext == ".yaml" || ext == ".yml":
			fix = "--config " + system.ShellQuote(word)
		case slices.Contains(keysNamed(t, "data"), "data.name"):
			fix = "--set " + system.ShellQuote("data.name="+word)
		default:
			return wants()(c, args)
		}
		return usagef(meant([]string{fix})+fmt.Sprintf(" see %s --help", c.CommandPath()), "%s: unexpected argument %q",
			c.CommandPath(), word)
	}
}

// join lists names for a message.
func join(names []string) string { return strings.Join(names, ", ") }
