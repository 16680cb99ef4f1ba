package cli

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"

	"github.com/spf13/cobra"

	"privrec/internal/demo"
	"privrec/internal/doctor"
	"privrec/internal/inventory"
	"privrec/internal/report"
	"privrec/internal/run"
	"privrec/internal/system"
	"privrec/internal/tensor"
)

// version makes the command that shows which program this is.
func (a *App) version() *cobra.Command {
	c := &cobra.Command{
		Use:   "version",
		Short: "show which program this is and how it was built",
		Args:  wants(),

		Hidden: true, // --version says it too
	}
	a.shows(c, func(_ *cobra.Command, _ []string) (run.Result, error) {
		return versionInfo{run.BuildInfo()}, nil
	})
	return c
}

// versionInfo shows how the program was built.
type versionInfo struct{ run.Build }

// Text writes version, commit, platform and kernels.
func (v versionInfo) Text(w io.Writer) error {
	commit := v.Commit
	if commit == "" {
		commit = "unknown commit"
	}
	if v.Dirty {
		commit += " with local changes"
	}
	_, err := fmt.Fprintf(w, "privrec %s (%s)\n%s %s/%s, %s, kernels %s\n", v.Version, commit, v.Go, v.OS, v.Arch,
		v.Float, v.SIMD)
	return err
}

// list makes the command that shows tasks and data sets, and below it the machine and schemas.
func (a *App) list() *cobra.Command {
	c := &cobra.Command{
		Use:   "list",
		Short: "list tasks and data sets; what this machine is, and the schema of a file",
		Long: `Lists the tasks and the data sets that there are. machine examines this machine, and
schema prints the JSON Schema of a configuration or of what --json prints.

` + exitCodes,
		Args: func(c *cobra.Command, args []string) error {
			if len(args) > 0 {
				return group("command")(c, args)
			}
			return nil
		},
	}
	c.AddCommand(a.machine(), a.schema())
	a.shows(c, func(c *cobra.Command, _ []string) (run.Result, error) {
		tasks := &report.Table{Name: "tasks", Title: "Tasks", Columns: report.Columns("", "command", "does")}
		for _, t := range a.Tasks {
			tasks.Add("privrec "+t.String(), t.Summary)
			if t.Cite != "" {
				tasks.Notes = append(tasks.Notes, t.Name+": "+t.Cite)
			}
		}
		for _, c := range []*cobra.Command{a.perturbPricdsr(), a.perturbExposure(), a.perturbFeatures()} {
			tasks.Add("privrec perturb "+c.Name(), c.Short)
		}
		doc := &report.Document{Title: "Tasks and data sets",
			Tables: []*report.Table{inventory.Sets(), inventory.Slates()}}
		sets, slates := len(doc.Tables[0].Rows), len(doc.Tables[1].Rows)
		doc.Subtitle = fmt.Sprintf("%d tasks, %d data sets of interactions, %d of what users were shown",
			len(tasks.Rows), sets, slates)
		if len(a.Tasks) > 0 {
			doc.Tables = append([]*report.Table{tasks}, doc.Tables...)
		}
		return doc, nil
	})
	return c
}

// machine makes the command that examines this machine.
func (a *App) machine() *cobra.Command {
	var (
		o             doctor.Options
		asJSON, quiet bool
	)
	c := &cobra.Command{
		Use:   "machine",
		Short: "examine this machine: kernels, data, folders",
		Long: `Examines this machine in a few seconds and leaves no file. It compares every family of
kernels with plain loops on odd shapes, and one thread with all. It looks for the data
sets, and for room in the folders that runs and caches go to.

The exit code is 1 where a self-test fails; the hint says how to go on without the
kernels. Missing data or too little room is reported and is no failure.`,
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

// demo makes the command that shows the tour of the program.
func (a *App) demo() *cobra.Command {
	var o demo.Options
	var quiet bool
	c := &cobra.Command{
		Use:   "demo",
		Short: "train a recommender with noise and one without on generated data, in under a minute",
		Args:  wants(),
		RunE: func(c *cobra.Command, _ []string) error {
			r := newReporter(a.Stderr, quiet)
			r.Phase("demo")
			o.Stdout, o.Progress = a.Stdout, r
			if err := a.Demo(c.Context(), o); err != nil {
				return err
			}
			if !quiet && !o.JSON {
				a.afterDemo(o.Out)
			}
			return nil
		},
	}
	p := c.Flags()
	p.StringVarP(&o.Out, "out", "o", "runs/demo", "folder for its runs and its page")
	p.Uint64Var(&o.Seed, "seed", 1, "seed of every random number")
	p.BoolVar(&o.JSON, "json", false, "results as JSON")
	p.BoolVarP(&quiet, "quiet", "q", false, "no progress")
	return c
}

// afterDemo writes to standard error what to type next: commands on what the demo has left in a folder.
func (a *App) afterDemo(out string) {
	program, private := system.ShellQuote(os.Args[0]), system.ShellQuote(filepath.Join(out, "private"))
	fmt.Fprintf(a.Stderr, `
What to type next:

  # what is the epsilon of the private run worth, release by release?
  %[1]s account ledger %[2]s --delta 1e-6

  # what do its recommendations give away?
  %[1]s attack exposure --on %[2]s --set train.epochs=20

  # did the noise cost anything?
  %[1]s compare %[2]s:noise-on %[3]s
`, program, private, system.ShellQuote(filepath.Join(out, "non-private")))
}
