package binomial

// Lower returns the probability of k successes or fewer.
func (l Law) Lower(k int64) float64 { return l.mirror().Upper(l.N - k) }
