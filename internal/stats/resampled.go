package stats

import (
	"fmt"
	"math"
)

// ResampledT returns an interval for the mean of x, one value of each of several random splits of the same samples into
// train and test. share is the size of test over that of train, such as 0.25. Splits share samples, so their values are
// correlated, and Student's interval is too narrow. This is the corrected resampled t test (Nadeau and Bengio,
// "Inference for the Generalization Error", Machine Learning 52, 2003, section 3.2):
//
//	mean(x) +- t SD(x) sqrt(1/n + share), t of n-1 degrees of freedom
//
// It covers the variation from other samples, in train and in test, and from other draws of the training. least is a
// lower limit for the SD: if x are shares of m samples, a few splits can all have the same one, and a least of 1/m
// keeps the interval from having no width. ResampledT fails on fewer than two values, on a share that is not positive,
// and on a negative least.
func ResampledT(x []float64, share, least, level float64) (Interval, error) {
	if err := checkLevel(level); err != nil {
		return Interval{}, err
	}
	if len(x) < 2 || !(share > 0) || math.IsInf(share, 0) || !(least >= 0) {
		return Interval{}, fmt.Errorf("resampled t interval: %d values, share %v, least deviation %v; at least 2 "+
			"values, a positive share and no negative deviation are needed", len(x), share, least)
	}
	t := studentQuantile((1+level)/2, float64(len(x)-1))
	mean, half := Mean(x), t*max(least, SD(x))*math.Sqrt(1/float64(len(x))+share)
	return Interval{mean - half, mean + half, level}, nil
}
