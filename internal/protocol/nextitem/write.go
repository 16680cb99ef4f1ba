package nextitem

import (
	"fmt"

	"privrec/internal/report"
)

// write writes metrics and account, and shows both.
func (x *Experiment) write(o *Outcome, a Account) error {
	if err := x.Env.WriteMetrics(o); err != nil {
		return err
	}
	table, err := x.comparison(o).Table()
	if err != nil {
		return err
	}
	d := x.cut.document(x, o)
	d.Title, d.Level = fmt.Sprintf("%s on %s", x.Method, x.Data.Source.Title), x.Data.Source.Level
	d.Facts, d.Tables, d.Notes = append(d.Facts, report.ShortTraining(o.Short)...), []*report.Table{table}, x.Data.Source.Notes
	if err := x.Env.WritePrivacy(a); err != nil {
		return err
	}
	a.Show(d)
	return x.Env.Print(d)
}
