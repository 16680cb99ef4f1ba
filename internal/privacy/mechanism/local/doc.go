// Package local has mechanisms of local differential privacy: users perturb their own values, and
// the collector of the results need not be trusted.
//
//	value                 mechanism       output
//	a category            Response        a category, often the same one
//	a category            Oracle          a report, from many of which shares are estimated
//	a category            UnaryEncoding   a vector of bits
//	a number in [-1, 1]   Piecewise       a number in [-C, C], unbiased
//	a vector of features  FeatureSampler  some of the features, perturbed by the two above
//
// PerturbResponses and PerturbFeatures take the values of many users, and Response.Open and
// FeatureSampler.Open a stream of rows. Values are of disjoint users, so a call is one release,
// recorded once, before a value is changed. A call fails on values outside a mechanism's
// domain before it records anything.
//
// With Keyed bits, or a stream, value i depends only on the stream and on i. Response
// and Oracle choose exactly, by integer comparisons on mechanism.Bits, and have a secure
// form with the bits of mechanism.Secret. So have features: DrawFeatures and FeatureSampler.Open
// put numbers on a grid of 2^-20 and choose exactly. PerturbFeatures compares floating point numbers
// and is for research.
//
// The formulas of the mechanisms are exported too (Keep, P, Q, Density,
// FrequencyVariance), so that a forecast needs no sampling.
package local
