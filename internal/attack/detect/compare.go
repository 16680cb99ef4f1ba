package detect

import (
	"fmt"
	"slices"

	"privrec/internal/metrics"
	"privrec/internal/rng"
	"privrec/internal/stats"
	"privrec/internal/tensor"
)

// Candidates holds the items, such as users or pairs, among which positives are to be found.
type Candidates struct {
	Positive []bool
	Cluster  []int32   // by candidate, from 0 to Count-1: candidates of one user depend on each other
	Weight   []float64 // how many candidates each one stands for; nil: one
	Count    int       // clusters
}

// Attack holds one attack's scores of candidates, higher for positives.
type Attack struct {
	Name  string
	Score []float64
	// Floor marks an attack that sees no model. Its scores may be reversed to make its AUC at
	// least one half, unless Learned: the direction was learned from other candidates.
	Floor, Learned bool
}

// Measure computes measures of a ROC curve where candidate i counts weight(i) times. The first one is the AUC, which
// decides the direction of floors. ok is false if the weights leave no positives or no others.
type Measure func(r *metrics.ROC, weight func(i int32) float64) (values []float64, ok bool)

// Detections measures every metrics.DetectScore, in their order, with a budget of guesses.
func Detections(guesses float64) Measure {
	return func(r *metrics.ROC, weight func(i int32) float64) ([]float64, bool) {
		d, ok := r.Measure(weight, guesses)
		return d[:], ok
	}
}

// Options says how attacks are measured.
type Options struct {
	Measure    Measure
	Resamples  int     // at least 100
	Confidence float64 // level of the intervals
	Seed       rng.Stream
}

// Result holds the measures of one attack.
type Result struct {
	Name     string
	Floor    bool
	Reversed bool      // of a floor: lower scores are taken for positives
	Values   []float64 // by measure
	Interval [][2]float64
	// Best holds the floor with the highest value for each measure, as an index into the results. Beyond holds the
	// value minus the floor's, with its interval. All three are empty for a floor.
	Best   []int
	Beyond []float64
	Left   [][2]float64
}

// Compare returns the measures of attacks and their gains over the best floor. Intervals are percentiles over resamples
// of whole clusters, the same for all attacks, so that differences are paired. Results do not depend on the number of
// workers.
func Compare(c Candidates, attacks []Attack, o Options) ([]Result, error) {
	if len(c.Cluster) != len(c.Positive) || c.Weight != nil && len(c.Weight) != len(c.Positive) {
		return nil, fmt.Errorf("detect: %d clusters and %d weights for %d candidates", len(c.Cluster), len(c.Weight),
			len(c.Positive))
	}
	if o.Measure == nil || o.Resamples < 100 || c.Count < 2 || !(o.Confidence > 0 && o.Confidence < 1) {
		return nil, fmt.Errorf("detect: %d resamples of %d clusters at level %v; want a measure, at least 100 of 2, "+
			"and a level between 0 and 1", o.Resamples, c.Count, o.Confidence)
	}
	out, curves := make([]Result, len(attacks)), make([]*metrics.ROC, len(attacks))
	for k, a := range attacks {
		r := &out[k]
		r.Name, r.Floor = a.Name, a.Floor
		score := a.Score
		for try := range 2 {
			curve, err := metrics.NewROC(score, c.Positive)
			if err != nil {
				return nil, fmt.Errorf("detect: %s: %w", a.Name, err)
			}
			curves[k] = curve
			if r.Values, _ = o.Measure(curve, c.weight); len(r.Values) == 0 || len(r.Values) != len(out[0].Values) {
				return nil, fmt.Errorf("detect: %s: %d measures", a.Name, len(r.Values))
			}
			if !a.Floor || a.Learned || r.Values[0] >= 0.5 || try == 1 {
				break
			}
			r.Reversed, score = true, negated(score)
		}
	}
	best, err := bestFloors(out)
	if err != nil {
		return nil, err
	}
	draws := make([][][]float64, o.Resamples) // by attack; nil: the resample lacks a class
	tensor.Parallel(o.Resamples, 1, func(_, lo, hi int) {
		times, weights := make([]float64, c.Count), make([]float64, len(c.Positive))
		for i := lo; i < hi; i++ {
			clear(times)
			s := o.Seed.Sub(uint64(i))
			for range c.Count {
				times[s.IntN(c.Count)]++
			}
			for n, k := range c.Cluster {
				weights[n] = times[k] * c.weight(int32(n))
			}
			all := make([][]float64, len(curves))
			for k, curve := range curves {
				d, ok := o.Measure(curve, func(i int32) float64 { return weights[i] })
				if !ok {
					all = nil
					break
				}
				all[k] = d
			}
			draws[i] = all
		}
	})
	draws = slices.DeleteFunc(draws, func(d [][]float64) bool { return d == nil })
	if len(draws) < 100 {
		return nil, fmt.Errorf("detect: only %d resamples of %d clusters have positives and others", len(draws),
			c.Count)
	}
	for k := range out {
		r := &out[k]
		n := len(r.Values)
		if r.Interval = make([][2]float64, n); !r.Floor {
			r.Best, r.Beyond, r.Left = make([]int, n), make([]float64, n), make([][2]float64, n)
		}
		for m := range r.Values {
			r.Interval[m] = percentiles(draws, o.Confidence, func(d [][]float64) float64 { return d[k][m] })
			if r.Floor {
				continue
			}
			f := best[m]
			r.Best[m], r.Beyond[m] = f, r.Values[m]-out[f].Values[m]
			r.Left[m] = percentiles(draws, o.Confidence, func(d [][]float64) float64 { return d[k][m] - d[f][m] })
		}
	}
	return out, nil
}

// weight returns the number of candidates that candidate i stands for.
func (c Candidates) weight(i int32) float64 {
	if c.Weight == nil {
		return 1
	}
	return c.Weight[i]
}

// Within returns the AUC of scores among the candidates of each cluster that has both kinds, and these clusters.
// Candidates of a cluster are consecutive. Weights do not count.
func (c Candidates) Within(score []float64) (values []float64, clusters []int, err error) {
	for at := 0; at < len(c.Positive); {
		end, positives := at, 0
		for ; end < len(c.Positive) && c.Cluster[end] == c.Cluster[at]; end++ {
			if c.Positive[end] {
				positives++
			}
		}
		if positives > 0 && positives < end-at {
			v, err := metrics.AUC(score[at:end], c.Positive[at:end])
			if err != nil {
				return nil, nil, err
			}
			values, clusters = append(values, v), append(clusters, int(c.Cluster[at]))
		}
		at = end
	}
	return values, clusters, nil
}

// bestFloors returns the floor with the highest value, by measure.
func bestFloors(all []Result) ([]int, error) {
	var best []int
	for k, r := range all {
		if !r.Floor {
			continue
		}
		if best == nil {
			best = slices.Repeat([]int{k}, len(r.Values))
		}
		for m, v := range r.Values {
			if v > all[best[m]].Values[m] {
				best[m] = k
			}
		}
	}
	if best == nil {
		return nil, fmt.Errorf("detect: no attack without the model to compare with")
	}
	return best, nil
}

// percentiles returns the interval of a value over resamples.
func percentiles(draws [][][]float64, level float64, of func([][]float64) float64) [2]float64 {
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
