package calculator

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"privrec/internal/config"
	"privrec/internal/privacy"
)

// clip shortens user input for an error line.
func clip(text string) string {
	if r := []rune(text); len(r) > 40 {
		return string(r[:40]) + "..."
	}
	return text
}

// short returns a number as a person writes it: 0.01, 1000, 1e-9, 2.5e12. It parses back to the same float64.
func short(v float64) string {
	if math.IsInf(v, 1) {
		return "infinite"
	}
	format := byte('e')
	if a := math.Abs(v); a == 0 || a >= 1e-4 && a < 1e6 || v == math.Trunc(v) && a < 1e12 &&
		v/1e6 != math.Trunc(v/1e6) {
		format = 'f'
	}
	return shortExponent.Replace(strconv.FormatFloat(v, format, -1, 64))
}

var shortExponent = strings.NewReplacer("e-0", "e-", "e+0", "e", "e+", "e")

// near writes a number with at most so many digits, for prose.
func near(v float64, digits int) string {
	if back, err := strconv.ParseFloat(strconv.FormatFloat(v, 'g', digits, 64), 64); err == nil {
		v = back
	}
	return short(v)
}

// RoundUp returns a non-negative number as text with this number of digits, never below it. roundDown never returns one
// above.
func RoundUp(v float64, digits int) string   { return rounded(v, digits, 1) }
func roundDown(v float64, digits int) string { return rounded(v, digits, -1) }

func rounded(v float64, digits, way int) string {
	if math.IsInf(v, 1) {
		return "infinite"
	}
	if v <= 0 {
		return "0"
	}
	s := strconv.FormatFloat(v, 'e', digits-1, 64)
	back, err := strconv.ParseFloat(s, 64)
	if err == nil && (way > 0 && back < v || way < 0 && back > v) {
		mantissa, exponent, _ := strings.Cut(s, "e")
		n, _ := strconv.ParseInt(strings.Replace(mantissa, ".", "", 1), 10, 64) // digits of FormatFloat
		e, _ := strconv.Atoi(exponent)
		e -= digits - 1
		if n += int64(way); strings.Trim(strconv.FormatInt(n+1, 10), "0") == "1" && way < 0 {
			n, e = 10*n+9, e-1 // from 1000 down: 999.9, not 999
		}
		back, err = strconv.ParseFloat(fmt.Sprintf("%de%d", n, e), 64)
	}
	if err != nil || math.IsInf(back, 0) {
		return short(v)
	}
	return short(back)
}

// change returns words for the change between neighbouring data sets.
func change(n privacy.Neighbouring) string {
	switch n {
	case privacy.Replace:
		return "exchanging"
	case privacy.ZeroOut:
		return "blanking"
	}
	return "adding or removing"
}

// exchanged returns words for the replacement of a unit.
func exchanged(n privacy.Neighbouring) string {
	if n == privacy.Replace {
		return " for any other"
	}
	return ""
}

// noun returns a unit in words.
func noun(u privacy.Unit) string {
	switch u {
	case privacy.Feature:
		return "feature vector"
	case privacy.Cell:
		return "cell of a sequence"
	case privacy.Position:
		return "position of a slate"
	}
	return string(u)
}

// aNoun is noun with its article.
func aNoun(u privacy.Unit) string {
	one := noun(u)
	if strings.ContainsRune("aeio", rune(one[0])) {
		return "an " + one
	}
	return "a " + one
}

// nouns returns several of a unit in words.
func nouns(u privacy.Unit) string {
	switch u {
	case privacy.Cell:
		return "cells of sequences"
	case privacy.Position:
		return "positions of slates"
	}
	return noun(u) + "s"
}

// times returns the factor e^eps as text if it is small enough to imagine.
func times(eps float64) string {
	if eps > 14 {
		return ""
	}
	return " (" + RoundUp(math.Exp(eps), 3) + ")"
}

func capitalise(s string) string {
	if s == "" {
		return s
	}
	return strings.ToUpper(s[:1]) + s[1:]
}

// list joins names for a message.
func list[S ~string](names []S) string {
	text := make([]string, len(names))
	for i, n := range names {
		text[i] = string(n)
	}
	return strings.Join(text, ", ")
}

// either joins names for a message that wants one of them: "a, b or c".
func either[S ~string](names []S) string {
	last := len(names) - 1
	if last < 1 {
		return list(names)
	}
	return list(names[:last]) + " or " + string(names[last])
}

// didYouMean returns the hint for an unknown word; "" if no known word is near it.
func didYouMean[S ~string](word string, known []S) string {
	names := make([]string, len(known))
	for i, k := range known {
		names[i] = string(k)
	}
	if best := config.Nearest(word, names); best != "" {
		return fmt.Sprintf("did you mean %q?", best)
	}
	return ""
}
