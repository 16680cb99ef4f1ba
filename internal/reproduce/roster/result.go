package roster

import (
	"fmt"
	"strings"

	"privrec/internal/dataset"
	"privrec/internal/experiment"
	"privrec/internal/reproduce/phrase"
	"privrec/internal/run"
)

// Result is what the table takes from one finished run.
type Result struct {
	Seed     uint64
	Short    string // why the training is shorter than the paper's; empty where it is not
	Standing string // how the run's configuration relates to the profile that it names
	Level    dataset.Level
	// in the order of the grid's metrics: shares, or counts; a statistic that the data lack is NaN
	Values      []float64
	Evaluations []experiment.Scores  // all of the run
	Floors      map[string][]float64 // by name; values as above
	Order       []string             // of the floors
	Epochs      string               // "10", or "9 + 7" where one training chose the length of the other
	Account     *experiment.Account  // nil: the task wrote none
	Commits     []string
	manifest    *run.Manifest
}

// Choose returns the evaluation with the name end, else the one with a name that ends so, or the
// first one for "". There must be one such evaluation.
func Choose(all []experiment.Scores, end string) (experiment.Scores, error) {
	var found []experiment.Scores
	var names []string
	for _, e := range all {
		if e.Name == end {
			return e, nil
		}
		names = append(names, fmt.Sprintf("%q", e.Name))
		if strings.HasSuffix(e.Name, end) {
			found = append(found, e)
		}
	}
	switch {
	case len(found) == 0:
		return experiment.Scores{}, fmt.Errorf("no evaluation ends in %q; there are %s", end, strings.Join(names, ", "))
	case len(found) > 1 && end != "":
		return experiment.Scores{}, fmt.Errorf("%d evaluations end in %q; there are %s", len(found), end,
			strings.Join(names, ", "))
	}
	return found[0], nil
}

// commits lists the commits of the programs that worked on a run, first to last. A "+"
// marks a program that was built with local changes.
func commits(m *run.Manifest) (out []string) {
	for _, a := range m.Attempts {
		c := a.Build.Commit
		if c == "" {
			c = "unknown"
		}
		if len(c) > 12 {
			c = c[:12]
		}
		if a.Build.Dirty {
			c += "+"
		}
		out = phrase.AppendNew(out, c)
	}
	return out
}
