package pricdsr

import (
	"fmt"
	"math"

	"privrec/internal/perturb"
	"privrec/internal/perturb/histories"
	"privrec/internal/privacy"
	"privrec/internal/privacy/mechanism/sequence"
	"privrec/internal/report"
)

// Report holds the guarantee of a perturbation and its effect on the rows. The counts describe true data outside the
// guarantee, so they stay with the input.
type Report struct {
	perturb.Facts
	histories.Tally // out of the input
	Counts
	Retained  sequence.Retained
	Mechanism sequence.Mechanism
	KeepOrder bool
}

// Document returns the report as a document.
func (r *Report) Document() *report.Document {
	m := r.Mechanism
	kept := report.Fact{Label: "cells kept", Value: fmt.Sprintf("%.4g", m.Keep(0)),
		Note: fmt.Sprintf("the share at the first cell; half at epsilon = %.2f", halfKept(m))}
	if m.Variant == sequence.Set {
		kept = report.Fact{Label: "items kept", Value: "0.5", Note: fmt.Sprintf("and %.4g others a row on average",
			float64(m.Items)*setNoise(m))}
	}
	d := r.Facts.Document(fmt.Sprintf("Perturbed sequences: %s, epsilon %g", m.Variant, m.Epsilon),
		fmt.Sprintf("%d items, %d cells a row", m.Items, m.Length), []report.Fact{
			kept, {Label: "outlook", Value: string(OutlookOf(m.Draw(), m.Items))},
		}, nil)
	d.Tables, d.Notes = []*report.Table{r.guarantee(), r.counts(), r.survival()}, r.notes()
	return d
}

// guarantee returns a table of the epsilons of all neighbours.
func (r *Report) guarantee() *report.Table {
	m, t := r.Mechanism, perturb.GuaranteeTable()
	if p := promiseOf(m); p.public != nil { // of a repaired mechanism
		for _, u := range p.units {
			t.Add(u.Neighbouring, float64(u.Total))
		}
		for _, x := range p.public {
			t.Notes = append(t.Notes, "taken as public: "+x.What+": "+x.Why)
		}
		return t
	}
	swap := m.Epsilon
	if m.Variant != sequence.SDPFixed {
		swap *= 2
	}
	t.Add("the value of one cell of one user", m.Epsilon)
	t.Add("the order of two cells of one user", swap)
	t.Add(fmt.Sprintf("a whole row: all %d cells of one user", m.Length), m.Epsilon*float64(m.Length))
	t.Notes = append(t.Notes,
		"An interaction added or removed moves those before it: the row differs in its own cell and one for each "+
			"interaction before it, each at epsilon. A new one at the end moves all.")
	return t
}

func (r *Report) counts() *report.Table {
	t := perturb.CountsTable()
	t.Add("users", r.Users)
	t.Add("rows of the input", r.Rows)
	t.Add("items left out as they came before", r.Repeats)
	t.Add("items left out before the last L", r.Cut)
	t.Add("items perturbed", r.Items())
	t.Add("cells written, padding left out", r.Written)
	t.Add("users whose row came out empty", r.Emptied)
	t.Add("users with an item in its column", r.Found)
	return t
}

func (r *Report) survival() *report.Table {
	t := &report.Table{Name: "survival", Title: "Survival (true data: not for release)", Columns: []report.Column{
		{Name: "what"}, {Name: "of"}, {Name: "kept"}, {Name: "closed form", Format: "%.1f"},
		{Name: "standard deviations apart", Format: "%+.2f"}}}
	apart := func(kept int64, mean, sd float64) any {
		if sd == 0 {
			return nil
		}
		return (float64(kept) - mean) / sd
	}
	what := "cells, padding included, when they were reached"
	switch r.Mechanism.Variant {
	case sequence.SDPLengths:
		what = "cells with items, when they were reached"
	case sequence.Set:
		what = "items of rows that were drawn"
	}
	if x := r.Retained; x.Cells > 0 {
		t.Add(what, x.Cells, x.Kept, x.Mean, apart(x.Kept, x.Mean, math.Sqrt(x.Variance)))
	}
	if r.Mechanism.Variant == sequence.Set { // whose items have no columns
		return t
	}
	mean, sd := r.expected(r.Mechanism)
	t.Add("items in their column", r.Items(), r.InPlace, mean, apart(r.InPlace, mean, sd))
	if r.Mechanism.Variant == sequence.SDPPaper {
		t.Notes = append(t.Notes,
			fmt.Sprintf("In sdp-paper the share depends on the zeros written: the closed form of items in their "+
				"column is of rows without any, and the share of others is at least %.4f of it.",
				1-float64(r.Mechanism.Length)/math.Max(1, float64(r.Mechanism.Items))))
	}
	return t
}

func (r *Report) notes() []string {
	m := r.Mechanism
	protected := "values and order in a row of fixed length"
	switch m.Variant {
	case sequence.SDPLengths:
		protected = "values and order of the items of a row, not how many they are"
	case sequence.Set:
		protected = "which items a user has, not more than L of them; order is gone"
	}
	notes := []string{
		"Protected are " + protected + ". Who the users are is not, nor how many.",
		perturb.CountsNote("rows"),
		perturb.SecondNote("rows"),
		"Times are gone: position, 1 to L, is all the order there is.",
	}
	if w := Warning(m); w != "" {
		notes = append(notes, "warning: "+w)
	}
	if m.Variant == sequence.SDPPaper {
		notes = append(notes, "warning: sdp-paper is not epsilon-private as its theorem 1 says: the order of two "+
			"cells shows with 2 epsilon where a row has padding; sdp-fixed keeps to epsilon")
	}
	if r.Noise == privacy.Research {
		notes = append(notes, perturb.ResearchNote)
	}
	if r.Repeats > 0 {
		notes = append(notes, fmt.Sprintf(
			"items that came again, of which the first occurrence counts: %d, of users: %d", r.Repeats, r.RepeatUsers))
	}
	if r.Cut > 0 {
		notes = append(notes, fmt.Sprintf("users with more than %d items, of which the last ones count: %d", m.Length,
			r.CutUsers))
	}
	if r.KeepOrder {
		notes = append(notes, "users stand in the order of the input, which is not protected")
	}
	return notes
}
