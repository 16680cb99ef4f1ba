package nextitem

import (
	"fmt"

	"privrec/internal/report"
)

// write keeps metrics and account, and shows both.
func (x *Experiment) write(o *Outcome, a Account) error {
	if err := x.Env.WriteMetrics(o); err != nil {
		return err
	}
	table, err := o.comparison(x.Data.Source.Level).Table()
	if err != nil {
		return err
	}
	d := &report.Document{
		Title:    fmt.Sprintf("%s on %s", x.Method, x.Data.Source.Title),
		Subtitle: fmt.Sprintf("%s; seed %d, %d candidates, %d test samples", x.Standing.Text, uint64(x.Env.Seed), x.Items, x.Test.Samples.Len()),
		Level:    x.Data.Source.Level,
		Facts:    report.ShortTraining(o.Short),
		Tables:   []*report.Table{table},
		Notes:    x.Data.Source.Notes,
	}
	d.Figures = append(d.Figures, lossCurve(o))
	if err := x.Env.WritePrivacy(a); err != nil {
		return err
	}
	a.Show(d)
	return x.Env.Print(d)
}

// lossCurve draws the mean training loss of every epoch.
func lossCurve(o *Outcome) report.Figure {
	line := report.Line{Name: o.Method}
	for _, e := range o.Epochs {
		line.X, line.Y = append(line.X, float64(e.Epoch+1)), append(line.Y, e.Loss)
	}
	return report.Figure{Title: "Training loss", X: "epoch", Y: "mean cross-entropy (nats)", Lines: []report.Line{line}}
}
