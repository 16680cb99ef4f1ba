// Package allocation computes the likelihood ratio of an epoch of normal noise in which a unit is in one of t steps,
// drawn at random ("balls in bins").
//
// Without the unit each step is z_i of N(0, sigma²); with it one of them, each with probability 1/t, is moved by the
// sensitivity. In units of sigma, with mu the sensitivity, the ratio of the two laws is
//
//	R = (X_1 + ... + X_t)/t,  X_i = exp(mu z_i - mu²/2)
//
// and no adaptive choice of the steps tells more (Chua, Ghazi, Harrison, Kamath, Kumar, Leeman, Manurangsi, Sinha,
// Zhang, "Balls-and-bins sampling for DP-SGD", AISTATS 2025; Feldman, Shenfeld, "Privacy amplification by random
// allocation", NeurIPS 2025). delta(eps) is the mean of (R - e^eps)+ where the unit is removed, and of (1 - e^eps R)+
// where it is added, both without the unit. So is that of a composition, with the product of the ratios.
//
// # Bounds
//
// All of these are convex in every X_i and every R. So a sum is bounded from above if the mass between two nodes goes
// to both such that its mean stays, and from below if it goes to its mean. Both errors are of the second order in the
// distance of the nodes. The law of X_1 is cut at nodes; the law of 2m summands is that of two times m, cut again, and
// so on by the digits of t. All masses are sums of products of positive numbers, so that rounding is relative to each
// mass. What leaves the range is counted, under both laws. No transform is needed, and tails are as accurate as the
// centre.
//
// The nodes of a sum are evenly apart near its median, and beside it evenly in the logarithm.
package allocation
