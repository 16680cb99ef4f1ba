// Package mechanism holds every mechanism that adds noise. A mechanism is a
// value; using it scales, samples, checks what it did and records an event in
// the run's ledger.
//
// The event comes first: no value is changed here before the ledger took the
// event of the release that it belongs to, and a ledger that is closed, failed or
// promises secure noise takes none. So an entry may stand for noise that was
// never added, by a process that died, and noise from here is never without an
// entry of the ledger it was opened with. The package cannot know of noise made
// elsewhere, of a ledger that is thrown away, of what a killed process drew since
// its last flush (see [privacy.Ledger]), nor whether the sensitivity, and with
// Begin the number of releases, that the caller states are right.
//
// It works on slices and knows no tape, no model and no accountant, so that it
// can be used and audited alone.
//
// # A short tour
//
// A mechanism is used in one of three ways. Local ones are a function that replaces
// the values in place (PerturbResponses, and Response.Open for a stream of rows);
// those that add noise are opened as a Channel, with a release for every matrix (Open,
// then Perturb, or Begin, Row, Finish); those that also decide what is summed are opened
// as something of their own (OpenDPSGD, OpenAggregation). All take a ledger, and
// record in it:
//
//	mechanism                      event                      unit
//	Gaussian                       gaussian                   stated
//	Laplace                        laplace                    stated
//	DiscreteGaussian               discrete-gaussian          stated
//	DiscreteLaplace                discrete-laplace           stated
//	DPSGD                          sampled gaussian           stated: sample, user, ...
//	Aggregation                    gaussian                   edge, interaction, user
//	Functional                     laplace                    stated
//	EdgeRand                       randomized-response        edge, interaction
//	GaussianEdgeRand               gaussian                   edge, interaction
//	LapGraph                       laplace, twice             edge, interaction
//	Response                       randomized-response        stated
//	Oracle                         pure-ldp; GRR as Response  stated
//	UnaryEncoding, Piecewise       pure-ldp                   stated
//	FeatureSampler                 pure-ldp                   feature
//	Sequence                       pure-ldp; RR: randomized-response, twice   cell
//
// Sensitivity is the distance of neighbours under the stated relation. Where a
// mechanism computes it (DPSGD, Aggregation) that is in its event; where it is
// stated (Gaussian, Laplace, Functional) the caller answers for it. A sum of what
// was clipped with Clip moves by the bound if a unit is added, and by twice that
// if one is exchanged.
//
// # Keys and checks
//
// Noise is keyed: a value depends on the stream given to Open and on its key,
// never on who drew before. The key is that of the release (pass, batch, step)
// with the index of the row, or, in releases from Start, the release's key (pass,
// step), the part of the data (a sample) and the row's key within it. Rows may be
// perturbed by several goroutines at once and the bytes stay the same. A channel
// refuses to use a key twice: two values with the same noise show their
// difference in the clear. It knows its own keys only: two channels opened with
// one stream give the same noise, and it is for the caller to give every purpose
// and every setting a stream of its own.
//
// The scale of noise on float32 is the event's, rounded up to a float32: noise is never
// less than what is recorded, and above it by less than one part in 2^23.
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
// # Research and secure noise
//
// The mark of a ledger tells which noise a run had. Open, OpenLaplace and all that
// take a stream sample from a seed, most in floating point, and want a ledger marked
// research. That is not for data that leaves the house: whoever has the seed has
// the noise; besides, a sampler of finite precision has a finite support, and x +
// noise tells x to whoever asks which x has bits that explain it. Against the
// sampler here, a release of two doubles of which one depends on the data tells 0
// from 1 in 94% of cases at a standard deviation of 1.1, 4 and 20 alike, and is
// never wrong (see the tests).
//
// These have a secure form, which wants a ledger marked secure:
//
//   - OpenSecureGaussian and OpenSecureLaplace, for numbers;
//   - PerturbResponses, Report and PerturbSequences with the Bits of Secret, for
//     categories and sequences.
//
// The others have none: UnaryEncoding, Piecewise and FeatureSampler compare floating
// point numbers, EdgeRand is exact but keyed, LapGraph, Functional, Aggregation and
// DPSGD add noise in floating point.
//
// The secure channels clamp values to a stated bound, round
// them to a grid of a power of two and add a discrete law (Canonne, Kamath, Steinke
// 2020), sampled exactly by integer arithmetic on cryptographic bits. Which numbers
// can come out depends on the statement of the mechanism alone: the grid is such
// that all of them are exact in the data's type. The rounding is part of the
// sensitivity that the event states, and the noise is widened by as much. Clamping
// before the noise moves no two data sets apart, and clamping after it, out where
// one value in 1e31 comes, sees nothing but the output: neither costs privacy. A
// value that is not finite ends the channel. They take no seed, and no checkpoint
// brings their noise back. OpenDiscreteGaussian and OpenDiscreteLaplace are the same
// mechanisms on keyed bits, for research.
//
// Bits are where the mechanisms over categories take their random bits from: Keyed
// (research, the same for any number of workers) or Secret (cryptographic, never the
// same twice). With either, every choice is one of two kinds and exact: an integer
// without bias, and a comparison of 128 bits with a threshold that is rounded to the
// private side, so that no epsilon however large leaves a choice without its
// alternative.
//
// What is not covered: the time that an exact sample takes depends on it; a
// sensitivity that was derived for real numbers may be too small for sums in
// floating point (Casacuberta et al., "Widespread underestimation of sensitivity
// in differentially private libraries and how to fix it", CCS 2022), which is for
// the caller to add.
package mechanism
