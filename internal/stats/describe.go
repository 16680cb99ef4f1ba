package stats

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/mathext"
)

// Mean returns the arithmetic mean, 0 for an empty slice.
func Mean(x []float64) float64 {
	if len(x) == 0 {
		return 0
	}
	sum := 0.0
	for _, v := range x {
		sum += v
	}
	return sum / float64(len(x))
}

// SD returns the sample standard deviation (divisor n-1), 0 for fewer than two values. It takes two passes, so
// that a large mean does not cost digits.
func SD(x []float64) float64 {
	if len(x) < 2 {
		return 0
	}
	mean, sum := Mean(x), 0.0
	for _, v := range x {
		sum += (v - mean) * (v - mean)
	}
	return math.Sqrt(sum / float64(len(x)-1))
}

// StdErr returns the standard error of the mean, SD/sqrt(n), 0 for fewer than two values.
func StdErr(x []float64) float64 {
	if len(x) < 2 {
		return 0
	}
	return SD(x) / math.Sqrt(float64(len(x)))
}

// Median returns the middle value, the mean of the two middle ones for an even count, 0 for an empty slice.
func Median(x []float64) float64 {
	if len(x) == 0 {
		return 0
	}
	s := slices.Sorted(slices.Values(x))
	return (s[(len(s)-1)/2] + s[len(s)/2]) / 2
}

// Interval is a two-sided confidence interval at Level, such as 0.95.
type Interval struct{ Lo, Hi, Level float64 }

func checkLevel(level float64) error {
	if !(level > 0 && level < 1) {
		return fmt.Errorf("confidence level %v is not between 0 and 1", level)
	}
	return nil
}

// TInterval returns Student's interval for the mean. It needs at least two values, and fails with ErrNoSpread if they
// are equal up to rounding.
func TInterval(x []float64, level float64) (Interval, error) {
	largest := 0.0
	for _, v := range x {
		largest = max(largest, math.Abs(v))
	}
	if len(x) >= 2 && checkLevel(level) == nil && !spreads(x, largest) {
		return Interval{}, fmt.Errorf("t interval: %w", ErrNoSpread)
	}
	half, err := THalf(SD(x), len(x), level)
	if err != nil {
		return Interval{}, err
	}
	mean := Mean(x)
	return Interval{mean - half, mean + half, level}, nil
}

// THalf returns half the width of Student's interval for the mean of n values with a sample standard deviation sd, as
// papers print it. It needs at least two values.
func THalf(sd float64, n int, level float64) (float64, error) {
	if err := checkLevel(level); err != nil {
		return 0, err
	}
	if n < 2 {
		return 0, fmt.Errorf("t interval: %d values, at least 2 are needed", n)
	}
	return studentQuantile((1+level)/2, float64(n-1)) * (sd / math.Sqrt(float64(n))), nil
}

// Wilson returns Wilson's score interval for a proportion of hits among n trials. n is at least 1.
func Wilson(hits, n int, level float64) (Interval, error) {
	if err := checkLevel(level); err != nil {
		return Interval{}, err
	}
	if n < 1 || hits < 0 || hits > n {
		return Interval{}, fmt.Errorf("wilson interval: %d hits in %d trials", hits, n)
	}
	z := mathext.NormalQuantile((1 + level) / 2)
	size, p := float64(n), float64(hits)/float64(n)
	scale := 1 + z*z/size
	centre := (p + z*z/(2*size)) / scale
	half := z / scale * math.Sqrt(p*(1-p)/size+z*z/(4*size*size))
	ci := Interval{centre - half, centre + half, level}
	if hits == 0 {
		ci.Lo = 0 // exactly, where the two terms cancel but for rounding
	}
	if hits == n {
		ci.Hi = 1
	}
	return ci, nil
}

// Quantile returns the p-quantile of sorted values, for p from 0 to 1. It interpolates linearly between order
// statistics (Hyndman and Fan type 7). It returns NaN for no values.
func Quantile[T int | float64](sorted []T, p float64) float64 {
	if len(sorted) == 0 {
		return math.NaN()
	}
	at := p * float64(len(sorted)-1)
	i := int(at)
	if i+1 >= len(sorted) {
		return float64(sorted[len(sorted)-1])
	}
	return float64(sorted[i]) + (at-float64(i))*float64(sorted[i+1]-sorted[i])
}

// Student's t through the regularised incomplete beta function (Abramowitz and Stegun 26.7.1). Package distuv has it
// too, but would add a linear algebra library that nothing else in the program needs.

// studentTail returns Pr[T <= -|t|] for T of Student's law with nu > 0 degrees of freedom.
func studentTail(t, nu float64) float64 {
	return 0.5 * mathext.RegIncBeta(nu/2, 0.5, nu/(nu+t*t))
}

// studentQuantile returns t with Pr[T <= t] = p, for p in [1/2, 1).
func studentQuantile(p, nu float64) float64 {
	x := mathext.InvRegIncBeta(nu/2, 0.5, 2*(1-p))
	return math.Sqrt(nu * (1 - x) / x)
}

// ClusterBootstrap returns the percentile intervals of ratios of sums over resampled clusters. Scores of one user are
// dependent, so whole users are drawn with replacement (Davison and Hinkley, "Bootstrap Methods and their Application",
// 1997, section 3.8, strategy 1). Statistic j is
//
//	sum over clusters of num[j] / sum over clusters of den[j]
//
// with one value a cluster in each row. For a mean over scores, num holds the sum of a user's scores and den their
// number. For a mean over users, num holds the user's mean and den 1. All statistics see the same resamples, drawn from
// src. ClusterBootstrap fails on fewer than 100 resamples, on a denominator that is not positive, and on a single
// cluster, since all its resamples are the same and the interval would have no width. For the same reason the ends are
// NaN if the statistics of all clusters are equal up to rounding.
func ClusterBootstrap(num, den [][]float64, resamples int, level float64, src rand.Source) ([]Interval, error) {
	if err := checkLevel(level); err != nil {
		return nil, err
	}
	if len(num) == 0 || len(num) != len(den) {
		return nil, fmt.Errorf("cluster bootstrap: %d numerators, %d denominators", len(num), len(den))
	}
	clusters := len(num[0])
	if clusters < 2 || resamples < 100 {
		return nil, fmt.Errorf("cluster bootstrap: %d clusters, %d resamples; at least 2 and 100 are needed", clusters,
			resamples)
	}
	for j := range num {
		if len(num[j]) != clusters || len(den[j]) != clusters {
			return nil, fmt.Errorf("cluster bootstrap: statistic %d has %d and %d clusters, the first has %d", j,
				len(num[j]), len(den[j]), clusters)
		}
		for u, v := range num[j] {
			if d := den[j][u]; !(d > 0) || math.IsInf(d, 0) || math.IsNaN(v) || math.IsInf(v, 0) {
				return nil, fmt.Errorf("cluster bootstrap: statistic %d, cluster %d: %v / %v", j, u, v, d)
			}
		}
	}
	values := make([][]float64, len(num))
	for j := range values {
		values[j] = make([]float64, resamples)
	}
	if b, ok := src.(bulk); ok {
		src = &ahead{src: b, needed: resamples * clusters}
	}
	r, times := rand.New(src), make([]float64, clusters)
	for i := range resamples {
		clear(times)
		for range clusters {
			times[r.IntN(clusters)]++
		}
		for j := range num {
			above, below := 0.0, 0.0
			for u, n := range times {
				above += n * num[j][u]
				below += n * den[j][u]
			}
			values[j][i] = above / below
		}
	}
	out := make([]Interval, len(num))
	for j, v := range values {
		if !ratiosSpread(num[j], den[j]) {
			out[j] = Interval{math.NaN(), math.NaN(), level}
			continue
		}
		slices.Sort(v)
		out[j] = Interval{Quantile(v, (1-level)/2), Quantile(v, (1+level)/2), level}
	}
	return out, nil
}

// bulk fills many words at once, each as a call of Uint64 gives it.
type bulk interface{ Uint64s(dst []uint64) }

// ahead draws from a source in blocks. No block has more words than are needed, so that the source stands in the end
// where single draws leave it.
type ahead struct {
	src    bulk
	needed int      // words, at least
	block  []uint64 // not drawn yet, in words
	words  [256]uint64
}

// Uint64 implements rand.Source.
func (a *ahead) Uint64() uint64 {
	if len(a.block) == 0 {
		a.block = a.words[:min(len(a.words), max(1, a.needed))]
		a.src.Uint64s(a.block)
	}
	x := a.block[0]
	a.block, a.needed = a.block[1:], a.needed-1
	return x
}

// ratiosSpread reports whether the ratios of clusters differ by more than rounding.
func ratiosSpread(num, den []float64) bool {
	ratios, largest := make([]float64, len(num)), 0.0
	for u, v := range num {
		ratios[u] = v / den[u]
		largest = max(largest, math.Abs(ratios[u]))
	}
	return spreads(ratios, largest)
}
