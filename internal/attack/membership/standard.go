package membership

import "math"

// Standard returns the score at an index minus the mean of all, divided by their standard deviation; 0 if they have
// none. It removes the scale of a model's scores of one user, which differs between models.
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
