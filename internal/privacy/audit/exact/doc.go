// Package exact finds the output law of a discrete mechanism on a small domain in
// rational numbers, and with it the worst ratio of probabilities over pairs of
// neighbours. What it finds is a fact about the code, not an estimate: neither
// sampling nor rounding is in it.
//
// A mechanism is a function of an input and of a [Choices] that makes its random
// choices. [Enumerate] runs it once for every way in which the choices can come out
// and adds up the weights. Where a sampler asks its source of randomness for
// choices, such as "keep it with these odds" or "one of n", the source can be
// replaced by a Choices, and the law is that of the sampler that runs in earnest,
// rejections included (see [Choices.Again]). A model that is written down a second
// time to be verified proves nothing about the first.
//
//	response := func(in int, c *exact.Choices) int {
//		if c.Choose(x, others) == 0 { // kept, with odds x to others
//			return in
//		}
//		return (in + 1 + c.Below(2)) % 3
//	}
//	report, err := exact.Verify(response, []exact.Class[int]{{
//		Name: "any two", Pairs: exact.Pairs([]int{0, 1, 2}), Claim: x,
//	}}, exact.Limits{})
//
// A claim is a bound on the ratio: e^epsilon, for an epsilon chosen so that this
// is a rational number x. A mechanism whose probabilities are rational functions
// of x is verified for the x at hand; since code does not look at the
// value of x, three values of it are as good as all, to a reader, though not to a
// proof.
package exact
