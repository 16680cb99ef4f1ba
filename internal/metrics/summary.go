package metrics

import "fmt"

// Value holds the average of one metric over Count samples, as a fraction.
type Value struct {
	Metric Metric  `json:"metric"`
	Value  float64 `json:"value"`
	Count  int     `json:"count"`
}

// String returns the name and the value in percent, as in "Recall@20 21.01".
func (v Value) String() string { return fmt.Sprintf("%v %.2f", v.Metric, 100*v.Value) }

// Each returns the metric of every sample with one target, in order.
func (m Metric) Each(ranks []int32) []float64 {
	values := make([]float64, len(ranks))
	for i, r := range ranks {
		values[i] = m.Of(r)
	}
	return values
}

// Mean returns the average of the metric over samples with one target each, 0 for none.
func (m Metric) Mean(ranks []int32) float64 {
	if len(ranks) == 0 {
		return 0
	}
	sum := 0.0
	for _, r := range ranks {
		sum += m.Of(r)
	}
	return sum / float64(len(ranks))
}

// MeanSet returns the average of the metric over samples with a set of targets each, 0 for none.
func (m Metric) MeanSet(ranks [][]int32) float64 {
	if len(ranks) == 0 {
		return 0
	}
	sum := 0.0
	for _, r := range ranks {
		sum += m.OfSet(r)
	}
	return sum / float64(len(ranks))
}

// Summary returns the mean of every metric over samples with one target each.
func Summary(ms []Metric, ranks []int32) []Value {
	values := make([]Value, len(ms))
	for i, m := range ms {
		values[i] = Value{m, m.Mean(ranks), len(ranks)}
	}
	return values
}

// SummarySet returns the mean of every metric over samples with a set of targets each.
func SummarySet(ms []Metric, ranks [][]int32) []Value {
	values := make([]Value, len(ms))
	for i, m := range ms {
		values[i] = Value{m, m.MeanSet(ranks), len(ranks)}
	}
	return values
}

// RandomFloor returns the expectation of every metric under a uniformly random ranking of the items, for one
// target a sample.
func RandomFloor(ms []Metric, items int) []Value {
	values := make([]Value, len(ms))
	for i, m := range ms {
		values[i] = Value{Metric: m, Value: m.Random(items, 1)}
	}
	return values
}
