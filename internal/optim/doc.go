// Package optim updates parameters from the gradients of a tape.
//
// One rule holds for every optimiser here: each parameter of the list passed to Step is updated at
// each step, with a zero gradient where the tape has none, so that momentum and weight decay do not
// depend on which rows or parameters a batch happened to touch. (PyTorch leaves out parameters
// without a gradient; the two agree where every parameter takes part in every step.) Row-sparse
// gradients are therefore not a different algorithm. AdamLazy does the same updates later, when a
// row is next read.
//
// State is kept by parameter name and can be saved and restored exactly: a run that is resumed goes
// on bit for bit. Results do not depend on the number of workers.
package optim
