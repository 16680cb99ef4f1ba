package channel

import (
	"fmt"
	"slices"

	"privrec/internal/privacy/mechanism"
	"privrec/internal/rng"
)

// Again draws the noise of earlier releases once more and adds it to the same values. So a result that is released once
// and used again, such as a noisy graph that every epoch reads, need not be stored: its noise can be drawn again where
// it is needed. That is post-processing and costs nothing, as long as the noise is added to the same values as before.
// The caller must ensure that: the same noise on other values would reveal their difference.
type Again[T mechanism.Float] struct {
	c      *Channel[T]
	stream rng.Stream
	parts  []int32
}

// Again returns the noise of parts that were released with Start under the same key, in the current pass of the
// channel. It records nothing. It fails on a part that was not released so; the channel remains usable, since no noise
// was given away.
func (c *Channel[T]) Again(parts []int32, key ...uint64) (Again[T], error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.failed != nil {
		return Again[T]{}, c.failed
	}
	if part, ok := c.used.hasParts(key, parts); !ok {
		return Again[T]{}, fmt.Errorf("%s: part %d of key %v was not released", c.purpose, part, slices.Clone(key))
	}
	return Again[T]{c, c.keyed.Sub(key...), parts}, nil
}

// RowAt adds to dst the noise that RowAt of the release added to the row of the same part and key. dst must have the
// length of that row. Several goroutines may do so at once.
func (a Again[T]) RowAt(dst []T, part int, key uint64) {
	a.c.add(a.stream.Sub(uint64(a.parts[part]), key), dst, atLeast[T](a.c.law.Scale))
}
