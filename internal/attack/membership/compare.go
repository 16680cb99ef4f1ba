package membership

import (
	"fmt"
	"math"
	"slices"

	"privrec/internal/metrics"
	"privrec/internal/rng"
	"privrec/internal/stats"
	"privrec/internal/tensor"
)

// Candidates are what members are to be found among.
type Candidates struct {
	Member  []bool
	Cluster []int32 // by candidate, from 0 to Clusters-1: candidates of one user depend on each other
	Count   int     // clusters
}

// Attack is one way to score candidates, a higher score for members.
type Attack struct {
	Name  string
	Score []float64
	// Floor marks an attack that sees no model. Its scores may be reversed to make its AUC at
	// least one half, unless Learned: the direction was learned from other candidates.
	Floor, Learned bool
}

// Options say how attacks are measured.
type Options struct {
	Guesses    float64 // budget of right guesses
	Resamples  int     // at least 100
	Confidence float64 // level of the intervals
	Seed       rng.Stream
}

// Result is what was measured of one attack.
type Result struct {
	Name     string
	Floor    bool
	Reversed bool // of a floor: lower scores are taken for members
	Values   metrics.Detection
	Interval [len(metrics.Detection{})][2]float64
	// Best is the floor with the highest value, by measure: an index into the results. Beyond is
	// the value less the floor's, with its interval; both are empty for a floor.
	Best   [len(metrics.Detection{})]int
	Beyond [len(metrics.Detection{})]float64
	Left   [len(metrics.Detection{})][2]float64
}

// Compare measures attacks and what is left of each beyond the best floor. Intervals are
// percentiles over resamples of whole clusters, the same for all attacks, so that differences
// are paired. Any number of workers finds the same.
func Compare(c Candidates, attacks []Attack, o Options) ([]Result, error) {
	if len(c.Cluster) != len(c.Member) {
		return nil, fmt.Errorf("membership: %d clusters for %d candidates", len(c.Cluster), len(c.Member))
	}
	if o.Resamples < 100 || c.Count < 2 || !(o.Confidence > 0 && o.Confidence < 1) || !(o.Guesses >= 1) {
		return nil, fmt.Errorf("membership: %d resamples of %d clusters at level %v with %v guesses; want at least 100 of 2, a level between 0 and 1, and a guess", o.Resamples, c.Count, o.Confidence, o.Guesses)
	}
	out, curves := make([]Result, len(attacks)), make([]*metrics.ROC, len(attacks))
	one := func(int32) float64 { return 1 }
	for k, a := range attacks {
		r := &out[k]
		r.Name, r.Floor = a.Name, a.Floor
		score := a.Score
		for try := range 2 {
			curve, err := metrics.NewROC(score, c.Member)
			if err != nil {
				return nil, fmt.Errorf("membership: %s: %w", a.Name, err)
			}
			curves[k] = curve
			r.Values, _ = curve.Measure(one, o.Guesses)
			if !a.Floor || a.Learned || r.Values[metrics.DetectAUC] >= 0.5 || try == 1 {
				break
			}
			r.Reversed, score = true, negated(score)
		}
	}
	best, err := bestFloors(out)
	if err != nil {
		return nil, err
	}
	draws := make([][]metrics.Detection, o.Resamples) // by attack; nil: the resample lacks a class
	tensor.Parallel(o.Resamples, 1, func(_, lo, hi int) {
		times := make([]float64, c.Count)
		for i := lo; i < hi; i++ {
			clear(times)
			s := o.Seed.Sub(uint64(i))
			for range c.Count {
				times[s.IntN(c.Count)]++
			}
			all := make([]metrics.Detection, len(curves))
			for k, curve := range curves {
				d, ok := curve.Measure(func(i int32) float64 { return times[c.Cluster[i]] }, o.Guesses)
				if !ok {
					all = nil
					break
				}
				all[k] = d
			}
			draws[i] = all
		}
	})
	draws = slices.DeleteFunc(draws, func(d []metrics.Detection) bool { return d == nil })
	if len(draws) < 100 {
		return nil, fmt.Errorf("membership: only %d resamples of %d clusters have members and others", len(draws), c.Count)
	}
	for k := range out {
		r := &out[k]
		for m := range r.Values {
			r.Interval[m] = percentiles(draws, o.Confidence, func(d []metrics.Detection) float64 { return d[k][m] })
			if r.Floor {
				continue
			}
			f := best[m]
			r.Best[m], r.Beyond[m] = f, r.Values[m]-out[f].Values[m]
			r.Left[m] = percentiles(draws, o.Confidence, func(d []metrics.Detection) float64 { return d[k][m] - d[f][m] })
		}
	}
	return out, nil
}

// bestFloors returns the floor with the highest value, by measure.
func bestFloors(all []Result) (best [len(metrics.Detection{})]int, err error) {
	for m := range best {
		best[m] = -1
		for k, r := range all {
			if r.Floor && (best[m] < 0 || r.Values[m] > all[best[m]].Values[m]) {
				best[m] = k
			}
		}
		if best[m] < 0 {
			return best, fmt.Errorf("membership: no attack without the model to compare with")
		}
	}
	return best, nil
}

// percentiles returns the interval of a value over resamples.
func percentiles(draws [][]metrics.Detection, level float64, of func([]metrics.Detection) float64) [2]float64 {
	x := make([]float64, len(draws))
	for i, d := range draws {
		x[i] = of(d)
	}
	slices.Sort(x)
	return [2]float64{stats.Quantile(x, (1-level)/2), stats.Quantile(x, (1+level)/2)}
}

func negated(x []float64) []float64 {
	out := make([]float64, len(x))
	for i, v := range x {
		out[i] = -v
	}
	return out
}

// Standard returns scores less their mean, over their standard deviation; zeros where they have
// none. It takes away the scale of a model's scores of one user, which differs between models.
func Standard[T float32 | float64](scores []T, at int) float64 {
	var sum, square float64
	for _, s := range scores {
		sum += float64(s)
	}
	mean := sum / float64(len(scores))
	for _, s := range scores {
		square += (float64(s) - mean) * (float64(s) - mean)
	}
	if square == 0 {
		return 0
	}
	return (float64(scores[at]) - mean) / math.Sqrt(square/float64(len(scores)))
}
