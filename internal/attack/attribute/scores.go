package attribute

import (
	"fmt"
	"math"

	"privrec/internal/metrics"
)

// Scores holds measures of how well classes were inferred. Every score is a share.
type Scores struct {
	Micro    float64 // micro-averaged F1: the share of users whose class was inferred, which is the accuracy
	Macro    float64 // mean F1 of the classes that a user has or was given
	Weighted float64 // mean F1 of the classes, weighted by their users
	Balanced float64 // mean recall of the classes that a user has: 1/classes for a guess that knows nothing
	// AUC is the area under the ROC curve of class 1 if there are two classes. Otherwise it is the mean, over the
	// classes that occur, of the area of a class against the rest. NaN if all users have one class, since no pair of
	// users can then be ordered.
	AUC float64
}

// Measure compares probabilities p (users, classes) with the users' classes. A user's guess is that of [Argmax].
// Measure fails without users, on a class out of range and on a probability that is NaN.
func Measure(p [][]float64, class []int32, classes int) (Scores, error) {
	if len(p) != len(class) || len(p) == 0 {
		return Scores{}, fmt.Errorf("attribute: %d rows of probabilities for the classes of %d users", len(p),
			len(class))
	}
	truth, guess := make([]int, len(class)), make([]int, len(class))
	for i, row := range p {
		if len(row) != classes {
			return Scores{}, fmt.Errorf("attribute: user %d has %d probabilities of %d classes", i, len(row), classes)
		}
		for c, v := range row {
			if math.IsNaN(v) {
				return Scores{}, fmt.Errorf("attribute: user %d has probability NaN of class %d", i, c)
			}
		}
		truth[i], guess[i] = int(class[i]), Argmax(row)
	}
	c, err := metrics.NewConfusion(truth, guess, classes)
	if err != nil {
		return Scores{}, fmt.Errorf("attribute: %w", err)
	}
	s := Scores{Micro: c.Accuracy(), Macro: c.MacroF1(), Weighted: c.WeightedF1(), Balanced: c.BalancedAccuracy()}
	s.AUC, err = area(p, class, classes)
	return s, err
}

// area returns Scores.AUC.
func area(p [][]float64, class []int32, classes int) (float64, error) {
	count := make([]int, classes)
	for _, c := range class {
		count[c]++
	}
	sum, n := 0.0, 0
	score, is := make([]float64, len(p)), make([]bool, len(p))
	for c := range classes {
		if classes == 2 && c == 0 || count[c] == 0 {
			continue
		}
		if count[c] == len(class) {
			return math.NaN(), nil
		}
		for i, row := range p {
			score[i], is[i] = row[c], class[i] == int32(c)
		}
		a, err := metrics.AUC(score, is)
		if err != nil {
			return 0, fmt.Errorf("attribute: class %d: %w", c, err)
		}
		sum, n = sum+a, n+1
	}
	if n == 0 { // of two classes only class 0 occurs
		return math.NaN(), nil
	}
	return sum / float64(n), nil
}

// Argmax returns the class with the highest probability, the lowest of several.
func Argmax(p []float64) int {
	best := 0
	for c, v := range p {
		if v > p[best] {
			best = c
		}
	}
	return best
}
