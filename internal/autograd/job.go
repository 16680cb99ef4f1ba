package autograd

import (
	"privrec/internal/rng"
	"privrec/internal/tensor"
)

// job describes a loop over rows without a closure: the tape keeps one, so that running a loop on the worker pool
// allocates nothing. A kernel computes rows [lo, hi) of dst from the other fields and writes nothing else, so the split
// cannot affect the result.
type job struct {
	kernel  func(j *job, lo, hi int)
	dst     []tensor.Float
	a, b, c []tensor.Float
	d, e, f []tensor.Float
	idx     []int32
	idx2    []int32
	w       int // floats of a row
	n, k    int // strides or counts, as the kernel says
	s       tensor.Float
	x, y    float64
	flag    bool
	draw    rng.Stream
}

// eachGrain is the number of floats a chunk holds: a microsecond or more of an element-wise kernel.
// Less than eachLeast chunks are not worth the half microsecond it takes to hand one to another
// core, nor the wait for that core if it is busy elsewhere.
const (
	eachGrain = 8192
	eachLeast = 4
)

// each runs j over n rows. width is the number of floats that a row counts for in the split: the row width, or a
// multiple of it if a float is expensive.
func (t *Tape) each(n, width int, j job) {
	grain := max(1, eachGrain/max(1, width))
	if n <= (eachLeast-1)*grain {
		grain = n
	}
	t.run(n, grain, j)
}

// run runs j over [0, n) in chunks of grain.
func (t *Tape) run(n, grain int, j job) {
	t.job = j
	switch {
	case n <= 0:
	case n <= grain:
		t.job.kernel(&t.job, 0, n)
	default:
		tensor.Parallel(n, grain, t.runJob)
	}
}
