package membership

import (
	"context"
	"fmt"

	"privrec/internal/experiment"
	"privrec/internal/metrics"
	"privrec/internal/protocol/target"
	"privrec/internal/report"
	"privrec/internal/run"
)

// Name is the protocol in results.
const Name = "membership"

// Outcome holds what a run measured: metrics.json. Floors see no model. Evaluations are the
// attacks, the strongest kind first.
type Outcome struct {
	experiment.Outcome[DataSummary]
	Target target.Description `json:"target"`
	Threat Threat             `json:"threat"`
	target.Results
}

// DataSummary identifies the data of a run.
type DataSummary struct {
	experiment.Data
	Users      int `json:"users"`      // attacked
	Candidates int `json:"candidates"` // users, or their interactions
	Members    int `json:"members"`
}

// Threat is what the attacker has and may do.
type Threat struct {
	Level      string   `json:"level"`
	Sees       []string `json:"sees"`
	Knows      string   `json:"knows"`
	NonMembers string   `json:"non_members"`
	Strangers  string   `json:"strangers,omitempty"` // at the level of users
	K          int      `json:"k"`                   // items of a list
	Models     int      `json:"models"`              // that the attacker trained
	Guesses    int      `json:"guesses"`
}

// metric names a measure at the level of the attack.
func metric(s metrics.DetectScore, level string) string {
	return metrics.DetectMetric{Score: s, Of: "member " + level + "s"}.String()
}

// outcome measures the attacks.
func (p *plan) outcome(ctx context.Context, of *experiment.Outcome[experiment.Data], ways []way, s experiment.Standing) (*Outcome, error) {
	if err := run.Interrupted(ctx, ctx.Err()); err != nil {
		return nil, err
	}
	results, err := p.measured(ways)
	if err != nil {
		return nil, err
	}
	o := &Outcome{Target: p.Description, Results: target.Results{Gains: []target.Gain{}}, Outcome: experiment.Outcome[DataSummary]{
		Version: experiment.Version, Protocol: Name, Method: "membership inference", Setting: s.Text,
		Metrics: []metrics.Metric{}, Definitions: map[string]string{}, Trained: experiment.Trained{Epochs: []experiment.Epoch{}},
	}}
	o.Threat = Threat{Level: p.on.level, Sees: p.Attack.Sees, K: p.Attack.K, Models: p.models, Guesses: p.Attack.Guesses, NonMembers: p.Attack.NonMembers,
		Knows: "the histories of the users, among them the candidates; the model's task and configuration where it trains models"}
	if p.on.level == LevelUser {
		o.Threat.Strangers = p.Attack.Strangers
	}
	o.Data = DataSummary{Data: of.Data, Users: p.on.Count, Candidates: len(p.on.Positive)}
	for _, m := range p.on.Positive {
		if m {
			o.Data.Members++
		}
	}
	var names []string
	for _, m := range metrics.DetectScores() {
		names = append(names, metric(m, p.on.level))
		o.Definitions[metric(m, p.on.level)] = metrics.DetectMetric{Score: m, Of: "member " + p.on.level + "s"}.Definition()
	}
	var rows []target.Row
	for k, r := range results {
		row := target.Row{Name: r.Name, Sees: ways[k].sees, How: ways[k].how, Reversed: r.Reversed}
		var sc experiment.Scores
		o.Enter(&sc, r, results, names)
		if r.Floor {
			o.Floors, o.Rows = append(o.Floors, sc), append(o.Rows, row)
		} else {
			o.Evaluations, rows = append(o.Evaluations, sc), append(rows, row)
		}
	}
	o.Rows = append(o.Rows, rows...)
	return o, nil
}

// document shows an outcome.
func (o *Outcome) document(c Config, seed uint64) *report.Document {
	t := o.Threat
	d := &report.Document{
		Title:    fmt.Sprintf("Membership of %ss in the training of %s on %s", t.Level, o.Target.Method, o.Data.Source.Title),
		Subtitle: fmt.Sprintf("%s; seed %d", o.Setting, seed),
		Level:    o.Data.Level,
		Facts: []report.Fact{
			{Label: "asked about", Value: fmt.Sprintf("%d %ss of %d users", o.Data.Candidates, t.Level, o.Data.Users), Note: fmt.Sprintf("%d are members; the others: %s", o.Data.Members, t.NonMembers)},
			{Label: "threat", Value: fmt.Sprintf("sees %v, trains %d models", t.Sees, t.Models), Note: "knows " + t.Knows},
			{Label: "guess budget", Value: fmt.Sprintf("%d guesses", t.Guesses), Note: fmt.Sprintf("lists of %d items", t.K)},
			{Label: "attacked", Value: o.Target.Task, Note: o.Target.Setting},
		},
	}
	d.Tables = append(d.Tables, o.table(c))
	for _, s := range []metrics.DetectScore{metrics.DetectAUC, metrics.TPRAtHundredth} {
		table := map[metrics.DetectScore]string{metrics.DetectAUC: "left-auc", metrics.TPRAtHundredth: "left-tpr"}[s]
		d.Tables = append(d.Tables, o.Left(table, metric(s, t.Level), s.String(), o.Floors, o.Evaluations, c.Eval))
	}
	for i, r := range o.Rows {
		if i >= len(o.Floors) {
			d.Notes = append(d.Notes, fmt.Sprintf("%s: %s", r.Name, r.How))
		} else if r.Reversed {
			d.Notes = append(d.Notes, fmt.Sprintf("floor %s: lower values are taken for members, as the answers have it", r.Name))
		}
	}
	d.Notes = append(d.Notes, "a floor sees no model; the direction of a floor is chosen by the answers, so that what is left of an attack errs downward")
	if t.Level == LevelInteraction && c.sees(SeesLists) {
		d.Notes = append(d.Notes, "what lists give away by leaving out a user's own items is the doing of the service: it needs no training at all")
	}
	if t.Level == LevelUser {
		d.Notes = append(d.Notes, fmt.Sprintf("users whom the model does not know are shown: %s. A model with a vector for each user has none that is trained for them, so that trained from untrained is told, not memorised from not", t.Strangers))
	}
	return d
}

// table shows all metrics of floors and attacks.
func (o *Outcome) table(c Config) *report.Table {
	t := &report.Table{Name: "membership", Title: fmt.Sprintf("Membership of %ss, percent", o.Threat.Level), Columns: []report.Column{{Name: "attack"}, {Name: "sees"}}}
	for _, s := range metrics.DetectScores() {
		t.Columns = append(t.Columns, report.Column{Name: s.String(), Format: "%.1f"})
	}
	for i, r := range o.Rows {
		cells := []any{r.Name, r.Sees}
		if i < len(o.Floors) {
			cells[0] = r.Name + " (floor)"
		}
		for _, s := range metrics.DetectScores() {
			cells = append(cells, 100*target.Line(o.Floors, o.Evaluations, i).Values[metric(s, o.Threat.Level)])
		}
		t.Add(cells...)
	}
	t.Notes = []string{fmt.Sprintf("right guesses: of the %d most certain; %.1f %% of the candidates are members; evidence level %v: %s", c.Attack.Guesses,
		100*float64(o.Data.Members)/float64(o.Data.Candidates), o.Data.Level, o.Data.Level.Meaning())}
	return t
}
