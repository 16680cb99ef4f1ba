package cli

import (
	"github.com/spf13/cobra"
)

func (a *App) demo() *cobra.Command {
	var o DemoOptions
	var quiet bool
	c := &cobra.Command{
		Use:   "demo",
		Short: a.Demo.Summary,
		Args:  wants(),
		RunE: func(c *cobra.Command, _ []string) error {
			r := newReporter(a.Stderr, quiet)
			r.Phase("demo")
			o.Stdout, o.Progress = a.Stdout, r
			return a.Demo.Run(c.Context(), o)
		},
	}
	p := c.Flags()
	p.StringVarP(&o.Out, "out", "o", "runs/demo", "directory for its runs and its page")
	p.Uint64Var(&o.Seed, "seed", 1, "seed of every random number")
	p.BoolVar(&o.JSON, "json", false, "results as JSON")
	p.BoolVarP(&quiet, "quiet", "q", false, "no progress")
	return c
}
