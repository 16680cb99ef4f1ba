package metrics

import (
	"fmt"
	"math"
	"slices"
)

// AUC returns the area under the ROC curve: the probability that a positive scores above a negative, with ties counted
// as one half (Mann-Whitney). It fails if a class is absent, lengths differ or a score is NaN.
func AUC(scores []float64, positive []bool) (float64, error) {
	if len(scores) != len(positive) {
		return 0, fmt.Errorf("AUC: %d scores for %d labels", len(scores), len(positive))
	}
	order := make([]int, len(scores))
	pos := 0
	for i, s := range scores {
		if math.IsNaN(s) {
			return 0, fmt.Errorf("AUC: score %d is NaN", i)
		}
		order[i] = i
		if positive[i] {
			pos++
		}
	}
	neg := len(scores) - pos
	if pos == 0 || neg == 0 {
		return 0, fmt.Errorf("AUC: needs both classes, got %d positives and %d negatives", pos, neg)
	}
	slices.SortFunc(order, func(a, b int) int {
		switch {
		case scores[a] < scores[b]:
			return -1
		case scores[a] > scores[b]:
			return 1
		}
		return 0
	})
	// Sum of the mid-ranks of the positives: a run of equal scores shares its average rank.
	rankSum := 0.0
	for lo := 0; lo < len(order); {
		hi := lo + 1
		for hi < len(order) && scores[order[hi]] == scores[order[lo]] {
			hi++
		}
		mid := float64(lo+hi+1) / 2 // ranks lo+1..hi
		for _, i := range order[lo:hi] {
			if positive[i] {
				rankSum += mid
			}
		}
		lo = hi
	}
	p := float64(pos)
	return (rankSum - p*(p+1)/2) / (p * float64(neg)), nil
}

// Confusion counts decisions by true class (row) and predicted class (column), classes 0..n-1.
type Confusion struct{ Count [][]int64 }

// NewConfusion returns the counts of the pairs of truth and prediction. It fails if lengths differ or a class is
// outside 0..classes-1.
func NewConfusion(truth, predicted []int, classes int) (Confusion, error) {
	if len(truth) != len(predicted) {
		return Confusion{}, fmt.Errorf("confusion: %d labels for %d predictions", len(truth), len(predicted))
	}
	c := Confusion{Count: make([][]int64, classes)}
	for i := range c.Count {
		c.Count[i] = make([]int64, classes)
	}
	for i, t := range truth {
		p := predicted[i]
		if t < 0 || t >= classes || p < 0 || p >= classes {
			return Confusion{}, fmt.Errorf("confusion: sample %d has class %d, predicted %d, of %d classes", i, t, p,
				classes)
		}
		c.Count[t][p]++
	}
	return c, nil
}

// Accuracy returns the share of right decisions, which is also the micro-averaged F1, and 0 without samples.
func (c Confusion) Accuracy() float64 {
	right, all := int64(0), int64(0)
	for i, row := range c.Count {
		right += row[i]
		for _, n := range row {
			all += n
		}
	}
	return ratio(right, all)
}

// F1 returns the harmonic mean of precision and recall of one class. It returns 0 when the class is neither
// true nor predicted in any sample, as scikit-learn's zero_division=0 does.
func (c Confusion) F1(class int) float64 {
	predicted, truth := c.margins(class)
	return ratio(2*c.Count[class][class], predicted+truth)
}

// MacroF1 returns the unweighted mean of F1 over the classes that are true or predicted in some sample, as scikit-learn
// does, and 0 without samples.
func (c Confusion) MacroF1() float64 {
	sum, n := 0.0, 0
	for class := range c.Count {
		predicted, truth := c.margins(class)
		if predicted+truth > 0 {
			sum, n = sum+c.F1(class), n+1
		}
	}
	return sum / float64(max(1, n))
}

// WeightedF1 returns the mean of F1 over the classes, weighted by their true samples, and 0 without samples.
func (c Confusion) WeightedF1() float64 {
	sum, all := 0.0, int64(0)
	for class := range c.Count {
		_, truth := c.margins(class)
		sum, all = sum+c.F1(class)*float64(truth), all+truth
	}
	return sum / float64(max(1, all))
}

// BalancedAccuracy returns the mean of the recall over the classes with true samples, and 0 without samples.
func (c Confusion) BalancedAccuracy() float64 {
	sum, n := 0.0, 0
	for class, row := range c.Count {
		if _, truth := c.margins(class); truth > 0 {
			sum, n = sum+ratio(row[class], truth), n+1
		}
	}
	return sum / float64(max(1, n))
}

// margins returns how many samples are predicted as a class and how many truly have it.
func (c Confusion) margins(class int) (predicted, truth int64) {
	for i := range c.Count {
		predicted += c.Count[i][class]
		truth += c.Count[class][i]
	}
	return predicted, truth
}

func ratio(a, b int64) float64 {
	if b == 0 {
		return 0
	}
	return float64(a) / float64(b)
}
