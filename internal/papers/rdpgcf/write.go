package rdpgcf

import (
	"fmt"
	"io"
	"strings"

	"privrec/internal/dataset"
	"privrec/internal/report"
	"privrec/internal/run"
	"privrec/internal/tensor"
)

// account is what a run says of its privacy: privacy.json, and what it shows.
type account interface {
	Show(d *report.Document)
}

// write keeps metrics and account, and shows both.
func (x *experiment) write(o *Outcome, p account) error {
	if err := x.env.WriteMetrics(o); err != nil {
		return err
	}
	table, err := o.comparison(x.data.Source.Level).Table()
	if err != nil {
		return err
	}
	d := &report.Document{
		Title:    fmt.Sprintf("%s on %s", x.method, x.data.Source.Title),
		Subtitle: fmt.Sprintf("%s; seed %d", x.standing.text, uint64(x.env.Seed)),
		Level:    x.data.Source.Level,
		Facts:    o.facts(),
		Tables:   []*report.Table{table},
		Notes:    x.data.Source.Notes,
	}
	if t := o.published(); t != nil {
		d.Tables = append(d.Tables, t)
	}
	d.Figures = o.figures()
	if err := x.env.WritePrivacy(p); err != nil {
		return err
	}
	p.Show(d)
	return x.env.Print(d)
}

// facts say what was ranked and how long training lasted.
func (o *Outcome) facts() []report.Fact {
	d := o.Data
	facts := []report.Fact{
		{Label: "ranked", Value: fmt.Sprintf("%d items for %d users", d.Items, d.TestUsers),
			Note: fmt.Sprintf("%d items and %d users have no training row and are kept; training items are masked, validation items too", d.UnseenItems, d.UnseenUsers)},
	}
	if o.Selected == 0 {
		return facts
	}
	ended := "all of them run"
	if o.Stopped {
		ended = fmt.Sprintf("stopped early after %d", len(o.Epochs))
	}
	facts = append(facts, report.Fact{Label: "epochs", Value: fmt.Sprintf("cap %d, %s", o.Cap, ended),
		Note: fmt.Sprintf("epoch %d is the one reported, %d steps in all", o.Selected, o.Steps)})
	return append(facts, report.ShortTraining(o.Short)...)
}

// comparison sets the evaluations beside floors and printed numbers.
func (o *Outcome) comparison(level dataset.Level) report.Comparison {
	c := report.Comparison{
		Name: "ranking", Title: "Ranking of test rows among all items not seen in training", Level: level, Metrics: o.Metrics,
	}
	for _, f := range o.Floors {
		c.Floors = append(c.Floors, f.Row(o.Metrics))
	}
	var tables []string
	for _, e := range o.Evaluations {
		c.Ours = append(c.Ours, e.Row(o.Metrics))
		if e.Paper != nil && !strings.Contains(strings.Join(tables, ","), e.Paper.Table) {
			tables = append(tables, e.Paper.Table)
		}
	}
	if len(tables) > 0 {
		c.Notes = append(c.Notes, fmt.Sprintf("paper: %s, mean of five seeds without spread; its BPRMF, NGCF and LightGCN on Gowalla and Yelp are the published numbers of others",
			strings.Join(tables, " and ")))
	}
	return c
}

// published is a table of other people's results on the same split, nil where there
// are none.
func (o *Outcome) published() *report.Table {
	if len(o.Published) == 0 {
		return nil
	}
	t := &report.Table{
		Name: "published", Title: "Published on this split",
		Columns: append([]report.Column{{Name: "model"}}, append(report.Columns("%.2f", primary.String(), second.String()), report.Column{Name: "from"})...),
	}
	for _, r := range o.Published {
		t.Add(r.Method, 100*r.Recall20, 100*r.NDCG20, r.From)
	}
	t.Notes = append(t.Notes, "values in percent; trained on all training rows, where a recipe that holds out validation rows trains on a tenth less")
	return t
}

// figures draw the loss and the scores of every epoch.
func (o *Outcome) figures() []report.Figure {
	if len(o.Epochs) == 0 {
		return nil
	}
	loss := report.Line{Name: o.Method}
	curves := map[string]*report.Line{}
	var names []string
	for _, e := range o.Epochs {
		loss.X, loss.Y = append(loss.X, float64(e.Epoch+1)), append(loss.Y, e.Loss)
		for _, s := range e.Scores {
			if curves[s.Name] == nil {
				curves[s.Name] = &report.Line{Name: s.Name}
				names = append(names, s.Name)
			}
			l := curves[s.Name]
			l.X, l.Y = append(l.X, float64(e.Epoch+1)), append(l.Y, 100*s.Value)
		}
	}
	figures := []report.Figure{{Title: "Training loss", X: "epoch", Y: "mean BPR loss with penalty (nats)", Lines: []report.Line{loss}}}
	if len(names) > 0 {
		f := report.Figure{Title: "Ranking by epoch", X: "epoch", Y: "percent"}
		for _, name := range names {
			f.Lines = append(f.Lines, *curves[name])
		}
		figures = append(figures, f)
	}
	return figures
}

// vectorFile is the file of a release.
func vectorFile(kind string) string {
	if kind == "" {
		return "vectors.safetensors"
	}
	return "vectors-" + kind + ".safetensors"
}

// keep writes the vectors of a release: all that ranking needs.
func (x *experiment) keep(kind string, users, items tensor.Matrix) error {
	return x.env.WriteArtefact(vectorFile(kind), func(w io.Writer) error {
		return run.WriteSafetensors(w, []run.NamedTensor{run.MatrixTensor("user", users), run.MatrixTensor("item", items)}, nil)
	})
}
