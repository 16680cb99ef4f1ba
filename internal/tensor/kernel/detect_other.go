//go:build !amd64 || f64

package kernel

// best returns the highest level there is: the assembly is float32 on amd64 only.
func best() Level { return Off }
