// Package calculator answers what noisy releases cost in privacy, and how much noise a
// guarantee needs.
//
// A Question is a Mechanism with its numbers and choices, by the names that they have on a
// command line, which errors repeat. It is checked before anything is computed. The event
// that a release of the mechanism is goes to an accountant, as often as there are releases;
// an Answer says what that amounts to, as text and as JSON. A Question can also be turned
// around (Calibrate), asked for a Rényi divergence (Divergence), drawn (Curve), and asked
// of the ledger that a run wrote (Ledger).
package calculator
