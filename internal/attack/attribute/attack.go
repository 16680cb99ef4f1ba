package attribute

import (
	"context"
	"fmt"
	"math"
	"strings"

	"privrec/internal/rng"
	"privrec/internal/tensor"
)

// Attacker learns to infer an attribute of users from the data that it sees of them.
type Attacker interface {
	// Name returns the attacker's name, such as "decision-tree".
	Name() string
	// Fit learns from rows x (users, columns) and their classes 0..classes-1. It draws from s only. It fails if fewer
	// than two classes occur, a class is out of range, a value is not finite or larger than 1e9 in size, or there are
	// no columns. An [*UnsuitableError] reports that this attacker cannot work on these rows.
	Fit(ctx context.Context, x tensor.Matrix, class []int32, classes int, s rng.Stream) (Guesser, error)
}

// Guesser predicts probabilities of the classes.
type Guesser interface {
	// Probabilities fills p (rows of x, classes). It fails on another number of columns than in training
	// and on such values as Fit refuses. It may be called by several goroutines at once.
	Probabilities(x tensor.Matrix, p [][]float64) error
}

// UnsuitableError reports that an attacker cannot work on the given rows, though others can.
type UnsuitableError struct{ Attacker, Reason string }

// Error implements error.
func (e *UnsuitableError) Error() string { return e.Attacker + ": " + e.Reason }

// Attackers returns all attackers in the order of results. Their names are unique.
func Attackers() []Attacker {
	return []Attacker{
		attacker{"dnn", fitNetwork},
		attacker{"decision-tree", fitTree},
		attacker{"random-forest", fitForest},
		attacker{"naive-bayes-multinomial", fitMultinomial},
		attacker{"naive-bayes-bernoulli", fitBernoulli},
		attacker{"naive-bayes-gaussian", fitGaussian},
		attacker{"knn-2", neighbours(2)},
		attacker{"knn-5", neighbours(5)},
		attacker{"gaussian-process", fitProcess},
		attacker{logisticRegression, fitLogistic},
		attacker{"majority", fitMajority},
	}
}

// ByName returns the attacker of that name.
func ByName(name string) (Attacker, error) {
	var names []string
	for _, a := range Attackers() {
		if a.Name() == name {
			return a, nil
		}
		names = append(names, a.Name())
	}
	return nil, fmt.Errorf("attribute: no attacker %q (have %s)", name, strings.Join(names, ", "))
}

// attacker checks rows and classes, then learns by fit.
type attacker struct {
	name string
	fit  func(context.Context, *training, rng.Stream) (fill, error)
}

// fill writes probabilities of the classes for checked rows.
type fill func(x tensor.Matrix, p [][]float64) error

// training holds the rows and classes that an attacker learns from.
type training struct {
	name    string // of the attacker
	x       tensor.Matrix
	class   []int32
	classes int
	count   []int   // users of a class
	present []int32 // classes with users, ascending
}

func (a attacker) Name() string { return a.name }

// Fit implements Attacker.
func (a attacker) Fit(ctx context.Context, x tensor.Matrix, class []int32, classes int, s rng.Stream) (Guesser, error) {
	t, err := newTraining(a.name, x, class, classes)
	if err != nil {
		return nil, err
	}
	f, err := a.fit(ctx, t, s)
	if err != nil {
		return nil, err
	}
	return &guesser{name: a.name, columns: x.Cols, classes: classes, fill: f}, nil
}

// newTraining checks the rows and classes for the named attacker and returns them as training.
func newTraining(name string, x tensor.Matrix, class []int32, classes int) (t *training, err error) {
	if x.Rows != len(class) {
		return nil, fmt.Errorf("%s: %d rows for %d classes of users", name, x.Rows, len(class))
	}
	if x.Cols == 0 {
		return nil, fmt.Errorf("%s: rows without columns", name)
	}
	t = &training{name: name, x: x, class: class, classes: classes}
	if t.count, t.present, err = countClasses(class, classes); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	if err := checkValues(x); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return t, nil
}

// unsuitable returns an *UnsuitableError of the attacker.
func (t *training) unsuitable(format string, args ...any) error {
	return &UnsuitableError{t.name, fmt.Sprintf(format, args...)}
}

// countClasses returns the number of users of each class and the classes that have any. It fails if those
// are fewer than two.
func countClasses(class []int32, classes int) (count []int, present []int32, err error) {
	count = make([]int, max(classes, 0))
	for i, c := range class {
		if c < 0 || int(c) >= classes {
			return nil, nil, fmt.Errorf("user %d has class %d of %d", i, c, classes)
		}
		count[c]++
	}
	for c, n := range count {
		if n > 0 {
			present = append(present, int32(c))
		}
	}
	if len(present) < 2 {
		return nil, nil, fmt.Errorf(
			"%d users have %d of %d classes: an attribute with fewer than two values cannot be inferred", len(class),
			len(present), classes)
	}
	return count, present, nil
}

// largestValue bounds the size of a value, so that squares and sums of them keep their precision.
const largestValue = 1e9

func checkValues(x tensor.Matrix) error {
	for i := range x.Rows {
		for j, v := range tensor.Row(x, i) {
			if !(math.Abs(float64(v)) <= largestValue) {
				return fmt.Errorf("row %d, column %d is %v, not a number of at most %.0e in size", i, j, v,
					largestValue)
			}
		}
	}
	return nil
}

// guesser checks rows and results, and fills in the probabilities.
type guesser struct {
	name             string
	columns, classes int
	fill             fill
}

// Probabilities implements Guesser.
func (g *guesser) Probabilities(x tensor.Matrix, p [][]float64) error {
	if x.Cols != g.columns {
		return fmt.Errorf("%s: %d columns, trained on %d", g.name, x.Cols, g.columns)
	}
	if len(p) != x.Rows {
		return fmt.Errorf("%s: %d rows of probabilities for %d rows", g.name, len(p), x.Rows)
	}
	for i, row := range p {
		if len(row) != g.classes {
			return fmt.Errorf("%s: row %d has room for %d probabilities of %d classes", g.name, i, len(row), g.classes)
		}
	}
	if err := checkValues(x); err != nil {
		return fmt.Errorf("%s: %w", g.name, err)
	}
	return g.fill(x, p)
}

// fitMajority predicts the shares of the classes in training.
func fitMajority(_ context.Context, t *training, _ rng.Stream) (fill, error) {
	return func(_ tensor.Matrix, p [][]float64) error {
		for _, row := range p {
			for c, n := range t.count {
				row[c] = float64(n) / float64(len(t.class))
			}
		}
		return nil
	}, nil
}

// softmax turns logarithms of weights into probabilities, and returns the logarithm of the sum of the weights. Some
// weights may be zero, but not all.
func softmax(p []float64) float64 {
	top := p[0]
	for _, l := range p {
		top = max(top, l)
	}
	sum := 0.0
	for c, l := range p {
		p[c] = math.Exp(l - top)
		sum += p[c]
	}
	for c := range p {
		p[c] /= sum
	}
	return top + math.Log(sum)
}
