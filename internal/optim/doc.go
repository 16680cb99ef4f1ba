// Package optim updates parameters from the gradients of a tape.
//
// One rule holds for the optimisers here: Step updates each parameter of its list, with a zero
// gradient where the tape has none. So momentum and weight decay do not depend on which rows or
// parameters a batch touched, and row-sparse gradients are not a different algorithm. PyTorch leaves
// out parameters without a gradient; the two agree where every parameter takes part in every step.
// AdamLazy does the same updates later, when a row is next read. Adagrad alone leaves rows without
// a gradient as they are, momentum included, as the published programs do that use it.
//
// State is kept by parameter name and can be saved and restored exactly, so a resumed run goes on bit
// for bit. Results do not depend on the number of workers.
package optim
