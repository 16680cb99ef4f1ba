// Package privacy is the vocabulary of differential privacy in this program:
// what was released (Event), about whom (Unit), between which data sets
// (Neighbouring), with what promise (Budget), and the list of it all (Ledger).
// It draws no noise and computes no epsilon.
//
// Mechanisms (package mechanism) scale, sample, check themselves and record an
// event; accountants (package accountant) read events. The two know this package
// and not each other: a number that an accountant prints comes from what was
// recorded, and mechanisms record before they change a value. Anybody may record
// more, such as what is not protected; nothing takes an entry back.
//
// What is not protected is an event too: Unprotected says what and why, and
// makes the epsilon of every account that reads it infinite.
package privacy
