package calculator

import (
	"math"
	"math/big"
	"strconv"
	"strings"
)

// fraction reads a rate that is written as one whole number over another, such as a batch over the
// records: 256/60000. It rounds the float64 up, so that no guarantee is for a smaller rate. ok is
// false if text is no such fraction.
func fraction(text string) (v float64, ok bool) {
	over, under, cut := strings.Cut(text, "/")
	a, aErr := strconv.ParseUint(over, 10, 63)
	b, bErr := strconv.ParseUint(under, 10, 63)
	if !cut || aErr != nil || bErr != nil || b == 0 {
		return 0, false
	}
	exact := big.NewRat(int64(a), int64(b))
	v, _ = exact.Float64()
	if back := new(big.Rat).SetFloat64(v); back.Cmp(exact) < 0 {
		v = math.Nextafter(v, math.Inf(1))
	}
	return v, true
}
