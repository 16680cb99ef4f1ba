package dataset

import (
	"fmt"
	"math"
	"slices"
	"strconv"
)

// Bands returns a categorical column of ranges, such as age groups, with the given name. Borders b1 < b2 < ... make the
// levels <b1, b1-b2, ..., >bn, in this order. All of them are levels, even without a user, so that every data set has
// the same levels. A missing value stays missing.
//
// A number of a numeric column is in b1-b2 if it is from b1 to b2, both included. The level of a categorical column
// must be a number and is the lower end of a range: MovieLens 1M has ages 1, 18, 25, 35 (35 to 44), 45 (45 to 49), 50,
// 56. The level b2 is therefore above b2, as most of its range is. With borders 35 and 45, users aged 45 are in 35-45
// on MovieLens 100K, and in >45 on MovieLens 1M, which does not tell them from those aged 49.
//
// Bands fails on fewer than two borders, on borders that do not ascend, and on a level that is no number.
func (c *Column) Bands(name string, borders ...float64) (Column, error) {
	out := Column{Name: name, Kind: Categorical}
	if len(borders) < 2 {
		return out, &Error{Field: c.Name, Msg: fmt.Sprintf("bands need at least two borders, got %v", borders)}
	}
	for i, b := range borders {
		if math.IsNaN(b) || math.IsInf(b, 0) || i > 0 && b <= borders[i-1] {
			return out, &Error{Field: c.Name, Msg: fmt.Sprintf("the borders of bands must be finite and ascend, got %v",
				borders)}
		}
	}
	text := func(x float64) string { return strconv.FormatFloat(x, 'g', -1, 64) }
	out.Levels = append(out.Levels, "<"+text(borders[0]))
	for i, b := range borders[1:] {
		out.Levels = append(out.Levels, text(borders[i])+"-"+text(b))
	}
	out.Levels = append(out.Levels, ">"+text(borders[len(borders)-1]))
	if c.Kind == Numeric {
		out.Codes = make([]int32, len(c.Numbers))
		for u, x := range c.Numbers {
			out.Codes[u] = band(borders, x, false)
		}
		return out, nil
	}
	of := make([]int32, len(c.Levels))
	for i, level := range c.Levels {
		x, err := strconv.ParseFloat(level, 64)
		if err != nil || math.IsNaN(x) || math.IsInf(x, 0) {
			return out, &Error{Field: c.Name, Msg: fmt.Sprintf("value %q is not a number, so it is in no band of %v",
				level, borders)}
		}
		of[i] = band(borders, x, true)
	}
	out.Codes = slices.Clone(c.Codes)
	for u, code := range c.Codes {
		if code >= 0 {
			out.Codes[u] = of[code]
		}
	}
	return out, nil
}

// band returns the band of x, or -1 if x is NaN. lower says that x is the lower end of a range.
func band(borders []float64, x float64, lower bool) int32 {
	if math.IsNaN(x) {
		return -1
	}
	k := int32(0)
	for i, b := range borders {
		if x > b || x == b && (lower || i == 0) {
			k++
		}
	}
	return k
}
