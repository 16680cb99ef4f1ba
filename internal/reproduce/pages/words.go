package pages

import (
	"fmt"
	"math"
	"strings"

	"privrec/internal/privacy"
	"privrec/internal/report"
)

// things writes a number of things.
func things(n int, one, several string) string {
	if n == 1 {
		return "1 " + one
	}
	return report.Group(int64(n)) + " " + several
}

// capital writes a sentence with a capital letter.
func capital(s string) string {
	if s == "" {
		return s
	}
	return strings.ToUpper(s[:1]) + s[1:]
}

// number writes an epsilon.
func number(eps float64) string {
	if math.IsInf(eps, 1) {
		return "infinity"
	}
	return fmt.Sprintf("%.4g", eps)
}

// epsilon writes an epsilon of an account.
func epsilon(n privacy.Number) string { return number(float64(n)) }

// some returns x, or nothing for no number.
func some(x float64) any {
	if math.IsNaN(x) {
		return nil
	}
	return x
}

// large returns an epsilon, or nothing; a large one is rounded.
func large(x float64) any {
	if x >= 1e4 && x < 1e15 {
		return int(math.Round(x))
	}
	return some(x)
}

// finite reports whether x is a number that can be shown.
func finite(x float64) bool { return !math.IsNaN(x) && !math.IsInf(x, 0) }

// notKnown stands for the epsilon of a model that another program trained.
const notKnown = "not known"
