package statistics

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"privrec/internal/config"
	"privrec/internal/dataset"
	"privrec/internal/dataset/registry"
	"privrec/internal/dataset/slate"
	"privrec/internal/experiment"
	"privrec/internal/metrics"
	"privrec/internal/privacy"
	"privrec/internal/report"
	"privrec/internal/run"
)

// Config names the data.
type Config struct {
	Data DataConfig `yaml:"data"`
}

// DataConfig names a data set and the recipe that cuts it.
type DataConfig struct {
	Name   string `yaml:"name" limit:"filled"` // of one domain, of several, or of slates
	Recipe string `yaml:"recipe,omitempty"`    // of a set of one domain; others have one
	// Bands are the borders that make ranges of a numeric feature, by its name, as in
	// {age: [35, 45]}. A numeric feature without any is one dimension.
	Bands map[string][]float64 `yaml:"bands,omitempty"`
}

// Task returns the task "measure data".
func Task() run.Task {
	return run.Spec[Config]{
		Verb: "measure", Name: "data", Summary: "counts of a data set after every step of its recipe",
		Cite:    "none: counts of rows",
		Default: func() Config { return Config{} },
		Open:    open,
	}.Task()
}

// measured holds the counts of a data set. It implements run.Forecaster.
type measured struct {
	env  *run.Env
	data experiment.Data
	all  []experiment.Scores
}

// open loads the data and counts.
func open(ctx context.Context, env *run.Env, c Config) (run.Work, error) {
	defer env.Stage("load")()
	m := &measured{env: env}
	load := m.oneDomain
	switch {
	case registry.IsOwn(c.Data.Name) && c.Data.Recipe == "" && ownSlates(c.Data.Name):
		load = m.slates
	case slate.Known(c.Data.Name):
		load = m.slates
	case isCross(c.Data.Name):
		load = m.domains
	}
	if err := load(ctx, c.Data); err != nil {
		return nil, err
	}
	if err := env.RecordData(m.data.Name, m.data.Source.Hash); err != nil {
		return nil, err
	}
	return m, nil
}

// ownSlates reports whether own data are only a table of shown items.
func ownSlates(name string) bool {
	form := registry.FormOf(name, "")
	return form.Slates && !form.Log
}

func isCross(name string) bool {
	return registry.IsOwnCross(name, "") ||
		slices.ContainsFunc(registry.CrossSets(), func(s registry.CrossSet) bool { return s.Name == name })
}

// add appends an evaluation.
func (m *measured) add(name string, values map[metrics.Statistic]float64) {
	s := experiment.Scores{Name: name, Values: map[string]float64{}}
	for k, x := range values {
		s.Values[k.String()] = x
	}
	m.all = append(m.all, s)
}

// counts returns the statistics of a rung. It leaves out those that need a count that the rung lacks.
func counts(r dataset.Rung) map[metrics.Statistic]float64 {
	out := map[metrics.Statistic]float64{metrics.Interactions: float64(r.Rows)}
	if r.Users > 0 {
		out[metrics.Users], out[metrics.MeanLength] = float64(r.Users), float64(r.Rows)/float64(r.Users)
	}
	if r.Items > 0 {
		out[metrics.Items] = float64(r.Items)
	}
	if r.Users > 0 && r.Items > 0 {
		out[metrics.Density] = float64(r.Rows) / (float64(r.Users) * float64(r.Items))
	}
	return out
}

// oneDomain counts a set of the registry after every step, and the values of its features.
func (m *measured) oneDomain(ctx context.Context, c DataConfig) error {
	d, err := registry.Load(ctx, c.Name, c.Recipe, m.env.View(), registry.Options{})
	if err != nil {
		return err
	}
	m.data = experiment.DataOf(d.Name, d.Recipe, d.Source, d.Ladder, dataset.TestRows)
	for _, r := range d.Ladder {
		values := counts(r)
		if d.Features != nil {
			values[metrics.Features] = float64(len(d.Features.Columns))
		}
		m.add(r.Name, values)
	}
	if d.Features == nil {
		return nil
	}
	for _, f := range d.Features.Columns {
		if borders := c.Bands[f.Name]; borders != nil {
			if f, err = f.Bands(f.Name, borders...); err != nil {
				return err
			}
		}
		m.add("feature "+f.Name,
			map[metrics.Statistic]float64{metrics.Dimensions: float64(
				(&dataset.Features{Columns: []dataset.Column{f}}).Width())})
	}
	return nil
}

// domains counts every domain of a set of several. Their users are those of all of them.
func (m *measured) domains(ctx context.Context, c DataConfig) error {
	set, err := registry.FindCross(c.Name)
	if err != nil {
		return err
	}
	if len(set.Domains) < 2 {
		return &dataset.Error{File: c.Name, Msg: "has fewer than two domains"}
	}
	d, err := registry.LoadCross(ctx, c.Name, set.Domains[0].Name, set.Domains[1].Name,
		m.env.View(), registry.Options{})
	if err != nil {
		return err
	}
	m.data = experiment.DataOf(d.Name, "", d.Source, d.Ladder, dataset.TestRows)
	for _, of := range set.Domains {
		r, ok := d.Ladder.Get(of.Name)
		if !ok {
			return &dataset.Error{File: c.Name, Field: of.Name, Msg: "the domain was not counted"}
		}
		m.add(of.Name, counts(r))
	}
	return nil
}

// slates counts a set of slates: its log, where it has one, and its pairs.
func (m *measured) slates(ctx context.Context, c DataConfig) error {
	d, err := slate.Load(ctx, c.Name, m.env.View(), slate.Options{})
	if err != nil {
		return err
	}
	m.data = experiment.Data{Name: d.Name, Level: d.Level, Ladder: d.Ladder,
		Source: dataset.Source{Title: d.Name, Hash: d.Hash, StandIn: d.StandIn, Level: d.Level, Notes: d.Notes}}
	if raw, ok := d.Ladder.Get(dataset.RungRaw); ok {
		values := map[metrics.Statistic]float64{metrics.Users: float64(raw.Users), metrics.Items: float64(raw.Items),
			metrics.Impressions: float64(raw.Rows)}
		if clicked, ok := d.Ladder.Get("clicked"); ok {
			values[metrics.Clicks] = float64(clicked.Rows)
		}
		m.add("log", values)
	}
	pairs, ok := d.Ladder.Get("pairs")
	if !ok {
		return &dataset.Error{File: c.Name, Msg: "its pairs were not counted"}
	}
	values := map[metrics.Statistic]float64{metrics.Users: float64(pairs.Users), metrics.PairCount: float64(pairs.Rows)}
	if pairs.Items > 0 {
		values[metrics.Items] = float64(pairs.Items)
	}
	m.add("pairs", values)
	return nil
}

// Run implements run.Work: it writes what was counted.
func (m *measured) Run(context.Context) error {
	if _, err := m.env.Ledger(privacy.Research, privacy.Declaration{WithoutNoise: []privacy.Unprotected{
		{What: "counts", Why: "the statistics are exact counts of the rows"},
	}}); err != nil {
		return err
	}
	if len(m.all) == 0 {
		return errors.New("nothing was counted")
	}
	o := experiment.Outcome[experiment.Data]{Version: experiment.Version, Method: "counts", Protocol: "statistics",
		Data:    m.data,
		Metrics: []metrics.Metric{}, Definitions: map[string]string{}, Floors: []experiment.Scores{},
		Evaluations: m.all}
	for _, s := range metrics.Statistics() {
		o.Definitions[s.String()] = s.Definition()
	}
	if err := m.env.WriteMetrics(o); err != nil {
		return err
	}
	return m.env.Print(m.document())
}

// document returns the counts as a report.
func (m *measured) document() *report.Document {
	t := &report.Table{Name: "counts", Title: "Counts after every step", Columns: report.Columns("%.6g", "of")}
	for _, s := range metrics.Statistics() {
		t.Columns = append(t.Columns, report.Column{Name: s.String(), Format: "%.6g"})
	}
	for _, e := range m.all {
		line := []any{e.Name}
		for _, s := range metrics.Statistics() {
			if x, ok := e.Values[s.String()]; ok {
				line = append(line, x)
			} else {
				line = append(line, nil)
			}
		}
		t.Add(line...)
	}
	return &report.Document{Title: "Statistics of " + m.data.Name, Subtitle: m.data.Source.Title, Level: m.data.Level,
		Notes: m.data.Source.Notes, Tables: []*report.Table{t}}
}

// Forecast implements run.Forecaster. All the work is opening the data, which is already done.
func (m *measured) Forecast(context.Context) (run.Forecast, error) {
	seconds := m.env.Opening()
	return run.Forecast{Steps: 1, StepSeconds: seconds, Seconds: seconds, Fastest: seconds,
		Basis: fmt.Sprintf("%s was opened and counted", m.data.Name)}, nil
}

// Suit implements run.Suited.
func (c *Config) Suit(doc *config.Document) (err error) {
	if !isCross(c.Data.Name) && !ownSlates(c.Data.Name) && !slate.Known(c.Data.Name) {
		c.Data.Recipe, err = registry.Suit(doc, c.Data.Name, c.Data.Recipe, registry.Need{})
	}
	return err
}
