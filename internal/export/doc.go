// Package export writes the model of a finished run for other programs: its vectors, the lists of all users, the
// scores of items. Files are in forms that other programs read, and appear whole or not at all. Beside them stands
// what the account of the run covers of them (About), and warnings say what a guarantee does not cover and where
// noise was seeded.
package export
