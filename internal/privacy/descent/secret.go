package descent

import (
	"cmp"
	"errors"
	"fmt"

	"privrec/internal/privacy"
	"privrec/internal/privacy/mechanism"
	"privrec/internal/privacy/mechanism/channel"
	"privrec/internal/privacy/mechanism/secure"
	"privrec/internal/rng"
)

// SecretEvent returns what the ledger records of DP-SGD with secure noise on gradients of dim values, as an accountant
// sees it: a step, which is a discrete normal release on a Poisson sample, or an epoch of random allocation, whose
// discrete noise is stated as normal noise that is at most as private. It fails on samples without replacement, and on
// a noise multiplier that has no grid.
func SecretEvent(d DPSGD, dim int) (privacy.Event, error) {
	m, _, err := release(d, dim)
	if err != nil {
		return nil, err
	}
	return m.Event()
}

// release describes the release of a step's sum.
func release(d DPSGD, dim int) (secure.DiscreteGaussian, grid, error) {
	if err := d.Validate(); err != nil {
		return secure.DiscreteGaussian{}, grid{}, err
	}
	if d.Sampling == privacy.WithoutReplacement {
		return secure.DiscreteGaussian{}, grid{},
			fmt.Errorf("%s: sampling is %q, want %q or %q: secure batches have no other", d.Purpose, string(d.Sampling),
				string(privacy.Poisson), string(privacy.Allocation))
	}
	if dim < 1 {
		return secure.DiscreteGaussian{}, grid{}, fmt.Errorf("%s: gradients of %d values", d.Purpose, dim)
	}
	// The grid must not tell how many examples there are, where that is not public.
	most := cmp.Or(2*d.Stated, d.Examples)
	if d.Examples > most {
		return secure.DiscreteGaussian{}, grid{},
			fmt.Errorf("%s: there are more than twice as many examples as the %d that are stated", d.Purpose, d.Stated)
	}
	g, err := newGrid(d.Clip, d.Sigma(), most)
	if err != nil {
		return secure.DiscreteGaussian{}, grid{}, fmt.Errorf("%s: %w", d.Purpose, err)
	}
	return secure.DiscreteGaussian{Purpose: d.Purpose, Sigma: d.Sigma(), Sensitivity: d.Clip, Dimension: int64(dim),
			Bound: float64(g.most) * g.step,
			Grid:  g.step, Whole: true, Unit: d.Unit, Neighbouring: privacy.AddRemove, Rate: d.Rate,
			Steps: d.Steps, Share: d.Share.Half()},
		g, nil
}

// secret is a source of cryptographic bits, with exact sums. Nothing can be drawn again.
//
// A step is in the ledger, and on file, before its batch is drawn. A stopped run continues from its last checkpoint,
// and the steps after that are lost, since their results were only in memory or in files that no checkpoint knows. They
// are not repeated, because new noise would be a second release. They stay in the ledger, and Skip passes over as many
// steps. So a run never draws noise more often than its ledger, and its plan, says.
//
// Of random allocation the ledger has whole epochs. Which steps of the last one were drawn is then not known, and who
// is in them only the stopped process knew. So all of its steps after the checkpoint are passed over, and the next
// epoch is drawn anew.
type secret[T mechanism.Float] struct {
	d         DPSGD
	grid      grid
	dim, cols int // values of the table, and of its rows
	noise     *channel.Channel[float64]
	ledger    *privacy.Ledger
	sample    sample
	batches   *batches // of random allocation; nil: sample has them
	sum       []int64  // (dim), in steps
	release   *channel.Release[float64]

	made   int64 // steps of the run so far, with those that were passed over
	behind int64 // steps of the ledger that are lost
}

// secretPiece is the number of rows of noise that are handed out at once.
const secretPiece = 1

// OpenSecret opens DP-SGD for gradients of dim values and for data that are published: batches and noise are from
// cryptographic bits, there is no seed, and sums are exact. The ledger must be marked secure. parallel decides in how
// many goroutines noise is added.
func OpenSecret[T mechanism.Float](d DPSGD, dim int, l *privacy.Ledger, parallel Parallel) (*Dense[T], error) {
	s, err := newSecret[T](d, 1, dim, l)
	if err != nil {
		return nil, err
	}
	return newDense(d, dim, secretPiece, s, parallel), nil
}

// OpenSecretRows opens DP-SGD for the gradients of a table (rows, cols), see OpenSecret.
func OpenSecretRows[T mechanism.Float](d DPSGD, rows, cols int, l *privacy.Ledger) (*Rows[T], error) {
	if rows < 1 || cols < 1 {
		return nil, fmt.Errorf("%s: a table of %d x %d values", d.Purpose, rows, cols)
	}
	s, err := newSecret[T](d, rows, cols, l)
	if err != nil {
		return nil, err
	}
	return newRows(d, rows, cols, secretPiece, s), nil
}

func newSecret[T mechanism.Float](d DPSGD, rows, cols int, l *privacy.Ledger) (source[T], error) {
	m, g, err := release(d, rows*cols)
	if err != nil {
		return nil, err
	}
	c, err := secure.OpenGaussian[float64](m, l)
	if err != nil {
		return nil, err
	}
	if _, err := l.Keep("steps of an attempt that was stopped"); err != nil {
		return nil, err
	}
	s := &secret[T]{d: d, grid: g, dim: rows * cols, cols: cols, noise: c, ledger: l,
		sample: sample{n: d.Examples, rate: d.Rate}, sum: make([]int64, rows*cols)}
	for _, e := range l.Entries() {
		if e.Purpose == d.Purpose {
			s.behind += e.Count * max(1, d.Steps)
		}
	}
	if d.Sampling == privacy.Allocation {
		s.batches = newSecretAllocated(d.Examples, d.Steps)
	}
	return s, nil
}

// skip implements source.
func (s *secret[T]) skip() bool {
	if s.behind == 0 {
		return false
	}
	s.behind--
	s.made++
	return true
}

// begin implements source.
func (s *secret[T]) begin(key []uint64, batch []int32) (_ []int32, err error) {
	if s.behind != 0 {
		return nil, fmt.Errorf("%s: %d steps of an attempt that was stopped were not passed over", s.d.Purpose,
			s.behind)
	}
	if s.batches != nil && s.made%s.d.Steps != s.batches.step() {
		return nil, fmt.Errorf("%s: step %d is in the middle of an epoch that was not drawn here", s.d.Purpose, s.made)
	}
	clear(s.sum)
	rows := (s.dim + noiseCols - 1) / noiseCols
	if s.release, err = s.noise.Begin(rows, noiseCols, key...); err != nil {
		return nil, err
	}
	if err := s.ledger.Show(); err != nil { // a kill from here on leaves the step in the file
		return nil, err
	}
	if s.batches != nil {
		batch = s.batches.next(rng.Stream{}, batch)
		return batch, s.batches.fault(s.d.Purpose)
	}
	return s.sample.draw(batch), nil
}

// add implements source. It brings the gradient onto the grid.
func (s *secret[T]) add(example int32, rows []int32, values []T) error {
	beyond := int64(0) // a sum that no examples reach
	err := place(&s.grid, values, func(i int, k int64) {
		at := i
		if len(rows) > 1 || s.cols < s.dim {
			at = int(rows[i/s.cols])*s.cols + i%s.cols
		}
		if s.sum[at] += k; s.sum[at] > s.grid.most || s.sum[at] < -s.grid.most {
			beyond = s.sum[at]
		}
	})
	if c := (*mechanism.CheckError)(nil); errors.As(err, &c) {
		c.Purpose = s.d.Purpose
	}
	if err != nil {
		return fmt.Errorf("%s: gradient of example %d: %w", s.d.Purpose, example, err)
	}
	if beyond != 0 {
		return &mechanism.CheckError{Purpose: s.d.Purpose, What: "a sum of contributions, in steps",
			Got: float64(beyond), Low: -float64(s.grid.most), High: float64(s.grid.most), N: int64(s.dim),
			Hint: "it overflows"}
	}
	return nil
}

// noisy implements source.
func (s *secret[T]) noisy(at int, dst []T) {
	var row [noiseCols]float64
	for ; len(dst) > 0; at, dst = at+1, dst[len(row):] {
		clear(row[:])
		for j, k := range s.sum[at*len(row) : min(s.dim, (at+1)*len(row))] {
			row[j] = float64(k) * s.grid.step // exact
		}
		s.release.Row(at, row[:])
		for j, x := range row {
			dst[j] = T(x)
		}
	}
}

// end implements source.
func (s *secret[T]) end() error {
	err := s.release.Finish()
	if err == nil {
		s.made++
	}
	return err
}

// drawn implements source: those of this process.
func (s *secret[T]) drawn() int64 {
	if s.batches != nil {
		return s.batches.seen.Batches
	}
	return s.sample.batches
}

// checkBatches implements source.
func (s *secret[T]) checkBatches(x func(events int) float64) error {
	if s.batches != nil {
		return s.batches.check(s.d.Purpose, x(batchTails))
	}
	return s.sample.check(s.d.Purpose, x(sampleTails))
}

// check implements source.
func (s *secret[T]) check() error { return s.noise.Check() }

// state keeps the number of steps made. There is nothing else to restore: the next attempt draws new bits and checks
// them.
func (s *secret[T]) state(st *State) {
	*st = State{Examples: s.d.Examples}
	st.Batches.Batches = s.made
}

// restore continues after the steps of a checkpoint.
func (s *secret[T]) restore(st *State) error {
	n := st.Batches.Batches
	switch {
	case s.made != 0:
		return errors.New("the run was begun already")
	case st.Failed != "":
		return fmt.Errorf("the state is of a run that failed: %s", st.Failed)
	case st.Examples != s.d.Examples || n < 0:
		return fmt.Errorf("the state is of %d steps on %d examples", n, st.Examples)
	case n > s.behind:
		return fmt.Errorf("the state is of %d steps, the ledger has %d", n, s.behind)
	}
	s.made, s.behind, *st = n, s.behind-n, State{}
	return nil
}
