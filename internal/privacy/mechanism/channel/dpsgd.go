package channel

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"

	"privrec/internal/privacy"
	"privrec/internal/privacy/mechanism"
	"privrec/internal/rng"
)

// DPSGD describes DP-SGD, the sum of clipped gradients with Gaussian noise (Abadi et al., "Deep learning with
// differential privacy", CCS 2016, algorithm 1), over batches that it draws itself, so that the ledger records the
// sampler that was used. OpenDPSGD opens it.
//
// Poisson batches take every example independently with probability Rate. Their guarantee is for adding or removing one
// example, which moves the sum by at most Clip. Batches without replacement have Batch examples. Their guarantee is for
// replacing one example by another, which moves the sum by at most twice Clip.
type DPSGD struct {
	Purpose         string  // names the releases in the ledger
	Clip            float64 // C: largest Euclidean norm of one example's gradient
	NoiseMultiplier float64 // standard deviation of the noise of the sum, in units of Clip
	Examples        int64   // in the data set, 1 to 2^31-1
	// a public number of examples, by which means are taken; 0: Examples, which is then public
	Stated   int64
	Sampling privacy.Sampling // Poisson or WithoutReplacement
	Rate     float64          // Poisson: in (0, 1]; else 0
	Batch    int64            // without replacement: 1 to Examples; else 0
	Unit     privacy.Unit     // what one example is: Sample, User, Interaction
	Share    mechanism.Share  // of the run's false-alarm probability
}

// Sigma returns the standard deviation of the noise of the sum, NoiseMultiplier times Clip.
func (d DPSGD) Sigma() float64 { return d.NoiseMultiplier * d.Clip }

// ExpectedBatch returns the mean number of examples of a batch. Sums are divided by it, because the real number is
// private.
func (d DPSGD) ExpectedBatch() float64 {
	if d.Sampling == privacy.Poisson {
		return float64(cmp.Or(d.Stated, d.Examples)) * d.Rate
	}
	return float64(d.Batch)
}

// Event returns one step as an accountant sees it.
func (d DPSGD) Event() privacy.Sampled {
	g := privacy.Gaussian{Sigma: d.Sigma(), Sensitivity: d.Clip, Unit: d.Unit, Neighbouring: privacy.AddRemove}
	if d.Sampling == privacy.Poisson {
		return privacy.Sampled{Event: g, Rate: d.Rate, Method: privacy.Poisson}
	}
	g.Sensitivity, g.Norm, g.Neighbouring = 2*d.Clip, d.Clip, privacy.Replace
	rate := float64(d.Batch) / float64(d.Examples)
	if math.FMA(rate, float64(d.Examples), -float64(d.Batch)) < 0 { // rounded down
		rate = math.Nextafter(rate, 1)
	}
	return privacy.Sampled{Event: g, Rate: rate, Method: d.Sampling}
}

// Validate returns an error for the first setting that is not possible.
func (d DPSGD) Validate() error { return d.validate() }

func (d DPSGD) validate() error {
	if d.Purpose == "" {
		return errors.New("dp-sgd: no purpose")
	}
	var err error
	poisson := d.Sampling == privacy.Poisson
	switch {
	case d.Examples < 1 || d.Examples > math.MaxInt32:
		err = fmt.Errorf("examples is %d, want 1 to %d", d.Examples, math.MaxInt32)
	case d.Stated < 0 || d.Stated > math.MaxInt32 || !poisson && d.Stated != 0:
		err = fmt.Errorf("the stated number of examples is %d, want 1 to %d, for Poisson sampling alone", d.Stated,
			math.MaxInt32)
	case !poisson && d.Sampling != privacy.WithoutReplacement:
		err = fmt.Errorf("unknown sampling %q", string(d.Sampling))
	case poisson && (!(d.Rate > 0 && d.Rate <= 1) || d.Batch != 0):
		err = fmt.Errorf("rate is %v and batch %d, Poisson sampling wants a rate above 0 and at most 1, and no batch",
			d.Rate, d.Batch)
	case !poisson && (d.Batch < 1 || d.Batch > d.Examples || d.Rate != 0):
		err = fmt.Errorf("batch is %d and rate %v, sampling without replacement wants a batch from 1 to %d, and no "+
			"rate", d.Batch, d.Rate, d.Examples)
	case !(d.Clip > 0) || math.IsInf(2*d.Clip, 1):
		err = fmt.Errorf("clip is %v, want positive and finite", d.Clip)
	case !(d.NoiseMultiplier > 0) || math.IsInf(d.NoiseMultiplier, 1):
		err = fmt.Errorf("noise multiplier is %v, want positive and finite", d.NoiseMultiplier)
	default:
		err = d.Event().Validate()
	}
	if err = errors.Join(err, d.Share.Validate()); err != nil {
		return fmt.Errorf("%s: %w", d.Purpose, err)
	}
	return nil
}

// Descent runs DP-SGD for a training in one run: for each step Begin, Add for every example of the batch, Finish. Steps
// implements it, and so does secure.Steps, whose noise is for data that are published.
type Descent[T mechanism.Float] interface {
	// Skip reports whether the next step was begun by a stopped attempt, with noise that cannot be drawn again. That
	// step is then over without moving anything, and no Begin follows.
	Skip() bool
	Begin(key ...uint64) ([]int32, error)
	Add(k int, gradient []T) error
	Finish(mean []T) error
	Check() error
	State() DPSGDState
	Restore(st DPSGDState) error
}

// RowDescent is a Descent on a table where each example touches few rows. RowSteps implements it, and so does
// secure.RowSteps.
type RowDescent[T mechanism.Float] interface {
	Skip() bool
	Begin(key ...uint64) ([]int32, error)
	Add(k int, rows []int32, values []T) error
	Finish(parallel Parallel, step func(at int, sum []T)) error
	ExpectedBatch() float64
	Check() error
	State() DPSGDState
	Restore(st DPSGDState) error
}

// Skip returns false: a lost step is drawn again with the same numbers.
func (s *stepping[T]) Skip() bool { return false }

// Steps runs DP-SGD in one run: Begin, Add for every example of the batch or AddSum, Finish. Only one goroutine may
// call it; several may compute the gradients. RowSteps is for examples that touch few rows of a table.
type Steps[T mechanism.Float] struct {
	stepping[T]
	sum   []float64
	noisy []T // rows of noiseCols, the last padded
}

// stepping holds the common part of Steps and RowSteps: batches, noise, their checks and their state.
type stepping[T mechanism.Float] struct {
	d       DPSGD
	dim     int        // values of a gradient
	stream  rng.Stream // of batches
	noise   *Channel[T]
	batches *batches
	clip    func(v []T, c float64) (bool, error)

	spent   spending
	checked int64 // batches at the last check
	failed  error

	release *Release[T] // nil between steps
	batch   []int32
	added   int
}

// sampledLaw is the law of a channel's noise when its releases use a sample of the data.
type sampledLaw struct {
	Law
	e privacy.Sampled
}

// Event returns the sampled event.
func (l sampledLaw) Event() privacy.Event { return l.e }

// noiseCols is the length of the rows of keyed noise.
const noiseCols = 256

// The streams of a run.
const (
	noiseStream = iota
	batchStream
)

// OpenDPSGD opens DP-SGD for gradients of dim values. It draws noise and batches from stream s
// and records in ledger l.
func OpenDPSGD[T mechanism.Float](d DPSGD, dim int, l *privacy.Ledger, s rng.Stream) (*Steps[T], error) {
	if dim < 1 {
		if err := d.validate(); err != nil {
			return nil, err
		}
		return nil, fmt.Errorf("%s: gradients of %d values", d.Purpose, dim)
	}
	core, err := openStepping[T](d, dim, l, s)
	if err != nil {
		return nil, err
	}
	return &Steps[T]{stepping: core, sum: make([]float64, dim), noisy: make([]T, core.noiseRows()*noiseCols)}, nil
}

func openStepping[T mechanism.Float](d DPSGD, dim int, l *privacy.Ledger, s rng.Stream) (core stepping[T], err error) {
	if err := d.validate(); err != nil {
		return core, err
	}
	half := d.Share / 2
	if d.Share == 0 {
		half = 0.5
	}
	g := d.Event().Event.(privacy.Gaussian)
	c, err := Open[T](Gaussian{Purpose: d.Purpose, Sigma: g.Sigma, Sensitivity: g.Sensitivity, Unit: g.Unit,
		Neighbouring: g.Neighbouring, Share: half}, l, s.Sub(noiseStream))
	if err != nil {
		return core, err
	}
	c.law = sampledLaw{c.law, d.Event()}
	d.Share = half
	return stepping[T]{d: d, dim: dim, stream: s.Sub(batchStream), noise: c, clip: Clip[T],
		batches: newBatches(d.Examples, d.Sampling, d.Rate, d.Batch)}, nil
}

// noiseRows returns the number of noise rows that cover a gradient.
func (s *stepping[T]) noiseRows() int { return (s.dim + noiseCols - 1) / noiseCols }

// begin records a step, opens its release and returns its batch.
func (s *stepping[T]) begin(key ...uint64) ([]int32, error) {
	if s.failed != nil {
		return nil, s.failed
	}
	if s.release != nil {
		return nil, s.fail(fmt.Errorf("%s: a step was begun before the last was finished", s.d.Purpose))
	}
	r, err := s.noise.Begin(s.noiseRows(), noiseCols, key...)
	if err != nil {
		return nil, s.fail(err)
	}
	s.release, s.added = r, 0
	s.batch = s.batches.next(s.stream.Sub(key...), s.batch)
	return s.batch, nil
}

// shorten clips a gradient in place, after checking that the k-th example of the batch is the next one.
func (s *stepping[T]) shorten(k int, gradient []T) error {
	if s.release == nil || k != s.added || k >= len(s.batch) {
		return s.fail(fmt.Errorf("%s: example %d after %d of the %d of a batch, want them in order", s.d.Purpose, k,
			s.added, len(s.batch)))
	}
	if err := s.shortened(k, gradient); err != nil {
		return s.fail(err)
	}
	return nil
}

// shortened clips the gradient of the k-th example of the batch in place. It changes nothing else.
//
// A gradient with a value that is not finite becomes 0. This depends on the example alone, given the parameters, so the
// sum still moves by at most the clipping norm. An error would reveal something about the example that no noise covers.
func (s *stepping[T]) shortened(k int, gradient []T) error {
	if _, err := s.clip(gradient, s.d.Clip); err != nil {
		clear(gradient)
	}
	return CheckNorm(s.d.Purpose, "norm of a gradient", gradient, s.d.Clip, "gradients were not clipped")
}

// Begin records a step in the ledger and returns the examples of its batch, ascending; the
// batch may be empty. They stay valid until the next Begin. The key (pass, step) is used once,
// by the rules of [Channel.Begin].
func (s *Steps[T]) Begin(key ...uint64) ([]int32, error) {
	clear(s.sum)
	return s.begin(key...)
}

// Add clips the gradient of the k-th example of the batch, in place, and adds it. Examples must
// come in order, 0, 1, ..., so that sums do not depend on which goroutine was first. A gradient
// that is not finite counts as 0.
func (s *Steps[T]) Add(k int, gradient []T) error {
	if s.failed != nil {
		return s.failed
	}
	if len(gradient) != s.dim {
		return s.fail(fmt.Errorf("%s: gradient of %d values, want %d", s.d.Purpose, len(gradient), s.dim))
	}
	if err := s.shorten(k, gradient); err != nil {
		return err
	}
	for i, x := range gradient {
		s.sum[i] += float64(x)
	}
	s.added++
	return nil
}

// AddSum adds the gradients of the whole batch at once, clipped and summed by the caller, in place of an Add for every
// example. norms bounds the lengths of the clipped gradients, in the order of the batch: none may be above the clipping
// norm. So single gradients need not be computed if their lengths follow from activations (Goodfellow, "Efficient
// per-example gradient computations", 2015). AddSum cannot see the gradients: it fails on a sum that is longer than the
// sum of norms, and relies on the caller for the rest.
func (s *Steps[T]) AddSum(norms []float64, sum []T) error {
	switch {
	case s.failed != nil:
		return s.failed
	case s.release == nil || s.added != 0 || len(norms) != len(s.batch):
		return s.fail(fmt.Errorf("%s: a sum of %d gradients after %d of the %d of a batch, want all of them",
			s.d.Purpose, len(norms), s.added, len(s.batch)))
	case len(sum) != s.dim:
		return s.fail(fmt.Errorf("%s: sum of %d values, want %d", s.d.Purpose, len(sum), s.dim))
	}
	total := 0.0
	for k, n := range norms {
		if !(n >= 0 && n <= s.d.Clip) {
			return s.fail(fmt.Errorf("%s: clipped gradient of example %d: %w", s.d.Purpose, s.batch[k],
				&mechanism.CheckError{Purpose: s.d.Purpose, What: "norm of a gradient", Got: n, Low: 0, High: s.d.Clip,
					N: int64(s.dim), Hint: "gradients were not clipped"}))
		}
		total += n
	}
	if len(norms) > 0 || slices.ContainsFunc(sum, func(x T) bool { return x != 0 }) {
		// The sum of rounded gradients may be longer by their rounding.
		if err := CheckNorm(s.d.Purpose, "norm of a sum of gradients", sum,
			max(total*(1+sumRounding), math.SmallestNonzeroFloat64), "gradients were not clipped"); err != nil {
			return s.fail(err)
		}
	}
	for i, x := range sum {
		s.sum[i] += float64(x)
	}
	s.added = len(s.batch)
	return nil
}

// sumRounding is the relative amount by which AddSum lets a sum of gradients exceed its norms: rounding to single
// precision.
const sumRounding = 1e-4

// Finish writes the noisy sum divided by the expected size of a batch to mean, and checks noise
// and batches. It fails unless every example of the batch was added. The sum of an empty batch
// is noise only.
func (s *Steps[T]) Finish(mean []T) error {
	if err := s.complete(); err != nil {
		return err
	}
	if len(mean) != s.dim {
		return s.fail(fmt.Errorf("%s: mean of %d values, want %d", s.d.Purpose, len(mean), s.dim))
	}
	clear(s.noisy)
	for i, x := range s.sum {
		s.noisy[i] = T(x)
	}
	for i := range len(s.noisy) / noiseCols {
		s.release.Row(i, s.noisy[i*noiseCols:(i+1)*noiseCols])
	}
	if err := s.end(); err != nil {
		return err
	}
	per := s.d.ExpectedBatch()
	for i := range mean {
		mean[i] = T(float64(s.noisy[i]) / per)
	}
	return s.checkSome()
}

// complete returns an error unless every example of the batch was added.
func (s *stepping[T]) complete() error {
	if s.failed != nil {
		return s.failed
	}
	if s.release == nil || s.added != len(s.batch) {
		return s.fail(fmt.Errorf("%s: a step ends after %d of the %d examples of its batch", s.d.Purpose, s.added,
			len(s.batch)))
	}
	return nil
}

// end ends the release of a step and checks its noise.
func (s *stepping[T]) end() error {
	r := s.release
	s.release = nil
	if err := r.Finish(); err != nil {
		return s.fail(err)
	}
	return nil
}

// checkSome checks the batches whenever their number has doubled.
func (s *stepping[T]) checkSome() error {
	if s.batches.seen.Batches >= 2*s.checked {
		return s.check()
	}
	return nil
}

// Check returns an error if the noise or the batches so far do not fit their law. A run calls it at its end; before
// that, it runs whenever the number of steps has doubled.
func (s *stepping[T]) Check() error {
	if s.failed != nil {
		return s.failed
	}
	if s.release != nil {
		return fmt.Errorf("%s: a step was begun and not finished", s.d.Purpose)
	}
	if err := s.check(); err != nil {
		return err
	}
	if err := s.noise.Check(); err != nil {
		return s.fail(err)
	}
	return nil
}

func (s *stepping[T]) check() error {
	if s.checked = s.batches.seen.Batches; s.checked == 0 {
		return nil
	}
	if err := s.batches.check(s.d.Purpose, s.spent.next(batchTails, s.d.Share)); err != nil {
		return s.fail(err)
	}
	return nil
}

func (s *stepping[T]) fail(err error) error {
	s.failed = err
	return err
}

// DPSGDState holds what a checkpoint stores of a run of DP-SGD: its noise, the counts of its batches, and how much of
// the false-alarm probability its checks have spent. As JSON it keeps every bit.
type DPSGDState struct {
	Noise    State      `json:"noise"`
	Examples int64      `json:"examples"`
	Rate     exact      `json:"rate"`
	Batch    int64      `json:"batch"`
	Batches  batchTally `json:"batches"`
	Checked  int64      `json:"checked"` // batches at the last check
	Checks   int64      `json:"checks"`  // made so far
	// First is the last batch if the next one is to be compared with it; empty in states of older programs.
	First  []int32 `json:"first,omitempty"`
	Failed string  `json:"failed,omitempty"`
}

// State returns the state of the run between two steps.
func (s *stepping[T]) State() DPSGDState {
	st := DPSGDState{Noise: s.noise.State(), Examples: s.d.Examples, Rate: exact(s.d.Rate), Batch: s.d.Batch,
		Batches: s.batches.seen, Checked: s.checked, Checks: s.spent.k}
	if s.batches.first {
		st.First = slices.Clone(s.batches.other)
	}
	if s.failed != nil {
		st.Failed = s.failed.Error()
	}
	return st
}

// Restore puts a new run into the state of a checkpoint. It fails on a state of another run, of a failed run, and on
// one taken in the middle of a step.
func (s *stepping[T]) Restore(st DPSGDState) error {
	if err := s.restore(st); err != nil {
		return fmt.Errorf("%s: restore: %w", s.d.Purpose, err)
	}
	return nil
}

func (s *stepping[T]) restore(st DPSGDState) error {
	t := st.Batches
	switch {
	case s.failed != nil:
		return s.failed
	case s.batches.seen != (batchTally{}) || s.release != nil:
		return errors.New("the run was begun already")
	case st.Failed != "":
		return fmt.Errorf("the state is of a run that failed: %s", st.Failed)
	case st.Examples != s.d.Examples || float64(st.Rate) != s.d.Rate || st.Batch != s.d.Batch:
		return fmt.Errorf("the state is of batches of %d examples at rate %v, %d each", st.Examples, float64(st.Rate),
			st.Batch)
	case t.Batches < 0 || t.Examples < 0 || !(t.SumSq >= 0) || !(t.Widest >= 0) || t.Paired < 0 ||
		t.Paired > t.Examples,
		t.Common < 0 || t.Common > t.Paired, st.Checked < 0 || st.Checked > t.Batches, st.Checks < 0, st.Checks == 0 &&
			st.Checked != 0:
		return errors.New("the state contradicts itself")
	case len(st.First) > 0 && (t.Batches%2 == 0 || int64(len(st.First)) > t.Examples || !s.batches.possible(st.First)):
		return errors.New("the state has a last batch that is none")
	}
	if err := s.noise.Restore(st.Noise); err != nil {
		return err
	}
	s.batches.seen, s.checked, s.spent.k = t, st.Checked, st.Checks
	s.batches.first, s.batches.other = t.Batches%2 == 1, slices.Clone(st.First)
	return nil
}
