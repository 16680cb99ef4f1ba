package rng

import "math/bits"

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

// identity names a stream: the key and the upper half of the counter.
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
