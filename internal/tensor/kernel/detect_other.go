//go:build !amd64 || f64

package kernel

// best returns Off, the only level here: the assembly is for float32 on amd64.
func best() Level { return Off }
