// Package goldentest holds the library to values that it had no part in: 1,042
// numbers of 50-digit arithmetic and of converged numerical methods, each with its
// tolerance, for everything that the accountants, mechanisms and audits compute
// (testdata/goldens at the root of the module). The package has tests only.
//
// Every row of every file is mapped to the functions that answer it, all of them
// where several do: a certified bracket, a contour integral and a closed form must
// all agree with the value and so with each other. A row whose function, or one of
// whose parameters, the test does not know fails it. So does an answer equal to
// what a known mistake gives, where a row tells it.
//
// TestDefectsOfReferences walks through the mistakes that are known of other
// libraries, those that no row tells included.
//
// PRIVREC_GOLDENS names a folder of further files of the same form to test
// instead, with other parameters.
package goldentest
