// Package printed reads the transcription of the papers: every number that their tables print,
// the settings of their figures, and the numbers in their sentences. It reads published results
// of other works from the same form, as a reference.
//
// A file is one paper (File). Its blocks are tables and figures (Block), a row of a block is one
// method on one data set under one setting (Row), and a column is a metric (Metric). Numbers
// keep the digits that were printed, since 2.20 says more than 2.2 (Number). Values flattens a
// paper to a list of single numbers, each with all that belongs to it (Value).
//
// A file holds facts as printed, right or wrong. What is wrong with them is the matter of
// package lint.
package printed
