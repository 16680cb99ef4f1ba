package cli

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"privrec/internal/inventory"
	"privrec/internal/report"
	"privrec/internal/run"
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
