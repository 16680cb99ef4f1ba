package results

import (
	"fmt"
	"math"
	"strings"

	"privrec/internal/reproduce/grid"
)

// notInData stands where a data set does not have what a column counts.
const notInData = "not in the data"

// decimals writes a number with two decimals, as the papers do, and "-" for no number.
func decimals(x float64, sign string) string {
	if math.IsNaN(x) {
		return "-"
	}
	text := fmt.Sprintf("%"+sign+".2f", x)
	if strings.Trim(text, "+-0.") == "" {
		return "0.00"
	}
	return text
}

// InText writes a number for a table cell: with two decimals, or where the unit is count, whole
// numbers in full and others with four digits. No number is "-".
func InText(unit string, x float64, sign string) string {
	switch {
	case unit != grid.UnitCount || math.IsNaN(x):
		return decimals(x, sign)
	case x == 0:
		return "0"
	case x == math.Trunc(x):
		return fmt.Sprintf("%"+sign+".0f", x)
	}
	return fmt.Sprintf("%"+sign+".4g", x)
}

// number returns x, or nothing for no number.
func number(x float64) any {
	if math.IsNaN(x) {
		return nil
	}
	return x
}

// pointed returns the number that x points to, or nothing for nil.
func pointed(x *float64) any {
	if x == nil {
		return nil
	}
	return *x
}

// between writes an interval, or nothing where there is none.
func between(lo, hi float64) any {
	if math.IsNaN(lo) {
		return nil
	}
	return decimals(lo, "") + " to " + decimals(hi, "")
}
