package dipsgnn

import (
	"fmt"

	"privrec/internal/report"
)

// write keeps metrics and account, and shows both.
func (x *experiment) write(o *Outcome, p *Privacy) error {
	if err := x.env.WriteMetrics(o); err != nil {
		return err
	}
	table, err := o.comparison(x.data.Source.Level).Table()
	if err != nil {
		return err
	}
	d := &report.Document{
		Title:    fmt.Sprintf("%s on %s", x.method, x.data.Source.Title),
		Subtitle: fmt.Sprintf("%s; seed %d, %d candidates, %d test samples", x.standing, uint64(x.env.Seed), x.items, len(x.test.labels)),
		Level:    x.data.Source.Level,
		Facts:    report.ShortTraining(o.Short),
		Tables:   []*report.Table{table},
		Notes:    x.data.Source.Notes,
	}
	d.Figures = append(d.Figures, lossCurve(o))
	if err := x.env.WritePrivacy(p); err != nil {
		return err
	}
	p.Show(d)
	return x.env.Print(d)
}

// lossCurve draws the mean training loss of every epoch.
func lossCurve(o *Outcome) report.Figure {
	line := report.Line{Name: o.Method}
	for _, e := range o.Epochs {
		line.X, line.Y = append(line.X, float64(e.Epoch+1)), append(line.Y, e.Loss)
	}
	return report.Figure{Title: "Training loss", X: "epoch", Y: "mean cross-entropy (nats)", Lines: []report.Line{line}}
}
