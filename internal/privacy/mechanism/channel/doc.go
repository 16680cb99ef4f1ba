// Package channel adds noise to matrices: normal noise (Gaussian), Laplace noise on values (Laplace) and on whole rows
// (SphericalLaplace), and the coefficients of an objective (Functional).
//
// A Channel adds the noise of one mechanism in one run. It adds noise in releases, one for every matrix that is
// released: Perturb for a whole matrix, or Begin, a Row for every row, and Finish. The event of a release is in
// the ledger before its first row can be changed.
//
//	c, err := channel.Open[float32](channel.Gaussian{Purpose: "aggregate", Sigma: 0.5, Sensitivity: 1, ...}, ledger, stream)
//	...
//	err = c.Perturb(sums, cols, 1, pass, step)
//
// Late draws the noise of many releases at once, for rows of a table that are read later than they are released.
//
// # Keys
//
// The key of a value is the key of the release (pass, batch, step) with the index of the row. In releases from
// Start it is the release's key (pass, step), the part of the data (a sample) and the row's key within it.
// Several goroutines may perturb rows at once, and the bytes stay the same. A channel refuses to use a key
// twice: two values with the same noise show their difference without noise. It knows only its own keys: two
// channels opened with one stream give the same noise.
//
// # Scale and checks
//
// The scale of noise on float32 is the event's, rounded up to a float32: noise is never less than recorded, and
// more by less than one part in 2^23.
//
// A channel tallies what it added (Tally) and compares the tally with the Law of the noise: the number of
// values left unchanged, their size, their sum. It does so whenever the number of values has doubled, and when
// Check is called. What the checks have spent of the run's false-alarm probability is in State and Restore, so
// that a resumed run spends no more than one that never stopped.
//
// # Noise of other packages
//
// New opens a channel for a sampler and a law of another package. Package secure does so for discrete laws: its
// channels clamp and round values to a Grid.
package channel
