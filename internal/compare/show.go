package compare

import (
	"io"

	"privrec/internal/report"
)

// Document returns the result as tables, in percent.
func (r *Result) Document() *report.Document {
	means := &report.Table{Name: "means", Title: "Means, in percent", Columns: report.Columns("%.2f", "method", "metric", "mean", "sd over runs", "runs", "users")}
	for _, m := range r.Means {
		var sd any
		if m.SD != nil {
			sd = 100 * *m.SD
		}
		means.Add(m.Group, m.Metric, 100*m.Mean, sd, m.Runs, m.Users)
	}
	diffs := &report.Table{Name: "differences", Title: "Differences from the first method, user by user, in percentage points",
		Columns: report.Columns("%+.2f", "method", "metric", "difference", "95 % from", "to", "p", "p, Holm")}
	diffs.Columns[5].Format, diffs.Columns[6].Format = "%.2g", "%.2g"
	for _, d := range r.Differences {
		diffs.Add(d.Group, d.Metric, 100*d.Mean, 100*d.Interval[0], 100*d.Interval[1], d.P, d.Holm)
	}
	return &report.Document{Title: "Runs compared", Tables: []*report.Table{means, diffs}, Notes: r.Notes}
}

// Text writes the result as text.
func (r *Result) Text(w io.Writer) error { return r.Document().Text(w) }

// MarshalJSON writes the document, as every result does.
func (r *Result) MarshalJSON() ([]byte, error) { return r.Document().MarshalJSON() }
