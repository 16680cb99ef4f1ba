// Package review makes a page of two sheets about what was released, for those who decide and do not
// know differential privacy: whose data a guarantee is about, what its numbers are, what no noise covers, what an
// attacker gains at most, and what to ask those who trained the model.
//
// A Review is made of a file of events (Events), of the ledger of a run (Ledger), or of a run directory
// (Run), whatever its account says. The page has its answers within the first screen of a telephone, loads
// nothing from elsewhere and prints on two sheets of A4. Equal reviews have equal bytes.
package review
