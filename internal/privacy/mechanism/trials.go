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

// drift sums differences that have mean zero given all before them, each at most
// b from zero, of a total variance known to be at most v.
type drift struct {
	what string
	n    int64
	sum  float64
	v, b float64
}

func (c *drift) expect(variance float64) { c.v += variance }

func (c *drift) add(v float64) {
	c.n++
	c.sum += v
}

// check fails beyond sqrt(2 v x) + 2 b x/3, which happens with probability at
// most exp(-x) on each side (Freedman, Annals of Probability 1975, theorem 1.6).
func (c *drift) check(purpose string, x float64) error {
	r := math.Sqrt(2*c.v*x) + 2*c.b*x/3
	if !(math.Abs(c.sum) <= r) {
		return &CheckError{purpose, c.what, c.sum, -r, r, c.n, ""}
	}
	return nil
}

// checker is one check of two tails.
type checker = interface {
	check(purpose string, x float64) error
}

// checkAll runs checks of two tails each so that a right sampler fails any of
// them with at most the probability of its share.
func checkAll(purpose string, share Share, checks ...checker) error {
	x := math.Log(2 * float64(len(checks)) / share.falseAlarm())
	for _, c := range checks {
		if err := c.check(purpose, x); err != nil {
			return err
		}
	}
	return nil
}
