package forgetting

import (
	"fmt"

	"privrec/internal/report"
)

// document returns an outcome as a report.
func (o *Outcome) document(c Config, seed uint64) *report.Document {
	number, level := len(o.Ways[0].Attacks), fmt.Sprintf("%.4g %%", 100*c.Eval.Confidence)
	d := &report.Document{
		Title:    fmt.Sprintf("Ways to forget users of %s, trained on %s", c.Model.Name, o.Data.Source.Title),
		Subtitle: fmt.Sprintf("%s; seed %d", o.Setting, seed),
		Level:    o.Data.Level,
		Facts: []report.Fact{
			{Label: "finding", Value: o.finding(), Note: fmt.Sprintf("by %d attacks on the membership of the forgotten",
				number)},
			{Label: "forgotten", Value: fmt.Sprintf("%d users", o.Data.Forgotten),
				Note: fmt.Sprintf("with %d training rows; their own vectors are deleted in every way", o.Data.Lost)},
			{Label: "strangers", Value: fmt.Sprintf("%d users", o.Data.Strangers), Note: "drawn alike, in no training"},
			{Label: "remaining", Value: fmt.Sprintf("%d users", o.Data.Remaining),
				Note: fmt.Sprintf("with %d training rows; utility and distance are of them", o.Data.Rows)},
			{Label: "attacker", Value: fmt.Sprintf("sees vectors of items, trains %d models", c.Attack.References),
				Note: "knows the histories of all asked users, and fits a vector to each, the items' fixed"},
		},
	}
	d.Tables = []*report.Table{o.table(number, level), o.attacks(level)}
	if tries := o.tries(c.Forget.Keep); len(tries.Rows) > 0 {
		d.Tables = append(d.Tables, tries)
	}
	for _, w := range o.Ways {
		d.Notes = append(d.Notes, w.Name+": "+w.How)
	}
	for _, a := range (&compared{}).attacks(&evidence{}) {
		d.Notes = append(d.Notes, a.name+": "+a.how)
	}
	for _, r := range o.Requests {
		const cost = "shards to be trained again when users leave together, %d at a time: %.4g of %d, %.4g %% of the " +
			"work of training from the start"
		d.Notes = append(d.Notes, fmt.Sprintf(cost, r.Users, r.Shards, c.Shards.Number, 100*r.Work))
	}
	d.Notes = append(d.Notes, fmt.Sprintf("intervals over %d resamples of whole users, such that all %d of a way hold "+
		"together with confidence %s: of models that never had the forgotten, one in %.4g is taken for one that did",
		c.Eval.Resamples, number, level, 1/(1-c.Eval.Confidence)))
	return d
}

// finding says after which ways the forgotten are found.
func (o *Outcome) finding() string {
	var clean, found []string
	for _, w := range o.Ways {
		switch {
		case w.Name == wayBefore || w.Name == waySharded:
		case w.found() == 0:
			clean = append(clean, w.Name)
		default:
			found = append(found, w.Name)
		}
	}
	switch {
	case len(found) == 0:
		return fmt.Sprintf("nothing after %s", and(clean))
	case len(clean) == 0:
		return fmt.Sprintf("traces after %s", and(found))
	}
	return fmt.Sprintf("traces after %s, nothing after %s", and(found), and(clean))
}

// and joins words.
func and(words []string) (text string) {
	for k, w := range words {
		switch {
		case k == 0:
		case k == len(words)-1:
			text += " and "
		default:
			text += ", "
		}
		text += w
	}
	return text
}

// table returns the ways with utility, membership, distance and work.
func (o *Outcome) table(number int, level string) *report.Table {
	t := &report.Table{Name: "ways", Title: "Ways to forget, percent", Columns: []report.Column{{Name: "way"},
		{Name: "Recall@20", Format: "%.2f"}, {Name: "NDCG@20", Format: "%.2f"}, {Name: "AUC", Format: "%.1f"},
		{Name: level + " interval"}, {Name: "TPR at 1% FPR", Format: "%.1f"}, {Name: "told by"},
		{Name: "distance", Format: "%.2f"}, {Name: "of forgotten", Format: "%.2f"}, {Name: "work", Format: "%.1f"}}}
	for k, r := range o.Evaluations {
		var work any = report.Missing
		if v, ok := r.Values[metricWork]; ok {
			work = 100 * v
		}
		t.Add(r.Name, 100*r.Values[recall.String()], 100*r.Values[gain.String()], 100*r.Values[metricAUC],
			percents(r.Intervals[metricAUC]), 100*r.Values[metricTPR],
			fmt.Sprintf("%d of %d", o.Ways[k].found(), number), 100*r.Values[metricApart], 100*r.Values[metricLost],
			work)
	}
	for _, r := range o.Floors {
		t.Add(r.Name+" (floor)", 100*r.Values[recall.String()], 100*r.Values[gain.String()], 100*r.Values[metricAUC],
			percents(r.Intervals[metricAUC]), 100*r.Values[metricTPR], "", report.Missing, report.Missing,
			report.Missing)
	}
	t.Notes = []string{
		"AUC and TPR: the first attack on the membership of the forgotten against strangers; 50 is chance",
		"told by: attacks whose interval of the AUC is without 50, in either direction",
		"distance: 1 less the correlation of scores with those of another retraining; the row " + wayRetrain +
			" is the distance of two retrainings",
		"work: pairs that were read to forget, over those of training from the start"}
	return t
}

// attacks returns a table of what every attack finds in every way.
func (o *Outcome) attacks(level string) *report.Table {
	t := &report.Table{Name: "attacks", Title: "AUC of every attack, percent", Columns: []report.Column{{Name: "way"},
		{Name: "attack"}, {Name: "AUC", Format: "%.1f"}, {Name: level + " interval"},
		{Name: "TPR at 1% FPR", Format: "%.1f"}}}
	for _, w := range o.Ways {
		for _, f := range w.Attacks {
			t.Add(w.Name, f.Attack, 100*f.AUC, percents(f.In), 100*f.TPR)
		}
	}
	for _, f := range o.Outside {
		t.Add("no model", f.Attack+" (floor)", 100*f.AUC, percents(f.In), 100*f.TPR)
	}
	return t
}

// tries returns a table of the strengths that were tried.
func (o *Outcome) tries(keep float64) *report.Table {
	t := &report.Table{Name: "tries", Title: "Strengths that were tried, percent", Columns: []report.Column{
		{Name: "way"}, {Name: "strength", Format: "%.4g"}, {Name: "utility kept", Format: "%.1f"},
		{Name: "AUC", Format: "%.1f"}, {Name: "taken"}}}
	for _, w := range o.Ways {
		for k, x := range w.Tries {
			taken := ""
			if x.Accepted && (k+1 == len(w.Tries) || !w.Tries[k+1].Accepted) || k == 0 && !x.Accepted {
				taken = "yes"
			}
			t.Add(w.Name, x.Strength, 100*x.Kept, 100*x.AUC, taken)
		}
	}
	t.Notes = []string{fmt.Sprintf("taken: the strongest that keeps %.4g %% of the remaining users' validation "+
		"Recall@20, or the gentlest; strength: epochs of ascent, damping of the Newton step", 100*keep)}
	return t
}

// percents returns an interval in percent, as text.
func percents(in [2]float64) string { return fmt.Sprintf("%.1f to %.1f", 100*in[0], 100*in[1]) }
