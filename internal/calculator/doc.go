// Package calculator computes what noisy releases cost in privacy, and how much noise a guarantee needs.
//
// A Question is a Mechanism with its numbers and choices. They have the names of command line
// flags, which errors repeat. A question is checked before anything is computed. Then the event of
// one release goes to an accountant, as often as there are releases, and the answer is a Guarantee.
// Other questions have other answers: a Noise (Calibrate), a Divergence, a Drawing (Curve) and, for
// the ledger that a run wrote, a LedgerAccount. Answers hold what was computed; a page shows each
// as text and as JSON.
package calculator
