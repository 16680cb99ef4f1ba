package stream

import (
	"fmt"
	"strings"

	"privrec/internal/privacy/correlated"
	"privrec/internal/report"
	"privrec/internal/run"
)

// Document returns what a stream is, holds and has released, for whoever keeps it.
func (f *Folder) Document() (*report.Document, error) {
	d := &report.Document{Title: "Stream in " + f.Dir}
	fact := func(label, value, note string) {
		d.Facts = append(d.Facts, report.Fact{Label: label, Value: value, Note: note})
	}
	fact("epsilon", fmt.Sprintf("%g at delta %g", f.Epsilon, f.Delta),
		fmt.Sprintf("for one user more or less, of all %d releases together, however many are made", f.Horizon))
	fact("releases", fmt.Sprintf("%d of %d", f.now.Step, f.Horizon), dayNote(f.now))
	fact("items", fmt.Sprintf("%d, of which %d are in the matrix", len(f.Catalogue.IDs), len(f.Catalogue.Rows)), "")
	fact("users", fmt.Sprint(f.sums.Users()), "secret: for whoever keeps the stream")
	fact("noise", f.noiseName(), "")
	t := &report.Table{Name: "noise", Title: "Standard deviation of the noise in a released value",
		Columns: []report.Column{{Name: "sum"}, {Name: "a user adds at most"}, {Name: "step", Format: "%d"},
			{Name: "stream", Format: "%.5g"}, {Name: "single releases", Format: "%.5g"}}}
	if f.Start > 0 {
		t.Add(StartPurpose, fmt.Sprintf("norm %.4g", f.Terms.Start.Sensitivity), 0, f.Terms.Start.Deviation(),
			f.Terms.Start.Deviation())
	}
	alone, err := f.alone()
	if err != nil {
		return nil, err
	}
	for _, n := range []Noise{f.Terms.Counts, f.Terms.Matrix} {
		single := alone.Counts.Deviation
		if n.Purpose == MatrixPurpose {
			single = alone.Matrix.Deviation
		}
		for _, step := range []int{max(1, f.now.Step), f.Horizon} {
			v, err := n.At(step)
			if err != nil {
				return nil, err
			}
			t.Add(n.Purpose, fmt.Sprintf("norm %.4g", n.Norm), step, v, single)
			if step == f.Horizon {
				break
			}
		}
	}
	d.Tables = append(d.Tables, t, f.now.Total.table("All rows that were added", len(f.now.Files)))
	open := []string{aboutName, itemsName, run.LedgerName, releasedFolder}
	d.Notes = append(d.Notes, "public: "+strings.Join(open, ", ")+"; all other files of the folder are secret")
	if f.NoiseSeed != 0 {
		d.Notes = append(d.Notes, fmt.Sprintf("the noise can be repeated, and taken off again, by whoever has the rows "+
			"and the noise seed, which is %d: epsilon holds as if that number were unknown", f.NoiseSeed))
	} else if !f.Secure {
		d.Notes = append(d.Notes,
			"epsilon holds as if the noise were exact (--secure makes it so), and noise.key unknown")
	}
	return d, nil
}

// alone returns the terms of a stream whose releases are single ones that add up, at the same epsilon.
func (f *Folder) alone() (Terms, error) {
	s := f.Settings
	s.Secure = false
	var err error
	if s.Design, err = Design(correlated.NameComposed, s.Horizon, 0, false); err != nil {
		return Terms{}, err
	}
	return s.Terms()
}

// noiseName says how the noise is correlated and drawn.
func (f *Folder) noiseName() string {
	name := f.Settings.Design.Name
	switch name {
	case correlated.NameBuffered:
		name += fmt.Sprintf(", %d buffers", len(f.Settings.Design.Decays.Floats()))
	case correlated.NameBanded:
		name += fmt.Sprintf(", %d bands", f.Settings.Design.Bands)
	case correlated.NameToeplitz:
		name = fmt.Sprintf("banded, %d bands in parts of 256", len(f.Settings.Design.Column.Floats()))
	}
	if f.Secure {
		return name + "; discrete, from cryptographic bits"
	}
	return name + "; normal"
}

// dayNote says up to which day rows were released.
func dayNote(p progress) string {
	if p.Day == "" {
		return ""
	}
	return "up to " + p.Day
}

// table returns the tally of a number of files.
func (t Tally) table(title string, files int) *report.Table {
	out := &report.Table{Name: "rows", Title: title,
		Columns: []report.Column{{Name: "what"}, {Name: "rows", Format: "%d"}}}
	out.Add(fmt.Sprintf("files added: %d", files), t.Rows)
	out.Add("of items that are not in the catalogue, left out", t.Unknown)
	out.Add("repeated by their user, left out", t.Repeated)
	out.Add("new in the counts", t.Counted)
	out.Add("new in the matrix", t.Entered)
	out.Add("of the matrix, beyond their user's share, left out", t.Over)
	return out
}

// Document returns what was added.
func (a Added) Document(path string) *report.Document {
	return &report.Document{Title: "Added " + path, Tables: []*report.Table{a.Tally.table("Rows", 1)}, Notes: a.Left,
		Facts: []report.Fact{{Label: "step", Value: fmt.Sprint(a.Step), Note: "whose release shows these rows first"},
			{Label: "new users", Value: fmt.Sprint(a.NewUsers)}}}
}

// Document returns where a release is, and what follows from it.
func (r *Released) Document(f *Folder) *report.Document {
	return &report.Document{Title: fmt.Sprintf("Released step %d of %d", r.Step, r.Horizon),
		Facts: []report.Fact{{Label: "file", Value: f.path(r.Step)},
			{Label: "epsilon", Value: fmt.Sprintf("%g at delta %g", r.Epsilon, r.Delta),
				Note: "of all releases of the stream together, for one user more or less"},
			{Label: "model", Value: "privrec train dp-ease --from " + f.Dir}}}
}
