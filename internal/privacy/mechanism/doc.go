// Package mechanism holds every mechanism that adds noise. A mechanism is a
// value; using it scales, samples, checks what it did and records an event in
// the run's ledger. There is no way to get noise without a ledger entry: the
// samplers are not exported.
//
// It works on slices and knows no tape, no model and no accountant, so that it
// can be used and audited alone.
//
// Noise is keyed: a value depends on the stream given to Open, on the key given
// to Begin (epoch, step) and on its row, never on who drew before. Rows may be
// perturbed by several goroutines at once and the bytes stay the same.
//
// The check looks at what was really added, after minus before, not at what the
// sampler meant to add: count, mean, scale and values left unchanged. A right
// sampler fails it in at most one run of 1e9; see check.go. A failed check is a
// *CheckError and must end the run.
//
// The samplers here are for research: they are seeded and in floating point. A
// ledger marked secure refuses them.
package mechanism
