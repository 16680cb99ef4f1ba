package pages

import (
	"fmt"
	"path/filepath"

	"privrec/internal/experiment"
	"privrec/internal/record"
	"privrec/internal/run"
	"privrec/internal/system"
)

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

// pageOfRun returns the address of the page of a run from the folder of tables.
func pageOfRun(name string) string { return runs + "/" + name + ".html" }

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
