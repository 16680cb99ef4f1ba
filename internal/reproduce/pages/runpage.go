package pages

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"privrec/internal/experiment"
	"privrec/internal/privacy"
	"privrec/internal/report"
	"privrec/internal/reproduce/phrase"
)

// html makes the page of a run. It has neither times nor a machine.
func (f *finished) html() *report.Page {
	o, m := f.outcome, &f.manifest
	d := &report.Page{
		Title:    fmt.Sprintf("%s on %s, seed %d", o.Method, o.Data.Name, m.Seed),
		Subtitle: m.Task + "; " + o.Setting, Level: o.Data.Level, Trail: above("../"),
		Conclusion: capital(f.conclusion()) + ".",
	}
	for _, u := range f.of {
		if at := (report.Link{Text: u.paper.title, To: "../" + u.paper.page()}); !slices.Contains(d.Trail, at) &&
			len(d.Trail) == 1 {
			d.Trail = append(d.Trail, at)
		}
	}
	if a := f.account; a != nil {
		if a.Claimed != nil {
			d.Facts = append(d.Facts, report.Fact{Label: "claimed epsilon", Value: epsilon(a.Claimed.Eps),
				Note: theorem(a.Claimed.Theorem) + ", for one " + a.Claimed.Unit})
		}
		total := report.Fact{Label: "accounted epsilon", Value: epsilon(a.Total),
			Note: "of the whole run and its worst unit"}
		if a.Noise == experiment.Unknown {
			total.Value, total.Note = notKnown, "another program trained the model"
		}
		d.Facts = append(d.Facts, total)
	}
	if o.Selected > 0 {
		d.Facts = append(d.Facts, report.Fact{Label: "epoch of the result", Value: fmt.Sprint(o.Selected),
			Note: fmt.Sprintf("of at most %d, after %d steps", o.Cap, o.Steps)})
	}
	if o.Short != "" {
		d.Facts = append(d.Facts, report.ShortTraining(o.Short)...)
	}
	if len(o.Evaluations)+len(o.Floors) > 0 {
		d.Parts = append(d.Parts, f.metrics())
	}
	if f.account != nil {
		d.Parts = append(d.Parts, f.privacy())
	}
	unit := "loss"
	if len(o.Chose()) > 1 {
		var figures []report.Part
		for _, c := range experiment.Curves(o.Method, unit, o.Chose()) {
			figures = append(figures, c)
		}
		d.Parts = append(d.Parts, report.Section{ID: "curves", Title: "Training", Parts: figures})
	}
	if data := ladders([]*finished{f}); len(data) > 0 {
		d.Parts = append(d.Parts, report.Section{ID: "data", Title: "Data", Parts: data})
	}
	d.Parts = append(d.Parts, f.origin(), report.Section{ID: "configuration", Title: "Configuration",
		Parts: []report.Part{report.Code(f.config)}})
	return d
}

// theorem names a theorem, which some accounts have as its number alone.
func theorem(name string) string {
	if name != "" && name[0] >= '0' && name[0] <= '9' {
		return "theorem " + name
	}
	return name
}

// conclusion says what a run reaches in its last metric, against its best floor, and what it guarantees.
func (f *finished) conclusion() string {
	metric := ""
	if names := f.names(); len(names) > 0 {
		metric = names[len(names)-1]
	}
	return experiment.Conclude(f.manifest.Task, metric, f.outcome.Evaluations, f.outcome.Floors, f.account)
}

// names lists the metrics of a run in their order.
func (f *finished) names() (names []string) {
	for _, m := range f.outcome.Metrics {
		names = append(names, m.String())
	}
	if e := f.outcome.Evaluations; len(e) > 0 {
		for _, n := range slices.Sorted(maps.Keys(e[0].Values)) {
			names = phrase.AppendNew(names, n)
		}
		names = slices.DeleteFunc(names, func(n string) bool { _, ok := e[0].Values[n]; return !ok })
	}
	return names
}

// metrics makes the table of floors and results, in percent.
func (f *finished) metrics() report.Section {
	o, names := f.outcome, f.names()
	t := &report.Table{Name: "metrics", Title: "Floors and results (percent)",
		Columns: append(report.Columns("", "of"), report.Columns("%.2f", names...)...)}
	add := func(s experiment.Scores, floor string) {
		row := []any{s.Name + floor}
		for _, n := range names {
			if v, ok := s.Values[n]; ok && finite(v) {
				row = append(row, 100*v)
			} else {
				row = append(row, nil)
			}
		}
		t.Add(row...)
	}
	for _, s := range o.Floors {
		add(s, " (floor)")
	}
	for _, s := range o.Evaluations {
		add(s, "")
	}
	for _, n := range names {
		if said := o.Definitions[n]; said != "" {
			t.Notes = append(t.Notes, said)
		}
	}
	return report.Section{ID: "results", Title: "Results", Parts: []report.Part{t}}
}

// privacy makes the part about the account.
func (f *finished) privacy() report.Section {
	p := &paper{runs: []*finished{f}}
	s := p.panel()
	s.Parts[0] = report.Prose{capital(f.account.Conclusion()) + "."}
	if len(f.account.Public) > 0 {
		s.Parts = append(s.Parts, report.Prose{"Taken as public: " + f.account.PublicText() + "."})
	}
	s.Parts = append(s.Parts, f.risk()...)
	return s
}

// origin says what made the run.
func (f *finished) origin() report.Section {
	m := &f.manifest
	t := &report.Table{Name: "origin", Title: "What made this run", Columns: report.Columns("", "what", "is")}
	t.Add("task", m.Task)
	t.Add("method of", m.Cite)
	if seed := fmt.Sprint(m.Seed); f.account != nil && f.account.Noise == string(privacy.Secure) {
		t.Add("seed", seed+", of what is public; the noise has none")
	} else {
		t.Add("seed", seed)
	}
	t.Add("configuration, SHA-256", m.ConfigHash)
	for _, x := range m.Data {
		t.Add("data: "+x.Name+", SHA-256", x.SHA256)
	}
	for _, a := range m.Attempts {
		commit := cmp.Or(a.Build.Commit, "unknown")
		if a.Build.Dirty {
			commit += ", with local changes"
		}
		row := []any{"program", commit + "; " + a.Build.Float}
		if !slices.ContainsFunc(t.Rows, func(r []any) bool { return slices.Equal(r, row) }) {
			t.Add(row...)
		}
	}
	if m.Ledger != nil {
		t.Add("ledger", fmt.Sprintf("%d entries, closed by %s", m.Ledger.Entries, m.Ledger.Chain))
	}
	for _, n := range m.Notes {
		t.Add("note", n)
	}
	for _, u := range f.of {
		t.Add("stands in", report.Link{Text: u.title + ": " + u.method, To: "../" + u.page})
	}
	return report.Section{ID: "origin", Title: "Origin", Parts: []report.Part{t}}
}
