// Package mechanism and the rooms beneath it hold every mechanism that adds noise. A
// mechanism is a value; using it scales, samples, checks what it did and records an
// event in the run's ledger.
//
// This package is what all of them are made of: the bits that choices are drawn from
// (Bits, Draws, Odds, Field), the checks of what was drawn (Share, CheckAll,
// CheckError), and the mark that a ledger must have (Marked, Research). The mechanisms
// lie beneath it, by what they are put to:
//
//	channel    noise on matrices: normal and Laplace, DP-SGD, objectives
//	edges      adjacency matrices and sums over them
//	local      values that every user perturbs alone: categories, numbers, features
//	sequence   sequences of items
//	secure     noise for data that leaves the house: discrete laws, cryptographic bits
//
// channel, local and sequence know this package only; edges and secure open channels.
//
// The event comes first: no value is changed here before the ledger took the
// event of the release that it belongs to, and a ledger that is closed, failed or
// promises other noise takes none. So an entry may stand for noise that was
// never added, by a process that died, and noise from here is never without an
// entry of the ledger it was opened with. The packages cannot know of noise made
// elsewhere, of a ledger that is thrown away, of what a killed process drew since
// its last flush (see [privacy.Ledger]), nor whether the sensitivity, and with
// Begin the number of releases, that the caller states are right.
//
// They work on slices and know no tape, no model and no accountant, so that they
// can be used and audited alone.
//
// # A short tour
//
// A mechanism is used in one of three ways. Local ones are a function that replaces
// the values in place (local.PerturbResponses, and local.Response.Open for a stream of
// rows); those that add noise are opened as a channel.Channel, with a release for every
// matrix (channel.Open, then Perturb, or Begin, Row, Finish); those that also decide what
// is summed are opened as something of their own (channel.OpenDPSGD,
// edges.OpenAggregation). All take a ledger, and record in it:
//
//	mechanism                  event                      unit
//	channel.Gaussian           gaussian                   stated
//	channel.Laplace            laplace                    stated
//	channel.DPSGD              sampled gaussian           stated: sample, user, ...
//	channel.Functional         laplace                    stated
//	edges.Aggregation          gaussian                   edge, interaction, user
//	edges.EdgeRand             randomized-response        edge, interaction
//	edges.GaussianEdgeRand     gaussian                   edge, interaction
//	edges.LapGraph             laplace, twice             edge, interaction
//	local.Response             randomized-response        stated
//	local.Oracle               pure-ldp; GRR as Response  stated
//	local.UnaryEncoding        pure-ldp                   stated
//	local.Piecewise            pure-ldp                   stated
//	local.FeatureSampler       pure-ldp                   feature
//	sequence.Mechanism         pure-ldp; RR: randomized-response, twice   cell
//	secure.DiscreteGaussian    discrete-gaussian          stated
//	secure.DiscreteLaplace     discrete-laplace           stated
//
// Sensitivity is the distance of neighbours under the stated relation. Where a
// mechanism computes it (DPSGD, Aggregation) that is in its event; where it is
// stated (Gaussian, Laplace, Functional) the caller answers for it. A sum of what
// was clipped with channel.Clip moves by the bound if a unit is added, and by twice that
// if one is exchanged.
//
// # Keys
//
// Noise is keyed: a value depends on the stream that the mechanism was given and on its
// key, never on who drew before. Rows may be perturbed by several goroutines at once
// and the bytes stay the same. Two mechanisms with one stream draw the same noise, and
// it is for the caller to give every purpose and every setting a stream of its own.
//
// # Checks
//
// The check looks at what was really added, after minus before, not at what the
// sampler meant to add: count, mean, scale and values left unchanged. A right
// sampler fails the checks of one mechanism, however many they are, with at most
// the probability of its Share, and those of a run whose shares add up to 1 with
// at most 1e-9. Each call of a local mechanism spends its share anew; a channel
// spends it once, through State and Restore over all processes of a run; without
// them each process spends it anew and checks its own noise only. A failed check
// is a *CheckError and must end the run for good: see Final.
//
// Proportion, Bounded and Drift count and sum what came out, each with the tail bound
// (Bernstein, Hoeffding, Freedman) that its band is from.
//
// # Research and secure noise
//
// The mark of a ledger tells which noise a run had. All that take a stream sample from
// a seed, most in floating point, and want a ledger marked research. That is not for
// data that leaves the house: with the seed comes the noise, and what it is about; see
// package secure, also for what the finite precision of a sampler gives away.
//
// These have a secure form, which wants a ledger marked secure:
//
//   - secure.OpenGaussian and secure.OpenLaplace, for numbers;
//   - local.PerturbResponses, local.Report and sequence.Perturb with the Bits of Secret,
//     for categories and sequences.
//
// The others have none: local.UnaryEncoding, local.Piecewise and local.FeatureSampler
// compare floating point numbers, edges.EdgeRand is exact but keyed, edges.LapGraph,
// edges.Aggregation, channel.Functional and channel.DPSGD add noise in floating point.
//
// Bits are where the mechanisms over categories take their random bits from: Keyed
// (research, the same for any number of workers) or Secret (cryptographic, never the
// same twice). With either, every choice is one of two kinds and exact: an integer
// without bias, and a comparison of 128 bits with a threshold that is rounded to the
// private side, so that no epsilon however large leaves a choice without its
// alternative.
package mechanism
