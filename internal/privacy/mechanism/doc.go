// Package mechanism holds, with the packages in its folder, every mechanism that adds noise. A
// mechanism is a value; using it scales, samples, checks the noise and records an event in the
// run's ledger.
//
// This package has what all of them share: the bits of random choices (Bits, Draws, Odds,
// Field), the checks of what was drawn (Share, CheckAll, CheckError), and the mark that a
// ledger must have (Marked, Research). The mechanisms are in its folder, by what they protect:
//
//	channel    noise on matrices: normal and Laplace, objectives
//	edges      adjacency matrices and sums over them
//	local      values that every user perturbs alone: categories, numbers, features
//	sequence   sequences of items
//	secure     noise for data that are published: discrete laws, cryptographic bits
//
// channel, local and sequence import only this package; edges and secure also use channel.
//
// The event comes first: no value is changed here before the ledger has accepted the event of
// its release, and a ledger that is closed, failed or marked for other noise accepts none. So
// an entry may stand for noise that was never added, by a process that was killed, but every
// noise has its entry in the ledger that it was opened with. The packages cannot know of noise
// made elsewhere, of a ledger that is deleted, or of what a killed process drew after its last
// flush (see [privacy.Ledger]). Nor can they know whether the sensitivity, and with Begin the
// number of releases, that the caller states are right.
//
// The packages work on slices and know no tape, no model and no accountant, so that they can be
// used and audited on their own.
//
// # A short tour
//
// A mechanism is used in one of three ways. Local ones are a function that replaces the values
// in place (local.PerturbResponses, and local.Response.Open for a stream of rows). Those that
// add noise are opened as a channel.Channel, with a release for every matrix (channel.Open,
// then Perturb, or Begin, Row, Finish). Those that also decide what is summed are opened as a
// type of their own (channel.OpenFunctional; descent.Open, beside this package). All take a ledger and record in
// it:
//
//	mechanism                  event                      unit
//	channel.Gaussian           gaussian                   stated
//	channel.Laplace            laplace                    stated
//	channel.SphericalLaplace   spherical-laplace          stated
//	descent.DPSGD              sampled gaussian           stated: sample, user, ...
//	channel.Functional         laplace                    stated
//	edges.EdgeRand             randomized-response        edge, interaction
//	edges.LapGraph             laplace, twice             edge, interaction
//	local.Response             randomized-response        stated
//	local.Oracle               pure-ldp; GRR as Response  stated
//	local.FeatureSampler       pure-ldp                   feature
//	sequence.Mechanism         pure-ldp; RR: randomized-response, twice   cell
//	secure.DiscreteGaussian    discrete-gaussian          stated
//	descent.OpenSecret         sampled discrete-gaussian  stated: sample, user, ...
//
// Sensitivity is the distance of neighbours under the stated relation. A mechanism that
// computes it (DPSGD) has it in its event; where the caller states it (Gaussian, Laplace,
// SphericalLaplace, Functional), the caller must be right. A sum of vectors clipped with
// channel.Clip moves by the bound if a unit is added, and by twice the bound if one is replaced.
//
// # Keys
//
// Noise is keyed: a value depends only on the stream that the mechanism was given and on its
// key, not on what was drawn before. Several goroutines may perturb rows at once, and the bytes
// stay the same. Two mechanisms with one stream draw the same noise, so the caller must give
// every purpose and every setting a stream of its own.
//
// # Checks
//
// The checks look at what was really added, after minus before, not at what the sampler meant
// to add: count, mean, scale and values left unchanged. A correct sampler fails the checks of
// one mechanism, however many, with at most the probability of its Share, and those of a run
// whose shares add up to 1 with at most 1e-9. Each call of a local mechanism spends its share
// again. A channel spends it once over all processes of a run, through State and Restore;
// without them each process spends it again and checks only its own noise. A failed check is a
// *CheckError, after which the run must never continue: see Final.
//
// Proportion, Bounded and Drift count and sum outputs, each with the tail bound (Bernstein,
// Hoeffding, Freedman) that its limits come from.
//
// # Research and secure noise
//
// The mark of a ledger says which noise a run had. Mechanisms that take a stream sample from a
// seed, most in floating point, and need a ledger marked research. That is not for data that
// are published: anyone with the seed can compute the noise, and then the protected data. See
// package secure, also for what the finite precision of a sampler reveals.
//
// These have a secure form, which needs a ledger marked secure:
//
//   - secure.OpenGaussian, for numbers;
//   - descent.OpenSecret and descent.OpenSecretRows, for descent.DPSGD: they draw batches too;
//   - local.PerturbResponses and sequence.Perturb with the Bits of Secret,
//     for categories and sequences.
//
// The others have none. local.FeatureSampler compares floating point numbers; edges.EdgeRand is exact but keyed;
// edges.LapGraph, channel.SphericalLaplace and channel.Functional add noise in floating point.
//
// Bits are the source of random bits of the mechanisms over categories: Keyed (research, the
// same for any number of workers) or Secret (cryptographic, never the same twice). With either,
// every choice is one of two kinds and exact: an integer without bias, or a comparison of 128
// bits with a threshold. The threshold is rounded to the private side, so that every choice has
// an alternative at any epsilon.
package mechanism
