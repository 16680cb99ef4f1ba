// Package record keeps what finished runs measured, as small files that live as long as the
// pages that print the numbers. Run directories are large and are deleted; a record has what
// a reader needs to judge a number and to make it again: the task, the hash of the
// configuration and the file it came from, the seed, the hash and level of the data, metrics
// beside floors, the epsilon claimed and accounted, epochs, program, machine and time.
//
// A file of docs/results/records holds the records of one page. A record has a name, and is of
// one of two kinds. Runs holds finished runs that differ by their seeds alone. Measured
// holds numbers of a program of its own, such as a benchmark or the counts of a data set.
//
// A Field names one number of a record. Value finds it: over several runs it is the mean, with
// the standard deviation. The test of this package fills the pages of docs from records, and
// compares.
package record
