package target

import (
	"cmp"
	"context"
	"fmt"

	"privrec/internal/attack/detect"
	"privrec/internal/experiment"
	"privrec/internal/metrics"
	"privrec/internal/report"
	"privrec/internal/run"
)

// Way holds the scores of all candidates by one attack, with words for what it sees and how it decides. A floor is a
// way that sees no model.
type Way struct {
	detect.Attack
	Sees, How string
}

// By returns an attack with scores that are higher for positives.
func By(name, sees, how string, score []float64) Way {
	return Way{detect.Attack{Name: name, Score: score}, sees, how}
}

// Floor returns a way that sees no model.
func Floor(name string, score []float64) Way {
	return Way{detect.Attack{Name: name, Score: score, Floor: true}, "no model", "floor"}
}

// Question asks to tell positives from other candidates.
type Question struct {
	detect.Candidates
	Users []int32 // numbers of the users, by cluster
	// Among holds the indices of the question's candidates in the scores of a way. nil: all, in their order.
	Among []int32
	// Asked lists the metrics, in the order of the values that Measure returns.
	Asked   []Asked
	Measure detect.Measure
	Seed    []uint64 // of the resamples, besides the attack's own; empty: that alone
	About   string   // how many are asked about, in words
}

// Asked describes a metric of a question.
type Asked struct {
	Name, Definition string
	Short            string // heading of the metric's column in the first table; empty: it has none there
	Left             string // name of the table of what is left beyond the best floor; empty: there is none
	LeftShort        string // heading of its column
}

// Detections returns the metrics of how well positives are told from others, and their measure. of names the positives,
// as in "member users", and guesses is the attacker's number of guesses.
func Detections(of string, guesses int) ([]Asked, detect.Measure) {
	var all []Asked
	for _, s := range metrics.DetectScores() {
		m := metrics.DetectMetric{Score: s, Of: of}
		x := Asked{Name: m.String(), Definition: m.Definition(), Short: s.String()}
		switch s {
		case metrics.DetectAUC:
			x.Left, x.LeftShort = "left-auc", s.String()
		case metrics.TPRAtHundredth:
			x.Left, x.LeftShort = "left-tpr", s.String()
		}
		all = append(all, x)
	}
	return all, detect.Detections(float64(guesses))
}

// Found holds the questions of an attack, the scores of the attack and its floors, and the texts of its pages.
type Found struct {
	Questions []Question
	Ways      []Way  // attacks, the strongest kind first, and floors
	Data      any    // of metrics.json; nil: that of the attacked run
	Threat    any    // what the attacker has and may do, of metrics.json; nil: nothing is said
	Budget    string // how often the attacker may guess, in words

	Subject   string        // opens the title, as in "Membership of users in the training of"
	Positives string        // as in "members"
	Facts     []report.Fact // what is asked about, and the threat; nil: what the questions and Budget say
	Heading   string        // of the table of all metrics; empty: "Found", and what
	TableNote string        // under it; empty: none but the level of evidence
	Notes     []string      // of the attack, after those of the frame
	// PerUser heads the table of scores by user among the candidates of the first question. Empty: no table is kept.
	PerUser string
}

// Outcome holds the measurements of an attack as metrics.json stores them. Floors see no model. Evaluations are the
// attacks, the strongest kind first. D identifies the data, and T describes the attacker's knowledge and means.
type Outcome[D, T any] struct {
	experiment.Outcome[D]
	Target Description `json:"target"`
	Threat T           `json:"threat,omitempty"`
	Results
}

// outcome is the outcome of any attack.
type outcome = Outcome[any, any]

// pick returns the scores of a question's candidates.
func (q *Question) pick(score []float64) []float64 {
	if q.Among == nil {
		return score
	}
	out := make([]float64, len(q.Among))
	for i, k := range q.Among {
		out[i] = score[k]
	}
	return out
}

// outcome compares all ways on every question.
func (w *work[C]) outcome(ctx context.Context, x *Attacked, f *Found) (*outcome, error) {
	defer w.env.Stage("measure")()
	o := &outcome{Target: x.Description, Threat: f.Threat, Results: Results{Gains: []Gain{}}}
	o.Outcome = experiment.Outcome[any]{
		Version: experiment.Version, Protocol: w.Name, Method: w.Method, Setting: w.standing.Text, Data: f.Data,
		Metrics: []metrics.Metric{}, Definitions: map[string]string{},
		Trained: experiment.Trained{Epochs: []experiment.Epoch{}},
	}
	if o.Data == nil {
		o.Data = x.Of.Data
	}
	lines, reversed := make([]experiment.Scores, len(f.Ways)), make([]bool, len(f.Ways))
	attacks := make([]detect.Attack, len(f.Ways))
	for n := range f.Questions {
		if err := run.Interrupted(ctx, ctx.Err()); err != nil {
			return nil, err
		}
		q := &f.Questions[n]
		for k, y := range f.Ways {
			attacks[k] = y.Attack
			attacks[k].Score = q.pick(y.Score)
		}
		results, err := detect.Compare(q.Candidates, attacks, detect.Options{
			Measure: q.Measure, Resamples: w.Eval.Resamples, Confidence: w.Eval.Confidence,
			Seed: w.env.Seed.Stream(w.Name+" resamples", q.Seed...),
		})
		if err != nil {
			return nil, err
		}
		names := make([]string, len(q.Asked))
		for i, m := range q.Asked {
			names[i], o.Definitions[m.Name] = m.Name, m.Definition
		}
		for k, r := range results {
			o.Enter(&lines[k], r, results, names)
			reversed[k] = reversed[k] || r.Reversed
		}
	}
	var rows []Row
	for k, y := range f.Ways {
		row := Row{Name: y.Name, Sees: y.Sees, How: y.How, Reversed: reversed[k]}
		if y.Floor {
			o.Floors, o.Rows = append(o.Floors, lines[k]), append(o.Rows, row)
		} else {
			o.Evaluations, rows = append(o.Evaluations, lines[k]), append(rows, row)
		}
	}
	o.Rows = append(o.Rows, rows...)
	return o, nil
}

// cells returns the gain of each attack over the best floor.
func cells(o *outcome, f *Found) (all []experiment.Cell) {
	sees, about := map[string]string{}, map[string]string{}
	for _, y := range f.Ways {
		sees[y.Name] = y.Sees
	}
	for i := range f.Questions {
		for _, m := range f.Questions[i].Asked {
			about[m.Name] = f.Questions[i].About
		}
	}
	for _, g := range o.Gains {
		c := experiment.Beyond(g.Row, g.Metric, g.Over, g.Floor, g.Value, &g.Interval)
		c.Sees, c.Budget, c.About = sees[g.Row], f.Budget, about[g.Metric]
		all = append(all, c)
	}
	return all
}

// document returns an outcome as a report.
func (w *work[C]) document(o *outcome, x *Attacked, f *Found) *report.Document {
	if f.Facts == nil {
		for i := range f.Questions {
			f.Facts = append(f.Facts, report.Fact{Label: "asked about", Value: f.Questions[i].About})
		}
		f.Facts = append(f.Facts, report.Fact{Label: "guess budget", Value: f.Budget})
	}
	d := &report.Document{
		Title:    fmt.Sprintf("%s %s on %s", f.Subject, o.Target.Method, x.Of.Data.Source.Title),
		Subtitle: fmt.Sprintf("%s; seed %d", o.Setting, uint64(w.env.Seed)),
		Level:    x.Of.Data.Level,
		Facts:    append(f.Facts, report.Fact{Label: "attacked", Value: o.Target.Task, Note: o.Target.Setting}),
	}
	t := &report.Table{Name: w.Name, Title: cmp.Or(f.Heading, "Found "+f.Positives+", percent"),
		Columns: report.Columns("", "attack", "sees")}
	d.Tables = []*report.Table{t}
	var names []string
	for i := range f.Questions {
		for _, m := range f.Questions[i].Asked {
			if m.Short != "" {
				names = append(names, m.Name)
				t.Columns = append(t.Columns, report.Column{Name: m.Short, Format: "%.1f"})
			}
			if m.Left != "" {
				d.Tables = append(d.Tables, o.Left(m.Left, m.Name, m.LeftShort, o.Floors, o.Evaluations, *w.Eval))
			}
		}
	}
	for i, r := range o.Rows {
		name := r.Name
		switch floor := i < len(o.Floors); {
		case floor && r.Reversed:
			const turned = "floor %s: lower values are taken for %s, as the answers have it"
			d.Notes = append(d.Notes, fmt.Sprintf(turned, r.Name, f.Positives))
			fallthrough
		case floor:
			name += " (floor)"
		default:
			d.Notes = append(d.Notes, fmt.Sprintf("%s: %s", r.Name, r.How))
		}
		row := []any{name, r.Sees}
		for _, metric := range names {
			row = append(row, 100*Line(o.Floors, o.Evaluations, i).Values[metric])
		}
		t.Add(row...)
	}
	note := fmt.Sprintf("evidence level %v: %s", d.Level, d.Level.Meaning())
	if f.TableNote != "" {
		note = f.TableNote + "; " + note
	}
	t.Notes = []string{note}
	d.Notes = append(d.Notes, "a floor sees no model; the direction of a floor is chosen by the answers, "+
		"so that what is left of an attack errs downward")
	d.Notes = append(d.Notes, f.Notes...)
	return d
}
