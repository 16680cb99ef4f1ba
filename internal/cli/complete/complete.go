// Package complete offers words to a shell that completes a command line: arguments, values
// of flags, keys of configurations and their values, run directories.
package complete

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"privrec/internal/calculator"
	"privrec/internal/dataset/format"
	"privrec/internal/dataset/slate"
	"privrec/internal/dataset/standin"
	"privrec/internal/metrics/definition"
	"privrec/internal/papers/exposure/protect"
	"privrec/internal/privacy"
	"privrec/internal/privacy/mechanism/sequence"
	"privrec/internal/reproduce/grid"
	"privrec/internal/run"
	"privrec/internal/vectors"
)

// completion returns the words that may stand for one word of a command line, and what the
// shell does with them. args are the arguments before it, typed is what users have typed of
// it.
type completion = func(c *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective)

// source holds what the words are taken from.
type source struct {
	tasks []run.Task
}

// Add completes the flags and arguments of the commands below root, where their words can be
// listed. A flag is completed by its name, so that a new command with a flag of that name has
// it too. An argument that a command completes itself is left as it is.
func Add(root *cobra.Command, tasks []run.Task) { source{tasks}.add(root) }

// add does what Add says for c and the commands below it.
func (from source) add(c *cobra.Command) {
	for _, sub := range c.Commands() {
		from.add(sub)
	}
	c.LocalFlags().VisitAll(func(f *pflag.Flag) {
		if complete := from.flagWords(c, f); complete != nil {
			// The only error is a second registration, of a flag that two commands share.
			_ = c.RegisterFlagCompletionFunc(f.Name, beginning(complete))
		}
	})
	if c.ValidArgsFunction == nil && !c.HasSubCommands() {
		c.ValidArgsFunction = beginning(from.argWords(c))
	}
}

// beginning keeps the words that begin as typed.
func beginning(f completion) completion {
	return func(c *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
		words, then := f(c, args, typed)
		if then&cobra.ShellCompDirectiveFilterFileExt == 0 {
			words = slices.DeleteFunc(slices.Clone(words), func(w string) bool { return !strings.HasPrefix(w, typed) })
		}
		return words, then
	}
}

// argWords returns what completes the arguments of a command.
func (from source) argWords(c *cobra.Command) completion {
	switch strings.TrimPrefix(c.CommandPath(), "privrec ") {
	case "compare":
		return runDirs(",=", false)
	case "report record":
		return runDirs("", false)
	case "evaluate", "recommend", "report vectors":
		return first(runDirs("", false))
	case "run":
		return first(func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
			return []string{"yaml", "yml"}, cobra.ShellCompDirectiveFilterFileExt
		})
	case "account ledger":
		return first(runDirs("", true))
	case "reproduce":
		return from.paperNames
	case "data stats", "data describe":
		return first(setNames)
	case "data fetch", "data prepare":
		return first(fetchedNames)
	case "data verify":
		return remaining(fetchedNames)
	case "data synth":
		return first(func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
			var names []string
			for _, p := range standin.Profiles() {
				names = append(names, p.Name)
			}
			return names, cobra.ShellCompDirectiveNoFileComp
		})
	}
	return cobra.NoFileCompletions
}

// flagWords returns what completes a flag. Without it, nil, the shell offers files.
func (from source) flagWords(c *cobra.Command, f *pflag.Flag) completion {
	switch f.Name {
	case "accountant", "accountants":
		return fixedWords(calculator.Accountants(c.Name()))
	case "neighbouring":
		return fixedWords([]privacy.Neighbouring{privacy.AddRemove, privacy.Replace, privacy.ZeroOut})
	case "sampling":
		return fixedWords([]privacy.Sampling{privacy.Poisson, privacy.WithoutReplacement})
	case "unit":
		return fixedWords(privacy.Units())
	case "over":
		return fixedWords([]string{"delta", "noise", "steps"})
	case "profile":
		return fixedWords(grid.SizeNames())
	case "format":
		return fixedWords(vectors.Forms())
	case "in-form", "out-form", "attributes-form":
		return fixedWords(format.Forms())
	case "mechanism":
		return fixedWords(sequence.Variants())
	case "select":
		return fixedWords(protect.Selections())
	case "replace":
		return fixedWords(protect.Replacements())
	case "reference":
		return fixedWords([]string{protect.ReferencePast, protect.ReferenceSlate})
	case "definition":
		return fixedWords(definition.Names())
	case "early":
		return fixedWords([]string{slate.EarlyKeep, slate.EarlyDrop, slate.EarlyRefuse})
	case "recipe":
		return recipeNames
	case "set":
		return from.overrides
	case "config", "grid":
		return fixedExtensions("yaml", "yml")
	case "on":
		return runDirs("", false)
	case "table":
		return from.tableNumbers
	case "data", "runs":
		return onlyFolders
	case "out":
		if c.Name() == "reproduce" || c.Name() == "demo" || c.Name() == "synth" || from.isTask(c) {
			return onlyFolders
		}
		return nil
	}
	if t := f.Value.Type(); t != "string" && t != "stringArray" && t != "stringSlice" && t != "bool" {
		return cobra.NoFileCompletions // a number
	}
	return nil
}

// isTask reports whether a command starts a task.
func (from source) isTask(c *cobra.Command) bool { _, ok := from.taskOf(c); return ok }

// taskOf returns the task that a command starts.
func (from source) taskOf(c *cobra.Command) (run.Task, bool) {
	at := slices.IndexFunc(from.tasks, func(t run.Task) bool { return c.CommandPath() == "privrec "+t.String() })
	if at < 0 {
		return run.Task{}, false
	}
	return from.tasks[at], true
}

// fixedWords offers the same words for every command line. In a list with commas they
// complete its last part.
func fixedWords[S ~string](words []S) completion {
	return func(_ *cobra.Command, _ []string, typed string) ([]string, cobra.ShellCompDirective) {
		before := typed[:strings.LastIndexByte(typed, ',')+1]
		out := make([]string, len(words))
		for i, w := range words {
			out[i] = before + string(w)
		}
		return out, cobra.ShellCompDirectiveNoFileComp
	}
}

// fixedExtensions offers files with these extensions.
func fixedExtensions(ext ...string) completion {
	return func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		return ext, cobra.ShellCompDirectiveFilterFileExt
	}
}

// onlyFolders offers folders.
func onlyFolders(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	return nil, cobra.ShellCompDirectiveFilterDirs
}

// first completes the first argument and no other.
func first(f completion) completion {
	return func(c *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
		if len(args) > 0 {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		return f(c, args, typed)
	}
}

// remaining leaves out the words that stand on the command line already.
func remaining(f completion) completion {
	return func(c *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
		words, then := f(c, args, typed)
		return slices.DeleteFunc(slices.Clone(words), func(w string) bool { return slices.Contains(args, w) }), then
	}
}
