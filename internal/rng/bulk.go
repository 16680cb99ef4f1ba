package rng

import "math"

// Bulk draws work in groups of 16 blocks = 64 words of 32 bits. Word w (0..3)
// of block l (0..15) of a group is its value number 16w+l: sixteen blocks run
// side by side in the lanes of a vector. Plain Go keeps the same order.
const (
	groupBlocks = 16
	groupWords  = 64
)

// Group is the number of values that a bulk draw makes together. A part of a draw that begins at a multiple of Group
// can be drawn separately, after Skip.
const Group = groupWords

// Skip moves over n values of a bulk draw of float32 values, in whole groups as the draw itself does.
func (s *Stream) Skip(n int) { s.takeGroups(n) }

// schedule holds a stream's identity in the form of the kernels: the keys of the ten rounds (k0, k1 in turn), then the
// upper half of the counter.
type schedule [2*rounds + 2]uint32

func (id identity) schedule() (s schedule) {
	k0, k1 := id.k0, id.k1
	for i := 0; i < 2*rounds; i += 2 {
		s[i], s[i+1] = k0, k1
		k0 += philoxW0
		k1 += philoxW1
	}
	s[2*rounds], s[2*rounds+1] = id.c2, id.c3
	return s
}

func (s *schedule) block(b uint64) [4]uint32 {
	return philox([4]uint32{uint32(b), uint32(b >> 32), s[2*rounds], s[2*rounds+1]}, s[0], s[1])
}

// takeGroups reserves the groups that n values need and returns the first
// block. The position afterwards depends only on n.
func (s *Stream) takeGroups(n int) uint64 {
	first := s.align()
	groups := (n + groupWords - 1) / groupWords
	s.pos += 2 * groupBlocks * uint64(groups)
	return first
}

// bulkLeast is the least number of 64-bit words for which a group of their own pays off.
const bulkLeast = 8

// Uint64s fills dst with the results of as many calls of Uint64, and moves the position likewise.
func (s *Stream) Uint64s(dst []uint64) {
	if len(dst) > 0 && s.pos&1 == 1 {
		dst[0] = s.Uint64()
		dst = dst[1:]
	}
	if len(dst) >= bulkLeast && active != plain {
		const words = groupWords / 2
		sch := s.id.schedule()
		var w [groupWords]uint32
		for len(dst) >= bulkLeast {
			active.words(1, &sch, s.pos>>1, &w[0])
			n := min(len(dst), words)
			pairs(dst[:n], &w)
			s.Seek(s.pos + uint64(n))
			dst = dst[n:]
		}
	}
	for i := range dst {
		dst[i] = s.Uint64()
	}
}

// pairs sets dst to the words of 64 bits of a group, in the order of its blocks.
func pairs(dst []uint64, w *[groupWords]uint32) {
	l := 0
	for ; len(dst) >= 2; dst = dst[2:] {
		dst[0] = uint64(w[l+16])<<32 | uint64(w[l])
		dst[1] = uint64(w[l+48])<<32 | uint64(w[l+32])
		l++
	}
	if len(dst) > 0 {
		dst[0] = uint64(w[l+16])<<32 | uint64(w[l])
	}
}

// Normals32 fills dst with standard normals. It skips to the next block and takes whole groups of 64 values, so the
// position afterwards depends only on len(dst). All values have |z| <= 6.77; 32 bits cannot reach the mass beyond,
// 1.3e-11.
func (s *Stream) Normals32(dst []float32) {
	if len(dst) == 0 {
		return
	}
	first := s.takeGroups(len(dst))
	sch := s.id.schedule()
	groups := len(dst) / groupWords
	if groups > 0 {
		active.normals(groups, &sch, first, &dst[0])
	}
	if rest := dst[groups*groupWords:]; len(rest) > 0 {
		var tail [groupWords]float32
		active.normals(1, &sch, first+uint64(groups)*groupBlocks, &tail[0])
		copy(rest, tail[:])
	}
}

// AddNormals32 adds scale times standard normals to dst, up to rounding the same normals as Normals32 would draw. It
// moves the position like Normals32.
func (s *Stream) AddNormals32(dst []float32, scale float32) {
	if len(dst) == 0 {
		return
	}
	first := s.takeGroups(len(dst))
	sch := s.id.schedule()
	groups := len(dst) / groupWords
	if groups > 0 {
		active.addNormals(groups, &sch, first, scale, &dst[0])
	}
	if rest := dst[groups*groupWords:]; len(rest) > 0 {
		var tail [groupWords]float32
		copy(tail[:], rest)
		active.addNormals(1, &sch, first+uint64(groups)*groupBlocks, scale, &tail[0])
		copy(rest, tail[:])
	}
}

// Normals64 fills dst with standard normals of full double precision, in order, two
// from each block. It skips to the next block; an odd length drops the last half
// block.
func (s *Stream) Normals64(dst []float64) {
	for i := 0; i < len(dst); i += 2 {
		a, b := s.id.block(s.align())
		s.pos += 2
		x, y := boxMuller64(a, b)
		dst[i] = x
		if i+1 < len(dst) {
			dst[i+1] = y
		}
	}
}

// Keep fills dst with value where Uniforms would have put at least p, and with 0 elsewhere, for p in [0, 1]. It moves
// the position like Uniforms.
func (s *Stream) Keep(dst []float32, p float64, value float32) {
	if len(dst) == 0 {
		return
	}
	first := s.takeGroups(len(dst))
	sch := s.id.schedule()
	least := uint32(math.Ceil(p * (1 << 24)))
	groups := len(dst) / groupWords
	if groups > 0 {
		active.keep(groups, &sch, first, least, value, &dst[0])
	}
	if rest := dst[groups*groupWords:]; len(rest) > 0 {
		var tail [groupWords]float32
		active.keep(1, &sch, first+uint64(groups)*groupBlocks, least, value, &tail[0])
		copy(rest, tail[:])
	}
}

// KeepBits draws 64 len(dst) values like Keep, with one bit for each: value 64w+i has bit i of word w, which is set
// where Keep would put value.
func (s *Stream) KeepBits(dst []uint64, p float64) {
	if len(dst) == 0 {
		return
	}
	first := s.takeGroups(groupWords * len(dst))
	sch := s.id.schedule()
	active.keepBits(len(dst), &sch, first, uint32(math.Ceil(p*(1<<24))), &dst[0])
}

// Uniforms fills dst with uniform values in [0, 1), multiples of 2^-24. Like
// Normals32 it takes whole groups of 64.
func (s *Stream) Uniforms(dst []float32) {
	first := s.takeGroups(len(dst))
	sch := s.id.schedule()
	var w [groupWords]uint32
	for len(dst) > 0 {
		active.words(1, &sch, first, &w[0])
		first += groupBlocks
		n := min(len(dst), groupWords)
		for i := range dst[:n] {
			dst[i] = float32(w[i]>>8) * 0x1p-24
		}
		dst = dst[n:]
	}
}
