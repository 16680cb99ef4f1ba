// Package results sets finished runs beside what a paper prints: it makes the cells, tables, figures and verdicts on
// claims of a grid.
//
// A table holds nothing that differs between two runs with equal results: no time and no machine. So a table made after
// any number of kills has the same bytes as one made without interruption. A file beside it says what the runs took.
package results
