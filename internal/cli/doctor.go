package cli

import (
	"runtime"

	"github.com/spf13/cobra"

	"privrec/internal/doctor"
	"privrec/internal/run"
	"privrec/internal/tensor"
)

func (a *App) doctor() *cobra.Command {
	var (
		o             doctor.Options
		asJSON, quiet bool
	)
	c := &cobra.Command{
		Use:   "doctor",
		Short: "what this machine is, whether it computes rightly, what it can do in ten minutes, an hour, a night",
		Long: `Looks at the machine, compares every family of kernels with plain loops on odd
shapes and one thread with all, looks for the data sets and at the folders that
are written to, and measures training steps. Takes a few seconds and leaves
nothing behind.

Exit code 1 when a self-test fails; the hint says how to go on without the
kernels. What is missing, data or room, is told and is no failure.`,
		Args: wants(),
		RunE: func(c *cobra.Command, _ []string) error {
			tensor.SetWorkers(runtime.GOMAXPROCS(0))
			r, err := doctor.Examine(c.Context(), o, newReporter(a.Stderr, quiet))
			if err != nil {
				return err
			}
			if err := run.Show(a.Stdout, asJSON, r); err != nil {
				return err
			}
			return r.Err()
		},
	}
	p := c.Flags()
	p.StringVar(&o.Data, "data", "", "folder of data sets; default $PRIVREC_DATA")
	p.StringVar(&o.Runs, "runs", "", "folder that runs go to (default \"runs\")")
	p.BoolVar(&asJSON, "json", false, "as JSON")
	p.BoolVarP(&quiet, "quiet", "q", false, "no progress")
	return c
}
