package pricdsr

import (
	"errors"
	"fmt"
	"io"
	"math"

	"privrec/internal/perturb"
	"privrec/internal/privacy"
	"privrec/internal/privacy/mechanism/sequence"
	"privrec/internal/report"
	"privrec/internal/run"
)

// Report says what a perturbation guarantees, and what it did to the rows. The counts
// are of true data and outside of the guarantee: they stay with the input.
type Report struct {
	In, Digest string // file and its SHA-256
	Mechanism  sequence.Mechanism
	Noise      privacy.Noise
	Ledger     privacy.Seal // of the ledger beside it
	Seed       uint64       // 0 with secure noise
	KeepOrder  bool

	Users                  int64
	Rows                   int64 // of the input
	Repeats, RepeatUsers   int64 // items left out because they came before
	Cut, CutUsers          int64 // items left out before the last L
	Items                  int64 // in the rows that were perturbed
	InPlace                int64 // of them, in their column afterwards
	InPlaceMean, InPlaceSD float64
	Found                  int64 // rows with an item in its column
	Written                int64 // cells other than padding, afterwards
	Emptied                int64 // rows without any item, afterwards
	Retained               sequence.Retained
}

func newReport(p *perturber, mark privacy.Noise, digest string, t *tally, kept sequence.Retained) *Report {
	r := &Report{
		In: p.o.In, Digest: digest, Mechanism: p.m, Noise: mark, KeepOrder: p.o.KeepOrder,
		Users: t.rows, Rows: t.left.rows, Repeats: t.left.repeats, RepeatUsers: t.left.repeatUsers, Cut: t.left.cut, CutUsers: t.left.cutUsers,
		Items: t.items(), InPlace: t.inPlace, Found: t.found, Written: t.written, Emptied: t.emptied, Retained: kept,
	}
	r.InPlaceMean, r.InPlaceSD = t.expected()
	if !p.o.Secure {
		r.Seed = uint64(p.o.Seed)
	}
	return r
}

// write puts the report among the files of a stage.
func (r *Report) write(st *perturb.Stage) error {
	d := r.Document()
	return errors.Join(
		st.Create(textFile, func(w io.Writer) error { return run.Show(w, false, d) }),
		st.Create(jsonFile, func(w io.Writer) error { return run.Show(w, true, d) }))
}

// guarantee says what one pair of neighbours may show.
func (r *Report) guarantee() *report.Table {
	m := r.Mechanism
	t := &report.Table{Name: "guarantee", Title: "Guarantee, pure and local: epsilon for", Columns: []report.Column{{Name: "neighbours that differ in"}, {Name: "epsilon", Format: "%g"}}}
	swap := m.Epsilon
	if m.Variant != sequence.SDPFixed {
		swap *= 2
	}
	t.Add("the value of one cell of one user", m.Epsilon)
	t.Add("the order of two cells of one user", swap)
	t.Add(fmt.Sprintf("a whole row: all %d cells of one user", m.Length), m.Epsilon*float64(m.Length))
	t.Notes = append(t.Notes, "An interaction added or removed moves those before it: the row differs in its own cell and one for each interaction before it, each at epsilon. A new one at the end moves all.")
	return t
}

// Document lays the report out.
func (r *Report) Document() *report.Document {
	m := r.Mechanism
	d := &report.Document{
		Title:    fmt.Sprintf("Perturbed sequences: %s, epsilon %g", m.Variant, m.Epsilon),
		Subtitle: fmt.Sprintf("%s, sha256 %.12s; %d items, %d cells a row", r.In, r.Digest, m.Items, m.Length),
		Facts: []report.Fact{
			{Label: "cells kept", Value: fmt.Sprintf("%.4g", m.Keep(0)), Note: fmt.Sprintf("the share at the first cell; half at epsilon = %.2f", halfKept(m))},
			{Label: "outlook", Value: string(OutlookOf(m.Epsilon, m.Items))},
			{Label: "noise", Value: string(r.Noise)},
		},
		Tables: []*report.Table{r.guarantee(), r.counts(), r.survival()},
		Notes:  r.notes(),
	}
	if r.Noise == privacy.Research {
		d.Facts = append(d.Facts, report.Fact{Label: "seed", Value: fmt.Sprint(r.Seed)})
	}
	d.Facts = append(d.Facts, report.Fact{Label: "ledger", Value: r.Ledger.String()})
	return d
}

func (r *Report) counts() *report.Table {
	t := &report.Table{Name: "counts", Title: "Counts (true data: not for release)", Columns: report.Columns("", "what", "number")}
	t.Add("users", r.Users)
	t.Add("rows of the input", r.Rows)
	t.Add("items left out as they came before", r.Repeats)
	t.Add("items left out before the last L", r.Cut)
	t.Add("items perturbed", r.Items)
	t.Add("cells written, padding left out", r.Written)
	t.Add("users whose row came out empty", r.Emptied)
	t.Add("users with an item in its column", r.Found)
	return t
}

func (r *Report) survival() *report.Table {
	t := &report.Table{Name: "survival", Title: "Survival (true data: not for release)", Columns: []report.Column{
		{Name: "what"}, {Name: "of"}, {Name: "kept"}, {Name: "closed form", Format: "%.1f"}, {Name: "standard deviations apart", Format: "%+.2f"}}}
	apart := func(kept int64, mean, sd float64) any {
		if sd == 0 {
			return nil
		}
		return (float64(kept) - mean) / sd
	}
	if x := r.Retained; x.Cells > 0 {
		t.Add("cells, padding included, when they were reached", x.Cells, x.Kept, x.Mean, apart(x.Kept, x.Mean, math.Sqrt(x.Variance)))
	}
	t.Add("items in their column", r.Items, r.InPlace, r.InPlaceMean, apart(r.InPlace, r.InPlaceMean, r.InPlaceSD))
	if r.Mechanism.Variant == sequence.SDPPaper {
		t.Notes = append(t.Notes, fmt.Sprintf("In sdp-paper the share depends on the zeros written: the closed form of items in their column is of rows without any, and the share of others is at least %.4f of it.",
			1-float64(r.Mechanism.Length)/math.Max(1, float64(r.Mechanism.Items))))
	}
	return t
}

func (r *Report) notes() []string {
	m := r.Mechanism
	notes := []string{
		"Protected are values and order in a row of fixed length. Who the users are is not, nor how many.",
		"The counts above were taken from true rows: keep this report with the input, not with the output.",
		"A second release of these rows, under whatever settings, adds its epsilon to that of this one.",
		"Times are gone: position, 1 to L, is all the order there is.",
	}
	if w := Warning(m); w != "" {
		notes = append(notes, "warning: "+w)
	}
	if m.Variant == sequence.SDPPaper {
		notes = append(notes, "warning: sdp-paper is not epsilon-private as its theorem 1 says: the order of two cells shows with 2 epsilon where a row has padding; sdp-fixed keeps to epsilon")
	}
	if r.Noise == privacy.Research {
		notes = append(notes, "research noise: the seed undoes it, and where it is used again, what changed in the file in between shows; --secure takes cryptographic bits")
	}
	if r.Repeats > 0 {
		notes = append(notes, fmt.Sprintf("items that came again, of which the first occurrence counts: %d, of users: %d", r.Repeats, r.RepeatUsers))
	}
	if r.Cut > 0 {
		notes = append(notes, fmt.Sprintf("users with more than %d items, of which the last ones count: %d", m.Length, r.CutUsers))
	}
	if r.KeepOrder {
		notes = append(notes, "users stand in the order of the input, which is not protected")
	}
	return notes
}
