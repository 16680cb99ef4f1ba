// Package exact finds the output law of a discrete mechanism on a small domain in rational numbers,
// and with it the worst ratio of probabilities over pairs of neighbours. What it finds is a fact
// about the code, not an estimate: it neither samples nor rounds.
//
// A mechanism is a function of an input and of a [Choices] that makes its random choices.
// [Enumerate] runs it once for every way in which the choices can come out and adds up the weights.
// If a sampler asks its source of randomness for choices, such as "keep it with these odds" or "one
// of n", a Choices can replace the source. The law is then that of the sampler that really runs,
// with its rejections (see [Choices.Again]). A second copy of a mechanism that is written only to
// be verified proves nothing about the first.
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
// A claim is a bound on the ratio: e^epsilon, for an epsilon such that this is a rational number x.
// A mechanism with probabilities that are rational functions of x is verified only for that x.
// Since code does not look at the value of x, three values convince a reader, but they are no proof
// for all.
package exact
