// Package goldentest compares the library with values from elsewhere: 1,042 numbers of 50-digit
// arithmetic and of converged numerical methods, each with its tolerance, for everything that the
// accountants, mechanisms and audits compute (testdata/goldens at the root of the module). The
// package has only tests.
//
// Every row of every file is mapped to the functions that answer it, to all of them if there are
// several: a certified bracket, a contour integral and a closed form must all agree with the value
// and so with each other. The test fails on a row with an unknown function or parameter. It also
// fails on an answer that a known mistake would give, if the row says so.
//
// TestDefectsOfReferences walks through the known mistakes of other libraries, also those that no
// row tells.
//
// PRIVREC_GOLDENS names another folder with files of the same form, with other parameters, to test
// instead.
package goldentest
