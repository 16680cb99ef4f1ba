package enumerate

import (
	"fmt"
	"math"
	"math/big"

	"privrec/internal/privacy/audit/exact"
	"privrec/internal/privacy/mechanism"
	"privrec/internal/run"
)

// Odds gives the e^epsilon at which a distribution is computed: by epsilon, or as a rational number.
type Odds struct {
	Ratio   string  // e^epsilon, such as 4 or 7/2; "": Epsilon
	Epsilon float64 // 0: Ratio, and 4 where that is empty too

	x         *big.Rat // nil: by epsilon
	low, high *big.Rat // e^epsilon is in between
}

// defaultRatio is the default of e^epsilon. It is a square, as unary encoding needs.
const defaultRatio = "4"

// maxEpsilon is the largest epsilon of a distribution.
const maxEpsilon = 64

// fill checks the odds and computes their bracket.
func (o *Odds) fill() error {
	switch {
	case o.Ratio != "" && o.Epsilon != 0:
		return run.Usagef("give one of the two", "--odds and --epsilon say the same thing twice")
	case o.Epsilon != 0:
		if !(o.Epsilon >= 0x1p-32 && o.Epsilon <= maxEpsilon) {
			return run.Usagef("", "--epsilon is %v, want 2^-32 to %d", o.Epsilon, maxEpsilon)
		}
		o.low, _ = mechanism.ExpBelow(o.Epsilon).Rat(nil)
		o.high = new(big.Rat).Mul(o.low,
			new(big.Rat).Add(one, new(big.Rat).SetFrac(big.NewInt(1), new(big.Int).Lsh(big.NewInt(1), 198))))
		return nil
	case o.Ratio == "":
		o.Ratio = defaultRatio
	}
	x, ok := new(big.Rat).SetString(o.Ratio)
	if !ok || len(o.Ratio) > 40 || x.Cmp(one) <= 0 {
		return run.Usagef("such as 4 or 7/2", "--odds is %q, want a rational number above 1", o.Ratio)
	}
	o.x, o.low, o.high = x, x, x
	o.Epsilon = logOf(x)
	if !(o.Epsilon <= maxEpsilon) {
		return run.Usagef("", "--odds is %q, want at most e^%d", o.Ratio, maxEpsilon)
	}
	return nil
}

// String returns the odds as a phrase.
func (o *Odds) String() string {
	if o.x != nil {
		return fmt.Sprintf("%.6g, e^epsilon = %s", o.Epsilon, o.x.RatString())
	}
	return fmt.Sprintf("%.6g", o.Epsilon)
}

// law returns a sentence about how the choices were made.
func (o *Odds) law() string {
	if o.x != nil {
		return "the sampler of this program was run once for every way in which its choices can come out, in " +
			"rational numbers, with e^epsilon rational"
	}
	return "the sampler of this program was run once for every way in which its choices can come out, in rational " +
		"numbers, with its own thresholds of 128 bits"
}

var one = big.NewRat(1, 1)

// logOf returns the logarithm of a positive rational number.
func logOf(x *big.Rat) float64 { return exact.Finding[int, int]{Worst: x}.Epsilon() }

// choices makes a sampler's choices in every possible way.
type choices struct {
	c *exact.Choices
	x *big.Rat // e^epsilon; nil: the sampler's thresholds
}

// Keep chooses between keeping and replacing.
func (e *choices) Keep(o *mechanism.Odds) bool {
	others := new(big.Rat).SetInt(new(big.Int).SetUint64(o.Others))
	switch {
	case o.Hi == 1<<63 && o.Lo == 0 && o.Others == 1: // a fair coin, whatever epsilon is
		return e.c.Below(2) == 0
	case e.x != nil:
		return e.c.Choose(e.x, others) == 0
	case o.Flat:
		return e.c.Choose(one, others) == 0
	}
	t := new(big.Int).SetUint64(o.Hi)
	t.Or(t.Lsh(t, 64), new(big.Int).SetUint64(o.Lo))
	keep := new(big.Rat).SetInt(t)
	all := new(big.Rat).SetInt(new(big.Int).Lsh(big.NewInt(1), 128))
	return e.c.Choose(keep, all.Sub(all, keep)) == 0
}

// Below chooses one of n integers.
func (e *choices) Below(n uint64) uint64 {
	return uint64(e.c.Below(int(min(n, math.MaxInt32))))
}

// Again withdraws the last choice.
func (e *choices) Again() { e.c.Again() }
