package link

import (
	"fmt"
	"strings"

	"privrec/internal/attack/detect"
	"privrec/internal/experiment"
	"privrec/internal/metrics"
	"privrec/internal/protocol/target"
	"privrec/internal/report"
)

// DataSummary identifies the data of a run.
type DataSummary struct {
	experiment.Data
	Users     int        `json:"users"` // attacked
	Questions []Question `json:"questions"`
	Density   float64    `json:"density"` // share of edges among all pairs
}

// Question counts the pairs of a question.
type Question struct {
	Of     string `json:"of"`
	Users  int    `json:"users"`
	Edges  int    `json:"edges"`
	Others int    `json:"others"`
}

// Threat describes the attacker's knowledge and means.
type Threat struct {
	Sees    []string  `json:"sees"`
	Missing []Missing `json:"missing,omitempty"` // evidence that the run does not give
	Knows   string    `json:"knows"`
	HeldOut string    `json:"held_out"`
	Budgets []float64 `json:"budgets"` // guesses among all pairs, as multiples of the expected edges
	Guesses []float64 `json:"guesses"` // the same, of the pairs that are asked about
	// Details of attacks by influence: the input that is changed and how, the number of users with visible scores, the
	// number of answers from the model, and their noise.
	Inputs  string `json:"inputs,omitempty"`
	Change  string `json:"change,omitempty"`
	Watched int    `json:"watched,omitempty"`
	Answers int    `json:"answers,omitempty"`
	Noise   string `json:"noise,omitempty"`
}

// knows describes the knowledge of every attacker.
const knows = "which users and items there are, and how many edges to expect; the popularity of items and the degree " +
	"of users for the floors alone"

// detections returns the metrics of a question with as many edges as other pairs, and their measure.
func detections(of string) (all []target.Asked, m detect.Measure) {
	for _, s := range []metrics.DetectScore{metrics.DetectAUC, metrics.Advantage, metrics.TPRAtHundredth} {
		m := metrics.DetectMetric{Score: s, Of: "edges " + of}
		all = append(all, target.Asked{Name: m.String(), Definition: m.Definition()})
	}
	auc := &all[0]
	auc.Short, auc.LeftShort = "AUC "+of, auc.Name
	auc.Left = map[string]string{fromRandom: "left-random", fromHeld: "left-held"}[of]
	return all, func(r *metrics.ROC, weight func(int32) float64) ([]float64, bool) {
		d, ok := r.Measure(weight, 1)
		return []float64{d[metrics.DetectAUC], d[metrics.Advantage], d[metrics.TPRAtHundredth]}, ok
	}
}

// guesses returns the metrics of the question among all pairs, where few are edges, and their measure. budgets are
// numbers of guesses as multiples of the number of edges.
func guesses(budgets []float64) ([]target.Asked, detect.Measure) {
	of := "edges " + amongAll
	area := metrics.DetectMetric{Score: metrics.DetectAUC, Of: of}
	all := []target.Asked{{Name: area.String(), Definition: area.Definition()}}
	add := func(m metrics.GuessMetric, shown, left bool) {
		x := target.Asked{Name: m.String(), Definition: m.Definition()}
		if shown {
			x.Short = m.Short()
		}
		if left {
			x.Left, x.LeftShort = "left-"+m.Score.String(), m.String()
		}
		all = append(all, x)
	}
	add(metrics.GuessMetric{Score: metrics.AveragePrecision, Of: of}, true, true)
	for _, s := range []metrics.GuessScore{metrics.GuessPrecision, metrics.GuessRecall} {
		for _, b := range budgets {
			precision := s == metrics.GuessPrecision
			add(metrics.GuessMetric{Score: s, Times: b, Of: of}, precision, precision && b == nearest(budgets))
		}
	}
	return all, func(r *metrics.ROC, weight func(int32) float64) ([]float64, bool) {
		g, ok := r.Guess(weight, budgets)
		return append(append([]float64{g.AUC, g.Area}, g.Precision...), g.Recall...), ok
	}
}

// nearest returns the budget closest to the number of edges.
func nearest(budgets []float64) float64 {
	best := budgets[0]
	for _, b := range budgets {
		if max(b, 1/b) < max(best, 1/best) {
			best = b
		}
	}
	return best
}

// found returns the questions of the attack with their candidates, and the texts of results and pages.
func (p *plan) found(ways []target.Way) *target.Found {
	f := &target.Found{Ways: ways, Budget: "no guess: pairs are put in order",
		Subject: "Edges of the training graph of", Heading: "Edges of the training graph, percent",
		Positives: "edges in some question", PerUser: "AUC edges " + fromRandom + " within a user"}
	data := DataSummary{Data: p.Of.Data, Users: len(p.on.users), Density: p.on.density}
	t := Threat{Sees: p.given, Missing: p.missing, Knows: knows, HeldOut: p.on.held, Budgets: p.Attack.Budgets}
	for n := range p.on.questions {
		q := &p.on.questions[n]
		about := Question{Of: q.of, Users: q.Count}
		for _, edge := range q.Positive {
			if edge {
				about.Edges++
			} else {
				about.Others++
			}
		}
		data.Questions = append(data.Questions, about)
		asked := target.Question{Candidates: q.Candidates, Users: q.users, Among: q.pair, Seed: []uint64{uint64(n)},
			About: fmt.Sprintf("%d edges and %d other pairs of %d users", about.Edges, about.Others, about.Users)}
		fact := report.Fact{Label: "edges " + q.of,
			Value: fmt.Sprintf("%d edges, %d others of %d users", about.Edges, about.Others, about.Users)}
		switch q.of {
		case fromHeld:
			fact.Note = "the others: " + t.HeldOut
		case amongAll:
			fact.Note = fmt.Sprintf("others count so that %.4g %% of all pairs are edges", 100*data.Density)
			for _, b := range p.Attack.Budgets {
				t.Guesses = append(t.Guesses, b*float64(about.Edges))
			}
		}
		if asked.Asked, asked.Measure = detections(q.of); q.of == amongAll {
			asked.Asked, asked.Measure = guesses(p.Attack.Budgets)
		}
		f.Questions, f.Facts = append(f.Questions, asked), append(f.Facts, fact)
	}
	threat := report.Fact{Label: "threat", Value: "sees " + strings.Join(t.Sees, ", "), Note: "knows " + t.Knows}
	f.Facts = append(f.Facts, threat)
	if p.answers > 0 {
		t.Inputs, t.Answers, t.Noise, t.Watched = p.inputs, p.answers, p.noise, len(p.watched())
		if t.Change = "another direction of the same length"; p.Attack.Change == Scaled {
			t.Change = fmt.Sprintf("multiplied by %g", 1+p.Attack.Delta)
		}
		f.Budget = fmt.Sprintf("%d answers of the model, scores of %d users seen", t.Answers, t.Watched)
		fact := report.Fact{Label: "influence", Value: f.Budget,
			Note: fmt.Sprintf("the attacker changes %s: %s", t.Inputs, t.Change)}
		if t.Noise != "" {
			fact.Note += "; noise is " + t.Noise
		}
		f.Facts = append(f.Facts, fact)
	}
	for _, m := range t.Missing {
		f.Facts = append(f.Facts, report.Fact{Label: "not given: " + m.Kind, Value: "no attack", Note: m.Why})
	}
	var budgets []string
	for i, b := range t.Budgets {
		budgets = append(budgets, fmt.Sprintf("%.0f (%gx)", t.Guesses[i], b))
	}
	f.Facts = append(f.Facts, report.Fact{Label: "guess budget", Value: strings.Join(budgets, ", ") + " guesses",
		Note: "multiples of the number of edges that the attacker expects"})
	f.TableNote = fmt.Sprintf("AP and precision: among all pairs, of which %.4g %% are edges; "+
		"precision at a multiple of the number of edges as budget", 100*data.Density)
	f.Notes = []string{"an attack that tells edges from random pairs and not from held-out interactions " +
		"knows the users' taste and not the graph"}
	f.Data, f.Threat = data, t
	return f
}
