package cli

import (
	"fmt"

	"privrec/internal/report"
	"privrec/internal/reproduce"
	"privrec/internal/run"
)

// listTables shows the commands that make the tables asked for, and what each table is.
func (a *App) listTables(grids []*reproduce.Grid, asJSON bool) error {
	t := &report.Table{Name: "tables", Title: "Tables", Columns: report.Columns("", "command", "title")}
	for _, g := range grids {
		t.Add(fmt.Sprintf("privrec reproduce %s --table %d", g.Paper, g.Table), g.Title)
	}
	return run.Show(a.Stdout, asJSON, &report.Document{Title: "Tables that can be made", Tables: []*report.Table{t}})
}
