// Package complete offers words to a shell that completes a command line: arguments, words of
// flags, keys of configurations and what they may be, run directories.
package complete

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"privrec/internal/calculator"
	"privrec/internal/dataset/format"
	"privrec/internal/dataset/registry"
	"privrec/internal/dataset/slate"
	"privrec/internal/dataset/standin"
	"privrec/internal/papers/exposure"
	"privrec/internal/privacy"
	"privrec/internal/privacy/mechanism/sequence"
	"privrec/internal/reproduce"
	"privrec/internal/run"
)

// completion completes a word of a command line: the arguments before it, and what is typed
// of it.
type completion = func(c *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective)

// source knows where the words come from.
type source struct {
	tasks []run.Task
}

// Add gives every flag and argument of the commands below root that can be counted its words.
// What is told here holds for all flags of a name, so that a new command has it too. An
// argument that a command completes itself stays so.
func Add(root *cobra.Command, tasks []run.Task) { source{tasks}.add(root) }

// add does it for a command and those below it.
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

// beginning keeps the words that begin as what is typed.
func beginning(f completion) completion {
	return func(c *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
		words, then := f(c, args, typed)
		if then&cobra.ShellCompDirectiveFilterFileExt == 0 {
			words = slices.DeleteFunc(slices.Clone(words), func(w string) bool { return !strings.HasPrefix(w, typed) })
		}
		return words, then
	}
}

// argWords completes the arguments of a command.
func (from source) argWords(c *cobra.Command) completion {
	switch strings.TrimPrefix(c.CommandPath(), "privrec ") {
	case "compare":
		return runDirs(",=", false)
	case "evaluate", "recommend":
		return first(runDirs("", false))
	case "account ledger":
		return first(runDirs("", true))
	case "reproduce":
		return from.paperNames
	case "data stats":
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
	case "data backtest":
		return first(func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
			var names []string
			for _, p := range standin.Profiles() {
				if _, err := registry.Find(p.Name); err == nil {
					names = append(names, p.Name)
				}
			}
			return names, cobra.ShellCompDirectiveNoFileComp
		})
	}
	return cobra.NoFileCompletions
}

// flagWords completes a flag; nil leaves it to the shell, which offers files.
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
		return fixedWords(reproduce.ProfileNames())
	case "in-form", "out-form":
		return fixedWords(format.Forms())
	case "mechanism":
		return fixedWords([]sequence.Variant{sequence.SDPFixed, sequence.SDPPaper, sequence.RR})
	case "select":
		return fixedWords(exposure.Selections())
	case "replace":
		return fixedWords(exposure.Replacements())
	case "reference":
		return fixedWords([]string{exposure.ReferencePast, exposure.ReferenceSlate})
	case "early":
		return fixedWords([]string{slate.EarlyKeep, slate.EarlyDrop, slate.EarlyRefuse})
	case "recipe":
		return recipeNames
	case "set":
		return from.settings
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

func (from source) isTask(c *cobra.Command) bool { _, ok := from.taskOf(c); return ok }

// taskOf is the task that a command starts.
func (from source) taskOf(c *cobra.Command) (run.Task, bool) {
	at := slices.IndexFunc(from.tasks, func(t run.Task) bool { return c.CommandPath() == "privrec "+t.String() })
	if at < 0 {
		return run.Task{}, false
	}
	return from.tasks[at], true
}

// fixedWords offers the same words always; in a list with commas, for the last part of it.
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

func fixedExtensions(ext ...string) completion {
	return func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		return ext, cobra.ShellCompDirectiveFilterFileExt
	}
}

func onlyFolders(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	return nil, cobra.ShellCompDirectiveFilterDirs
}

// first completes the first argument alone.
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
