package eventlog

import "math"

// falseAlarm bounds the probability that sizes of true Poisson samples look fixed, or drawn at another rate.
const falseAlarm = 1e-9

// common64 returns the count of the most common number of a list, and that number.
func common64(list []int64) (most int, size int64) {
	counts := map[int64]int{}
	for _, n := range list {
		if counts[n]++; counts[n] > most {
			most, size = counts[n], n
		}
	}
	return most, size
}

// equalByChance bounds the probability that k of m draws of the binomial distribution of n and q are equal: the number
// of ways to choose them, times the probability that each but the first equals the first.
func equalByChance(k, m int, n, q float64) float64 {
	if k < 2 || !(q > 0 && q < 1) {
		return 1
	}
	return math.Exp(ways(m, k) + float64(k-1)*topOf(n, q))
}

// topOf returns the logarithm of the largest probability of the binomial distribution of n and q.
func topOf(n, q float64) float64 {
	mode := math.Min(n, math.Floor((n+1)*q))
	return math.Min(0, logFactorial(n)-logFactorial(mode)-logFactorial(n-mode)+mode*math.Log(q)+(n-mode)*math.Log1p(-q))
}

// ways returns the logarithm of the number of ways to choose k of m.
func ways(m, k int) float64 {
	return logFactorial(float64(m)) - logFactorial(float64(k)) - logFactorial(float64(m-k))
}

func logFactorial(x float64) float64 { v, _ := math.Lgamma(x + 1); return v }

// total returns the sum of batch sizes.
func total(sizes []int64) (sum float64) {
	for _, n := range sizes {
		sum += float64(n)
	}
	return sum
}

// beyond reports whether a sum of coins with a mean and a variance cannot have its value by chance. It uses Bernstein's
// bound, which is tighter than Hoeffding's for many rare coins.
func beyond(sum, mean, variance float64) bool {
	t := math.Abs(sum - mean)
	return 2*math.Exp(-t*t/2/(variance+t/3)) < falseAlarm
}

// largest returns a number that a sum of coins with a mean and a variance exceeds with probability at most p.
func largest(mean, variance, p float64) float64 {
	l := -math.Log(p)
	return mean + l/3 + math.Sqrt(l*l/9+2*variance*l)
}

// spread describes how sizes of batches vary, compared with true Poisson samples at a rate with the same mean.
type spread struct {
	less bool // less than the sizes of Poisson samples, or many are equal
	more bool // more than those
}

// spreadOf returns how sizes vary.
func spreadOf(sizes []int64, rate float64) (x spread) {
	m := float64(len(sizes))
	mean := total(sizes) / m
	v := mean * (1 - rate)
	if len(sizes) < 2 || !(v > 0) {
		return x
	}
	sum := 0.0
	for _, n := range sizes {
		d := float64(n) - mean
		sum += d * d / v
	}
	most, _ := common64(sizes)
	// The fourth moment of a binomial number over its squared variance is at most 3 + 1/v. Of sums of such squares the
	// lower tail has Maurer's bound, and the mean of the sizes takes at most a square of 50 away.
	t := m - sum - 50
	x.less = equalByChance(most, len(sizes), mean/rate, rate) < falseAlarm || t > 0 &&
		math.Exp(-t*t/(2*m*(3+1/v))) < falseAlarm
	x.more = sum > m+100+14*math.Sqrt(m*(3+1/v))
	return x
}

// multiplesByChance bounds the probability that k of m draws of the binomial distribution of n and q are multiples of a
// size.
func multiplesByChance(k, m int, size, n, q float64) float64 {
	if k < 1 || !(q > 0 && q < 1) || size < 2 {
		return 1
	}
	one := math.Min(1, 1/size+2*math.Exp(topOf(n, q))) // of a law with one peak
	return math.Exp(ways(m, k) + float64(k)*math.Log(one))
}
