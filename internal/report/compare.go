package report

import (
	"errors"
	"fmt"
	"math"

	"privrec/internal/dataset"
	"privrec/internal/metrics"
)

// Comparison holds results with their floors and, if a paper printed numbers for the same rows, those numbers.
type Comparison struct {
	Name    string
	Title   string
	Level   dataset.Level
	Metrics []metrics.Metric
	Floors  []Row // required: random, popularity, majority
	Ours    []Row
	Notes   []string
}

// Row is one line of values in the order of Comparison.Metrics, as shares (0.21 for 21 %). Paper holds the paper's
// printed values for the row: nil if it prints none, NaN for a single missing value.
type Row struct {
	Label  string
	Values []float64
	Paper  []float64
}

// AllowsDelta reports whether results on data of this level may be compared with printed
// numbers.
func AllowsDelta(l dataset.Level) bool { return l == dataset.LevelA || l == dataset.LevelB }

// Table returns the comparison as a table, in percent: floors, then each of our rows with the paper's row and the
// difference under it. It fails on a comparison without floors or without a level.
func (c Comparison) Table() (*Table, error) {
	if len(c.Floors) == 0 {
		return nil, errors.New("report: results without a floor are not shown")
	}
	if c.Level < dataset.LevelA || c.Level > dataset.LevelD {
		return nil, fmt.Errorf("report: %q is not a level of evidence", c.Level)
	}
	names := make([]string, len(c.Metrics))
	for i, m := range c.Metrics {
		names[i] = m.String()
	}
	t := &Table{Name: c.Name, Title: c.Title, Columns: append([]Column{{Name: "row"}}, Columns("%.2f", names...)...)}
	add := func(label string, values []float64) error {
		if len(values) != len(c.Metrics) {
			return fmt.Errorf("report: row %q has %d values for %d metrics", label, len(values), len(c.Metrics))
		}
		cells := []any{label}
		for _, v := range values {
			cells = append(cells, 100*v)
		}
		t.Add(cells...)
		return nil
	}
	for _, f := range c.Floors {
		if err := add(f.Label+" (floor)", f.Values); err != nil {
			return nil, err
		}
	}
	printed := false
	for _, r := range c.Ours {
		if err := add(r.Label, r.Values); err != nil {
			return nil, err
		}
		if r.Paper == nil || !AllowsDelta(c.Level) {
			printed = printed || r.Paper != nil
			continue
		}
		if err := add("  paper", r.Paper); err != nil {
			return nil, err
		}
		delta := make([]float64, len(r.Values))
		for i := range delta {
			delta[i] = r.Values[i] - r.Paper[i]
		}
		if err := add("  ours - paper", delta); err != nil {
			return nil, err
		}
	}
	t.Notes = append(t.Notes, fmt.Sprintf("values in percent; evidence level %v: %s", c.Level, c.Level.Meaning()))
	if printed {
		t.Notes = append(t.Notes, fmt.Sprintf("level %v allows no comparison with the paper's printed numbers",
			c.Level))
	}
	t.Notes = append(t.Notes, c.Notes...)
	return t, nil
}

// Missing stands for a value that a paper does not print.
var Missing = math.NaN()

// ShortTraining returns a fact for a result whose training was shorter than the paper's, in the words of
// train.Length.Short; none for another result.
func ShortTraining(short string) []Fact {
	if short == "" {
		return nil
	}
	return []Fact{{Label: "against the paper", Value: "not compared", Note: short}}
}
