package rng

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"math/bits"
)

// Seed is the number that reproduces all random draws of a run.
type Seed uint64

// Stream holds a position in a sequence of 64-bit words, which a seed, a name and indices identify. The zero value is a
// valid stream, that of the zero identity. *Stream implements math/rand/v2's Source.
type Stream struct {
	id  identity
	pos uint64 // next word, in units of 64 bits
	odd uint64 // second word of the current block, valid while pos is odd
}

// Stream returns the stream with this name and these indices, at its start.
// Stream(name, i, j) equals Stream(name).Sub(i, j).
func (s Seed) Stream(name string, index ...uint64) Stream {
	return Stream{id: identity{k0: uint32(s), k1: uint32(s >> 32)}}.Of(name).Sub(index...)
}

// Of returns the child stream identified by names, one after the other, at its start, such as the stream of a user by
// the user's id, or of a row by the ids of user and item. Of(a, b) equals Of(a).Of(b), and other names give the same
// stream only with probability 2^-128. Of does not allocate.
func (s Stream) Of(names ...string) Stream {
	id := s.id
	for _, name := range names {
		id = id.child(domainName, uint64(len(name)))
		for len(name) > 0 {
			var w [8]byte
			n := copy(w[:], name)
			id = id.child(domainName, binary.LittleEndian.Uint64(w[:]))
			name = name[n:]
		}
	}
	return Stream{id: id}
}

// Sub returns the child stream with these indices, at its start. It depends on the
// identity of s and not on its position. Sub(i, j) equals Sub(i).Sub(j), and Sub()
// is s at its start. Sub does not allocate.
func (s Stream) Sub(index ...uint64) Stream {
	id := s.id
	for _, w := range index {
		id = id.child(domainIndex, w)
	}
	return Stream{id: id}
}

// Pos returns the position: the number of 64-bit words drawn or skipped.
func (s *Stream) Pos() uint64 { return s.pos }

// Seek moves to the given position.
func (s *Stream) Seek(pos uint64) {
	s.pos = pos
	if pos&1 == 1 {
		_, s.odd = s.id.block(pos >> 1)
	}
}

// align skips to the next block boundary and returns the block's index.
func (s *Stream) align() uint64 {
	s.pos += s.pos & 1
	return s.pos >> 1
}

// State holds the part of a stream that a checkpoint stores.
type State struct {
	ID  [4]uint32 `json:"id"`
	Pos uint64    `json:"pos"`
}

// State returns the stream's identity and position.
func (s *Stream) State() State {
	return State{ID: [4]uint32{s.id.k0, s.id.k1, s.id.c2, s.id.c3}, Pos: s.pos}
}

// Fingerprint returns a value that tells streams apart in files. The stream cannot be computed from it.
func (s *Stream) Fingerprint() (f [4]uint32) {
	var b []byte
	for _, w := range s.State().ID {
		b = binary.LittleEndian.AppendUint32(b, w)
	}
	sum := sha256.Sum256(append([]byte("privrec stream\x00"), b...))
	for i := range f {
		f[i] = binary.LittleEndian.Uint32(sum[4*i:])
	}
	return f
}

// Restore moves s to a state from State of the same stream. It fails on the state of another stream.
func (s *Stream) Restore(st State) error {
	if own := s.State().ID; own != st.ID {
		return fmt.Errorf("rng: state of stream %08x restored into stream %08x: another seed, name or index", st.ID,
			own)
	}
	s.Seek(st.Pos)
	return nil
}

// Constants of Philox 4x32 (SC 2011, section 3.3 and table 2).
const (
	philoxM0 = 0xD2511F53
	philoxM1 = 0xCD9E8D57
	philoxW0 = 0x9E3779B9 // golden ratio
	philoxW1 = 0xBB67AE85 // sqrt(3) - 1
	rounds   = 10
)

// philox returns the Philox 4x32-10 bijection of counter c under key k.
func philox(c [4]uint32, k0, k1 uint32) [4]uint32 {
	c0, c1, c2, c3 := c[0], c[1], c[2], c[3]
	for range rounds {
		p0 := uint64(philoxM0) * uint64(c0)
		p1 := uint64(philoxM1) * uint64(c2)
		c0, c1, c2, c3 = uint32(p1>>32)^c1^k0, uint32(p1), uint32(p0>>32)^c3^k1, uint32(p0)
		k0 += philoxW0
		k1 += philoxW1
	}
	return [4]uint32{c0, c1, c2, c3}
}

// identity identifies a stream: the key and the upper half of the counter.
type identity struct{ k0, k1, c2, c3 uint32 }

// Domains keep the derivation of children, the absorption of names and the
// drawing of values under different keys (drawing uses the bare key).
const (
	domainIndex = 0x5851F42D
	domainName  = 0x14057B7E
)

// child derives a new identity from word w in the given domain.
func (id identity) child(domain uint32, w uint64) identity {
	o := philox([4]uint32{uint32(w), uint32(w >> 32), id.c2, id.c3}, id.k0^domain, id.k1^bits.ReverseBytes32(domain))
	return identity{o[0], o[1], o[2], o[3]}
}

// block returns the 128 bits at block index b as two words.
func (id identity) block(b uint64) (lo, hi uint64) {
	o := philox([4]uint32{uint32(b), uint32(b >> 32), id.c2, id.c3}, id.k0, id.k1)
	return uint64(o[1])<<32 | uint64(o[0]), uint64(o[3])<<32 | uint64(o[2])
}
