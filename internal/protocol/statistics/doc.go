// Package statistics measures a data set and trains nothing: how many users, items and rows it
// has after every step of its recipe, how long sequences are, how dense it is, and how many
// values its users' features have. Tables of papers that describe data are held against it.
//
// A set is one of three kinds. One domain, of registry: an evaluation for every step, by the
// name of its rung, and one for every feature. Several domains, of registry: an evaluation for
// every domain, whose users are those of all domains. Slates, of package slate: one for the log,
// where the set has one, and one for the pairs.
//
// The numbers are exact counts of the rows. The ledger says so before they are kept.
package statistics
