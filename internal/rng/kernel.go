package rng

import "unsafe"

//go:generate sh -c "cd gen && go run . -out ../words_amd64.s -stubs ../words_amd64.go -pkg rng"
//go:generate sh -c "cd gen && go run . -noise -out ../noise_amd64.s -stubs ../noise_amd64.go -pkg rng"

// simd is an instruction set that a bulk draw can run on.
type simd uint8

const (
	plain simd = iota
	avx2
	avx512
)

// active is the instruction set in use, chosen at program start from the processor and the environment variable
// PRIVREC_SIMD.
var active = choose()

// limit returns the best instruction set up to the one that the environment asks for. It ignores an unknown value,
// which the command line refuses.
func limit(best simd, env string) simd {
	switch env {
	case "off":
		return plain
	case "avx2":
		return min(best, avx2)
	}
	return best
}

// wordsGo fills groups*64 words from block first on.
func wordsGo(groups int, s *schedule, first uint64, dst *uint32) {
	out := unsafe.Slice(dst, groups*groupWords)
	for g := range groups {
		group := out[g*groupWords:][:groupWords]
		for l := range groupBlocks {
			w := s.block(first + uint64(g*groupBlocks+l))
			group[l], group[16+l], group[32+l], group[48+l] = w[0], w[1], w[2], w[3]
		}
	}
}

// keepGo fills groups*64 values from block first on: value where the upper 24 bits of a word
// are at least least, else 0.
func keepGo(groups int, s *schedule, first uint64, least uint32, value float32, dst *float32) {
	var w [groupWords]uint32
	out := unsafe.Slice(dst, groups*groupWords)
	for g := range groups {
		wordsGo(1, s, first+uint64(g*groupBlocks), &w[0])
		for i, word := range w {
			out[g*groupWords+i] = 0
			if word>>8 >= least {
				out[g*groupWords+i] = value
			}
		}
	}
}

// keepBitsGo fills groups words of 64 bits from block first on: a bit is set where the upper 24 bits
// of its word are at least least.
func keepBitsGo(groups int, s *schedule, first uint64, least uint32, dst *uint64) {
	var w [groupWords]uint32
	out := unsafe.Slice(dst, groups)
	for g := range out {
		wordsGo(1, s, first+uint64(g*groupBlocks), &w[0])
		out[g] = 0
		for i, word := range w {
			if word>>8 >= least {
				out[g] |= 1 << i
			}
		}
	}
}

// normalsGo fills groups*64 normals from block first on.
func normalsGo(groups int, s *schedule, first uint64, dst *float32) {
	out := unsafe.Slice(dst, groups*groupWords)
	for g := range groups {
		group := out[g*groupWords:][:groupWords]
		for l := range groupBlocks {
			w := s.block(first + uint64(g*groupBlocks+l))
			group[l], group[16+l] = boxMuller32(w[0], w[1])
			group[32+l], group[48+l] = boxMuller32(w[2], w[3])
		}
	}
}

// addNormalsBy adds normals drawn by kernel k, a group at a time.
func addNormalsBy(k simd, groups int, s *schedule, first uint64, scale float32, dst *float32) {
	out := unsafe.Slice(dst, groups*groupWords)
	var z [groupWords]float32
	for g := range groups {
		k.normals(1, s, first+uint64(g)*groupBlocks, &z[0])
		group := out[g*groupWords:][:groupWords]
		for i := range group {
			group[i] += scale * z[i]
		}
	}
}
