package metrics

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// Guessing holds how well the highest scores hit rare positives.
type Guessing struct {
	// Area is the average precision: the sum over thresholds of the gain in recall times the precision there
	// (scikit-learn's average_precision_score).
	Area              float64
	AUC               float64   // that of DetectAUC
	Precision, Recall []float64 // by budget
}

// Guess returns the measures of guesses from scores that count weight(i) times each. A budget is a multiple of the
// number of positives, in the same weights, above 0. That many scores are guessed to be positive, the highest first;
// among equal ones the mean over their orders counts. ok is false if the weights leave a class without any.
func (r *ROC) Guess(weight func(i int32) float64, budgets []float64) (g Guessing, ok bool) {
	var positives, all float64
	for i, p := range r.positive {
		w := weight(int32(i))
		if all += w; p {
			positives += w
		}
	}
	if positives == 0 || positives == all {
		return g, false
	}
	g.Precision, g.Recall = make([]float64, len(budgets)), make([]float64, len(budgets))
	left, right := make([]float64, len(budgets)), make([]float64, len(budgets))
	for k, b := range budgets {
		left[k] = min(b*positives, all)
	}
	var hits, guessed float64
	r.ties(weight, func(p, n float64) {
		g.AUC += n * (hits + p/2)
		hits, guessed = hits+p, guessed+p+n
		g.Area += p / positives * hits / guessed
		for k := range budgets {
			if take := min(left[k], p+n); take > 0 {
				right[k] += take * p / (p + n)
				left[k] -= take
			}
		}
	})
	g.AUC, g.Area = min(g.AUC/(positives*(all-positives)), 1), min(g.Area, 1) // sums may round above 1
	for k, b := range budgets {
		g.Precision[k], g.Recall[k] = right[k]/min(b*positives, all), right[k]/positives
	}
	return g, true
}

// GuessScore names a measure of guesses.
type GuessScore uint8

// The measures of guesses.
const (
	AveragePrecision GuessScore = iota
	GuessPrecision
	GuessRecall
)

var guessScores = [...]struct{ name, means string }{
	{"AP", "area under precision and recall: the sum over thresholds of what each adds to the recall, times the " +
		"precision there"},
	{"precision", "share of positives among the guesses, the highest scores; of equal ones the mean"},
	{"recall", "share of the positives that are among the guesses, the highest scores; of equal ones the mean"},
}

// GuessMetric is a measure of guesses of something rare, as in "AP edges" or "precision at 4x edges", which makes Times
// as many guesses as there are positives.
type GuessMetric struct {
	Score GuessScore
	Times float64 // 0 for AveragePrecision
	Of    string
}

// String returns the name used in tables and files.
func (m GuessMetric) String() string { return m.Short() + " " + m.Of }

// Short returns the name without what is guessed.
func (m GuessMetric) Short() string {
	if m.Score == AveragePrecision {
		return guessScores[m.Score].name
	}
	return fmt.Sprintf("%s at %sx", guessScores[m.Score].name, strconv.FormatFloat(m.Times, 'g', -1, 64))
}

// Definition returns one line that explains the number.
func (m GuessMetric) Definition() string {
	d := fmt.Sprintf("%v: %s; positives: %s", m, guessScores[m.Score].means, m.Of)
	if m.Score != AveragePrecision {
		d += fmt.Sprintf("; %gx as many guesses as there are positives", m.Times)
	}
	return d
}

// ParseGuess returns the metric of a name such as "precision at 4x edges". It fails on an unknown measure, on an
// invalid number of guesses, and on a name that does not say what is guessed.
func ParseGuess(name string) (GuessMetric, error) {
	bad := fmt.Errorf("metric %q: want AP, precision at NUMBERx or recall at NUMBERx, and what is guessed, such as "+
		"AP edges", name)
	for i, s := range guessScores {
		rest, ok := strings.CutPrefix(name, s.name+" ")
		if !ok {
			continue
		}
		m := GuessMetric{Score: GuessScore(i), Of: rest}
		if m.Score != AveragePrecision {
			at, ok := strings.CutPrefix(rest, "at ")
			times, of, found := strings.Cut(at, "x ")
			v, err := strconv.ParseFloat(times, 64)
			if !ok || !found || err != nil || !(v > 0) || math.IsInf(v, 1) {
				return m, bad
			}
			m.Times, m.Of = v, of
		}
		if m.Of == "" {
			return m, bad
		}
		return m, nil
	}
	return GuessMetric{}, bad
}

// String returns the usual name, such as "precision".
func (s GuessScore) String() string { return guessScores[s].name }
