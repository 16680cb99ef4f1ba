//go:build !amd64 || f64

package kernel

// noAssembly is the message of the kernels in assembly, which this build does not have. Its level is Off, and no caller
// reaches them.
const noAssembly = "kernel: assembly called in a build without it"

// best returns Off, the only level here: the assembly is for float32 on amd64.
func best() Level { return Off }
