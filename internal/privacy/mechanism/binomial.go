package mechanism

import "math"

// proportion counts successes of independent trials, to be compared with the
// probability that they should have.
type proportion struct {
	what   string
	n, got int64
	p      float64
}

func (c *proportion) count(success bool) {
	c.n++
	if success {
		c.got++
	}
}

// check fails outside n p ± (sqrt(2 n p (1-p) x) + 2x/3), which happens with
// probability at most exp(-x) on each side (Bernstein).
func (c *proportion) check(purpose string, x float64) error {
	n := float64(c.n)
	r := math.Sqrt(2*n*c.p*(1-c.p)*x) + 2*x/3
	if d := float64(c.got) - n*c.p; math.Abs(d) > r {
		return &CheckError{purpose, c.what, float64(c.got), n*c.p - r, n*c.p + r, c.n, ""}
	}
	return nil
}

// bounded sums independent values of mean zero within an interval of a given
// width.
type bounded struct {
	what  string
	n     int64
	sum   float64
	width float64
}

func (b *bounded) add(v float64) {
	b.n++
	b.sum += v
}

// check fails beyond width sqrt(n x/2), which happens with probability at most
// exp(-x) on each side (Hoeffding).
func (b *bounded) check(purpose string, x float64) error {
	if r := b.width * math.Sqrt(float64(b.n)*x/2); !(math.Abs(b.sum) <= r) {
		return &CheckError{purpose, b.what, b.sum, -r, r, b.n, ""}
	}
	return nil
}

// checkAll runs checks of two tails each so that a right sampler fails any of
// them with at most the probability of its share.
func checkAll(purpose string, share Share, checks ...interface {
	check(string, float64) error
}) error {
	x := math.Log(2 * float64(len(checks)) / share.falseAlarm())
	for _, c := range checks {
		if err := c.check(purpose, x); err != nil {
			return err
		}
	}
	return nil
}
