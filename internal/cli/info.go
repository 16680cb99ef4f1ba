package cli

import (
	"fmt"
	"io"
	"runtime"

	"github.com/spf13/cobra"

	"privrec/internal/demo"
	"privrec/internal/doctor"
	"privrec/internal/inventory"
	"privrec/internal/report"
	"privrec/internal/run"
	"privrec/internal/tensor"
)

// version shows which program this is.
func (a *App) version() *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use:   "version",
		Short: "which program this is and how it was built",
		Args:  wants(),
		RunE: func(*cobra.Command, []string) error {
			return run.Show(a.Stdout, asJSON, versionInfo{run.BuildInfo()})
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "as JSON")
	return c
}

type versionInfo struct{ run.Build }

func (v versionInfo) Text(w io.Writer) error {
	commit := v.Commit
	if commit == "" {
		commit = "unknown commit"
	}
	if v.Dirty {
		commit += " with local changes"
	}
	_, err := fmt.Fprintf(w, "privrec %s (%s)\n%s %s/%s, %s, kernels %s\n", v.Version, commit, v.Go, v.OS, v.Arch, v.Float, v.SIMD)
	return err
}

// list shows what there is to run and to run it on.
func (a *App) list() *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use:   "list",
		Short: "what there is: tasks and data sets",
		Args:  wants(),
		RunE: func(*cobra.Command, []string) error {
			tasks := &report.Table{Name: "tasks", Title: "Tasks", Columns: report.Columns("", "command", "does")}
			for _, t := range a.Tasks {
				tasks.Add("privrec "+t.String(), t.Summary)
				if t.Cite != "" {
					tasks.Notes = append(tasks.Notes, t.Name+": "+t.Cite)
				}
			}
			for _, c := range []*cobra.Command{a.perturbPricdsr(), a.perturbExposure()} {
				tasks.Add("privrec perturb "+c.Name(), c.Short)
			}
			doc := &report.Document{Title: "What there is", Tables: []*report.Table{inventory.Sets(), inventory.Slates()}}
			if len(a.Tasks) > 0 {
				doc.Tables = append([]*report.Table{tasks}, doc.Tables...)
			}
			return run.Show(a.Stdout, asJSON, doc)
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "as JSON")
	return c
}

// doctor examines this machine.
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

// demo shows the tour of the program.
func (a *App) demo() *cobra.Command {
	var o demo.Options
	var quiet bool
	c := &cobra.Command{
		Use:   "demo",
		Short: "a private recommender and its non-private twin on generated data, in under a minute",
		Args:  wants(),
		RunE: func(c *cobra.Command, _ []string) error {
			r := newReporter(a.Stderr, quiet)
			r.Phase("demo")
			o.Stdout, o.Progress = a.Stdout, r
			return a.Demo(c.Context(), o)
		},
	}
	p := c.Flags()
	p.StringVarP(&o.Out, "out", "o", "runs/demo", "directory for its runs and its page")
	p.Uint64Var(&o.Seed, "seed", 1, "seed of every random number")
	p.BoolVar(&o.JSON, "json", false, "results as JSON")
	p.BoolVarP(&quiet, "quiet", "q", false, "no progress")
	return c
}
