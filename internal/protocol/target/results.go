package target

import (
	"fmt"

	"privrec/internal/attack/detect"
	"privrec/internal/experiment"
	"privrec/internal/report"
)

// Row identifies an evaluation or a floor.
type Row struct {
	Name     string `json:"name"`
	Sees     string `json:"sees"`
	How      string `json:"how"`
	Reversed bool   `json:"reversed,omitempty"` // of a floor: lower values are taken for positives
}

// Gain holds how much more an attack finds than the best floor in a metric, paired over resamples of users.
type Gain struct {
	Row      string     `json:"row"`
	Metric   string     `json:"metric"`
	Over     string     `json:"over"`
	Floor    float64    `json:"floor"`
	Value    float64    `json:"value"`
	Interval [2]float64 `json:"interval"`
}

// Results holds the rows of floors, then of attacks, and the gain of each attack over the best floor.
type Results struct {
	Rows  []Row  `json:"rows"`
	Gains []Gain `json:"gains"`
}

// Enter adds the values of one attack, by the names of their metrics, and its gains. results holds all compared
// attacks.
func (o *Results) Enter(into *experiment.Scores, r detect.Result, results []detect.Result, names []string) {
	if into.Values == nil {
		into.Name, into.Values, into.Intervals = r.Name, map[string]float64{}, map[string][2]float64{}
	}
	for m, name := range names {
		into.Values[name], into.Intervals[name] = r.Values[m], r.Interval[m]
		if !r.Floor {
			best := results[r.Best[m]]
			o.Gains = append(o.Gains, Gain{Row: r.Name, Metric: name, Over: best.Name, Floor: best.Values[m],
				Value: r.Beyond[m], Interval: r.Left[m]})
		}
	}
}

// Gain returns the gain of an attack over the best floor in a metric.
func (o *Results) Gain(row, metric string) (Gain, bool) {
	for _, g := range o.Gains {
		if g.Row == row && g.Metric == metric {
			return g, true
		}
	}
	return Gain{}, false
}

// Left returns a table of a metric of floors and attacks with intervals, and the gains over the best floor. short is
// the column's heading.
func (o *Results) Left(table, metric, short string, floors, attacks []experiment.Scores, c Intervals) *report.Table {
	level := fmt.Sprintf("%.4g %%", 100*c.Confidence)
	t := &report.Table{Name: table, Title: short + ", percent, and what is left of it beyond the best floor",
		Columns: []report.Column{{Name: "attack"}, {Name: short, Format: "%.2f"}, {Name: level + " interval"},
			{Name: "best floor"}, {Name: "beyond it", Format: "%+.2f"}, {Name: level + " interval of that"}}}
	for i, r := range o.Rows {
		sc := Line(floors, attacks, i)
		in := sc.Intervals[metric]
		cells := []any{r.Name, 100 * sc.Values[metric], fmt.Sprintf("%.2f to %.2f", 100*in[0], 100*in[1])}
		if g, ok := o.Gain(r.Name, metric); ok {
			cells = append(cells, fmt.Sprintf("%s, %.2f", g.Over, 100*g.Floor), 100*g.Value,
				fmt.Sprintf("%+.2f to %+.2f", 100*g.Interval[0], 100*g.Interval[1]))
		} else {
			cells[0] = r.Name + " (floor)"
		}
		t.Add(cells...)
	}
	t.Notes = []string{fmt.Sprintf("intervals over %d resamples of whole users, the same for every row", c.Resamples)}
	return t
}

// Line returns the values of a row, of the floors first.
func Line(floors, attacks []experiment.Scores, row int) experiment.Scores {
	if row < len(floors) {
		return floors[row]
	}
	return attacks[row-len(floors)]
}
