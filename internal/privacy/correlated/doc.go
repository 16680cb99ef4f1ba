// Package correlated describes the noise of releases over time: the sums of everything up to step 1, 2, ..., n. What is
// added to the sum of step t is row t of B z, with independent normal z. B C is the lower triangle of ones, so the
// released sums are a function of C x + z: all of them together are one release of a Gaussian, whose sensitivity is the
// longest C (x - x') between neighbours. C is the strategy: banded, buffered, a tree or any column. It decides how the
// error of the sums grows with n (Li, Miklau, Hay, McGregor, Rastogi, "The matrix mechanism", VLDB Journal 2015;
// Denisov, McMahan, Rush, Smith, Thakurta, "Improved differential privacy for SGD via optimal private linear operators
// on adaptive streams", NeurIPS 2022, whose theorem 2.1 lets the data of later steps depend on earlier releases).
//
// A Design states a strategy so that a ledger can hold it. A Generator makes its noise row by row, in little memory.
package correlated
