package kernel

import (
	"fmt"
	"os"
)

// Level is an instruction set that the kernels can run on.
type Level int

// The levels, in ascending order; Off is plain Go and runs on every processor.
const (
	Off    Level = iota // plain Go
	AVX2                // AVX2 and FMA
	AVX512              // AVX-512 F, BW, DQ and VL
)

// String returns the level's name, as PRIVREC_SIMD takes it.
func (l Level) String() string {
	switch l {
	case AVX2:
		return "avx2"
	case AVX512:
		return "avx512"
	}
	return "off"
}

// level is the level in use, which Use sets before main and in tests.
var level Level

var choiceErr = follow(os.Getenv("PRIVREC_SIMD"))

// follow uses the level that force (a value of PRIVREC_SIMD) asks for, or else the best, and returns why it could not.
func follow(force string) error {
	l, err := choose(force, best())
	Use(l)
	return err
}

// Current returns the level in use.
func Current() Level { return level }

// ChoiceError returns why PRIVREC_SIMD could not be followed, and nil if it was.
func ChoiceError() error { return choiceErr }

// Use switches the process to level l and returns a function that switches back. No kernel may run while it is called.
func Use(l Level) (restore func()) {
	if l > best() {
		panic(fmt.Sprintf("kernel: level %s on a processor with %s", l, best()))
	}
	old := level
	level = l
	return func() { level = old }
}

// choose returns the level that force (a value of PRIVREC_SIMD) asks for, or top and an error if that level is not
// available.
func choose(force string, top Level) (Level, error) {
	if force == "" {
		return top, nil
	}
	for l := Off; l <= AVX512; l++ {
		if force != l.String() {
			continue
		}
		if l > top {
			return top, fmt.Errorf("PRIVREC_SIMD=%s: this processor or build offers %s at most", force, top)
		}
		return l, nil
	}
	return top, fmt.Errorf("PRIVREC_SIMD=%q: want off, avx2 or avx512", force)
}
