package protect

import (
	"cmp"
	"math"
	"slices"
)

// Curve holds the points of one mechanism, from the lowest accuracy to the unprotected slates.
type Curve struct {
	Mechanism string
	Points    []Point // by accuracy, ascending; the last replaces nothing
}

// Curves returns the points by mechanism, in the order of first occurrence, and adds the point without protection to
// each.
func Curves(points []Point) (list []Curve) {
	var clean []Point
	at := map[string]int{}
	for _, p := range points {
		if p.Clean() {
			clean = append(clean, p)
			continue
		}
		name := p.Mechanism()
		i, ok := at[name]
		if !ok {
			i = len(list)
			at[name], list = i, append(list, Curve{Mechanism: name})
		}
		list[i].Points = append(list[i].Points, p)
	}
	for i := range list {
		c := &list[i]
		if len(clean) > 0 {
			c.Points = append(c.Points, clean[0])
		}
		slices.SortStableFunc(c.Points, func(a, b Point) int { return cmp.Compare(a.Accuracy, b.Accuracy) })
	}
	return list
}

// At returns a value at a given accuracy, by linear interpolation between the neighbouring points. known is false
// beyond the points, and if a point has no such value. Mechanisms are compared at equal accuracy, not at equal ratio:
// the ratio is their cost, and replacing items that no user clicks costs less.
func (c Curve) At(value string, accuracy float64) (x float64, known bool) {
	n := len(c.Points)
	if n == 0 || !(accuracy >= c.Points[0].Accuracy && accuracy <= c.Points[n-1].Accuracy) {
		return math.NaN(), false
	}
	k, _ := slices.BinarySearchFunc(c.Points, accuracy,
		func(p Point, a float64) int { return cmp.Compare(p.Accuracy, a) })
	hi := c.Points[k]
	x, known = hi.Values[value]
	if !known || hi.Accuracy == accuracy {
		return x, known
	}
	lo := c.Points[k-1]
	y, known := lo.Values[value]
	share := (accuracy - lo.Accuracy) / (hi.Accuracy - lo.Accuracy)
	return y + share*(x-y), known
}
