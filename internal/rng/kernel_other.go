//go:build !amd64

package rng

func choose() simd { return plain }
func detect() simd { return plain }

func (simd) words(groups int, s *schedule, first uint64, dst *uint32) {
	wordsGo(groups, s, first, dst)
}

func (simd) keep(groups int, s *schedule, first uint64, least uint32, value float32, dst *float32) {
	keepGo(groups, s, first, least, value, dst)
}

func (simd) keepBits(groups int, s *schedule, first uint64, least uint32, dst *uint64) {
	keepBitsGo(groups, s, first, least, dst)
}

func (simd) normals(groups int, s *schedule, first uint64, dst *float32) {
	normalsGo(groups, s, first, dst)
}

func (k simd) addNormals(groups int, s *schedule, first uint64, scale float32, dst *float32) {
	addNormalsBy(k, groups, s, first, scale, dst)
}

func (simd) moments(m *Moments, before, after []float32) { momentsGo(m, before, after) }
