package cli

import (
	"fmt"
	"runtime"
	"slices"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"privrec/internal/run"
)

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
var pathFlags = []string{"attributes", "catalogue", "config", "data", "grid", "history", "in", "interactions", "ledger-key", "lists", "on", "out", "plot", "runs", "vectors"}

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
		if err == nil && (p.Value.Type() == "string" || slices.Contains(pathFlags, p.Name)) && slices.Contains(texts(p), "") {
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
