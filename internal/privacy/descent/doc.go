// Package descent runs DP-SGD: it draws batches, sums clipped gradients, and adds noise to the sums. Gradients have
// every value (Dense) or those of few rows of a table (Rows). Batches and noise are drawn from a seed (Open, OpenRows),
// or from cryptographic bits for data that are published (OpenSecret, OpenSecretRows). OpenDeferred is for gradient
// descent on a large table: rows get noise when they are read.
//
//	steps, err := descent.Open[float32](descent.DPSGD{Purpose: "gradient", Clip: 1, ...}, dim, ledger, stream)
//	...
//	batch, err := steps.Begin(pass, step)
//	err = steps.Add(k, gradient) // for every example batch[k]
//	err = steps.Finish(mean)
//
// A step is in the ledger before its batch is drawn, and an epoch of random allocation before its first batch is.
// Batches and noise are compared with their laws whenever their number has doubled, and when Check is called.
package descent
