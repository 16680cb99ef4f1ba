package cli

import (
	"slices"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

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
