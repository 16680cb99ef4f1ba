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
// Open and OpenLaplace sample in floating point from a seeded stream. That is for
// research: a sampler of finite precision has a finite support, and x + noise tells
// x to whoever asks which x has bits that explain it. Against the sampler here, a
// release of two doubles of which one depends on the data tells 0 from 1 in 94% of
// cases at a standard deviation of 1.1, 4 and 20 alike, and is never wrong (see the
// tests); besides, whoever has the seed has the noise. A ledger marked secure
// refuses these samplers.
//
// OpenSecureGaussian and OpenSecureLaplace clamp values to a stated bound, round
// them to a grid of a power of two and add a discrete law (Canonne, Kamath, Steinke
// 2020), sampled exactly by integer arithmetic on cryptographic bits. Which numbers
// can come out depends on the statement of the mechanism alone: the grid is such
// that all of them are exact in the data's type. The rounding is part of the
// sensitivity that the event states, and the noise is widened by as much. Clamping
// before the noise moves no two data sets apart, and clamping after it, out where
// one value in 1e31 comes, sees nothing but the output: neither costs privacy. A
// value that is not finite ends the channel. These constructors take no seed, no
// checkpoint brings their noise back, and they want a ledger marked secure, so that
// the mark of a ledger tells which noise a run had. OpenDiscreteGaussian and
// OpenDiscreteLaplace are the same mechanisms on keyed bits, for research.
//
// What is not covered: the time that an exact sample takes depends on it; a
// sensitivity that was derived for real numbers may be too small for sums in
// floating point (Casacuberta et al., "Widespread underestimation of sensitivity
// in differentially private libraries and how to fix it", CCS 2022), which is for
// the caller to add.
package mechanism
