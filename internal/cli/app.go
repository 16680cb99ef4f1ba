package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"privrec/internal/cli/complete"
	"privrec/internal/cli/screen"
	"privrec/internal/run"
	"privrec/internal/tensor"
)

// App is the program with what it offers. A command exists when there is
// something behind it.
type App struct {
	Tasks   []run.Task
	Demo    *Demo   // nil: no demo command
	Benches []Bench // none: no bench command

	Stdout, Stderr io.Writer
}

// Demo is the tour of the program, offline and short.
type Demo struct {
	Summary string
	Run     func(ctx context.Context, o DemoOptions) error
}

// DemoOptions say where a demo shows itself.
type DemoOptions struct {
	Out      string // directory for its runs and its page
	Seed     uint64
	Stdout   io.Writer
	JSON     bool
	Progress run.Progress
}

// Main runs the program and returns its exit code.
func Main(args []string) int {
	app := &App{Tasks: tasks(), Demo: tour(), Benches: benches(), Stdout: os.Stdout, Stderr: os.Stderr}
	return app.Execute(context.Background(), args)
}

// reporter shows a person on standard error how work goes.
type reporter = screen.Reporter

// newReporter returns a reporter on w, which shows nothing when quiet.
func newReporter(w io.Writer, quiet bool) reporter { return screen.New(w, quiet) }

// Execute runs one command line and returns the exit code.
func (a *App) Execute(ctx context.Context, args []string) int {
	if err := tensor.SIMDError(); err != nil {
		complain(a.Stderr, err)
		return exitUsage
	}
	tensor.UseBLAS()
	// A reader that went away is no reason to die in the middle of a run: outlet
	// remembers it.
	signal.Ignore(syscall.SIGPIPE)
	ctx, stop := signal.NotifyContext(ctx, os.Interrupt, syscall.SIGTERM)
	defer stop()
	// After the first signal the default behaviour is back: a second one ends
	// the process at once.
	quiet := context.AfterFunc(ctx, func() {
		stop()
		fmt.Fprintln(a.Stderr, "stopping; another Ctrl-C quits at once")
	})
	defer quiet()

	out := &outlet{w: a.Stdout}
	inner := *a
	inner.Stdout = out
	root := inner.root()
	root.SetOut(out)
	root.SetErr(a.Stderr)
	strict(root)
	root.SetArgs(args)
	err := root.ExecuteContext(ctx)
	if out.gone.Load() && (err == nil || wentAway(err)) {
		if h := hint(err); h != "" { // where the result is kept
			fmt.Fprintln(a.Stderr, "hint:", h)
		}
		return exitReaderGone
	}
	if err != nil {
		complain(a.Stderr, err)
	}
	return exitCode(err)
}

func (a *App) root() *cobra.Command {
	root := &cobra.Command{
		Use:   "privrec",
		Short: "privacy in recommender systems: train, perturb, attack, account, report",
		Long: `privrec trains, perturbs, attacks, accounts and reports: papers on privacy in
recommender systems and their baselines, over one core. Every result stands
beside its floor and its level of evidence, every epsilon beside what the
mechanism that really ran amounts to.

` + a.begin() + exitCodes,
		SilenceErrors: true,
		SilenceUsage:  true,
		Args:          cobra.ArbitraryArgs,

		PersistentPreRunE: named, // no command has one of its own
	}
	var version bool
	root.RunE = func(c *cobra.Command, args []string) error {
		if version && len(args) == 0 {
			return run.Show(a.Stdout, false, versionInfo{run.BuildInfo()})
		}
		return group("command")(c, args)
	}
	root.Flags().BoolVar(&version, "version", false, "which program this is and how it was built, as privrec version says")
	root.CompletionOptions.HiddenDefaultCmd = false
	root.SetFlagErrorFunc(func(c *cobra.Command, err error) error {
		// The flags of a command that is not there are not known either.
		if args := c.Flags().Args(); c.HasSubCommands() && len(args) > 0 {
			return c.RunE(c, args)
		}
		// A flag that checks itself has said what is wrong with it.
		if own := (*run.UsageError)(nil); errors.As(err, &own) {
			if own.Fix == "" {
				own.Fix = fmt.Sprintf("see %s --help", c.CommandPath())
			}
			return own
		}
		// What the parser said in its own words is left out: the value says it.
		text, _, _ := strings.Cut(err.Error(), ": strconv.")
		return usagef(flagHint(c, err), "%s", text)
	})
	root.AddCommand(a.perturb(a.verbs())...)
	root.AddCommand(a.account(), a.calibrate(), a.compare(), a.data(), a.doctor(), a.evaluate(), a.list(), a.recommend(), a.reproduce(), a.version())
	if a.Demo != nil {
		root.AddCommand(a.demo())
	}
	if len(a.Benches) > 0 {
		root.AddCommand(a.bench())
	}
	arrange(root)
	complete.Add(root, a.Tasks)
	return root
}

// strict makes cobra's own commands refuse what they do not know, as ours do.
func strict(root *cobra.Command) {
	root.InitDefaultHelpCmd()
	root.InitDefaultCompletionCmd()
	for _, c := range root.Commands() {
		switch c.Name() {
		case "completion":
			c.Short = "what a shell needs to complete commands, keys and names"
			c.Args, c.RunE = cobra.ArbitraryArgs, group("shell")
		case "help":
			c.Short = "help about a command"
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
}

// group is the behaviour of a command that only holds others: help when asked
// for nothing, an error that lists what there is when asked for something else.
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
			return usagef(known+"; "+c.CommandPath()+" --help says what each is", "%s wants a %s", c.CommandPath(), kind)
		}
		return usagef(commandHint(c, args[0], known), "unknown %s %q for %s", kind, args[0], c.CommandPath())
	}
}

// wants checks the number of positional arguments and names them in the error.
func wants(names ...string) cobra.PositionalArgs {
	return func(c *cobra.Command, args []string) error {
		fix := fmt.Sprintf("see %s --help", c.CommandPath())
		switch {
		case len(args) < len(names):
			return usagef(fix, "%s: missing %s", c.CommandPath(), names[len(args)])
		case len(args) > len(names):
			return usagef(fix, "%s: unexpected argument %q", c.CommandPath(), args[len(names)])
		}
		return nil
	}
}
