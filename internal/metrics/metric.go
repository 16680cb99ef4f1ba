package metrics

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// Kind names a ranking measure, without its cut-off.
type Kind uint8

// The ranking measures. Recall and HR agree when a sample has a single target.
const (
	Recall Kind = iota
	HR
	MRR
	NDCG
	Precision
	MAP
	// SampledHit and SampledNDCG rank every target alone among sampled items. They are not
	// comparable with ranks among all items, and need not order models alike (Krichene and
	// Rendle, On Sampled Metrics for Item Recommendation, KDD 2020).
	SampledHit
	SampledNDCG
)

var kindNames = [...]string{"Recall", "HR", "MRR", "NDCG", "Precision", "MAP", "sampled Hit", "sampled NDCG"}

// String returns the measure's usual name, as in "NDCG".
func (k Kind) String() string {
	if int(k) < len(kindNames) {
		return kindNames[k]
	}
	return "Kind(" + strconv.Itoa(int(k)) + ")"
}

// Metric is a measure with its cut-off, as in NDCG@20. K is at least 1.
type Metric struct {
	Kind Kind
	K    int
}

// String returns the name used in tables and files, as in "Recall@20".
func (m Metric) String() string { return m.Kind.String() + "@" + strconv.Itoa(m.K) }

// Sampled reports whether targets are ranked among sampled items.
func (m Metric) Sampled() bool { return m.Kind == SampledHit || m.Kind == SampledNDCG }

// Parse reads a name such as "recall@20", in any letter case. It fails on an unknown name or a cut-off below 1.
func Parse(name string) (Metric, error) {
	kind, cut, found := strings.Cut(strings.TrimSpace(name), "@")
	if !found {
		return Metric{}, fmt.Errorf("metric %q: want a name and a cut-off, such as recall@20", name)
	}
	k, err := strconv.Atoi(cut)
	if err != nil || k < 1 {
		return Metric{}, fmt.Errorf("metric %q: the cut-off %q is not a positive integer", name, cut)
	}
	for i, known := range kindNames {
		if strings.EqualFold(kind, known) {
			return Metric{Kind(i), k}, nil
		}
	}
	return Metric{}, fmt.Errorf("metric %q: %q is not one of %s", name, kind, strings.Join(kindNames[:], ", "))
}

// MarshalText returns the name, so that JSON shows a metric by its name.
func (m Metric) MarshalText() ([]byte, error) { return []byte(m.String()), nil }

// UnmarshalText reads a name as [Parse] does.
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

// Definition returns one line that says what the number means: first for one target a sample (rank r), then
// for a set of n targets with ranks r_1 < ... < r_n in the same list.
func (m Metric) Definition() string {
	k := strconv.Itoa(m.K)
	switch m.Kind {
	case Recall:
		return m.String() + ": one target: share of samples with r <= " + k +
			"; set: #{r_i <= " + k + "} / n, mean over samples (n is not cut at " + k + ")"
	case HR:
		return m.String() + ": share of samples with at least one target at r <= " + k
	case MRR:
		return m.String() + ": mean of 1/r of the best-ranked target, 0 when r > " + k
	case NDCG:
		return m.String() + ": one target: mean of 1/log2(1+r), 0 when r > " + k +
			"; set: sum of 1/log2(1+r_i) over r_i <= " + k + ", divided by its value for min(n," + k + ") targets on top"
	case Precision:
		return m.String() + ": mean of #{r_i <= " + k + "} / " + k
	case MAP:
		return m.String() + ": mean of sum over r_i <= " + k + " of i/r_i, divided by min(n," + k + ")"
	case SampledHit:
		return m.String() + ": share of targets with r <= " + k + ", each ranked alone among sampled items, equal scores above it"
	case SampledNDCG:
		return m.String() + ": mean over targets of 1/log2(1+r), 0 when r > " + k + ", each ranked alone among sampled items, equal scores above it"
	}
	return m.String()
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
	switch m.Kind {
	case Recall, HR, SampledHit:
		return 1
	case MRR, MAP:
		return 1 / float64(rank)
	case NDCG, SampledNDCG:
		return discount(int(rank))
	case Precision:
		return 1 / float64(m.K)
	}
	panic("metrics: unknown kind " + m.Kind.String())
}

// discount returns the gain of a hit at rank r, 1/log2(1+r); it is 1 at the top.
func discount(r int) float64 { return 1 / math.Log2(1+float64(r)) }
