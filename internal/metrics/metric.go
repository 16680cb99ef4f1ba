package metrics

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Metric is a measure with its cut-off K, at least 1, as in NDCG@20.
type Metric struct {
	Kind Kind
	K    int
}

// String returns the name used in tables and files, as in "Recall@20".
func (m Metric) String() string { return m.Kind.String() + "@" + strconv.Itoa(m.K) }

// Sampled reports whether targets are ranked among sampled items.
func (m Metric) Sampled() bool { return m.Kind.measure().several == nil }

// Parse returns the metric of a name such as "recall@20", in any letter case. It fails on an unknown name or a cut-off
// below 1.
func Parse(name string) (Metric, error) {
	kind, cut, found := strings.Cut(strings.TrimSpace(name), "@")
	if !found {
		return Metric{}, fmt.Errorf("metric %q: want a name and a cut-off, such as recall@20", name)
	}
	k, err := strconv.Atoi(cut)
	if err != nil || k < 1 {
		return Metric{}, fmt.Errorf("metric %q: the cut-off %q is not a positive integer", name, cut)
	}
	var names []string
	for i, known := range measures {
		if strings.EqualFold(kind, known.name) {
			return Metric{Kind(i), k}, nil
		}
		names = append(names, known.name)
	}
	return Metric{}, fmt.Errorf("metric %q: %q is not one of %s", name, kind, strings.Join(names, ", "))
}

// MarshalText returns the name, so that JSON shows a metric by its name.
func (m Metric) MarshalText() ([]byte, error) { return []byte(m.String()), nil }

// UnmarshalText sets m to the metric of a name, see [Parse].
func (m *Metric) UnmarshalText(text []byte) (err error) {
	*m, err = Parse(string(text))
	return err
}

// Grid returns every kind at every cut-off, kinds outermost: Recall@5, Recall@10, ..., MRR@5, ...
func Grid(kinds []Kind, cutoffs []int) []Metric {
	grid := make([]Metric, 0, len(kinds)*len(cutoffs))
	for _, kind := range kinds {
		for _, k := range cutoffs {
			grid = append(grid, Metric{kind, k})
		}
	}
	return grid
}

// Definition returns one line that explains the number: first for one target a sample (rank r), then
// for a set of n targets with ranks r_1 < ... < r_n in the same list.
func (m Metric) Definition() string {
	if int(m.Kind) >= len(measures) {
		return m.String()
	}
	return m.String() + ": " + strings.ReplaceAll(measures[m.Kind].means, "%K", strconv.Itoa(m.K))
}

// Of returns the metric of one sample with a single target at the given rank, 1 for the best item. It panics
// on a rank below 1.
func (m Metric) Of(rank int32) float64 {
	if rank < 1 {
		panic(fmt.Sprintf("metrics: %v of rank %d: ranks start at 1", m, rank))
	}
	if int(rank) > m.K {
		return 0
	}
	return m.Kind.measure().one(int(rank), m.K)
}

// EachSet returns the metric of every sample with a set of targets.
func (m Metric) EachSet(ranks [][]int32) []float64 {
	values := make([]float64, len(ranks))
	for i, r := range ranks {
		values[i] = m.OfSet(r)
	}
	return values
}

// OfSet returns the metric of one sample with several targets at the given ranks, distinct and in any order.
// A sample without targets counts 0. The slice is not changed.
func (m Metric) OfSet(ranks []int32) float64 {
	n := len(ranks)
	switch n {
	case 0:
		return 0
	case 1:
		return m.Of(ranks[0])
	}
	several := m.Kind.measure().several
	if several == nil { // each target alone: ranks may repeat
		return m.Mean(ranks)
	}
	if !slices.IsSorted(ranks) {
		ranks = slices.Sorted(slices.Values(ranks))
	}
	h := hits{first: int(ranks[0])}
	for i, r := range ranks {
		if r < 1 || (i > 0 && r == ranks[i-1]) {
			panic("metrics: a set of ranks holds a repeated rank or one below 1")
		}
		if int(r) > m.K {
			break
		}
		h.count++
		h.dcg += discount(int(r))
		h.precisions += float64(h.count) / float64(r)
	}
	if h.count == 0 {
		return 0
	}
	return several(h, n, m.K)
}

// Random returns the exact expectation of the metric for one sample with the given number of targets among items, if
// all orders of the items are equally likely. With one target, for K <= V items:
//
//	Recall = HR = K/V,  MRR = MAP = H_K/V,  NDCG = sum_{r<=K} 1/log2(1+r) / V,  Precision = 1/V.
//
// It panics unless 1 <= targets <= items.
func (m Metric) Random(items, targets int) float64 {
	if targets < 1 || targets > items {
		panic(fmt.Sprintf("metrics: %v of %d targets among %d items", m, targets, items))
	}
	return m.Kind.measure().random(items, targets, min(m.K, items), m.K)
}
