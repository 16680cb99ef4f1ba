package roster

import (
	"fmt"
	"math"
	"path/filepath"
	"strings"

	"privrec/internal/dataset"
	"privrec/internal/experiment"
	"privrec/internal/metrics"
	"privrec/internal/reproduce/grid"
	"privrec/internal/run"
)

// Read returns the result of a finished run, which it reads once. Its error names the file and what it lacks.
func Read(g *grid.Grid, r *Run) (_ *Result, err error) {
	if r.result == nil {
		r.result, err = read(g, r)
	}
	return r.result, err
}

// read takes the result from the directory of a finished run.
func read(g *grid.Grid, r *Run) (*Result, error) {
	m, err := experiment.ReadOutcome(r.Dir)
	if err != nil {
		return nil, err
	}
	manifest, err := run.ReadManifest(r.Dir)
	if err != nil {
		return nil, err
	}
	bad := func(format string, args ...any) error {
		return fmt.Errorf("%s: %s", filepath.Join(r.Dir, "metrics.json"), fmt.Sprintf(format, args...))
	}
	if m.Data.Level < dataset.LevelA || m.Data.Level > dataset.LevelD {
		return nil, bad("no evidence level")
	}
	if len(m.Floors) == 0 && g.Unit != grid.UnitCount {
		return nil, bad("no floors: results without a floor are not shown")
	}
	chosen, err := Choose(m.Evaluations, r.Entry.Evaluation)
	if err != nil {
		return nil, bad("%v", err)
	}
	out := &Result{Seed: r.Seed, Standing: m.Setting, Short: m.Short, Level: m.Data.Level, Evaluations: m.Evaluations,
		Floors: map[string][]float64{}, manifest: &manifest, Commits: commits(&manifest)}
	for _, of := range r.Before { // a number about a model that was trained less says nothing of the paper's
		attacked, err := experiment.ReadOutcome(of.Dir)
		if err != nil {
			return nil, err
		}
		if attacked.Short != "" {
			short := fmt.Sprintf("%s, which it is about, was %s", of.Entry.Task, attacked.Short)
			out.Short = strings.TrimPrefix(out.Short+"; "+short, "; ")
		}
	}
	out.Epochs = fmt.Sprint(len(m.Epochs))
	if len(m.Selection) > 0 {
		out.Epochs = fmt.Sprintf("%d + %d", len(m.Selection), len(m.Epochs))
	}
	pick := func(s experiment.Scores) ([]float64, error) {
		var values []float64
		for _, c := range g.Metrics {
			name := c.Measure.String()
			v, ok := s.Values[name]
			if _, may := c.Measure.(metrics.Statistic); may && !ok {
				values = append(values, math.NaN())
				continue
			}
			if !ok || math.IsNaN(v) || math.IsInf(v, 0) {
				return nil, bad("%q has no %s", s.Name, name)
			}
			if was := m.Definitions[name]; was != c.Definition() {
				return nil, bad("%s was measured as %q, but the table prints %q", name, was, c.Definition())
			}
			values = append(values, v)
		}
		return values, nil
	}
	if out.Values, err = pick(chosen); err != nil {
		return nil, err
	}
	for _, f := range m.Floors {
		if out.Floors[f.Name], err = pick(f); err != nil {
			return nil, err
		}
		out.Order = append(out.Order, f.Name)
	}
	if out.Account, err = experiment.ReadAccount(r.Dir); err != nil {
		return nil, err
	}
	return out, nil
}
