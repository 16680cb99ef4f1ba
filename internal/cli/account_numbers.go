package cli

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/spf13/pflag"
)

// span is the range of a numeric flag.
type span struct {
	lo, hi         float64
	openLo, openHi bool // the end itself is out
	whole          bool
	ratio          bool // may be given as one whole number over another
}

// The ranges of the calculator. They are wide enough for anything that is meant
// and narrow enough that what is not is told, by name, before it is computed.
var (
	spanNoise   = span{lo: 1e-9, hi: 1e9}
	spanSteps   = span{lo: 1, hi: 1e12, whole: true}
	spanDelta   = span{lo: 1e-100, hi: 1, openHi: true}
	spanEpsilon = span{lo: 1e-9, hi: 1e4}
	spanAlpha   = span{lo: 1, hi: 1e6, openLo: true}
	spanRate    = span{lo: 1e-12, hi: 1, ratio: true}
	spanClasses = span{lo: 2, hi: 1 << 31, whole: true}
	spanPoints  = span{lo: 2, hi: 500, whole: true}
)

// String is the range in words, as in "1e-9 to 1e9".
func (s span) String() string {
	var text string
	switch {
	case s.openLo:
		text = fmt.Sprintf("above %s and at most %s", short(s.lo), short(s.hi))
	case s.openHi:
		text = fmt.Sprintf("at least %s and below %s", short(s.lo), short(s.hi))
	default:
		text = short(s.lo) + " to " + short(s.hi)
	}
	if s.whole {
		return "a whole number, " + text
	}
	return text
}

// holds reports whether v is in range; NaN is in none.
func (s span) holds(v float64) bool {
	switch {
	case s.whole && v != math.Trunc(v):
		return false
	case s.openLo && v == s.lo, s.openHi && v == s.hi:
		return false
	}
	return v >= s.lo && v <= s.hi
}

// parse reads what was given to a flag.
func (s span) parse(flag, text string) (float64, error) {
	if s.ratio && strings.Contains(text, "/") {
		v, ok := fraction(text)
		if !ok {
			return 0, usagef("a fraction is one whole number over another above 0, such as 256/60000", "--%s is %q, want %s", flag, clip(text), s)
		}
		if !s.holds(v) {
			return 0, usagef(s.advice(flag, v), "--%s is %s, want %s", flag, clip(text), s)
		}
		return v, nil
	}
	v, err := strconv.ParseFloat(text, 64)
	if err != nil || math.IsNaN(v) {
		shown := clip(text)
		if errors.Is(err, strconv.ErrSyntax) {
			shown = strconv.Quote(shown)
		}
		return 0, usagef("", "--%s is %s, want %s", flag, shown, s)
	}
	if !s.holds(v) {
		return 0, usagef(s.advice(flag, v), "--%s is %s, want %s", flag, clip(text), s)
	}
	return v, nil
}

// advice is what to do about a number out of range, empty where nothing is known.
func (s span) advice(flag string, v float64) string {
	switch {
	case s.whole && v != math.Trunc(v) && v > s.lo:
		return fmt.Sprintf("round up: --%s %s", flag, short(math.Ceil(v)))
	case flag == "delta" && v == 0:
		return "delta 0 is pure differential privacy; give a small delta such as 1e-9"
	case flag == "delta" && v >= 1:
		return "delta is a probability, well below one over the number of records"
	case flag == "sampling-rate" && v > 1:
		return "the rate is the expected batch over the number of records, at most 1"
	}
	return ""
}

// clip shortens what a person typed for an error line.
func clip(text string) string {
	if r := []rune(text); len(r) > 40 {
		return string(r[:40]) + "..."
	}
	return text
}

// short writes a number as a person would: 0.01, 1000, 1e-9, 2.5e12. The digits
// are those that give the same float64.
func short(v float64) string {
	if math.IsInf(v, 1) {
		return "infinite"
	}
	format := byte('e')
	if a := math.Abs(v); a == 0 || a >= 1e-4 && a < 1e6 || v == math.Trunc(v) && a < 1e12 && v/1e6 != math.Trunc(v/1e6) {
		format = 'f'
	}
	return strings.NewReplacer("e-0", "e-", "e+0", "e", "e+", "e").Replace(strconv.FormatFloat(v, format, -1, 64))
}

// number is a flag whose range is checked where it is read.
type number struct {
	name string
	span span
	v    float64
	set  bool
	text string // as a fraction, if it was given as one
}

var _ pflag.Value = (*number)(nil)

// String is the value as given; empty, so no default in the help, if it was not.
func (n *number) String() string {
	if n == nil || !n.set {
		return ""
	}
	if n.text != "" {
		return n.text
	}
	return short(n.v)
}

// Set reads the value.
func (n *number) Set(text string) error {
	v, err := n.span.parse(n.name, text)
	if err != nil {
		return err
	}
	n.v, n.set, n.text = v, true, ""
	if n.span.ratio && strings.Contains(text, "/") {
		n.text = text
	}
	return nil
}

// Type is the word that stands for the value in the help.
func (n *number) Type() string {
	if n.span.whole {
		return "int"
	}
	return "float"
}

// json is the value as JSON shows it.
func (n *number) json() any {
	if n.span.whole {
		return int64(n.v)
	}
	return n.v
}

// near writes a number with at most so many digits, for prose.
func near(v float64, digits int) string {
	if back, err := strconv.ParseFloat(strconv.FormatFloat(v, 'g', digits, 64), 64); err == nil {
		v = back
	}
	return short(v)
}

// roundUp writes a non-negative number with so many digits, never below it;
// roundDown, never above.
func roundUp(v float64, digits int) string   { return rounded(v, digits, 1) }
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
		n, _ := strconv.ParseInt(strings.Replace(mantissa, ".", "", 1), 10, 64) // our own digits
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
