// Package protect changes the slates that a recommender shows, so that they tell less of
// what their users clicked before: section 4 of Xin et al., "On the User Behavior Leakage
// from Recommender System Exposure", ACM TOIS 2023, arXiv 2210.08435.
//
//	section 4.1, which positions change      Method.Select, select.go
//	section 4.2, what comes in their place   Method.Replace, pool.go and draw.go
//	equation 18, accuracy                    Accuracy
//	figures 8 to 13                          Grid, Sweep
//
// Slates protects pairs in memory and File a file of slates, both by a Method. Replacing
// items has no guarantee. Randomized response, which the paper does not have, has one, and
// its event goes to a ledger.
package protect
