// Package train holds the only training loop: epochs over seeded batches, a learning-rate schedule, early
// stopping, model selection, checkpoints, and hooks that progress bars and logs attach to from outside.
//
// What a caller may rely on:
//
//   - The order of samples in epoch e depends only on the seed and e, so that a position in a run is two
//     numbers, the epoch and the batch.
//   - A run that was interrupted, or killed, and resumed ends with the same bytes as one that was not:
//     parameters, optimiser, history, selected model, and the caller's [Extra] state. How often
//     checkpoints are written changes none of them.
//   - Losses are averaged in float64 over samples, in batch order.
//   - The loop is the border where panics of the tape become errors that name epoch, batch and samples. A
//     loss that is not finite stops the run, and the error names the operation that made it.
//   - The loop starts no goroutine; package tensor works in parallel. When [Run] returns, nothing of it runs.
//   - No clock reading enters a checkpoint; only hooks get seconds.
package train
