package secure

import (
	"cmp"
	"errors"
	"fmt"
	"math"

	"privrec/internal/privacy"
	"privrec/internal/privacy/mechanism"
	"privrec/internal/privacy/mechanism/channel"
)

// DPSGDEvent returns one step of DP-SGD with secure noise on gradients of dim values, as an
// accountant sees it: a discrete normal release on a Poisson sample. It fails on a sampler other
// than Poisson's, and on a noise multiplier that has no grid.
func DPSGDEvent(d channel.DPSGD, dim int) (privacy.Sampled, error) {
	m, _, err := release(d, dim)
	if err != nil {
		return privacy.Sampled{}, err
	}
	_, e, err := m.plan(53)
	if err != nil {
		return privacy.Sampled{}, fmt.Errorf("%s: %w", d.Purpose, err)
	}
	return privacy.Sampled{Event: e, Rate: d.Rate, Method: privacy.Poisson}, nil
}

// release describes the release of a step's sum.
func release(d channel.DPSGD, dim int) (DiscreteGaussian, grid, error) {
	if err := d.Validate(); err != nil {
		return DiscreteGaussian{}, grid{}, err
	}
	if d.Sampling != privacy.Poisson {
		return DiscreteGaussian{}, grid{}, fmt.Errorf("%s: sampling is %q, want %q: secure batches have no other",
			d.Purpose, string(d.Sampling), string(privacy.Poisson))
	}
	if dim < 1 {
		return DiscreteGaussian{}, grid{}, fmt.Errorf("%s: gradients of %d values", d.Purpose, dim)
	}
	// The grid must not tell how many examples there are, where that is not public.
	most := cmp.Or(2*d.Stated, d.Examples)
	if d.Examples > most {
		return DiscreteGaussian{}, grid{},
			fmt.Errorf("%s: there are more than twice as many examples as the %d that are stated", d.Purpose, d.Stated)
	}
	g, err := newGrid(d.Clip, d.Sigma(), most)
	if err != nil {
		return DiscreteGaussian{}, grid{}, fmt.Errorf("%s: %w", d.Purpose, err)
	}
	return DiscreteGaussian{Purpose: d.Purpose, Sigma: d.Sigma(), Sensitivity: d.Clip, Dimension: int64(dim),
			Bound: float64(g.most) * g.step,
			Grid:  g.step, Whole: true, Unit: d.Unit, Neighbouring: privacy.AddRemove, Rate: d.Rate,
			Share: half(d.Share)},
		g, nil
}

func half(s mechanism.Share) mechanism.Share {
	if s == 0 {
		s = 1
	}
	return s / 2
}

// stepping holds the common part of Steps and RowSteps: DP-SGD with exact sums, and with batches and noise from
// cryptographic bits.
//
// A step is in the ledger, and on file, before its batch is drawn. A stopped run continues from its last checkpoint,
// and the steps after that are lost, since their results were only in memory or in files that no checkpoint knows. They
// are not repeated, because new noise would be a second release. They stay in the ledger, and Skip passes over as many
// steps. So a run never draws noise more often than its ledger, and its plan, says.
type stepping[T mechanism.Float] struct {
	d       channel.DPSGD
	grid    grid
	dim     int
	noise   *channel.Channel[float64]
	ledger  *privacy.Ledger
	sample  sample
	sum     []int64 // (dim), in steps
	batch   []int32
	added   int
	release *channel.Release[float64] // nil between steps

	made    int64 // steps of the run so far, with those that were passed over
	behind  int64 // steps of the ledger that are lost
	checked int64 // batches at the last check
	checks  int
	share   mechanism.Share // of the batches
	failed  error
}

// noiseCols is the length of the rows of noise.
const noiseCols = 256

func openStepping[T mechanism.Float](d channel.DPSGD, dim int, l *privacy.Ledger) (s stepping[T], err error) {
	m, g, err := release(d, dim)
	if err != nil {
		return s, err
	}
	c, err := OpenGaussian[float64](m, l)
	if err != nil {
		return s, err
	}
	if _, err := l.Keep("steps of an attempt that was stopped"); err != nil {
		return s, err
	}
	s = stepping[T]{d: d, grid: g, dim: dim, noise: c, ledger: l, sample: sample{n: d.Examples, rate: d.Rate},
		sum: make([]int64, dim), share: half(d.Share)}
	for _, e := range l.Entries() {
		if e.Purpose == d.Purpose {
			s.behind += e.Count
		}
	}
	return s, nil
}

// Skip implements channel.Descent.
func (s *stepping[T]) Skip() bool {
	if s.behind == 0 || s.failed != nil {
		return false
	}
	s.behind--
	s.made++
	return true
}

// Begin records a step in the ledger and its file, and returns the examples of its batch,
// ascending; the batch may be empty. They stay valid until the next Begin. The key is used once.
func (s *stepping[T]) Begin(key ...uint64) ([]int32, error) {
	switch {
	case s.failed != nil:
		return nil, s.failed
	case s.release != nil:
		return nil, s.fail(fmt.Errorf("%s: a step was begun before the last was finished", s.d.Purpose))
	case s.behind != 0:
		return nil, s.fail(fmt.Errorf("%s: %d steps of an attempt that was stopped were not passed over", s.d.Purpose,
			s.behind))
	}
	clear(s.sum)
	r, err := s.noise.Begin((s.dim+noiseCols-1)/noiseCols, noiseCols, key...)
	if err == nil {
		err = s.ledger.Show() // a kill from here on leaves the step in the file
	}
	if err != nil {
		return nil, s.fail(err)
	}
	s.release, s.added = r, 0
	s.batch = s.sample.draw(s.batch)
	return s.batch, nil
}

// next returns an error unless k is the number of the next example.
func (s *stepping[T]) next(k int) error {
	if s.failed != nil {
		return s.failed
	}
	if s.release == nil || k != s.added || k >= len(s.batch) {
		return s.fail(fmt.Errorf("%s: example %d after %d of the %d of a batch, want them in order", s.d.Purpose, k,
			s.added, len(s.batch)))
	}
	return nil
}

// placed completes the addition of example k.
func (s *stepping[T]) placed(k int, err error) error {
	if err != nil {
		if c := (*mechanism.CheckError)(nil); errors.As(err, &c) {
			c.Purpose = s.d.Purpose
		}
		return s.fail(fmt.Errorf("%s: gradient of example %d: %w", s.d.Purpose, s.batch[k], err))
	}
	s.added++
	return nil
}

// finish adds noise to the whole sum and hands it to step in pieces, in the data's unit.
func (s *stepping[T]) finish(parallel channel.Parallel, step func(at int, sum []T)) error {
	if s.failed != nil {
		return s.failed
	}
	if s.release == nil || s.added != len(s.batch) {
		return s.fail(fmt.Errorf("%s: a step ends after %d of the %d examples of its batch", s.d.Purpose, s.added,
			len(s.batch)))
	}
	limit := s.grid.most
	for _, k := range s.sum {
		if k > limit || k < -limit {
			return s.fail(&mechanism.CheckError{Purpose: s.d.Purpose, What: "a sum of contributions, in steps",
				Got: float64(k), Low: -float64(limit), High: float64(limit), N: int64(s.dim), Hint: "it overflows"})
		}
	}
	parallel((s.dim+noiseCols-1)/noiseCols, 8, func(_, lo, hi int) {
		var row [noiseCols]float64
		var out [noiseCols]T
		for i := lo; i < hi; i++ {
			at := i * noiseCols
			end := min(s.dim, at+noiseCols)
			clear(row[:])
			for j, k := range s.sum[at:end] {
				row[j] = float64(k) * s.grid.step // exact
			}
			s.release.Row(i, row[:])
			for j := range end - at {
				out[j] = T(row[j])
			}
			step(at, out[:end-at])
		}
	})
	r := s.release
	s.release = nil
	if err := r.Finish(); err != nil {
		return s.fail(err)
	}
	s.made++
	if s.sample.batches >= 2*s.checked {
		return s.checkBatches()
	}
	return nil
}

// checkBatches returns an error if the batches of this process do not fit their law. The k-th check spends 1/(k (k+1))
// of the share.
func (s *stepping[T]) checkBatches() error {
	if s.checked = s.sample.batches; s.checked == 0 {
		return nil
	}
	s.checks++
	x := math.Log(sampleTails * float64(s.checks*(s.checks+1)) / s.share.FalseAlarm())
	if err := s.sample.check(s.d.Purpose, x); err != nil {
		return s.fail(err)
	}
	return nil
}

// Check returns an error if the noise or the batches of this process do not fit their law. A run calls it at its end;
// before that, it runs whenever the number of steps has doubled.
func (s *stepping[T]) Check() error {
	if s.failed != nil {
		return s.failed
	}
	if s.release != nil {
		return fmt.Errorf("%s: a step was begun and not finished", s.d.Purpose)
	}
	if err := s.checkBatches(); err != nil {
		return err
	}
	if s.checked == 0 {
		return nil
	}
	if err := s.noise.Check(); err != nil {
		return s.fail(err)
	}
	return nil
}

// State returns the number of steps made. There is nothing else to restore: the next attempt draws new bits and checks
// them.
func (s *stepping[T]) State() channel.DPSGDState {
	st := channel.DPSGDState{Examples: s.d.Examples}
	st.Batches.Batches = s.made
	if s.failed != nil {
		st.Failed = s.failed.Error()
	}
	return st
}

// Restore continues after the steps of a checkpoint.
func (s *stepping[T]) Restore(st channel.DPSGDState) error {
	n := st.Batches.Batches
	switch {
	case s.failed != nil:
		return s.failed
	case s.made != 0 || s.release != nil || s.sample.batches != 0:
		return fmt.Errorf("%s: restore: the run was begun already", s.d.Purpose)
	case st.Failed != "":
		return fmt.Errorf("%s: restore: the state is of a run that failed: %s", s.d.Purpose, st.Failed)
	case st.Examples != s.d.Examples || n < 0:
		return fmt.Errorf("%s: restore: the state is of %d steps on %d examples", s.d.Purpose, n, st.Examples)
	case n > s.behind:
		return fmt.Errorf("%s: restore: the state is of %d steps, the ledger has %d", s.d.Purpose, n, s.behind)
	}
	s.made, s.behind = n, s.behind-n
	return nil
}

// ExpectedBatch returns the mean number of examples of a batch, see [channel.DPSGD.ExpectedBatch].
func (s *stepping[T]) ExpectedBatch() float64 { return s.d.ExpectedBatch() }

// Lost returns the number of steps in the ledger that Skip still has to pass over.
func (s *stepping[T]) Lost() int64 { return s.behind }

func (s *stepping[T]) fail(err error) error {
	s.failed = err
	return err
}
