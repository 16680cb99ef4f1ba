// Package enumerate answers what a mechanism's output can tell of neighbouring inputs, from its whole
// law on a small domain: the worst ratio of probabilities for each class of neighbours, and the pair
// and the output that have it. It neither samples nor estimates. The claimed epsilon stands beside it.
//
// The law is that of the code that samples: the mechanism runs once for every way in which its
// choices can come out (package audit/exact). With --odds the choices are made in rational numbers at
// e^epsilon = odds. With --epsilon they have the probabilities of the code's own thresholds, which
// are multiples of 2^-128 and so rational too.
package enumerate
