package pages

import (
	"fmt"
	"path/filepath"
	"regexp"
	"strings"

	"privrec/internal/experiment"
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
func (f *finished) page() string { return runs + "/" + f.name + ".html" }

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
	f.config = withoutPlaces(string(b))
	return f, nil
}

// ofRun is a line of a list of runs.
var ofRun = regexp.MustCompile(`^(\s+- ).*/([^/]+-seed\d+)`)

// withoutPlaces removes from a configuration what says where and with how many threads it ran,
// which changes no result: the keys run.out and run.workers, and the folder of runs that it is
// about.
func withoutPlaces(config string) string {
	var keep []string
	within := false
	for _, line := range strings.SplitAfter(config, "\n") {
		if line != "" && line[0] != ' ' {
			within = strings.HasPrefix(line, "run:")
		}
		key := strings.TrimSpace(line)
		if within && (strings.HasPrefix(key, "out:") || strings.HasPrefix(key, "workers:")) {
			continue
		}
		keep = append(keep, ofRun.ReplaceAllString(line, "$1$2"))
	}
	return strings.Join(keep, "")
}
