package metrics

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
)

// DetectScore names a measure of scores that should be higher for positives, such as members.
type DetectScore uint8

// The measures of detection.
const (
	DetectAUC DetectScore = iota
	Advantage
	TPRAtThousandth
	TPRAtHundredth
	TPRAtTenth
	RightGuesses
)

var detectScores = [...]struct{ name, means string }{
	{"AUC", "chance that a positive scores above a negative, equal scores one half"},
	{"advantage", "largest true positive rate less false positive rate of any threshold"},
	{"TPR at 0.1% FPR", "largest true positive rate of the thresholds whose false positive rate is at most 0.001, " +
		"equal scores in random order"},
	{"TPR at 1% FPR", "largest true positive rate of the thresholds whose false positive rate is at most 0.01, equal " +
		"scores in random order"},
	{"TPR at 10% FPR", "largest true positive rate of the thresholds whose false positive rate is at most 0.1, equal " +
		"scores in random order"},
	{"right guesses", "share of positives among the guesses that the budget allows, the highest scores; of equal " +
		"ones the mean"},
}

// FalsePositiveRates holds the rates of TPRAtThousandth, TPRAtHundredth and TPRAtTenth.
var FalsePositiveRates = [3]float64{0.001, 0.01, 0.1}

// DetectScores lists the measures.
func DetectScores() []DetectScore {
	return []DetectScore{DetectAUC, Advantage, TPRAtThousandth, TPRAtHundredth, TPRAtTenth, RightGuesses}
}

// String returns the usual name, such as "AUC".
func (s DetectScore) String() string { return detectScores[s].name }

// DetectMetric is a measure of a detection together with what is detected, as in "TPR at 1% FPR members".
type DetectMetric struct {
	Score DetectScore
	Of    string
}

// String returns the name used in tables and files.
func (m DetectMetric) String() string { return m.Score.String() + " " + m.Of }

// Definition returns one line that explains the number.
func (m DetectMetric) Definition() string {
	return fmt.Sprintf("%v: %s; positives: %s", m, detectScores[m.Score].means, m.Of)
}

// ParseDetect returns the metric of a name such as "AUC members". It fails on an unknown measure and on a name that
// does not say what is detected.
func ParseDetect(name string) (DetectMetric, error) {
	var names []string
	for i, s := range detectScores {
		if of, ok := strings.CutPrefix(name, s.name+" "); ok && of != "" {
			return DetectMetric{DetectScore(i), of}, nil
		}
		names = append(names, s.name)
	}
	return DetectMetric{}, fmt.Errorf("metric %q: want one of %s, and what is detected, such as AUC members", name,
		strings.Join(names, ", "))
}

// Detection holds a value for each DetectScore, in their order. All are shares.
type Detection [6]float64

// ROC holds scores in order, so that they can be measured under many weights.
type ROC struct {
	order    []int32 // by descending score
	ends     []int32 // of runs of equal scores in order
	positive []bool
}

// NewROC returns the ordered scores. It fails if lengths differ, a class is absent or a score is NaN.
func NewROC(scores []float64, positive []bool) (*ROC, error) {
	if len(scores) != len(positive) {
		return nil, fmt.Errorf("ROC: %d scores for %d labels", len(scores), len(positive))
	}
	r := &ROC{order: make([]int32, len(scores)), positive: positive}
	n := 0
	for i, s := range scores {
		if math.IsNaN(s) {
			return nil, fmt.Errorf("ROC: score %d is NaN", i)
		}
		if r.order[i] = int32(i); positive[i] {
			n++
		}
	}
	if n == 0 || n == len(scores) {
		return nil, fmt.Errorf("ROC: needs both classes, got %d positives and %d negatives", n, len(scores)-n)
	}
	slices.SortStableFunc(r.order, func(a, b int32) int { return cmp.Compare(scores[b], scores[a]) })
	for k := range r.order {
		if k+1 == len(r.order) || scores[r.order[k+1]] != scores[r.order[k]] {
			r.ends = append(r.ends, int32(k+1))
		}
	}
	return r, nil
}

// Measure returns the measures of scores that count weight(i) times each, with a number of guesses of at least 1, in
// the same weights. ok is false if the weights leave a class without any. Equal scores come in a random order, and the
// measures are means over it: if all scores are equal, the TPR is that of a coin, the FPR itself.
func (r *ROC) Measure(weight func(i int32) float64, guesses float64) (d Detection, ok bool) {
	var positives, negatives float64
	for i, p := range r.positive {
		if p {
			positives += weight(int32(i))
		} else {
			negatives += weight(int32(i))
		}
	}
	if positives == 0 || negatives == 0 {
		return d, false
	}
	budget := min(guesses, positives+negatives)
	var tp, fp, left, right float64
	left = budget
	r.ties(weight, func(p, n float64) {
		d[DetectAUC] += n * (tp + p/2)
		if take := min(left, p+n); take > 0 {
			right += take * p / (p + n)
			left -= take
		}
		for k, at := range FalsePositiveRates {
			if free := at*negatives - fp; free >= 0 {
				share := 1.0
				if n > free {
					share = free / n
				}
				d[int(TPRAtThousandth)+k] = (tp + share*p) / positives
			}
		}
		tp, fp = tp+p, fp+n
		d[Advantage] = max(d[Advantage], tp/positives-fp/negatives)
	})
	d[DetectAUC] /= positives * negatives
	d[RightGuesses] = right / budget
	return d, true
}

// ties calls visit for each score from the highest, with the weight of the positives and of the others that have it. It
// leaves out scores without weight.
func (r *ROC) ties(weight func(i int32) float64, visit func(positives, others float64)) {
	from := int32(0)
	for _, end := range r.ends {
		var p, n float64
		for _, i := range r.order[from:end] {
			if w := weight(i); r.positive[i] {
				p += w
			} else {
				n += w
			}
		}
		if from = end; p+n > 0 {
			visit(p, n)
		}
	}
}
