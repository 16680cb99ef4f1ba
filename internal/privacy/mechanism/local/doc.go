// Package local holds mechanisms of local differential privacy: every value is
// perturbed alone, by the user it is of, and what is collected needs no trust.
//
//	value                 mechanism       what comes out
//	a category            Response        a category, mostly the same one
//	a category            Oracle          a report; Frequencies of many estimates shares
//	a category            UnaryEncoding   a vector of bits
//	a number in [-1, 1]   Piecewise       a number in [-C, C], unbiased
//	a vector of features  FeatureSampler  some of the features, perturbed by the two above
//
// Each is a function over the values of many users (PerturbResponses, Report,
// PerturbUnary, PerturbPiecewise, PerturbFeatures), or, for a stream of rows,
// Response.Open. Values are of disjoint users, so a call is one release, recorded once,
// before a value is changed. Values outside a mechanism's domain are refused before
// anything is recorded.
//
// With Keyed bits, or a stream, value i depends on the stream and on i alone. Response
// and Oracle choose exactly, by integer comparisons on mechanism.Bits, and have a secure
// form with the bits of mechanism.Secret. UnaryEncoding, Piecewise and FeatureSampler
// compare floating point numbers and are for research.
//
// The formulas of the mechanisms are exported beside them (Keep, P, Q, Density,
// FrequencyVariance, and those of Duchi et al. and of the hybrid mechanism to compare
// with), so that a forecast needs no sampling.
package local
