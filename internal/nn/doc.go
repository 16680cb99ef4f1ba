// Package nn holds layers over autograd. A layer is a struct of parameters with a constructor
// New<Layer>(name, sizes..., init), a Forward that takes a tape and nodes, and Params in a fixed
// order. A linear map is y = x·Wᵀ + b with W (out, in), as in PyTorch. Parameters are named
// <layer>.<tensor>. Initial values depend on the seed and that name, so a further layer does not
// change those of the others.
package nn
