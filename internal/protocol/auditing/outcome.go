package auditing

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"privrec/internal/experiment"
	"privrec/internal/metrics"
	"privrec/internal/privacy"
	"privrec/internal/privacy/audit"
	"privrec/internal/report"
)

// Name is the protocol in results.
const Name = "audit"

// Outcome holds the results of an audit as metrics.json stores them. Its evaluations are the audited row and the
// positive control. Its floor is the negative control, which has nothing to find.
type Outcome struct {
	experiment.Outcome[DataSummary]
	Target    Target    `json:"target"`
	Threat    Threat    `json:"threat"`
	Accounted Accounted `json:"accounted"`
	Rows      []Row     `json:"rows"`
	// Releases says what the auditor saw of each release, where it sees these, and Faults what of them does not fit the
	// ledger.
	Releases []audit.Seen `json:"releases,omitempty"`
	Faults   []string     `json:"faults,omitempty"`
}

// DataSummary identifies the data of an audit.
type DataSummary struct {
	experiment.Data
	Canaries int `json:"canaries"`
}

// Target describes the audited run.
type Target struct {
	Task     string   `json:"task"`
	Method   string   `json:"method"` // as its result calls it
	Setting  string   `json:"setting"`
	Release  string   `json:"release,omitempty"`
	Config   string   `json:"config_sha256"`
	NoiseOff []string `json:"noise_off,omitempty"` // settings of the positive control; absent: it has no noise
}

// Threat describes the auditor's knowledge and means.
type Threat struct {
	Method   string  `json:"method"`
	Unit     string  `json:"unit"` // of a canary
	Sees     string  `json:"sees"`
	How      string  `json:"how"`
	Knows    string  `json:"knows"`
	Canaries int     `json:"canaries"`
	Models   int     `json:"models"` // that were trained in all
	Guesses  []int64 `json:"guesses,omitempty"`
	Level    float64 `json:"level"`
	Differ   string  `json:"differ,omitempty"` // how the two sides of a canary differ, of a release
}

// Metrics of a row, by name.
const (
	metricBound     = "audited epsilon"
	metricAdvantage = "advantage canaries"
)

var metricAUC = metrics.DetectMetric{Score: metrics.DetectAUC, Of: "canaries"}.String()

// definitions returns the definitions of the metrics by name.
func (c AuditConfig) definitions(delta float64) map[string]string {
	return map[string]string{
		metricBound: fmt.Sprintf("lower bound on epsilon at delta %g, above the truth with a chance of at most %g",
			delta, c.Level),
		metricAdvantage: "share of right guesses less that of wrong ones where every canary is guessed; of canary, " +
			"true less false positive rate at the threshold",
		metricAUC: metrics.DetectMetric{Score: metrics.DetectAUC, Of: "canaries"}.Definition(),
	}
}

// knows describes the auditor's further knowledge.
const knows = "all rows but the canaries' coins, and the configuration: it trains models of its own without canaries"

// outcome returns a finding in the common form of results.
func (f *finding) outcome(w *work) *Outcome {
	a := w.Audit
	o := &Outcome{Accounted: f.accounted, Rows: f.rows, Outcome: experiment.Outcome[DataSummary]{
		Version: experiment.Version, Protocol: Name, Method: "privacy audit", Setting: w.standing.Text,
		Metrics: []metrics.Metric{}, Definitions: a.definitions(f.delta),
		Trained: experiment.Trained{Epochs: []experiment.Epoch{}},
	}}
	o.Data = DataSummary{Data: f.of.Data, Canaries: f.number()}
	o.Target = Target{Task: w.task.String(), Method: f.of.Method, Setting: f.of.Setting, Release: f.release,
		Config: f.manifest.ConfigHash, NoiseOff: w.off}
	o.Threat = Threat{Method: a.Method, Unit: a.Unit, Sees: a.Sees, How: f.how(a), Knows: knows, Canaries: f.number(),
		Models: f.models, Level: a.Level}
	if a.Sees == SeesRelease {
		o.Threat.How, o.Threat.Knows, o.Threat.Differ = howReleased, knowsReleased, releasedCanary
		o.Releases, o.Faults = f.seen, f.faults()
	}
	o.fill(f.delta)
	return o
}

// fill adds the scores of the rows, at a delta, in the common form of results.
func (o *Outcome) fill(delta float64) {
	o.Accounted.above(o.Rows[0].Bound.Epsilon, delta)
	for _, r := range o.Rows {
		s := experiment.Scores{Name: r.Name, Values: map[string]float64{metricBound: r.Bound.Epsilon,
			metricAdvantage: r.Advantage, metricAUC: r.AUC},
			Intervals: map[string][2]float64{metricAdvantage: r.Interval}}
		if r.Name == Negative {
			o.Floors = append(o.Floors, s)
		} else {
			o.Evaluations = append(o.Evaluations, s)
		}
		if c := r.Bound.Count; c != nil {
			o.Threat.Guesses = append(o.Threat.Guesses, c.Guesses)
		}
	}
}

// cells returns what the audited models, and those of the positive control, show beyond the negative control.
func (o *Outcome) cells() (all []experiment.Cell) {
	floor, left := o.Floors[0], o.Evaluations
	for _, r := range o.Rows {
		if r.Name == Negative {
			continue
		}
		guesses := "a guess for each model"
		if n := r.Bound.Count; n != nil {
			guesses = fmt.Sprintf("%d guesses", n.Guesses)
		}
		for _, metric := range []string{metricBound, metricAdvantage, metricAUC} {
			value, least := left[0].Values[metric], floor.Values[metric]
			all = append(all, experiment.Cell{
				Row: r.Name, Metric: metric, Value: value, Over: floor.Name, Floor: least, Gain: value - least,
				Sees: o.Threat.Sees, Budget: guesses,
				About: fmt.Sprintf("%d canaries, each one %s", o.Threat.Canaries, o.Threat.Unit),
			})
		}
		left = left[1:]
	}
	return all
}

// document returns an outcome as a report.
func (o *Outcome) document(level float64, seed uint64) *report.Document {
	t, main := o.Threat, o.Rows[0].Bound
	d := &report.Document{
		Title:    fmt.Sprintf("Audit of %s on %s", o.Target.Method, o.Data.Source.Title),
		Subtitle: fmt.Sprintf("%s; seed %d", o.Setting, seed),
		Level:    o.Data.Level,
		Facts: []report.Fact{
			{Label: "audited epsilon", Value: fmt.Sprintf("at least %.4g", main.Epsilon),
				Note: fmt.Sprintf("for one %s at delta %g, with confidence %.4g %%; the audit could show %.4g at most",
					t.Unit, main.Delta, 100*main.Confidence, main.Ceiling)},
			{Label: "accounted epsilon", Value: o.Accounted.Epsilon.String(), Note: o.Accounted.note()},
			{Label: "threat", Value: t.does(), Note: t.How + "; knows " + t.Knows},
			{Label: "canaries", Value: fmt.Sprintf("%d, each one %s", t.Canaries, t.Unit),
				Note: cmp.Or(t.Differ, canaryNotes[t.Unit])},
			{Label: "audited", Value: o.Target.Task, Note: o.Target.Setting},
		},
	}
	d.Conclusion = o.conclusion()
	d.Tables = append(d.Tables, o.table(level))
	if len(o.Releases) > 0 {
		d.Tables = append(d.Tables, o.released())
	}
	d.Notes = append(d.Notes, o.Faults...)
	for _, r := range o.Rows {
		d.Notes = append(d.Notes, r.Name+": "+r.What)
	}
	d.Notes = append(d.Notes,
		"a lower bound that is small shows no privacy: another auditor may find more. It can contradict an account, "+
			"and it can never confirm one",
		"the bound if the trade-off curve is Gaussian rests on that hypothesis, and is held against no account")
	if o.Rows[0].Ledger != nil {
		d.Notes = append(d.Notes, "the bound if the ledger's rests on the hypothesis that the releases are those of "+
			"the ledger with more or less noise, and is held against no account; what was told apart is held against "+
			"the account's whole trade-off curve, without a hypothesis")
	}
	return d
}

var canaryNotes = map[string]string{
	Edge: "a random user and a random item that the user has in no part of the data",
	User: "a user who is not in the data, with random items",
	Sequence: "a user who is not in the data, with random items in a random order; the model is asked for the " +
		"last of them",
	Rating: "a random row of the data, one of a user, whose rating is the highest or the lowest by a coin",
	Interaction: "a user who is not in the data, with random items in a random order, the last of them one of two by " +
		"a coin; the model is asked for both",
	Order: "a user who is not in the data, with random items in one of two orders by a coin; the model is " +
		"asked for the last of them after either order",
}

// does returns a phrase for what the auditor does.
func (t Threat) does() string {
	if t.Sees == SeesRelease && t.Models > 0 {
		return "sees the release, trains one model and draws the noise of its releases again"
	}
	if t.Models == 0 {
		return "sees the " + t.Sees + ", trains nothing"
	}
	return fmt.Sprintf("sees %s, trains %d models", t.Sees, t.Models)
}

// note returns a sentence about what the accounted epsilon covers.
func (a Accounted) note() string {
	text := fmt.Sprintf("for one %s at delta %g", a.Unit, a.Delta)
	if !a.finite() {
		text = "for one " + a.Unit
	}
	if a.Why != "" {
		text += "; " + a.Why
	}
	if a.Claimed != "" {
		text += "; claimed: " + a.Claimed
	}
	if a.Above != "" {
		text += "; the audit is " + a.Above
	}
	return text
}

// conclusion returns the result in one sentence.
func (o *Outcome) conclusion() string {
	b, a := o.Rows[0].Bound, o.Accounted
	if a.finite() && b.Contradicts(float64(a.Epsilon)) {
		return fmt.Sprintf("The audit contradicts the account: epsilon is above %.4g, and %v is promised for one %s.",
			b.Epsilon, a.Epsilon, a.Unit)
	}
	if f := o.Rows[0].Found; a.finite() && f != nil && f.Contradicts() {
		return fmt.Sprintf("The audit contradicts the account: it finds at least %.4g %% of the releases with the "+
			"canary at %.4g %% false alarms, and %.4g %% is allowed for one %s.", 100*f.True, 100*f.False,
			100*f.Allowed, a.Unit)
	}
	text, end := fmt.Sprintf("What the auditor saw shows an epsilon of at least %.4g", b.Epsilon),
		fmt.Sprintf(", and the account bounds it by %v for one %s.", privacy.Number(a.Epsilon), a.Unit)
	if !a.finite() {
		text, end = text+" for one "+o.Threat.Unit, "; nothing bounds it from above."
	}
	if a.Above != "" {
		return fmt.Sprintf("%s%s It is %s.", text, end, a.Above)
	}
	return text + end
}

// table returns the bounds with their controls as a table.
func (o *Outcome) table(of float64) *report.Table {
	level := fmt.Sprintf("%.4g %%", 100*(1-of))
	t := &report.Table{Name: "audit", Title: "Lower bounds on epsilon, confidence " + level,
		Columns: []report.Column{{Name: "models"}, {Name: "epsilon at least", Format: "%.3f"},
			{Name: "if Gaussian", Format: "%.3f"}, {Name: "could show", Format: "%.3f"}, {Name: "guesses right"},
			{Name: "AUC, percent", Format: "%.1f"}, {Name: "advantage, percent", Format: "%.1f"},
			{Name: level + " interval"}}}
	byLedger := o.Rows[0].Ledger != nil
	if byLedger {
		t.Columns = slices.Insert(t.Columns, 3, report.Column{Name: "if the ledger's", Format: "%.3f"})
	}
	for _, r := range o.Rows {
		cells := []any{r.Name, r.Bound.Epsilon, epsilonOf(r.Gaussian)}
		if byLedger {
			cells = append(cells, epsilonOf(r.Ledger))
		}
		t.Add(append(cells, r.Bound.Ceiling, r.guesses(), 100*r.AUC, 100*r.Advantage,
			fmt.Sprintf("%.1f to %.1f", 100*r.Interval[0], 100*r.Interval[1]))...)
	}
	t.Notes = []string{fmt.Sprintf("evidence level %v: %s", o.Data.Level, o.Data.Level.Meaning())}
	return t
}

// epsilonOf returns the epsilon of a bound, or that there is none.
func epsilonOf(b *audit.Bound) any {
	if b == nil {
		return report.Missing
	}
	return b.Epsilon
}

// guesses returns the number of guesses behind the bound and how many were right, as text.
func (r Row) guesses() string {
	if n := r.Bound.Count; n != nil {
		return fmt.Sprintf("%d of %d", n.Correct, n.Guesses)
	}
	n := r.Bound.Rates
	return strings.Join([]string{fmt.Sprintf("%d of %d with", n.TruePositives, n.Positives),
		fmt.Sprintf("%d of %d without", n.Negatives-n.FalsePositives, n.Negatives)}, ", ")
}
