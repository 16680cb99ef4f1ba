//go:build !f64

package kernel

// cpuid executes CPUID.
//
//go:noescape
func cpuid(leaf, sub uint32) (a, b, c, d uint32)

// xgetbv reads extended control register 0: the state the system saves.
//
//go:noescape
func xgetbv() (low, high uint32)

// Feature bits: Intel 64 manual, volume 2A, CPUID.
const (
	leaf1FMA      = 1 << 12
	leaf1OSXSAVE  = 1 << 27
	leaf1AVX      = 1 << 28
	leaf7AVX2     = 1 << 5
	leaf7BMI2     = 1 << 8
	leaf7AVX512F  = 1 << 16
	leaf7AVX512DQ = 1 << 17
	leaf7AVX512BW = 1 << 30
	leaf7AVX512VL = 1 << 31
	stateAVX      = 0x06 // XMM and YMM
	stateAVX512   = 0xe6 // and masks, upper halves, upper registers
)

// best returns the highest level that the processor and the system support.
func best() Level {
	all := func(x, bits uint32) bool { return x&bits == bits }
	if top, _, _, _ := cpuid(0, 0); top < 7 {
		return Off
	}
	_, _, c1, _ := cpuid(1, 0)
	_, b7, _, _ := cpuid(7, 0)
	if !all(c1, leaf1FMA|leaf1OSXSAVE|leaf1AVX) || !all(b7, leaf7AVX2|leaf7BMI2) {
		return Off
	}
	state, _ := xgetbv()
	switch {
	case !all(state, stateAVX):
		return Off
	case all(state, stateAVX512) && all(b7, leaf7AVX512F|leaf7AVX512DQ|leaf7AVX512BW|leaf7AVX512VL):
		return AVX512
	}
	return AVX2
}
