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

// pathFlags are the flags, of whatever command, that name a file or a folder.
var pathFlags = []string{"catalogue", "config", "data", "grid", "history", "in", "ledger-key", "on", "out", "plot", "runs", "vectors"}

// named refuses "-" for a file or a folder, before any command does a thing. Elsewhere it
// stands for standard input and output; here it would become a file of that name.
// Outputs come with others beside them, all or none, which a stream cannot.
func named(c *cobra.Command, _ []string) (err error) {
	c.Flags().Visit(func(p *pflag.Flag) {
		if err != nil || !slices.Contains(pathFlags, p.Name) || p.Value.String() != "-" {
			return
		}
		fix := "give it a name; ./- is one too"
		if p.Name == "in" {
			fix = "--in /dev/stdin reads standard input, and --in-form says its form"
		}
		err = usagef(fix, "%s: --%s is \"-\", want the name of a file or a folder", c.CommandPath(), p.Name)
	})
	return err
}

// filled refuses flags with an empty value, which a shell variable that is not set leaves:
// what they stand for would silently be the default.
func filled(c *cobra.Command) (err error) {
	c.Flags().Visit(func(p *pflag.Flag) {
		if err == nil && p.Value.Type() == "string" && p.Value.String() == "" {
			err = usagef("give it a value, or leave it out", "%s: --%s is empty", c.CommandPath(), p.Name)
		}
	})
	return err
}

// threads is how many --workers asks for: all cores with 0.
func threads(workers int) (int, error) {
	switch {
	case workers < 0 || workers > run.MaxWorkers:
		return 0, usagef("0 takes all cores", "--workers is %d, want 0 to %d", workers, run.MaxWorkers)
	case workers == 0:
		return runtime.GOMAXPROCS(0), nil
	}
	return workers, nil
}
