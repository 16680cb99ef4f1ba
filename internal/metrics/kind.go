package metrics

import (
	"math"
	"strconv"
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

// measure holds everything about one kind. To add a kind, add a constant and an entry of measures.
type measure struct {
	name string
	// means describes the number. r is the rank of one target, r_i are those of n targets in one list, and %K is the
	// cut-off.
	means string
	// formula describes it for a list of one user with T relevant items and hits h_i; empty if the kind is not defined
	// for lists.
	formula string
	// one returns the value of one target at rank r of at most k, and several that of n targets. The target of a kind
	// without several is ranked alone, and its value is the mean over targets.
	one     func(r, k int) float64
	several func(h hits, n, k int) float64
	// random returns the expectation for n targets among v items in random order. At most k = min(v, cut) places count.
	random func(v, n, k, cut int) float64
	// best returns the value of the best rank of a target over several lists, and inLists describes it. nil: the kind
	// has none.
	best    func(r int) float64
	inLists string
}

// hits holds the targets of one sample with ranks within the cut-off, at least one.
type hits struct {
	count      int
	first      int     // the best rank
	dcg        float64 // sum of 1/log2(1+r)
	precisions float64 // sum of i/r_i
}

// measures holds every kind, indexed by its number.
var measures = [...]measure{
	Recall: {
		name: "Recall",
		means: "one target: share of samples with r <= %K; " +
			"set: #{r_i <= %K} / n, mean over samples (n is not cut at %K)",
		formula: "hits in the first K / |T|",
		one:     certain,
		several: func(h hits, n, _ int) float64 { return float64(h.count) / float64(n) },
		random:  func(v, _, k, _ int) float64 { return float64(k) / float64(v) },
		best:    func(int) float64 { return 1 }, inLists: "1",
	},
	HR: {
		name:    "HR",
		means:   "share of samples with at least one target at r <= %K",
		formula: "1 with a hit in the first K",
		one:     certain,
		several: func(hits, int, int) float64 { return 1 },
		random:  func(v, n, k, _ int) float64 { return 1 - missAll(v, n, k) },
	},
	MRR: {
		name:    "MRR",
		means:   "mean of 1/r of the best-ranked target, 0 when r > %K",
		formula: "1/position of the first hit, 0 beyond K",
		one:     func(r, _ int) float64 { return 1 / float64(r) },
		several: func(h hits, _, _ int) float64 { return 1 / float64(h.first) },
		random: func(v, n, k, _ int) float64 {
			// The sum over r of P(first target at r)/r, where P is P(none in the first r-1) * n/(v-r+1).
			sum, none := 0.0, 1.0
			for r := 1; r <= k; r++ {
				left := float64(v) - float64(r-1)
				sum += none * float64(n) / left / float64(r)
				none *= max(0, left-float64(n)) / left
			}
			return sum
		},
		best: func(r int) float64 { return 1 / float64(r) }, inLists: "1/r",
	},
	NDCG: {
		name: "NDCG",
		means: "one target: mean of 1/log2(1+r), 0 when r > %K; " +
			"set: sum of 1/log2(1+r_i) over r_i <= %K, divided by its value for min(n,%K) targets on top",
		formula: "sum of h_i/log2(i+1) over i <= K, divided by its value for min(|T|,K) hits on top",
		one:     func(r, _ int) float64 { return discount(r) },
		several: func(h hits, n, k int) float64 { return h.dcg / idealDCG(min(n, k)) },
		random: func(v, n, k, cut int) float64 {
			return float64(n) / float64(v) * idealDCG(k) / idealDCG(min(n, cut))
		},
		best: discount, inLists: "1/log2(1+r)",
	},
	Precision: {
		name:    "Precision",
		means:   "mean of #{r_i <= %K} / %K",
		formula: "hits in the first K / K",
		one:     func(_, k int) float64 { return 1 / float64(k) },
		several: func(h hits, _, k int) float64 { return float64(h.count) / float64(k) },
		random: func(v, n, k, cut int) float64 { // every listed place holds a target with probability n/v
			return float64(n) / float64(v) * float64(k) / float64(cut)
		},
	},
	MAP: {
		name:    "MAP",
		means:   "mean of sum over r_i <= %K of i/r_i, divided by min(n,%K)",
		formula: "sum of h_i P(i) over i <= K, divided by min(|T|,K)",
		one:     func(r, _ int) float64 { return 1 / float64(r) },
		several: func(h hits, n, k int) float64 { return h.precisions / float64(min(n, k)) },
		random: func(v, n, k, cut int) float64 {
			// Given a target at r, each of the r-1 places above holds one with probability (n-1)/(v-1).
			sum := 0.0
			for r := 1; r <= k; r++ {
				above := 0.0
				if v > 1 {
					above = float64(r-1) * (float64(n) - 1) / (float64(v) - 1)
				}
				sum += float64(n) / float64(v) * (1 + above) / float64(r)
			}
			return sum / float64(min(n, cut))
		},
	},
	SampledHit: {
		name:   "sampled Hit",
		means:  "share of targets with r <= %K, each ranked alone among sampled items, equal scores above it",
		one:    certain,
		random: func(v, _, k, _ int) float64 { return float64(k) / float64(v) },
	},
	SampledNDCG: {
		name: "sampled NDCG",
		means: "mean over targets of 1/log2(1+r), 0 when r > %K, " +
			"each ranked alone among sampled items, equal scores above it",
		one:    func(r, _ int) float64 { return discount(r) },
		random: func(v, _, k, _ int) float64 { return idealDCG(k) / float64(v) },
	},
}

// Kinds returns every kind.
func Kinds() []Kind {
	all := make([]Kind, len(measures))
	for i := range all {
		all[i] = Kind(i)
	}
	return all
}

// String returns the measure's usual name, as in "NDCG".
func (k Kind) String() string {
	if int(k) < len(measures) {
		return measures[k].name
	}
	return "Kind(" + strconv.Itoa(int(k)) + ")"
}

// Formula returns how a list is measured, with K the cut-off, T the relevant items of a user and h_i whether place i
// has one; empty for kinds that are not defined for lists.
func (k Kind) Formula() string { return k.measure().formula }

// measure returns the entry of a kind. It panics on an unknown one.
func (k Kind) measure() *measure {
	if int(k) >= len(measures) {
		panic("metrics: unknown kind " + k.String())
	}
	return &measures[k]
}

// certain returns 1, the value of every hit.
func certain(int, int) float64 { return 1 }

// discount returns the gain of a hit at rank r, 1/log2(1+r); it is 1 at the top.
func discount(r int) float64 { return 1 / math.Log2(1+float64(r)) }

// idealDCG returns the gain of n targets on the first n ranks.
func idealDCG(n int) float64 {
	sum := 0.0
	for r := 1; r <= n; r++ {
		sum += discount(r)
	}
	return sum
}

// missAll returns the probability that k draws without replacement from items hit none of the targets.
func missAll(items, targets, k int) float64 {
	none := 1.0
	for r := range k {
		left := float64(items - r)
		none *= max(0, left-float64(targets)) / left
	}
	return none
}
