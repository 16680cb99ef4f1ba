// Package lint looks for printed numbers that cannot be right, by what is printed alone: no
// model is trained and no data are read.
//
// A rule (Rule) is a statement about tables of any paper, such as: what holds for a mean of
// users must hold for the printed mean, up to the rounding of its digits. So every comparison
// takes a printed number for the interval of all numbers that are printed like it. What a rule
// finds has a severity: an error cannot be, under the definition that the rule states; a warning
// is unlikely, or rests on an assumption that the message names; a note is worth a look.
package lint
