package rng

import "os"

// choose returns the best instruction set of the processor for which the operating system saves the registers.
func choose() simd { return limit(detect(), os.Getenv("PRIVREC_SIMD")) }

func detect() simd {
	leaves, _, _, _ := cpuid(0, 0)
	if leaves < 7 {
		return plain
	}
	const fma, osxsave = 1 << 12, 1 << 27 // leaf 1, ECX
	_, _, c1, _ := cpuid(1, 0)
	if c1&fma == 0 || c1&osxsave == 0 {
		return plain
	}
	const ymm, zmm = 0x06, 0xe6          // states of XCR0
	const bit2, bit512 = 1 << 5, 1 << 16 // leaf 7, EBX: AVX2, AVX-512F
	saved, _ := xgetbv()
	_, b7, _, _ := cpuid(7, 0)
	switch {
	case b7&bit512 != 0 && b7&bit2 != 0 && saved&zmm == zmm:
		return avx512
	case b7&bit2 != 0 && saved&ymm == ymm:
		return avx2
	}
	return plain
}

// words fills groups*64 words from block first on; groups > 0.
func (k simd) words(groups int, s *schedule, first uint64, dst *uint32) {
	switch k {
	case avx512:
		words512(groups, &s[0], first, dst)
	case avx2:
		words256(groups, &s[0], first, dst)
	default:
		wordsGo(groups, s, first, dst)
	}
}

// keep fills groups*64 values from block first on, as keepGo does; groups > 0.
func (k simd) keep(groups int, s *schedule, first uint64, least uint32, value float32, dst *float32) {
	switch k {
	case avx512:
		keep512(groups, &s[0], first, least, value, dst)
	case avx2:
		keep256(groups, &s[0], first, least, value, dst)
	default:
		keepGo(groups, s, first, least, value, dst)
	}
}

// keepBits fills groups words of bits from block first on, as keepBitsGo does; groups > 0.
func (k simd) keepBits(groups int, s *schedule, first uint64, least uint32, dst *uint64) {
	switch k {
	case avx512:
		keepBits512(groups, &s[0], first, least, dst)
	case avx2:
		keepBits256(groups, &s[0], first, least, dst)
	default:
		keepBitsGo(groups, s, first, least, dst)
	}
}

// normals fills groups*64 normals from block first on; groups > 0.
func (k simd) normals(groups int, s *schedule, first uint64, dst *float32) {
	switch k {
	case avx512:
		normals512(groups, &s[0], first, dst)
	case avx2:
		normals256(groups, &s[0], first, dst)
	default:
		normalsGo(groups, s, first, dst)
	}
}

// addNormals adds scale times groups*64 normals from block first on; groups > 0.
func (k simd) addNormals(groups int, s *schedule, first uint64, scale float32, dst *float32) {
	switch k {
	case avx512:
		addNormals512(groups, &s[0], first, scale, dst)
	case avx2:
		addNormals256(groups, &s[0], first, scale, dst)
	default:
		addNormalsBy(k, groups, s, first, scale, dst)
	}
}

// moments adds the differences of two slices of equal length, not empty, to m.
func (k simd) moments(m *Moments, before, after []float32) {
	switch whole := len(after) &^ 7; {
	case k == avx512:
		m.Zeros += int64(moments512(len(after), &before[0], &after[0], &m.sum[0], &m.sq[0]))
	case k == avx2 && whole > 0:
		m.Zeros += int64(moments256(whole, &before[0], &after[0], &m.sum[0], &m.sq[0]))
		momentsGo(m, before[whole:], after[whole:])
	default:
		momentsGo(m, before, after)
	}
}
