package metrics

import (
	"fmt"
	"slices"
	"strings"
)

// ClassScore names a measure of predicted classes.
type ClassScore uint8

// The measures of predicted classes. Micro F1 is accuracy, where each sample has one class.
const (
	MicroF1Score ClassScore = iota
	MacroF1Score
	WeightedF1Score
	BalancedScore
	AUCScore
)

var classScores = [...]struct{ name, means string }{
	{"micro F1", "share of the test samples whose class is predicted, which is accuracy"},
	{"macro F1", "unweighted mean of F1 over classes"},
	{"weighted F1", "mean of F1 over classes, weighted by their test samples"},
	{"balanced accuracy", "mean over classes of the share of their test samples whose class is predicted"},
	{"AUC", "area under the ROC curve of a class against the others, unweighted mean over classes"},
}

// ClassScores lists the measures.
func ClassScores() []ClassScore {
	return []ClassScore{MicroF1Score, MacroF1Score, WeightedF1Score, BalancedScore, AUCScore}
}

// String returns the usual name, such as "micro F1".
func (s ClassScore) String() string { return classScores[s].name }

// ClassMetric is a measure of predicted classes for one attribute, as in "micro F1 gender".
type ClassMetric struct {
	Score ClassScore
	Of    string // the attribute
}

// String returns the name used in tables and files.
func (m ClassMetric) String() string { return m.Score.String() + " " + m.Of }

// Definition returns one line that explains the number.
func (m ClassMetric) Definition() string {
	return fmt.Sprintf("%v: %s; of %s, mean over splits", m, classScores[m.Score].means, m.Of)
}

// ParseClass returns the metric of a name such as "micro F1 gender". It fails on an unknown measure and on a name
// without an attribute.
func ParseClass(name string) (ClassMetric, error) {
	var names []string
	for i, s := range classScores {
		if of, ok := strings.CutPrefix(name, s.name+" "); ok && of != "" {
			return ClassMetric{ClassScore(i), of}, nil
		}
		names = append(names, s.name)
	}
	slices.Sort(names)
	return ClassMetric{}, fmt.Errorf("metric %q: want one of %s, and what is predicted, such as micro F1 gender", name,
		strings.Join(names, ", "))
}
