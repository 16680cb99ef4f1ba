package kernel

import (
	"strings"
	"testing"
	"unsafe"
)

func TestChoose(t *testing.T) {
	for _, c := range []struct {
		force string
		top   Level
		want  Level
		err   string
	}{
		{"", AVX512, AVX512, ""},
		{"off", AVX512, Off, ""},
		{"avx2", AVX512, AVX2, ""},
		{"avx512", AVX512, AVX512, ""},
		{"avx512", AVX2, AVX2, "avx2 at most"},
		{"avx2", Off, Off, "off at most"},
		{"AVX2", AVX512, AVX512, "want off, avx2 or avx512"},
		{"sse", AVX2, AVX2, "want off, avx2 or avx512"},
	} {
		got, err := choose(c.force, c.top)
		if got != c.want || (err == nil) != (c.err == "") || err != nil && !strings.Contains(err.Error(), c.err) {
			t.Errorf("choose(%q, %s) = %s, %v; want %s, %q", c.force, c.top, got, err, c.want, c.err)
		}
	}
}

// TestAdamCoefLayout guards the order the assembly reads the fields in.
func TestAdamCoefLayout(t *testing.T) {
	var c AdamCoef
	for i, off := range []uintptr{unsafe.Offsetof(c.Beta1), unsafe.Offsetof(c.OneMinusBeta1), unsafe.Offsetof(c.Beta2),
		unsafe.Offsetof(c.OneMinusBeta2), unsafe.Offsetof(c.Step), unsafe.Offsetof(c.RootScale), unsafe.Offsetof(c.Eps), unsafe.Offsetof(c.L2)} {
		if off != uintptr(i)*unsafe.Sizeof(c.Beta1) {
			t.Errorf("field %d of AdamCoef at %d", i, off)
		}
	}
}

// No PAUSE at all returns at once, as does a number below that.
func TestPauseOfNothing(t *testing.T) {
	for _, n := range []int{0, -1, 1} {
		Pause(n)
	}
}
