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
// The samplers here are for research: they are seeded and in floating point. A
// ledger marked secure refuses them.
package mechanism
