package link

import (
	"fmt"
	"strings"

	"privrec/internal/metrics"
	"privrec/internal/protocol/target"
	"privrec/internal/report"
)

// document shows an outcome.
func (o *Outcome) document(c Config, seed uint64) *report.Document {
	t := o.Threat
	d := &report.Document{
		Title:    fmt.Sprintf("Edges of the training graph of %s on %s", o.Target.Method, o.Data.Source.Title),
		Subtitle: fmt.Sprintf("%s; seed %d", o.Setting, seed),
		Level:    o.Data.Level,
	}
	for _, q := range o.Data.Questions {
		f := report.Fact{Label: "edges " + q.Of, Value: fmt.Sprintf("%d edges, %d others of %d users", q.Edges, q.Others, q.Users)}
		switch q.Of {
		case fromHeld:
			f.Note = "the others: " + t.HeldOut
		case amongAll:
			f.Note = fmt.Sprintf("others count so that %.4g %% of all pairs are edges", 100*o.Data.Density)
		}
		d.Facts = append(d.Facts, f)
	}
	threat := report.Fact{Label: "threat", Value: "sees " + strings.Join(t.Sees, ", "), Note: "knows " + t.Knows}
	d.Facts = append(d.Facts, threat)
	if t.Answers > 0 {
		f := report.Fact{Label: "influence", Value: fmt.Sprintf("%d answers of the model, scores of %d users seen", t.Answers, t.Watched),
			Note: fmt.Sprintf("the attacker changes %s: %s", t.Inputs, t.Change)}
		if t.Noise != "" {
			f.Note += "; noise is " + t.Noise
		}
		d.Facts = append(d.Facts, f)
	}
	for _, m := range t.Missing {
		d.Facts = append(d.Facts, report.Fact{Label: "not given: " + m.Kind, Value: "no attack", Note: m.Why})
	}
	var budgets []string
	for i, b := range t.Budgets {
		budgets = append(budgets, fmt.Sprintf("%.0f (%gx)", t.Guesses[i], b))
	}
	d.Facts = append(d.Facts, report.Fact{Label: "guess budget", Value: strings.Join(budgets, ", ") + " guesses", Note: "multiples of the number of edges that the attacker expects"},
		report.Fact{Label: "attacked", Value: o.Target.Task, Note: o.Target.Setting})
	d.Tables = []*report.Table{o.table(c)}
	for _, of := range []string{fromRandom, fromHeld} {
		m := metrics.DetectMetric{Score: metrics.DetectAUC, Of: "edges " + of}
		d.Tables = append(d.Tables, o.Left(map[string]string{fromRandom: "left-random", fromHeld: "left-held"}[of], m.String(), m.String(), o.Floors, o.Evaluations, c.Eval))
	}
	for _, m := range rare(c.Attack.Budgets) {
		if m.Score == metrics.AveragePrecision || m.Score == metrics.GuessPrecision && m.Times == nearest(c.Attack.Budgets) {
			d.Tables = append(d.Tables, o.Left("left-"+m.Score.String(), m.String(), m.String(), o.Floors, o.Evaluations, c.Eval))
		}
	}
	for i, r := range o.Rows {
		if i >= len(o.Floors) {
			d.Notes = append(d.Notes, fmt.Sprintf("%s: %s", r.Name, r.How))
		} else if r.Reversed {
			d.Notes = append(d.Notes, fmt.Sprintf("floor %s: lower values are taken for edges in some question, as the answers have it", r.Name))
		}
	}
	d.Notes = append(d.Notes, "a floor sees no model; the direction of a floor is chosen by the answers, so that what is left of an attack errs downward",
		"an attack that tells edges from random pairs and not from held-out interactions knows the users' taste and not the graph")
	return d
}

// nearest returns the budget that is nearest to the number of edges.
func nearest(budgets []float64) float64 {
	best := budgets[0]
	for _, b := range budgets {
		if max(b, 1/b) < max(best, 1/best) {
			best = b
		}
	}
	return best
}

// table shows the questions beside each other, of floors and attacks.
func (o *Outcome) table(c Config) *report.Table {
	t := &report.Table{Name: "link", Title: "Edges of the training graph, percent", Columns: []report.Column{{Name: "attack"}, {Name: "sees"}}}
	names := []string{}
	add := func(name, short string) {
		names = append(names, name)
		t.Columns = append(t.Columns, report.Column{Name: short, Format: "%.1f"})
	}
	for _, of := range []string{fromRandom, fromHeld} {
		add(metrics.DetectMetric{Score: metrics.DetectAUC, Of: "edges " + of}.String(), "AUC "+of)
	}
	for _, m := range rare(c.Attack.Budgets) {
		if m.Score != metrics.GuessRecall {
			add(m.String(), m.Short())
		}
	}
	for i, r := range o.Rows {
		cells := []any{r.Name, r.Sees}
		if i < len(o.Floors) {
			cells[0] = r.Name + " (floor)"
		}
		for _, name := range names {
			cells = append(cells, 100*target.Line(o.Floors, o.Evaluations, i).Values[name])
		}
		t.Add(cells...)
	}
	t.Notes = []string{fmt.Sprintf("AP and precision: among all pairs, of which %.4g %% are edges; precision at a multiple of the number of edges as budget; evidence level %v: %s",
		100*o.Data.Density, o.Data.Level, o.Data.Level.Meaning())}
	return t
}
