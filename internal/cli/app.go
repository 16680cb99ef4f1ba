// Package cli runs the command line: flags, commands, exit codes. Only this package and those in its folder know
// cobra, progress bars and terminals. Packages beneath report through run.Progress and slog, and return errors.
// Package screen shows progress, package complete offers words to a shell.
//
// Results go to standard output, progress and logs to standard error. A failure ends with one line that begins
// with "error:", in lower case and without a full stop, and names file, line and field. Further problems of the
// same input follow as "also:" lines, and a "hint:" line where a fix is known. One function, exitCode, decides
// the exit code.
package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime"
	"slices"
	"strings"
	"syscall"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"privrec/internal/cli/complete"
	"privrec/internal/cli/screen"
	"privrec/internal/demo"
	"privrec/internal/papers"
	"privrec/internal/run"
	"privrec/internal/tensor"
)

// App is the program with all that it offers. It has a command only for what is there.
type App struct {
	Tasks   []run.Task
	Demo    func(context.Context, demo.Options) error // nil: no demo command
	Benches []Bench                                   // none: no bench command

	Stdout, Stderr io.Writer

	args      []string // of the command line that is carried out
	completes bool     // a shell asks for words: no other command needs what completes
}

// Main runs the program and returns its exit code.
func Main(args []string) int {
	app := &App{Tasks: papers.All(), Demo: demo.Run, Benches: benches(), Stdout: os.Stdout, Stderr: os.Stderr}
	return app.Execute(context.Background(), args)
}

// reporter shows users on standard error how work goes.
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
	// A reader that went away does not end a run in the middle: outlet remembers it.
	signal.Ignore(syscall.SIGPIPE)
	ctx, stop := signal.NotifyContext(ctx, os.Interrupt, syscall.SIGTERM)
	defer stop()
	// After the first signal the default behaviour is back: a second one ends the process
	// at once.
	quiet := context.AfterFunc(ctx, func() {
		stop()
		fmt.Fprintln(a.Stderr, "stopping; another Ctrl-C quits at once")
	})
	defer quiet()

	out := &outlet{w: a.Stdout}
	args, moved := movedLine(args)
	inner := *a
	inner.Stdout, inner.args = out, args
	inner.completes = len(args) > 0 &&
		(args[0] == cobra.ShellCompRequestCmd || args[0] == cobra.ShellCompNoDescRequestCmd)
	root := inner.root()
	root.SetOut(out)
	root.SetErr(a.Stderr)
	strict(root)
	root.SetArgs(args)
	if moved != nil {
		fmt.Fprintln(a.Stderr, moved.notice(root, args))
	}
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

// root makes the command that holds all others.
func (a *App) root() *cobra.Command {
	root := &cobra.Command{
		Use:   "privrec",
		Short: "privacy in recommender systems: train, perturb, attack, account, report",
		Long: `privrec reproduces papers on privacy in recommender systems, with their baselines: it
trains models, perturbs data, attacks, accounts for privacy and reports. Every result
stands beside its floors, which need no model, and its level of evidence. Every epsilon
that a paper claims stands beside the one that the releases of the run amount to.

` + a.firstCommands() + exitCodes,
		SilenceErrors: true,
		SilenceUsage:  true,
		Args:          cobra.ArbitraryArgs,

		PersistentPreRunE: refuseDash, // no command has one of its own
	}
	var version bool
	root.RunE = func(c *cobra.Command, args []string) error {
		if version && len(args) == 0 {
			return run.Show(a.Stdout, false, versionInfo{run.BuildInfo()})
		}
		return group("command")(c, args)
	}
	root.Flags().BoolVar(&version, "version", false, "which program this is and how it was built")
	root.CompletionOptions.HiddenDefaultCmd = false
	root.SetFlagErrorFunc(func(c *cobra.Command, err error) error {
		// A command that does not exist has no flags: the error is about the command.
		if args := c.Flags().Args(); c.HasSubCommands() && len(args) > 0 {
			return c.RunE(c, args)
		}
		// A flag that checks its value has said what is wrong.
		if own := (*run.UsageError)(nil); errors.As(err, &own) {
			if own.Fix == "" {
				own.Fix = fmt.Sprintf("see %s --help", c.CommandPath())
			}
			return own
		}
		// The parser's own words are left out: the value shows what is wrong.
		text, _, _ := strings.Cut(err.Error(), ": strconv.")
		return usagef(a.flagHint(c, err), "%s", text)
	})
	root.AddCommand(a.matrix(a.perturb(a.verbs()))...)
	root.AddCommand(a.account(), a.audit(), a.compare(), a.data(), a.evaluate(), a.forget(), a.list(), a.recommend(),
		a.release(), a.report(), a.reproduce(), a.run(), a.scores(), a.stream(), a.tune(), a.version())
	if a.Demo != nil {
		root.AddCommand(a.demo())
	}
	if len(a.Benches) > 0 {
		root.AddCommand(a.bench())
	}
	root.SetGlobalNormalizationFunc(otherNames)
	arrange(root)
	exemplify(root, a.examples())
	if a.completes {
		complete.Add(root, a.Tasks)
	}
	return root
}

// otherNames lets --input and --output, as other programs and privrec-beam call them, be --in and --out.
func otherNames(_ *pflag.FlagSet, name string) pflag.NormalizedName {
	switch name {
	case "input":
		name = "in"
	case "output":
		name = "out"
	}
	return pflag.NormalizedName(name)
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

// pathFlags are the flags that name a file or a folder, in any command.
var pathFlags = []string{"against", "attributes", "biases", "catalogue", "config", "data", "gram", "graph",
	"grid", "held-out", "history", "ids", "in", "interactions", "items", "ledger-key", "lists", "non-members", "on",
	"out", "parent", "plot", "record", "records", "recs", "retrained", "runs", "start", "study", "train",
	"train-config", "truth", "vectors"}

// refuseDash refuses "-" as the name of a file or a folder, before a command does anything. In
// other programs it stands for standard input or output; here it would become a file of that
// name. Outputs are several files, all or none, and a stream cannot be that.
func refuseDash(c *cobra.Command, _ []string) (err error) {
	c.Flags().Visit(func(p *pflag.Flag) {
		if err != nil || !slices.Contains(pathFlags, p.Name) || !slices.Contains(texts(p), "-") {
			return
		}
		fix := "give it a name; ./- is a file of that name"
		if p.Name == "in" {
			fix = "--in /dev/stdin reads standard input, and --in-form says its form"
		}
		err = usagef(fix, "%s: --%s is \"-\", want the name of a file or a folder", c.CommandPath(), p.Name)
	})
	return err
}

// texts returns what a flag of one string, or of several, was given; nil for other flags.
func texts(p *pflag.Flag) []string {
	if list, ok := p.Value.(pflag.SliceValue); ok {
		return list.GetSlice()
	}
	if p.Value.Type() != "string" {
		return nil
	}
	return []string{p.Value.String()}
}

// refuseEmpty refuses flags with an empty value, which a shell variable that is not set leaves.
// Such a flag would silently take its default.
func refuseEmpty(c *cobra.Command) (err error) {
	c.Flags().Visit(func(p *pflag.Flag) {
		if err == nil && (p.Value.Type() == "string" || slices.Contains(pathFlags, p.Name)) &&
			slices.Contains(texts(p), "") {
			err = usagef("give it a value, or leave it out", "%s: --%s is empty", c.CommandPath(), p.Name)
		}
	})
	return err
}

// threads returns how many threads --workers asks for: all cores with 0.
func threads(workers int) (int, error) {
	switch {
	case workers < 0 || workers > run.MaxWorkers:
		return 0, usagef("0 takes all cores", "--workers is %d, want 0 to %d", workers, run.MaxWorkers)
	case workers == 0:
		return runtime.GOMAXPROCS(0), nil
	}
	return workers, nil
}

// shows makes a command show what ask returns, and gives it the flag --json.
func (a *App) shows(c *cobra.Command, ask func(c *cobra.Command, args []string) (run.Result, error)) {
	asJSON := c.Flags().Bool("json", false, "as JSON")
	c.RunE = func(c *cobra.Command, args []string) error {
		r, err := ask(c, args)
		if held := (*notHeld)(nil); err != nil && !errors.As(err, &held) {
			return err
		}
		if shown := run.Show(a.Stdout, *asJSON, r); shown != nil {
			return shown
		}
		return err // of an answer that is shown, and not good enough
	}
}

// answers does what shows does, for a command that saves nothing: the first signal ends it at once, also where what
// it computes does not look at the context. Nothing is lost that way, and the process ends with the command.
func (a *App) answers(c *cobra.Command, ask func(c *cobra.Command, args []string) (run.Result, error)) {
	a.shows(c, func(c *cobra.Command, args []string) (run.Result, error) {
		type answer struct {
			run.Result
			err error
		}
		if err := c.Context().Err(); err != nil {
			return nil, err
		}
		got := make(chan answer, 1)
		go func() {
			r, err := ask(c, args)
			got <- answer{r, err}
		}()
		select {
		case <-c.Context().Done():
			return nil, c.Context().Err()
		case x := <-got:
			return x.Result, x.err
		}
	})
}

// reports does what shows does, for a command that reports how far it is. The command gets the
// flag --quiet too.
func (a *App) reports(c *cobra.Command, ask func(c *cobra.Command, args []string, r reporter) (run.Result, error)) {
	quiet := c.Flags().BoolP("quiet", "q", false, "no progress")
	a.shows(c, func(c *cobra.Command, args []string) (run.Result, error) {
		return ask(c, args, newReporter(a.Stderr, *quiet))
	})
}
