// Package standin makes synthetic data in place of a real data set that is not there: in tests,
// in the demo, on a machine that may not hold it. Results on them are evidence of level D,
// wherever the files go: they show that a program works, not how well a method does.
//
// # Words
//
// A Profile holds what a stand-in is matched to: published or aggregate statistics of a real
// set (rows per user and per item at quantiles, ratings, attributes) and the strength of the
// structure that is planted (tastes, order, popularity). It holds no row of a real set.
// Profile.Generate makes rows and user features from it. The same profile and seed give the
// same bytes; Version changes when they do not. A Match is one statistic of the rows and its
// target. Profile.Matches lists all of them, before and after a recipe.
//
// # What is exact and what is planted
//
// The numbers of users, items, rows, ratings and attribute values are exact. The curves of rows
// per user and per item are followed within one row or one percent. Planted are clusters of
// taste that depend on the attributes, so that attributes can be inferred, and short lists of
// items that follow each other, so that order can be learned; generate.go says how. Not matched
// are which item is which, real times, and the joint distribution of the attributes. The card
// beside the files says this too (Profile.Write).
//
// # Where things are
//
//   - profile.go, profiles.go: what stand-ins are matched to, set by set.
//   - generate.go, rows.go, quotas.go, quotaspair.go: from a profile to rows.
//   - aggregates.go, card.go: how well the rows match, and how the card says it.
//   - cross.go: a small pair of domains with the same users.
package standin
