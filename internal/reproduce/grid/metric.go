package grid

import (
	"strings"

	"privrec/internal/metrics"
	"privrec/internal/printed"
)

// Measure is what a column shows: a metrics.Metric of rankings, a metrics.ClassMetric of
// predicted classes, a metrics.DetectMetric or metrics.GuessMetric of attacks, or a
// metrics.Statistic of data.
type Measure interface {
	String() string
	Definition() string
}

// measure reads the name of a column, of a grid with the given unit: a statistic where it counts,
// else with a cut-off a metric of a ranking, and without one the accuracy of slates or a metric of
// classes.
func measure(name, unit string) (Measure, error) {
	switch {
	case unit == UnitCount:
		return metrics.ParseStatistic(name)
	case name == metrics.Accuracy.String():
		return metrics.Accuracy, nil
	case strings.Contains(name, "@"):
		return metrics.Parse(name)
	}
	if m, err := metrics.ParseDetect(name); err == nil &&
		(strings.HasPrefix(m.Of, "member ") || strings.HasPrefix(m.Of, "edges ")) {
		return m, nil
	}
	if m, err := metrics.ParseGuess(name); err == nil && strings.HasPrefix(m.Of, "edges ") {
		return m, nil
	}
	return metrics.ParseClass(name)
}

// CheckMetric fails on a name that is no metric of results.
func CheckMetric(name string) error {
	_, err := measure(name, UnitPercent)
	return err
}

// Metric sets one column.
type Metric struct {
	Measure Measure `yaml:"-"`
	Name    string  `yaml:"metric"`  // name of the metric in the program
	Printed string  `yaml:"printed"` // heading of the column in the paper; a figure or study may leave it out
	// PrintedAs names the column by words of the transcription, as in {attribute: age}. Empty: by its heading.
	PrintedAs printed.Setting `yaml:"printed_as"`
	Lists     bool            `yaml:"lists"` // true: samples get several lists as an answer
}

// Definition says what the number means.
func (m Metric) Definition() string {
	if r, ok := m.Measure.(metrics.Metric); ok && m.Lists {
		return r.ListsDefinition()
	}
	return m.Measure.Definition()
}

const (
	UnitPercent = "percent"
	UnitShare   = "share"
	UnitCount   = "count" // of data, in the unit of the statistic
)
