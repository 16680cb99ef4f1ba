// Package secure adds noise to data that are published: discrete laws on a grid, sampled
// exactly from cryptographic bits.
//
// Noise from a seed in floating point, as in package channel, is only for research. Anyone with
// the seed can compute the noise. Besides, a sampler of finite precision has a finite support,
// so x + noise shows which x has bits that can produce it. Take a release of two float64
// values, of which one depends on the data, from the sampler of package channel. An attacker
// tells 0 from 1 in 94% of cases, for standard deviations of 1.1, 4 and 20 alike, and is never
// wrong (see the tests).
//
// The secure channels clamp values to a stated bound, round them to a grid of a power of two
// and add a discrete law (Canonne, Kamath, Steinke 2020), sampled exactly by integer arithmetic
// on cryptographic bits. The possible outputs depend only on the statement of the mechanism:
// the grid is such that the data's type holds all of them exactly. Rounding is part of the
// sensitivity that the event states, and the noise is widened accordingly. Clamping before the
// noise moves no two data sets apart. Clamping after the noise, where one value in 1e31 comes,
// uses only the output. So neither costs privacy. A value that is not finite ends the channel.
//
// OpenGaussian takes no seed and needs a ledger marked secure, and no checkpoint can repeat its
// noise. It returns a channel.Channel, which is used like any other. The law (DiscreteGaussianLaw)
// and its sampler can be used on their own.
//
// Two things are not covered. The time that an exact sample takes depends on the sample. And a
// sensitivity derived for real numbers may be too small for sums in floating point (Casacuberta
// et al., "Widespread underestimation of sensitivity in differentially private libraries and
// how to fix it", CCS 2022); the caller must add the difference.
package secure
