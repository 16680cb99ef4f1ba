//go:build !amd64 || f64

package kernel

// This build has no assembly: level is always Off and these are never reached.

func stripSIMD(_, _ int, _ *Float, _, _ int, _, _ *Float, _, _ int, _ Float, _ bool) { unreachable() }
func packBSIMD(_ bool, _, _ int, _ *Float, _ int, _ *Float)                          { unreachable() }
func packASIMD(_ bool, _, _, _ int, _ *Float, _ int, _ *Float, _ int)                { unreachable() }

func unreachable() { panic("kernel: assembly called in a build without it") }
