package descent

import (
	"cmp"
	"errors"
	"fmt"
	"math"

	"privrec/internal/privacy"
	"privrec/internal/privacy/mechanism"
	"privrec/internal/privacy/mechanism/channel"
)

// DPSGD describes DP-SGD, the sum of clipped gradients with Gaussian noise (Abadi et al., "Deep learning with
// differential privacy", CCS 2016, algorithm 1), over batches that it draws itself, so that the ledger records the
// sampler that was used. Open and OpenRows open it with noise from a seed, OpenSecret and OpenSecretRows with noise
// for data that are published.
//
// Poisson batches take every example independently with probability Rate. Their guarantee is for adding or removing one
// example, which moves the sum by at most Clip. Batches without replacement have Batch examples. Their guarantee is for
// replacing one example by another, which moves the sum by at most twice Clip.
//
// Batches of random allocation are those of an epoch of Steps steps: every example draws, by itself, one of these steps
// and is in no other. Their guarantee is for adding or removing one example, and for whole epochs: the ledger has an
// epoch before its first batch is drawn, so that a run that ends within one has paid for all of it.
type DPSGD struct {
	Purpose         string  // names the releases in the ledger
	Clip            float64 // C: largest Euclidean norm of one example's gradient
	NoiseMultiplier float64 // standard deviation of the noise of the sum, in units of Clip
	Examples        int64   // in the data set, 1 to 2^31-1
	// a public number of examples, by which means are taken; 0: Examples, which is then public
	Stated   int64
	Sampling privacy.Sampling // Poisson, WithoutReplacement or Allocation
	Rate     float64          // Poisson: in (0, 1]; else 0
	Batch    int64            // without replacement: 1 to Examples; else 0
	Steps    int64            // allocation: those of an epoch, 1 to 2^31-1; else 0
	Unit     privacy.Unit     // what one example is: Sample, User, Interaction
	Share    mechanism.Share  // of the run's false-alarm probability
}

// Sigma returns the standard deviation of the noise of the sum, NoiseMultiplier times Clip.
func (d DPSGD) Sigma() float64 { return d.NoiseMultiplier * d.Clip }

// ExpectedBatch returns the mean number of examples of a batch. Sums are divided by it, because the real number is
// private.
func (d DPSGD) ExpectedBatch() float64 {
	switch d.Sampling {
	case privacy.Poisson:
		return float64(cmp.Or(d.Stated, d.Examples)) * d.Rate
	case privacy.Allocation:
		return float64(cmp.Or(d.Stated, d.Examples)) / float64(d.Steps)
	}
	return float64(d.Batch)
}

// Event returns what the ledger records, as an accountant sees it: one step, or an epoch of random allocation. Count
// says how many of them.
func (d DPSGD) Event() privacy.Event {
	if d.Sampling != privacy.Allocation {
		return d.sampled()
	}
	g := d.gaussian()
	return privacy.AllocatedGaussian{Sigma: g.Sigma, Sensitivity: g.Sensitivity, Times: 1, Steps: d.Steps, Unit: g.Unit,
		Neighbouring: g.Neighbouring}
}

// Count returns the number of events that the ledger has after a number of steps. An epoch that was begun counts whole.
func (d DPSGD) Count(steps int64) int64 {
	if d.Sampling != privacy.Allocation {
		return steps
	}
	return (steps + d.Steps - 1) / d.Steps
}

// gaussian returns the noise of the sum of one batch, for neighbours of which both have the same batches otherwise.
func (d DPSGD) gaussian() privacy.Gaussian {
	g := privacy.Gaussian{Sigma: d.Sigma(), Sensitivity: d.Clip, Unit: d.Unit, Neighbouring: privacy.AddRemove}
	if d.Sampling == privacy.WithoutReplacement {
		g.Sensitivity, g.Norm, g.Neighbouring = 2*d.Clip, d.Clip, privacy.Replace
	}
	return g
}

// sampled returns one step of batches that are drawn anew for every step.
func (d DPSGD) sampled() privacy.Sampled {
	if d.Sampling == privacy.Poisson {
		return privacy.Sampled{Event: d.gaussian(), Rate: d.Rate, Method: privacy.Poisson}
	}
	rate := float64(d.Batch) / float64(d.Examples)
	if math.FMA(rate, float64(d.Examples), -float64(d.Batch)) < 0 { // rounded down
		rate = math.Nextafter(rate, 1)
	}
	return privacy.Sampled{Event: d.gaussian(), Rate: rate, Method: d.Sampling}
}

// Validate returns an error for the first setting that is not possible.
func (d DPSGD) Validate() error {
	if d.Purpose == "" {
		return errors.New("dp-sgd: no purpose")
	}
	var err error
	poisson, fixed := d.Sampling == privacy.Poisson, d.Sampling == privacy.WithoutReplacement
	allocated := d.Sampling == privacy.Allocation
	switch {
	case d.Examples < 1 || d.Examples > math.MaxInt32:
		err = fmt.Errorf("examples is %d, want 1 to %d", d.Examples, math.MaxInt32)
	case d.Stated < 0 || d.Stated > math.MaxInt32 || fixed && d.Stated != 0:
		err = fmt.Errorf("the stated number of examples is %d, want 1 to %d, and none for sampling without replacement",
			d.Stated, math.MaxInt32)
	case !poisson && !fixed && !allocated:
		err = fmt.Errorf("unknown sampling %q", string(d.Sampling))
	case poisson && (!(d.Rate > 0 && d.Rate <= 1) || d.Batch != 0):
		err = fmt.Errorf("rate is %v and batch %d, Poisson sampling wants a rate above 0 and at most 1, and no batch",
			d.Rate, d.Batch)
	case fixed && (d.Batch < 1 || d.Batch > d.Examples || d.Rate != 0):
		err = fmt.Errorf("batch is %d and rate %v, sampling without replacement wants a batch from 1 to %d, and no "+
			"rate", d.Batch, d.Rate, d.Examples)
	case allocated && (d.Steps < 1 || d.Steps > math.MaxInt32 || d.Rate != 0 || d.Batch != 0):
		err = fmt.Errorf("an epoch has %d steps, rate is %v and batch %d, random allocation wants 1 to %d steps, "+
			"no rate and no batch", d.Steps, d.Rate, d.Batch, math.MaxInt32)
	case !allocated && d.Steps != 0:
		err = fmt.Errorf("an epoch has %d steps, which random allocation alone wants", d.Steps)
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

// State holds what a checkpoint stores of a run of DP-SGD: its noise, the counts of its batches, and how much of
// the false-alarm probability its checks have spent. As JSON it keeps every bit.
type State struct {
	Noise    channel.State   `json:"noise"`
	Examples int64           `json:"examples"`
	Rate     mechanism.Exact `json:"rate"`
	Batch    int64           `json:"batch"`
	Steps    int64           `json:"steps,omitempty"` // of an epoch of random allocation
	Batches  batchTally      `json:"batches"`
	Checked  int64           `json:"checked"` // batches at the last check
	Checks   int64           `json:"checks"`  // made so far
	// First is the last batch if the next one is to be compared with it; empty in states of older programs. Of random
	// allocation it is the first batch of an epoch, if that of the next one is.
	First []int32 `json:"first,omitempty"`
	// Epoch is the key of the first step of an epoch of random allocation that has not ended: it draws the epoch again.
	Epoch []uint64 `json:"epoch,omitempty"`
	// Noised and Moved are, for every row of a table with deferred noise, the steps whose noise and whose decay it has.
	Noised []int32 `json:"noised,omitempty"`
	Moved  []int32 `json:"moved,omitempty"` // only if there is decay
	Failed string  `json:"failed,omitempty"`
}
