package rng

import "unsafe"

// kernels is one implementation of the bulk draws. Each fills groups*64 values
// from block first on; the destination must hold them.
type kernels struct {
	name    string
	words   func(groups int, s *schedule, first uint64, dst *uint32)
	normals func(groups int, s *schedule, first uint64, dst *float32)
}

var plain = kernels{name: "off", words: wordsGo, normals: normalsGo}

// active is chosen once, at program start, from the processor and PRIVREC_SIMD.
var active = choose()

// SIMD names the path in use: "avx512", "avx2" or "off".
func SIMD() string { return active.name }

func wordsGo(groups int, s *schedule, first uint64, dst *uint32) {
	out := unsafe.Slice(dst, groups*groupWords)
	for g := range groups {
		group := out[g*groupWords:][:groupWords]
		for l := range groupBlocks {
			b := first + uint64(g*groupBlocks+l)
			w := philox([4]uint32{uint32(b), uint32(b >> 32), s.c2, s.c3}, s.keys[0], s.keys[1])
			group[l], group[16+l], group[32+l], group[48+l] = w[0], w[1], w[2], w[3]
		}
	}
}

func normalsGo(groups int, s *schedule, first uint64, dst *float32) {
	out := unsafe.Slice(dst, groups*groupWords)
	for g := range groups {
		group := out[g*groupWords:][:groupWords]
		for l := range groupBlocks {
			b := first + uint64(g*groupBlocks+l)
			w := philox([4]uint32{uint32(b), uint32(b >> 32), s.c2, s.c3}, s.keys[0], s.keys[1])
			group[l], group[16+l] = boxMuller32(w[0], w[1])
			group[32+l], group[48+l] = boxMuller32(w[2], w[3])
		}
	}
}
