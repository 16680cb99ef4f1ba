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
func (d DPSGD) Validate() error {
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

// State holds what a checkpoint stores of a run of DP-SGD: its noise, the counts of its batches, and how much of
// the false-alarm probability its checks have spent. As JSON it keeps every bit.
type State struct {
	Noise    channel.State   `json:"noise"`
	Examples int64           `json:"examples"`
	Rate     mechanism.Exact `json:"rate"`
	Batch    int64           `json:"batch"`
	Batches  batchTally      `json:"batches"`
	Checked  int64           `json:"checked"` // batches at the last check
	Checks   int64           `json:"checks"`  // made so far
	// First is the last batch if the next one is to be compared with it; empty in states of older programs.
	First  []int32 `json:"first,omitempty"`
	Failed string  `json:"failed,omitempty"`
}
