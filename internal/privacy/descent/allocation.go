package descent

import (
	"math"

	"privrec/internal/privacy"
	"privrec/internal/privacy/mechanism"
	"privrec/internal/rng"
)

// epoch holds in which step of an epoch of random allocation each example is.
type epoch struct {
	steps int64
	step  []int32 // of an example
	at    []int32 // of a step: where its examples begin in order; (steps+1)
	order []int32 // examples by their step, ascending in each

	taken []uint64 // a bit an example: it was in a batch of the epoch
	count int64    // examples that were in its batches
}

func newEpoch(n, steps int64) *epoch {
	return &epoch{steps: steps, step: make([]int32, n), at: make([]int32, steps+1), order: make([]int32, n),
		taken: make([]uint64, (n+63)/64)}
}

// assign begins an epoch in which example i is in step draw(i).
func (e *epoch) assign(draw func(i int) int) {
	clear(e.at)
	for i := range e.step {
		e.step[i] = int32(draw(i))
		e.at[e.step[i]]++
	}
	sum := int32(0)
	for k, n := range e.at {
		e.at[k] = sum
		sum += n
	}
	for i, k := range e.step { // at then holds the end of every step
		e.order[e.at[k]] = int32(i)
		e.at[k]++
	}
	copy(e.at[1:], e.at[:e.steps])
	e.at[0] = 0
}

// batch appends the examples of a step to to.
func (e *epoch) batch(step int64, to []int32) []int32 {
	return append(to, e.order[e.at[step]:e.at[step+1]]...)
}

// once counts the batch of a step. It returns an error for an example that was in a batch of the epoch already, and
// after the last step if there are examples that were in none.
func (e *epoch) once(step int64, batch []int32) *mechanism.CheckError {
	if step == 0 {
		clear(e.taken)
		e.count = 0
	}
	e.count += int64(len(batch))
	for _, i := range batch {
		if e.taken[i/64]>>(i%64)&1 == 1 {
			return &mechanism.CheckError{What: "number of batches of an epoch that an example is in", Got: 2, Low: 1,
				High: 1, N: step + 1, Hint: "an example is in one step of an epoch"}
		}
		e.taken[i/64] |= 1 << (i % 64)
	}
	if n := int64(len(e.step)); step == e.steps-1 && e.count != n {
		return &mechanism.CheckError{What: "number of examples of an epoch", Got: float64(e.count), Low: float64(n),
			High: float64(n), N: e.steps, Hint: "every example is in one step of an epoch"}
	}
	return nil
}

// newAllocated returns batches of random allocation to the steps of epochs. The stream of a batch is that of the epoch:
// the same for all its steps.
func newAllocated(n, steps int64) *batches {
	return &batches{n: n, method: privacy.Allocation, rate: 1 / float64(steps), epoch: newEpoch(n, steps),
		draw: (*batches).allocated}
}

// newSecretAllocated returns batches like newAllocated, drawn from cryptographic bits.
func newSecretAllocated(n, steps int64) *batches {
	b, bits := newAllocated(n, steps), &rng.Secret{}
	b.draw = func(b *batches, _ rng.Stream, to []int32) []int32 {
		if b.step() == 0 {
			b.epoch.assign(func(int) int { return bits.IntN(int(steps)) })
		}
		return b.epoch.batch(b.step(), to)
	}
	return b
}

// step returns the next step's place in its epoch.
func (b *batches) step() int64 { return b.seen.Batches % b.epoch.steps }

// allocated appends the examples of the next step to to. The first step of an epoch draws the step of every example,
// which depends on nothing but the epoch's stream and the example, so that without the last example all others keep
// theirs.
func (b *batches) allocated(s rng.Stream, to []int32) []int32 {
	if b.step() == 0 {
		b.allocate(s)
	}
	return b.epoch.batch(b.step(), to)
}

// allocate draws the steps of all examples from the stream of an epoch.
func (b *batches) allocate(s rng.Stream) {
	b.epoch.assign(func(i int) int {
		own := s.Sub(uint64(i))
		return own.IntN(int(b.epoch.steps))
	})
}

// goOn draws again an epoch of which some steps were made, which b.seen counts. ok is false if their batches did not
// have as many examples as it says.
func (b *batches) goOn(s rng.Stream) (ok bool) {
	b.allocate(s)
	for k := range b.step() {
		if b.epoch.once(k, b.epoch.batch(k, nil)) != nil {
			return false
		}
	}
	return b.seen.Examples == b.seen.Batches/b.epoch.steps*b.n+b.epoch.count
}

// fault returns an error if an epoch did not have every example once.
func (b *batches) fault(purpose string) error {
	if b.broken == nil {
		return nil
	}
	e := *b.broken
	e.Purpose = purpose
	return &e
}

// waits reports whether after the batches so far the first one of a pair waits for the second.
func (b *batches) waits() bool {
	if b.epoch == nil {
		return b.seen.Batches%2 == 1
	}
	return b.begun()%2 == 1
}

// begun returns the number of epochs that were begun.
func (b *batches) begun() int64 { return (b.seen.Batches + b.epoch.steps - 1) / b.epoch.steps }

// checkEpochs is check for random allocation. With n examples in epochs of T steps, E of them begun and W whole, t
// batches of sizes S, m = n/T, v = m (1 - 1/T), it passes correct batches with probability at least 1 - 6 exp(-x):
//
//	sum S = W n, and up to n more in an epoch that has not ended   (surely)
//	sum (S - m)² / m >= W (T-1) - sqrt(2 W (T²-1) x)               (below the mean of non-negative variables: of an
//	                                                                epoch it is Pearson's statistic, E[.²] <= T² - 1)
//	                 >= t - sqrt(2 t (3 + 1/m) z), z = x + E ln(e sqrt n)
//	|S - m| <= sqrt(2 v y) + 2y/3 for all, y = x + ln t            (Bernstein)
//	examples in the first batches of two epochs in a row: Binomial(., 1/T) given the first (Bernstein)
//
// For the third line, sizes are those of independent Poisson variables given that those of each epoch sum to n, which
// has a probability of at least 1/(e sqrt n). Passes over a shuffled order, in batches of one size, fail the second or
// the third. One allocation in every epoch fails the last.
//
// That every example is in one batch of an epoch, so that two batches of it share nobody, is compared when a batch is
// drawn, and has no false alarm.
func (b *batches) checkEpochs(purpose string, x float64) error {
	s := &b.seen
	fail := func(what string, got, low, high float64, hint string) error {
		return &mechanism.CheckError{Purpose: purpose, What: what, Got: got, Low: low, High: high, N: s.Batches,
			Hint: hint}
	}
	steps, whole := b.epoch.steps, s.Batches/b.epoch.steps
	if low, high := whole*b.n, b.begun()*b.n; s.Examples < low || s.Examples > high {
		return fail("number of examples in batches", float64(s.Examples), float64(low), float64(high),
			"every example is in one step of an epoch")
	}
	n, t, w, k := float64(b.n), float64(steps), float64(whole), float64(s.Batches)
	m := n / t
	low := w*(t-1) - math.Sqrt(2*w*(t*t-1)*x)
	z := x + float64(b.begun())*(1+math.Log(n)/2)
	low = max(low, k-math.Sqrt(2*k*(3+1/m)*z))
	if steps > 1 && !(float64(s.SumSq)/m >= low) {
		return fail("sum of squared deviations of batch sizes", float64(s.SumSq), low*m, math.Inf(1),
			"batches of a fixed size are not those of random allocation")
	}
	v, y := m*(1-1/t), x+math.Log(max(1, k))
	if high := math.Sqrt(2*v*y) + 2*y/3; !(float64(s.Widest) <= high) {
		return fail("largest deviation of a batch size", float64(s.Widest), 0, high, "")
	}
	both := mechanism.Proportion{What: "number of examples in the first batches of two epochs in a row", N: s.Paired,
		Got: s.Common, P: 1 / t}
	return both.Check(purpose, x)
}
