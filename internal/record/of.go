package record

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"privrec/internal/experiment"
	"privrec/internal/privacy"
	"privrec/internal/run"
	"privrec/internal/system"
)

// Keep selects the scores of a run that its record keeps.
type Keep struct {
	Only    *regexp.Regexp // rows of scores whose name it matches; nil: all
	Metrics *regexp.Regexp // metrics that it matches; nil: all
	Gains   bool           // gains of an attack over floors, of these rows and metrics
}

// Of returns the record of a finished run from its directory, or from the file of a kept run. It refuses a run that has
// not ended well, and a kept run with results that this program would not give.
func Of(path string, keep Keep) (Run, error) {
	info, err := os.Stat(path)
	if err != nil || info.IsDir() {
		return of(path, keep)
	}
	k, err := ReadKept(path)
	if err != nil {
		return Run{}, fmt.Errorf("record: %w", err)
	}
	if stale, err := k.stale(); err != nil || stale != "" {
		return Run{}, errors.Join(fmt.Errorf("record: %s: %s", path, cmp.Or(stale, "it cannot be read")), err)
	}
	temp, err := os.MkdirTemp("", "privrec-record-")
	if err != nil {
		return Run{}, fmt.Errorf("record: %w", err)
	}
	defer os.RemoveAll(temp)
	dir := filepath.Join(temp, k.Name)
	if err := k.Unpack(dir); err != nil {
		return Run{}, fmt.Errorf("record: %s: %w", path, err)
	}
	return of(dir, keep)
}

// of is Of for a directory.
func of(dir string, keep Keep) (Run, error) {
	m, err := run.ReadManifest(dir)
	if err != nil {
		return Run{}, fmt.Errorf("record: %s: %w", dir, err)
	}
	if m.Status != run.StatusDone || len(m.Attempts) == 0 {
		return Run{}, fmt.Errorf("record: %s: the status is %q, want %q: only finished runs leave a record", dir,
			m.Status, run.StatusDone)
	}
	o, err := experiment.ReadOutcome(dir)
	if err != nil {
		return Run{}, fmt.Errorf("record: %s: %w", dir, err)
	}
	e, err := epsilon(dir)
	if err != nil {
		return Run{}, fmt.Errorf("record: %s: %w", dir, err)
	}
	last := m.Attempts[len(m.Attempts)-1]
	r := Run{
		Task: m.Task, Method: o.Method, Setting: setting(o.Setting), ConfigFile: configFile(m.ConfigFile),
		ConfigHash: m.ConfigHash, Seed: m.Seed,
		DataName: o.Data.Name, Recipe: o.Data.Recipe, Level: o.Data.Level, Data: m.Data,
		Scores: keep.scores(o.Evaluations), Floors: Keep{Metrics: keep.Metrics}.scores(o.Floors),
		Epochs:  Epochs{Selected: o.Selected, Run: len(o.Chose()), Cap: o.Cap, Steps: o.Steps, Short: o.Short},
		Epsilon: e,
		Version: last.Build.Version, Commit: last.Build.Commit, Dirty: last.Build.Dirty, Build: Build(last.Build),
		Machine: Machine(last.Machine),
		Ended:   last.Started.Add(time.Duration(last.Seconds * float64(time.Second))).UTC().Truncate(time.Second),
	}
	if keep.Gains {
		if r.Gains, err = keep.gains(dir); err != nil {
			return Run{}, fmt.Errorf("record: %s: %w", dir, err)
		}
	}
	for _, at := range m.Attempts {
		r.Seconds += at.Seconds
	}
	r.Seconds = math.Round(10*r.Seconds) / 10
	if len(r.Scores) == 0 {
		return Run{}, fmt.Errorf("record: %s: metrics.json has no such scores", dir)
	}
	return r, nil
}

// Build returns a build in a few words.
func Build(b run.Build) string {
	return fmt.Sprintf("%s %s/%s %s %s", b.Go, b.OS, b.Arch, b.Float, b.SIMD)
}

// Machine returns a machine in a few words, without the name of the host.
func Machine(m run.Machine) string {
	cpu := m.CPU
	if cpu == "" {
		cpu = "unknown processor"
	}
	return fmt.Sprintf("%s, %d cores, %d workers", cpu, m.Cores, m.Workers)
}

// setting returns a setting without the directories of runs in it.
func setting(s string) string {
	var kept []string
	for i, part := range strings.Split(s, ", ") {
		bare := part
		if _, rest, ok := strings.Cut(part, "changed: "); ok {
			bare = rest
		}
		if !strings.HasPrefix(bare, "on.run") {
			kept = append(kept, part)
		} else if i > 0 && bare != part {
			kept = append(kept, strings.TrimSuffix(part, bare)+"on.runs")
		}
	}
	return strings.Join(kept, ", ")
}

// gains returns the gains of a run over floors. The name of a row includes those of the attacked model and of the
// rules, if a run has them.
func (k Keep) gains(dir string) (out []Gain, err error) {
	all, err := experiment.ReadCells(dir)
	if err != nil {
		return nil, err
	}
	for _, c := range all.Cells {
		row := c.Row
		for _, in := range []string{c.Of, c.Under} {
			if in != "" {
				row = in + ", " + row
			}
		}
		if (k.Only != nil && !k.Only.MatchString(row)) || (k.Metrics != nil && !k.Metrics.MatchString(c.Metric)) {
			continue
		}
		g := Gain{Row: row, Metric: c.Metric, Over: c.Over, Value: rounded(c.Gain)}
		if c.Interval != nil {
			g.Interval = [2]float64{rounded(c.Interval[0]), rounded(c.Interval[1])}
		}
		out = append(out, g)
	}
	if len(out) == 0 {
		return nil, fmt.Errorf("%s has no such gains", experiment.CellsFile)
	}
	return out, nil
}

func rounded(v float64) float64 { return math.Round(v*1e7) / 1e7 }

func (k Keep) scores(from []experiment.Scores) (out []Scores) {
	for _, s := range from {
		if k.Only != nil && !k.Only.MatchString(s.Name) {
			continue
		}
		kept := Scores{Name: s.Name, Release: s.Release, Values: map[string]float64{}}
		for name, v := range s.Values {
			if k.Metrics != nil && !k.Metrics.MatchString(name) {
				continue
			}
			kept.Values[name] = rounded(v)
		}
		if len(kept.Values) > 0 {
			out = append(out, kept)
		}
	}
	return out
}

// epsilon returns the account of a run, nil if it wrote none.
func epsilon(dir string) (*Epsilon, error) {
	a, err := experiment.ReadAccount(dir)
	if err != nil || a == nil {
		return nil, err
	}
	e := &Epsilon{Total: a.Total, Open: experiment.Names(a.Unbounded)}
	if c := a.Claimed; c != nil {
		claimed := c.Eps
		e.Claimed, e.Delta, e.Unit = &claimed, c.Delta, c.Unit
	}
	for _, u := range a.Units {
		e.Units = append(e.Units, Unit{u.Unit, u.Neighbouring, u.Delta, u.Accounted.Eps})
	}
	b, err := system.ReadFile(filepath.Join(dir, "privacy.json"), system.MostOfRun)
	if err != nil {
		return nil, err
	}
	var steps struct {
		Table    []Part `json:"table"`
		Readings []struct {
			Accounting string         `json:"accounting"`
			Count      string         `json:"count"`
			Eps        privacy.Number `json:"eps"`
		} `json:"readings"`
		Features map[string]any `json:"feature_costs"`
		Loss     map[string]any `json:"h_only"`
	}
	if err := json.Unmarshal(b, &steps); err != nil {
		return nil, fmt.Errorf("read the account: %w", err)
	}
	for _, p := range steps.Table {
		if p.Name != "" {
			e.Parts = append(e.Parts, p)
		}
	}
	for _, r := range steps.Readings {
		e.Parts = append(e.Parts, Part{Name: r.Accounting + ", " + r.Count, Epsilon: r.Eps})
	}
	for _, costs := range []map[string]any{steps.Features, steps.Loss} {
		for _, key := range slices.Sorted(maps.Keys(costs)) {
			name, is := strings.CutPrefix(key, "eps_")
			v, finite := costs[key].(float64)
			if is && finite {
				e.Parts = append(e.Parts, Part{Name: strings.ReplaceAll(name, "_", " "), Epsilon: privacy.Number(v)})
			}
		}
	}
	return e, nil
}

// Join returns one record of finished runs that differ only in their seeds.
func Join(name string, runs []Run) (Record, error) {
	if len(runs) == 0 {
		return Record{}, errors.New("record: no run")
	}
	first := runs[0]
	seen := map[uint64]bool{}
	for _, r := range runs {
		switch {
		case r.Task != first.Task || r.Setting != first.Setting || r.DataName != first.DataName ||
			r.Recipe != first.Recipe:
			return Record{}, fmt.Errorf("record %s: %s (%s, %s) and %s (%s, %s) are not the same but for their seeds",
				name, first.Task, first.Setting, first.DataName, r.Task, r.Setting, r.DataName)
		case seen[r.Seed]:
			return Record{}, fmt.Errorf("record %s: two runs have seed %d", name, r.Seed)
		}
		seen[r.Seed] = true
	}
	return Record{Name: name, Runs: runs}, nil
}
