package link

import (
	"context"
	"fmt"

	"privrec/internal/attack/detect"
	"privrec/internal/experiment"
	"privrec/internal/metrics"
	"privrec/internal/protocol/target"
	"privrec/internal/run"
)

// Name is the protocol in results.
const Name = "link"

// Outcome holds what a run measured: metrics.json. Floors see no model. Evaluations are the
// attacks, those by influence first.
type Outcome struct {
	experiment.Outcome[DataSummary]
	Target target.Description `json:"target"`
	Threat Threat             `json:"threat"`
	target.Results
}

// DataSummary identifies the data of a run.
type DataSummary struct {
	experiment.Data
	Users     int        `json:"users"` // attacked
	Questions []Question `json:"questions"`
	Density   float64    `json:"density"` // share of edges among all pairs
}

// Question says how many pairs were asked about.
type Question struct {
	Of     string `json:"of"`
	Users  int    `json:"users"`
	Edges  int    `json:"edges"`
	Others int    `json:"others"`
}

// Threat is what the attacker has and may do.
type Threat struct {
	Sees    []string  `json:"sees"`
	Missing []Missing `json:"missing,omitempty"` // evidence that the run does not give
	Knows   string    `json:"knows"`
	HeldOut string    `json:"held_out"`
	Budgets []float64 `json:"budgets"` // guesses among all pairs, as multiples of the expected edges
	Guesses []float64 `json:"guesses"` // the same, of the pairs that are asked about
	// Of influence: what is changed and how, how many users' scores are seen, how many answers the
	// model gave, and the noise in them.
	Inputs  string `json:"inputs,omitempty"`
	Change  string `json:"change,omitempty"`
	Watched int    `json:"watched,omitempty"`
	Answers int    `json:"answers,omitempty"`
	Noise   string `json:"noise,omitempty"`
}

// knows is what every attacker knows.
const knows = "which users and items there are, and how many edges to expect; the popularity of items and the degree of users for the floors alone"

// detected are the measures of a question whose two kinds are as many.
func detected(of string) (names []string, definitions map[string]string) {
	definitions = map[string]string{}
	for _, s := range []metrics.DetectScore{metrics.DetectAUC, metrics.Advantage, metrics.TPRAtHundredth} {
		m := metrics.DetectMetric{Score: s, Of: "edges " + of}
		names, definitions[m.String()] = append(names, m.String()), m.Definition()
	}
	return names, definitions
}

// rare are the measures among all pairs, after the AUC.
func rare(budgets []float64) (all []metrics.GuessMetric) {
	of := "edges " + amongAll
	all = append(all, metrics.GuessMetric{Score: metrics.AveragePrecision, Of: of})
	for _, s := range []metrics.GuessScore{metrics.GuessPrecision, metrics.GuessRecall} {
		for _, b := range budgets {
			all = append(all, metrics.GuessMetric{Score: s, Times: b, Of: of})
		}
	}
	return all
}

// measure returns how a question is measured, and the names of the measures.
func (p *plan) measure(of string, into map[string]string) (names []string, m detect.Measure) {
	if of != amongAll {
		names, definitions := detected(of)
		for name, d := range definitions {
			into[name] = d
		}
		return names, func(r *metrics.ROC, weight func(int32) float64) ([]float64, bool) {
			d, ok := r.Measure(weight, 1)
			return []float64{d[metrics.DetectAUC], d[metrics.Advantage], d[metrics.TPRAtHundredth]}, ok
		}
	}
	area := metrics.DetectMetric{Score: metrics.DetectAUC, Of: "edges " + of}
	names, into[area.String()] = []string{area.String()}, area.Definition()
	for _, g := range rare(p.Attack.Budgets) {
		names, into[g.String()] = append(names, g.String()), g.Definition()
	}
	return names, func(r *metrics.ROC, weight func(int32) float64) ([]float64, bool) {
		g, ok := r.Guess(weight, p.Attack.Budgets)
		return append(append([]float64{g.AUC, g.Area}, g.Precision...), g.Recall...), ok
	}
}

// outcome measures the attacks on every question.
func (p *plan) outcome(ctx context.Context, of *experiment.Outcome[experiment.Data], ways []way, s experiment.Standing) (*Outcome, error) {
	defer p.env.Stage("measure")()
	o := &Outcome{Target: p.Description, Results: target.Results{Gains: []target.Gain{}}, Outcome: experiment.Outcome[DataSummary]{
		Version: experiment.Version, Protocol: Name, Method: "link stealing", Setting: s.Text,
		Metrics: []metrics.Metric{}, Definitions: map[string]string{}, Trained: experiment.Trained{Epochs: []experiment.Epoch{}},
	}}
	o.Target.Release = p.Kept
	o.Data = DataSummary{Data: of.Data, Users: len(p.on.users), Density: p.on.density}
	o.Threat = Threat{Sees: p.given, Missing: p.missing, Knows: knows, HeldOut: p.on.held, Budgets: p.Attack.Budgets}
	if p.answers > 0 {
		o.Threat.Inputs, o.Threat.Answers, o.Threat.Noise, o.Threat.Watched = p.inputs, p.answers, p.noise, len(p.watched())
		if o.Threat.Change = "another direction of the same length"; p.Attack.Change == Scaled {
			o.Threat.Change = fmt.Sprintf("multiplied by %g", 1+p.Attack.Delta)
		}
	}
	lines := make([]experiment.Scores, len(ways))
	reversed := make([]bool, len(ways))
	for n := range p.on.questions {
		if err := run.Interrupted(ctx, ctx.Err()); err != nil {
			return nil, err
		}
		q := &p.on.questions[n]
		names, measure := p.measure(q.of, o.Definitions)
		results, err := detect.Compare(q.Candidates, q.attacks(ways), detect.Options{Measure: measure, Resamples: p.Eval.Resamples,
			Confidence: p.Eval.Confidence, Seed: p.env.Seed.Stream("link resamples", uint64(n))})
		if err != nil {
			return nil, err
		}
		for k, r := range results {
			o.Enter(&lines[k], r, results, names)
			reversed[k] = reversed[k] || r.Reversed
		}
		about := Question{Of: q.of, Users: q.Count}
		for _, edge := range q.Positive {
			if edge {
				about.Edges++
			} else {
				about.Others++
			}
		}
		if o.Data.Questions = append(o.Data.Questions, about); q.of == amongAll {
			for _, b := range p.Attack.Budgets {
				o.Threat.Guesses = append(o.Threat.Guesses, b*float64(about.Edges))
			}
		}
	}
	var rows []target.Row
	for k, w := range ways {
		row := target.Row{Name: w.Name, Sees: w.sees, How: w.how, Reversed: reversed[k]}
		if w.Floor {
			o.Floors, o.Rows = append(o.Floors, lines[k]), append(o.Rows, row)
		} else {
			o.Evaluations, rows = append(o.Evaluations, lines[k]), append(rows, row)
		}
	}
	o.Rows = append(o.Rows, rows...)
	return o, nil
}
