package eventlog

import "math"

// falseAlarm bounds the probability that the sizes of true Poisson samples look fixed, or look drawn at
// another rate.
const falseAlarm = 1e-9

// common64 returns how often the most common number of a list is in it, and which one it is.
func common64(list []int64) (most int, size int64) {
	counts := map[int64]int{}
	for _, n := range list {
		if counts[n]++; counts[n] > most {
			most, size = counts[n], n
		}
	}
	return most, size
}

// equalByChance bounds the probability that k of m draws of the binomial law of n and q are equal: the
// number of ways to choose them, times that of each but the first to be like the first.
func equalByChance(k, m int, n, q float64) float64 {
	if k < 2 || !(q > 0 && q < 1) {
		return 1
	}
	return math.Exp(ways(m, k) + float64(k-1)*topOf(n, q))
}

// topOf returns the logarithm of the largest probability of the binomial law of n and q.
func topOf(n, q float64) float64 {
	mode := math.Min(n, math.Floor((n+1)*q))
	return math.Min(0, logFactorial(n)-logFactorial(mode)-logFactorial(n-mode)+mode*math.Log(q)+(n-mode)*math.Log1p(-q))
}

// ways returns the logarithm of the number of ways to choose k of m.
func ways(m, k int) float64 {
	return logFactorial(float64(m)) - logFactorial(float64(k)) - logFactorial(float64(m-k))
}

func logFactorial(x float64) float64 { v, _ := math.Lgamma(x + 1); return v }

// total adds up the sizes of batches.
func total(sizes []int64) (sum float64) {
	for _, n := range sizes {
		sum += float64(n)
	}
	return sum
}

// beyond reports whether a sum of coins with a mean and a variance cannot be by chance where it is. Hoeffding's bound
// would be wide; a sum of many rare coins has Bernstein's.
func beyond(sum, mean, variance float64) bool {
	t := math.Abs(sum - mean)
	return 2*math.Exp(-t*t/2/(variance+t/3)) < falseAlarm
}

// largest returns a number that no sum of coins with a mean and a variance exceeds but with probability p.
func largest(mean, variance, p float64) float64 {
	l := -math.Log(p)
	return mean + l/3 + math.Sqrt(l*l/9+2*variance*l)
}

// spread says how sizes of batches vary, against true Poisson samples at a rate whose mean is theirs.
type spread struct {
	less bool // less than the sizes of Poisson samples, or many are equal
	more bool // more than those
}

// spreadOf says how sizes vary.
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
	x.less = equalByChance(most, len(sizes), mean/rate, rate) < falseAlarm || t > 0 && math.Exp(-t*t/(2*m*(3+1/v))) < falseAlarm
	x.more = sum > m+100+14*math.Sqrt(m*(3+1/v))
	return x
}

// multiplesByChance bounds the probability that k of m draws of the binomial law of n and q are multiples of a size.
func multiplesByChance(k, m int, size, n, q float64) float64 {
	if k < 1 || !(q > 0 && q < 1) || size < 2 {
		return 1
	}
	one := math.Min(1, 1/size+2*math.Exp(topOf(n, q))) // of a law with one peak
	return math.Exp(ways(m, k) + float64(k)*math.Log(one))
}
