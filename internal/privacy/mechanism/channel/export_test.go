package channel

import "privrec/internal/rng"

// Sampler returns the sampler of a channel, for tests of other packages.
func Sampler[T ~float32 | ~float64](c *Channel[T]) func(s rng.Stream, dst []T, scale T) { return c.add }

// Plant puts another sampler in its place.
func Plant[T ~float32 | ~float64](c *Channel[T], add func(s rng.Stream, dst []T, scale T)) {
	c.add = add
}

// Seen returns what a channel tallied, the scale of its noise, and whether sizes are
// absolute values.
func Seen[T ~float32 | ~float64](c *Channel[T]) (t Tally, scale float64, absolute bool) {
	return c.total, c.law.Scale, c.absolute
}
