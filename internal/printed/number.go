package printed

import (
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"
)

// Number is one number as printed: with its digits, and with a standard deviation where one
// stands beside it. Where a paper prints a dash or a word such as OOM, there is no value.
type Number struct {
	Text   string   // as printed, without the standard deviation
	Value  *float64 // nil for a dash or a word
	Digits int      // after the point
	Spread *Number  // standard deviation; nil: none is printed
	Slip   bool     // the printed text is not the number that it has to be read as
}

var (
	decimal = regexp.MustCompile(`^-?[0-9]+(\.[0-9]+)?$`)
	absent  = regexp.MustCompile(`^(-|[A-Z]+)$`)
)

// UnmarshalText reads "0.25", "0.1754±0.0013", "-", "OOM", and "A -> B" for a misprint: A is
// printed and B is meant.
func (n *Number) UnmarshalText(text []byte) error {
	s := string(text)
	printed, meant, slip := strings.Cut(s, " -> ")
	if !slip {
		meant = printed
	}
	mean, spread, both := strings.Cut(meant, "±")
	if absent.MatchString(mean) && !both && !slip {
		*n = Number{Text: mean}
		return nil
	}
	v, digits, err := read(mean)
	if err != nil {
		return err
	}
	if slip && !decimal.MatchString(printed) {
		return fmt.Errorf("want the misprint of a number before ->, got %q", printed)
	}
	*n = Number{Text: printed, Value: &v, Digits: digits, Slip: slip}
	if !both {
		return nil
	}
	n.Text = mean
	w, digits, err := read(spread)
	if err != nil {
		return err
	}
	n.Spread = &Number{Text: spread, Value: &w, Digits: digits}
	return nil
}

// read reads a decimal number and counts its digits after the point.
func read(s string) (float64, int, error) {
	if !decimal.MatchString(s) {
		return 0, 0, fmt.Errorf("want a number as printed, a dash or a word in capitals, got %q", s)
	}
	v, err := strconv.ParseFloat(s, 64)
	if err != nil {
		return 0, 0, fmt.Errorf("%q does not fit a number", s)
	}
	_, after, _ := strings.Cut(s, ".")
	return v, len(after), nil
}

// String returns the number as printed.
func (n Number) String() string {
	if n.Spread != nil {
		return n.Text + " ± " + n.Spread.Text
	}
	return n.Text
}

// Range returns the numbers that are printed as n: half a unit of its last digit to either
// side. Without a value both are not a number.
func (n Number) Range() (low, high float64) {
	if n.Value == nil {
		return math.NaN(), math.NaN()
	}
	half := 0.5 * math.Pow10(-n.Digits)
	return *n.Value - half, *n.Value + half
}

// Word is a short text that may look like a number, such as the 5 of an epsilon.
type Word string

// UnmarshalText takes any text but an empty one.
func (w *Word) UnmarshalText(text []byte) error {
	if len(text) == 0 {
		return fmt.Errorf("must not be empty")
	}
	*w = Word(text)
	return nil
}
