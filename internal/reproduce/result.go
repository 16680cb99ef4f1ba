package reproduce

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"strings"

	"privrec/internal/dataset"
	"privrec/internal/experiment"
	"privrec/internal/metrics"
	"privrec/internal/report"
	"privrec/internal/run"
	"privrec/internal/system"
)

// result is what the table takes from one finished run.
type result struct {
	seed     uint64
	short    string // why the training is shorter than the paper's; empty where it is not
	standing string // how the run's configuration relates to the profile that it names
	level    dataset.Level
	// in the order of the grid's metrics: shares, or counts; a statistic that the data lack is NaN
	values      []float64
	evaluations []experiment.Scores  // all of the run
	floors      map[string][]float64 // by name; values as above
	order       []string             // of the floors
	epochs      string               // "10", or "9 + 7" where one training chose the length of the other
	account     *experiment.Account  // nil: the task wrote none
	commits     []string
	manifest    *run.Manifest
}

// result returns the result of a finished run, which it reads once. Its error names the file and what it lacks.
func (g *Grid) result(r *Run) (_ *result, err error) {
	if r.result == nil {
		r.result, err = g.read(r)
	}
	return r.result, err
}

// read takes the result from the directory of a finished run.
func (g *Grid) read(r *Run) (*result, error) {
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
	if len(m.Floors) == 0 && g.Unit != count {
		return nil, bad("no floors: results without a floor are not shown")
	}
	chosen, err := choose(m.Evaluations, r.entry.end)
	if err != nil {
		return nil, bad("%v", err)
	}
	out := &result{seed: r.Seed, standing: m.Setting, short: m.Short, level: m.Data.Level, evaluations: m.Evaluations,
		floors: map[string][]float64{}, manifest: &manifest, commits: commits(&manifest)}
	for _, of := range r.about { // a number about a model that was trained less says nothing of the paper's
		attacked, err := experiment.ReadOutcome(of.Dir)
		if err != nil {
			return nil, err
		}
		if attacked.Short != "" {
			short := fmt.Sprintf("%s, which it is about, was %s", of.entry.task, attacked.Short)
			out.short = strings.TrimPrefix(out.short+"; "+short, "; ")
		}
	}
	out.epochs = fmt.Sprint(len(m.Epochs))
	if len(m.Selection) > 0 {
		out.epochs = fmt.Sprintf("%d + %d", len(m.Selection), len(m.Epochs))
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
			if was := m.Definitions[name]; was != c.definition() {
				return nil, bad("%s was measured as %q, but the table prints %q", name, was, c.definition())
			}
			values = append(values, v)
		}
		return values, nil
	}
	if out.values, err = pick(chosen); err != nil {
		return nil, err
	}
	for _, f := range m.Floors {
		if out.floors[f.Name], err = pick(f); err != nil {
			return nil, err
		}
		out.order = append(out.order, f.Name)
	}
	if out.account, err = experiment.ReadAccount(r.Dir); err != nil {
		return nil, err
	}
	return out, nil
}

// choose returns the evaluation with the name end, else the one with a name that ends so, or the
// first one for "". There must be one such evaluation.
func choose(all []experiment.Scores, end string) (experiment.Scores, error) {
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
		out = appendNew(out, c)
	}
	return out
}

// appendNew appends s to a list that lacks it.
func appendNew(list []string, s string) []string {
	for _, have := range list {
		if have == s {
			return list
		}
	}
	return append(list, s)
}

// write writes a table's files into a folder, each whole or not at all, and returns their paths. One of them says what
// its runs took.
func (t *Table) write(dir string, runs []*Run) ([]string, error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, run.WithHint(fmt.Errorf("write tables: %w", err), "choose a writable --out")
	}
	type file struct {
		suffix string
		write  func(w io.Writer) error
	}
	list := []file{
		{".md", t.Document.Markdown},
		{".tex", t.Document.LaTeX},
		{".csv", t.Numbers.CSV},
		{"-privacy.csv", t.Accounts.CSV},
		{"-runs.json", func(w io.Writer) error { return writeTimings(w, timings(runs)) }},
	}
	if t.Points != nil {
		list = append(list, file{"-figure.csv", t.Points.CSV}, file{".html", t.Document.HTML})
	}
	for _, c := range t.Document.Charts {
		list = append(list, file{strings.TrimPrefix(c.File, t.Name) + ".pdf", func(w io.Writer) error {
			b, err := c.ColumnPDF()
			if err != nil {
				return err
			}
			_, err = w.Write(b)
			return err
		}})
		for _, format := range report.ImageFormats() {
			list = append(list, file{strings.TrimPrefix(c.File, t.Name) + "." + format, func(w io.Writer) error {
				b, err := c.Image(format)
				if err != nil {
					return err
				}
				_, err = w.Write(b)
				return err
			}})
		}
	}
	paths := make([]string, len(list))
	err := system.Together(len(list), func(i int) error {
		paths[i] = filepath.Join(dir, t.Name+list[i].suffix)
		return system.WriteFile(paths[i], list[i].write)
	})
	if err != nil {
		return nil, err
	}
	return paths, nil
}

// timing is what a run took. It differs between two tables with equal results.
type timing struct {
	*Run
	Seconds      float64       `json:"seconds"` // of all attempts that ended
	PeakRSSBytes int64         `json:"peak_rss_bytes,omitempty"`
	Attempts     []run.Attempt `json:"attempts,omitempty"`
}

// WriteTimings writes what runs took, as the file beside a table has it.
func WriteTimings(w io.Writer, runs []Run) error {
	list := make([]*Run, len(runs))
	for i := range runs {
		list[i] = &runs[i]
	}
	return writeTimings(w, timings(list))
}

func writeTimings(w io.Writer, took []timing) error {
	b, err := json.MarshalIndent(took, "", "  ")
	if err != nil {
		return err
	}
	_, err = w.Write(append(b, '\n'))
	return err
}

// timings reads what each run took from its manifest.
func timings(runs []*Run) []timing {
	out := make([]timing, len(runs))
	for i, r := range runs {
		out[i] = timing{Run: r}
		m, err := run.ReadManifest(r.Dir)
		if err != nil {
			continue // nothing was kept
		}
		out[i].Attempts = m.Attempts
		for _, a := range m.Attempts {
			out[i].Seconds += a.Seconds
			out[i].PeakRSSBytes = max(out[i].PeakRSSBytes, a.PeakRSSBytes)
		}
	}
	return out
}
