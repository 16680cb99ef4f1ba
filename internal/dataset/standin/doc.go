// Package standin makes synthetic data that take the place of a real data set where it
// cannot be had: in tests, in the demo, on a machine that may not hold it. What is measured
// on them is evidence of level D, wherever their files go: it shows that a program works,
// not how well a method does.
//
// # Words
//
// A Profile is what a stand-in is matched to: published or aggregate statistics of a real
// set (rows per user and per item at quantiles, ratings, attributes) and the strength of
// the structure that is planted (tastes, order, popularity). It holds no row of a real set.
// Profile.Generate makes rows and user features of it; the same profile and seed give the
// same bytes, and Version changes when they do not. A Match is one statistic of the rows
// beside its target; Profile.Matches lists all of them, before and after a recipe.
//
// # What is exact and what is planted
//
// The number of users, items, rows, ratings and attribute values are exact. The curves of
// rows per user and per item are followed within one row or one percent. Planted are
// clusters of taste that depend on the attributes, so that attributes can be inferred, and
// short lists of items that follow each other, so that order can be learned: generate.go
// says how. Not matched are which item is which, real times, and the joint distribution of
// the attributes; the card beside the files says so again (Profile.Write).
//
// # How far conclusions carry
//
// NewBacktest measures methods without training (Baseline) on a real set and on its
// stand-in and compares their order: Kendall's tau and the pairs that turn. A conclusion
// about such methods carries over as far as the tau is near 1; for others it is a hint.
//
// # Where things are
//
//   - profile.go, profiles.go: what stand-ins are matched to, set by set.
//   - generate.go, rows.go, quotas.go, quotaspair.go: from a profile to rows.
//   - aggregates.go, card.go: what was met, and how it is said.
//   - baselines.go, backtest.go: how far conclusions carry.
//   - cross.go: a small pair of domains with the same users.
package standin
