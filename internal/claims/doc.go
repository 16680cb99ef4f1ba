// Package claims tests the sentences of a paper against results: it says which hold, which do not, and which are
// open, with a test for each and a correction for their number.
//
// A claim is a list of parts, and all of them must hold. A part states differences: sums of
// results that are above 0 if it is true. A difference is tested from the scores of users,
// paired, where the runs keep them; else over seeds, by exact signed ranks, whose p has a floor
// of one in 2^n for n seeds. Where there are scores of users and three seeds, Student's 95 %
// interval over seeds must lie on the same side too: another training must not turn it.
//
// A paper's differences are one family. Holm's correction (1979) runs over both directions of
// all of them, whether they were tested or not, so that under any dependence the probability of
// one false "holds" or "does not hold" in a whole paper is at most 5 %, and a verdict does not
// weaken as further runs finish. For that probability a claim without two sides (a step of a
// rise, which must not fall) counts its lower side alone, and such a side never speaks for a
// claim by itself.
//
// A part about privacy is compared, not tested: the accounted epsilon of the runs, with what
// they leave open, against the one that is claimed.
//
// The package knows lines of numbers and no runs; package reproduce hands them in.
package claims
