// Package secure adds noise to data that leaves the house: discrete laws on a grid,
// sampled exactly from cryptographic bits.
//
// Noise from a seed in floating point, as of package channel, is for research: the seed
// gives the noise away, and besides, a sampler of finite precision has a finite support,
// so that x + noise tells which x has bits that explain it. Against the sampler of
// package channel, a release of two doubles of which one depends on the data tells 0
// from 1 in 94% of cases at a standard deviation of 1.1, 4 and 20 alike, and is never
// wrong (see the tests).
//
// The secure channels clamp values to a stated bound, round
// them to a grid of a power of two and add a discrete law (Canonne, Kamath, Steinke
// 2020), sampled exactly by integer arithmetic on cryptographic bits. Which numbers
// can come out depends on the statement of the mechanism alone: the grid is such
// that all of them are exact in the data's type. The rounding is part of the
// sensitivity that the event states, and the noise is widened by as much. Clamping
// before the noise moves no two data sets apart, and clamping after it, out where
// one value in 1e31 comes, sees nothing but the output: neither costs privacy. A
// value that is not finite ends the channel.
//
// OpenGaussian and OpenLaplace take no seed and want a ledger marked secure, and no
// checkpoint brings their noise back. OpenKeyedGaussian and OpenKeyedLaplace are the
// same mechanisms on keyed bits, for research. All return a channel.Channel, which is
// used as any other.
//
// The parts can be used alone: the laws (DiscreteGaussianLaw, DiscreteLaplaceLaw), their
// samplers, and BernoulliExp, a coin of probability exp(-a/b).
//
// What is not covered: the time that an exact sample takes depends on it; a
// sensitivity that was derived for real numbers may be too small for sums in
// floating point (Casacuberta et al., "Widespread underestimation of sensitivity
// in differentially private libraries and how to fix it", CCS 2022), which is for
// the caller to add.
package secure
