package mechanism

import "math"

// Proportion counts successes of independent trials, to compare with the probability that they
// should have.
type Proportion struct {
	What   string  // what a trial is, for the message: "number of ones lost"
	N, Got int64   // trials, and successes among them
	P      float64 // probability of a success
}

// Count counts one trial.
func (c *Proportion) Count(success bool) {
	c.N++
	if success {
		c.Got++
	}
}

// Check fails outside N P ± (sqrt(2 N P (1-P) x) + 2x/3), which has probability at most exp(-x)
// on each side (Bernstein).
func (c *Proportion) Check(purpose string, x float64) error {
	n := float64(c.N)
	r := math.Sqrt(2*n*c.P*(1-c.P)*x) + 2*x/3
	if d := float64(c.Got) - n*c.P; math.Abs(d) > r {
		return &CheckError{purpose, c.What, float64(c.Got), n*c.P - r, n*c.P + r, c.N, ""}
	}
	return nil
}

// Bounded sums independent values of mean zero within an interval of a given width.
type Bounded struct {
	What  string // what the sum is, for the message
	N     int64  // values
	Sum   float64
	Width float64 // of the interval
}

// Add adds a value.
func (b *Bounded) Add(v float64) {
	b.N++
	b.Sum += v
}

// Check fails beyond Width sqrt(N x/2), which has probability at most exp(-x) on each side
// (Hoeffding).
func (b *Bounded) Check(purpose string, x float64) error {
	if r := b.Width * math.Sqrt(float64(b.N)*x/2); !(math.Abs(b.Sum) <= r) {
		return &CheckError{purpose, b.What, b.Sum, -r, r, b.N, ""}
	}
	return nil
}

// Drift sums differences of which each has mean zero given all before it.
type Drift struct {
	What string // what the sum is, for the message
	N    int64  // differences
	Sum  float64
	V    float64 // the total variance is at most V
	B    float64 // each difference is at most B from zero
}

// Expect adds the variance of one more difference.
func (c *Drift) Expect(variance float64) { c.V += variance }

// Add adds a difference.
func (c *Drift) Add(v float64) {
	c.N++
	c.Sum += v
}

// Check fails beyond sqrt(2 V x) + 2 B x/3, which has probability at most exp(-x) on each side
// (Freedman, Annals of Probability 1975, theorem 1.6).
func (c *Drift) Check(purpose string, x float64) error {
	r := math.Sqrt(2*c.V*x) + 2*c.B*x/3
	if !(math.Abs(c.Sum) <= r) {
		return &CheckError{purpose, c.What, c.Sum, -r, r, c.N, ""}
	}
	return nil
}

// Checker is a check of two tails.
type Checker = interface {
	Check(purpose string, x float64) error
}

// CheckAll runs checks of two tails each. A correct sampler fails any of them with at most the
// probability of its share.
func CheckAll(purpose string, share Share, checks ...Checker) error {
	x := math.Log(2 * float64(len(checks)) / share.FalseAlarm())
	for _, c := range checks {
		if err := c.Check(purpose, x); err != nil {
			return err
		}
	}
	return nil
}
