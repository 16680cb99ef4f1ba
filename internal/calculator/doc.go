// Package calculator answers what noisy releases cost in privacy, and how much noise a
// guarantee needs.
//
// A Question is a Mechanism with its numbers and choices, by the names that they have on a
// command line, which errors repeat. It is checked before anything is computed. The event
// that a release of the mechanism is goes to an accountant, as often as there are releases,
// and the answer is a Guarantee. Other questions are answered by a Noise (Calibrate), a
// Divergence, a Drawing (Curve) and, of the ledger that a run wrote, a LedgerAccount.
// Answers hold what was computed; a page shows each as text and as JSON.
package calculator
