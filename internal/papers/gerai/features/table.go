package features

import (
	"fmt"
	"math"

	"privrec/internal/privacy/mechanism/local"
)

// Levels is the number of rating levels, 1 to Levels.
const Levels = 5

// Numbers is the number of statistics in Table 1, each one value.
const Numbers = 18

// StatisticNames returns the names of the statistics, in the order of Table 1.
func StatisticNames() []string {
	names := []string{"ratings"}
	for r := 1; r <= Levels; r++ {
		names = append(names, fmt.Sprint("ratings of ", r))
	}
	for r := 1; r <= Levels; r++ {
		names = append(names, fmt.Sprint("share of ", r))
	}
	return append(names, "share of 4 and 5", "share of 1 and 2", "entropy", "median", "minimum", "maximum", "mean")
}

// Counts holds the numbers of a user's ratings: Counts[r] of level r, Counts[0] of an unknown level. Some copies of
// MovieLens 1M lost a few levels and have 0 in their place.
type Counts [Levels + 1]int

// Statistics writes the statistics of a user's ratings to row, which has Numbers values, each mapped from its public
// range to [-1, 1]. items is the size of the catalogue. Ratings of unknown level count only in the number of ratings.
//
//	a number n of ratings     2 ln(1+n)/ln(1+items) - 1
//	a share p                 2 p - 1
//	the entropy H, in nats    2 H/ln 5 - 1
//	a level r                 (r-3)/2
//
// The median of an even number of ratings is the mean of the two in the middle. For a user without a known level
// everything except the numbers is missing, coded as 0. It fails on more ratings than items.
func Statistics(counts Counts, items int, row []float64) error {
	n, sum, entropy := 0, 0, 0.0
	low, high := 0, 0 // least and greatest level
	for r := 1; r <= Levels; r++ {
		n += counts[r]
		sum += r * counts[r]
		if counts[r] > 0 {
			high = r
			if low == 0 {
				low = r
			}
		}
	}
	if all := n + counts[0]; all > items {
		return fmt.Errorf("%d ratings, but the catalogue has %d items", all, items)
	}
	many := func(n int) float64 { return within(2*math.Log1p(float64(n))/math.Log1p(float64(items)) - 1) }
	clear(row)
	row[0] = many(n + counts[0])
	for i, c := range counts[1:] {
		row[1+i] = many(c)
	}
	if n == 0 {
		return nil
	}
	share := func(n, of int) float64 { return 2*float64(n)/float64(of) - 1 }
	level := func(r float64) float64 { return (r - 3) / 2 }
	for i, c := range counts[1:] {
		row[6+i] = share(c, n)
		if c > 0 {
			p := float64(c) / float64(n)
			entropy -= p * math.Log(p)
		}
	}
	row[11], row[12] = share(counts[4]+counts[5], n), share(counts[1]+counts[2], n)
	row[13] = within(2*entropy/math.Log(Levels) - 1)
	row[14] = level(float64(ranked(counts, (n-1)/2)+ranked(counts, n/2)) / 2)
	row[15], row[16] = level(float64(low)), level(float64(high))
	row[17] = level(float64(sum) / float64(n))
	return nil
}

// ranked returns the level of the k-th known rating from the least, counted from 0.
func ranked(counts Counts, k int) int {
	r := 1
	for k -= counts[r]; k >= 0; k -= counts[r] {
		r++
	}
	return r
}

// within clamps a value that rounding put outside [-1, 1].
func within(x float64) float64 { return max(-1, min(1, x)) }

// Kinds returns the features of Table 1, 21 with 44 values, for the declared levels of the
// attributes.
func Kinds(attributes []Attribute) (kinds []local.FeatureKind) {
	for _, name := range StatisticNames() {
		kinds = append(kinds, local.FeatureKind{Name: name})
	}
	return append(kinds, attributeKinds(attributes)...)
}

func attributeKinds(attributes []Attribute) (kinds []local.FeatureKind) {
	for _, a := range attributes {
		kinds = append(kinds, local.FeatureKind{Name: a.Name, Categories: len(a.Levels)})
	}
	return kinds
}
