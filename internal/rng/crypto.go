package rng

import (
	"crypto/rand"
	"encoding/binary"
	"sync"
)

// Source yields uniform 64-bit words; it is math/rand/v2's Source.
type Source interface{ Uint64() uint64 }

var _ Source = (*Stream)(nil)

// Crypto returns a source of the operating system's cryptographic bits, for
// data that is released. It takes no seed, cannot be replayed and is safe for
// concurrent use.
func Crypto() Source { return &cryptoSource{} }

type cryptoSource struct {
	mu   sync.Mutex
	buf  [512]byte
	left int
}

func (c *cryptoSource) Uint64() uint64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.left == 0 {
		// Read fills the buffer or ends the program: it never returns an error.
		rand.Read(c.buf[:])
		c.left = len(c.buf)
	}
	at := len(c.buf) - c.left
	w := binary.LittleEndian.Uint64(c.buf[at:])
	clear(c.buf[at : at+8]) // what was given out is not kept
	c.left -= 8
	return w
}
