package matrix

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"privrec/internal/experiment"
	"privrec/internal/reproduce/grid"
	"privrec/internal/run"
)

// OnRuns replaces the rows by finished runs in directories, trained by this program anywhere. Their
// attacks are those of the matrix.
func (m *Matrix) OnRuns(dirs []string) error {
	var rows []Row
	m.Data = nil
	for _, dir := range dirs {
		whole, err := filepath.Abs(dir)
		if err != nil {
			return fmt.Errorf("--runs: %w", err)
		}
		man, err := run.ReadRun(whole, "name run directories, as privrec train writes them")
		if err != nil {
			return err
		}
		if man.Status != run.StatusDone {
			return &run.UsageError{Message: fmt.Sprintf("the run in %s is not finished: %s", dir, man.Status),
				Fix: "finish it with --resume"}
		}
		o, err := experiment.ReadOutcome(whole)
		if err != nil {
			return err
		}
		r := Row{Model: o.Method, Defence: defence(whole), Data: o.Data.Name, finished: whole,
			imported: experiment.IsImported(man.Task)}
		for n := 2; slices.ContainsFunc(rows, func(x Row) bool { return x.label() == r.label() }); n++ {
			r.Model = fmt.Sprintf("%s, run %d", o.Method, n)
		}
		if !slices.ContainsFunc(m.Data, func(d grid.Data) bool { return d.Name == r.Data }) {
			m.Data = append(m.Data, grid.Data{Name: r.Data, Any: true})
		}
		rows = append(rows, r)
	}
	m.Rows = rows
	m.ofRuns()
	return nil
}

// ofRuns lets names, title and sizes of the files say that the rows are finished runs, and of which data.
func (m *Matrix) ofRuns() {
	var data []string
	for _, d := range m.Data {
		data = append(data, d.Name)
	}
	m.Name, m.Title, m.HoldOut = "matrix-runs", "Attacks on finished runs, "+strings.Join(data, ", "), nil
	for _, s := range []*grid.Size{&m.Sizes.Smoke, &m.Sizes.Quick, &m.Sizes.Full} {
		s.About = "the models are as they were found; " + counted(len(s.Seeds)) + " of each attack"
	}
}

// counted counts seeds.
func counted(seeds int) string {
	if seeds == 1 {
		return "one seed"
	}
	return fmt.Sprintf("%d seeds", seeds)
}

// defence says what an account knows of the noise of a run.
func defence(dir string) string {
	a, err := experiment.ReadAccount(dir)
	if err != nil || a == nil || a.Noise == "none" {
		return None
	}
	if a.Noise == experiment.Unknown {
		return "not known"
	}
	return "its own noise"
}

// Only keeps the attacks of these names.
func (m *Matrix) Only(names []string) error {
	var kept []Attack
	var known []string
	for _, a := range m.Attacks {
		known = append(known, a.Name)
		if slices.Contains(names, a.Name) {
			kept = append(kept, a)
		}
	}
	for _, n := range names {
		if !slices.Contains(known, n) {
			return &run.UsageError{Message: fmt.Sprintf("there is no attack %q", n), Fix: "there are " +
				strings.Join(known, ", ")}
		}
	}
	m.Attacks = kept
	return nil
}
