package pages

import (
	"fmt"
	"path/filepath"
	"strings"

	"privrec/internal/claims"
	"privrec/internal/experiment"
	"privrec/internal/record"
	"privrec/internal/report"
	"privrec/internal/reproduce/results"
	"privrec/internal/run"
	"privrec/internal/system"
)

// paper is a paper with all that was made of it.
type paper struct {
	name   string // as in Grid.Paper
	title  string // for readers
	cite   string
	made   []Made
	runs   []*finished
	claims *claims.Result // nil: none

	epsilons *report.Table // claims beside accounts; nil: none
}

// titles are names of papers for readers.
var titles = map[string]string{"dipsgnn": "DIPSGNN", "pricdsr": "PriCDSR", "gerai": "GERAI", "rdpgcf": "RDP-GCF",
	"exposure": "Slate exposure"}

// own is where studies go that belong to no paper.
const own = "studies"

// page returns the address of a paper's page from the folder of tables.
func (p *paper) page() string { return p.name + ".html" }

// part returns the address of a part of that page.
func (p *paper) part(id string) string { return p.page() + "#" + id }

// cells returns all cells of a paper.
func (p *paper) cells() (out []results.Cell) {
	for _, m := range p.made {
		out = append(out, m.Cells...)
	}
	return out
}

// sizes says how many tables and figures there are.
func (p *paper) sizes() string {
	tables, figures, studies := 0, 0, 0
	for _, m := range p.made {
		switch {
		case m.Grid.Table != 0:
			tables++
		case m.Grid.Figure != 0:
			figures++
		default:
			studies++
		}
	}
	var parts []string
	for _, n := range []struct {
		n            int
		one, several string
	}{{tables, "table", "tables"}, {figures, "figure", "figures"}, {studies, "study", "studies"}} {
		if n.n > 0 {
			parts = append(parts, things(n.n, n.one, n.several))
		}
	}
	return strings.Join(parts, ", ")
}

// finished is a finished run.
type finished struct {
	name     string // of its directory
	dir      string
	outcome  *experiment.Outcome[experiment.Data]
	account  *experiment.Account // nil: the task wrote none
	manifest run.Manifest
	config   string // as the run keeps it, without places of this machine
	of       []use
}

// use is a table that shows a run.
type use struct {
	title, page, method string
	paper               *paper
}

// page returns the address of the run's page from the folder of tables.
func (f *finished) page() string { return pageOfRun(f.name) }

// readRun reads a finished run.
func readRun(dir string) (*finished, error) {
	f := &finished{name: filepath.Base(dir), dir: dir}
	var err error
	if f.outcome, err = experiment.ReadOutcome(dir); err != nil {
		return nil, err
	}
	if f.account, err = experiment.ReadAccount(dir); err != nil {
		return nil, err
	}
	if f.manifest, err = run.ReadManifest(dir); err != nil {
		return nil, err
	}
	b, err := system.ReadFile(filepath.Join(dir, "config.yaml"), system.MostOfRun)
	if err != nil {
		return nil, fmt.Errorf("read the configuration: %w", err)
	}
	f.config = record.WithoutPlaces(string(b))
	return f, nil
}
