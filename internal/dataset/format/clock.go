package format

import (
	"bytes"
	"fmt"
	"math"
	"strconv"
	"strings"

	"privrec/internal/dataset"
)

// Clock collects the times of a column. If any of them has a fraction, all are counted in a smaller unit, so that each
// is a whole number: thousandths, millionths or billionths of the file's unit.
type Clock struct {
	Whole  []int64 // of each row
	parts  []int64 // billionths of each row; nil: no row has a fraction
	digits int     // digits after the point of the longest fraction
	told   int64   // the first time whose size reveals its unit; 0: none did
}

// mostDigits is the largest number of digits of a time after its point, which nanoseconds of seconds need.
const mostDigits = 9

// Add parses and adds the time of the next row.
func (c *Clock) Add(in *Input, field string, b []byte) error {
	whole, part, err := in.instant(field, b)
	if err == nil && len(part) > mostDigits {
		err = in.Fail(field, fmt.Sprintf("time %s has %d digits after the point", dataset.Quote(b), len(part)),
			fmt.Sprintf("at most %d are read", mostDigits))
	}
	if err != nil {
		return err
	}
	if why := c.Mixed(whole); why != "" {
		return in.Fail(field, why, OneUnit)
	}
	c.add(whole, part)
	return nil
}

// OneUnit is the hint about times in two units.
const OneUnit = "write all times in one unit: as they are, their order would be wrong"

// Mixed returns a sentence if a time counts in another unit than those before, and both reveal theirs by their size:
// seconds since 1970, milliseconds, microseconds or nanoseconds, of the years 1973 to 2286. It returns "" otherwise.
func (c *Clock) Mixed(t int64) string {
	unit, was := unitOf(t), unitOf(c.told)
	switch {
	case unit == "" || unit == was:
		return ""
	case was == "":
		c.told = t
		return ""
	}
	return fmt.Sprintf("times in two units: %d is in %s, and %d above in %s", t, unit, c.told, was)
}

// unitOf returns the unit of a time by its size; "" if several are possible.
func unitOf(t int64) string {
	least := int64(1e8)
	for _, unit := range []string{"seconds", "milliseconds", "microseconds", "nanoseconds"} {
		if t >= least && t/100 < least {
			return unit
		}
		least *= 1000
	}
	return ""
}

// AddFloat adds the time of the next row, given as a number. It reports whether the time is acceptable: not negative
// with a fraction, within the range of whole numbers, and with no more than mostDigits digits after the point.
func (c *Clock) AddFloat(x float64) bool {
	before, after, _ := strings.Cut(strconv.FormatFloat(x, 'f', -1, 64), ".")
	whole, err := strconv.ParseInt(before, 10, 64)
	if err != nil || math.Abs(x) > 1<<53 || len(after) > mostDigits || after != "" && x < 0 {
		return false
	}
	c.add(whole, []byte(after))
	return true
}

// AddWhole adds the time of the next row, given as a whole number.
func (c *Clock) AddWhole(t int64) { c.add(t, nil) }

// add adds a time given by its whole units and the digits after the point.
func (c *Clock) add(whole int64, part []byte) {
	if len(part) > 0 {
		if c.parts == nil {
			c.parts = make([]int64, len(c.Whole), cap(c.Whole))
		}
		c.digits = max(c.digits, len(part))
		part = append(bytes.Clone(part), "000000000"[len(part):]...)
	}
	c.Whole = append(c.Whole, whole)
	if c.parts != nil {
		nano, _ := strconv.ParseInt(string(part), 10, 64) // 0 where there is none
		c.parts = append(c.parts, nano)
	}
}

// PerUnit returns how many units of Times make one of the file's unit: 1, 1,000, 1,000,000 or 1,000,000,000.
func (c *Clock) PerUnit() int64 {
	per := int64(1)
	for d := 0; d < c.digits; d += 3 {
		per *= 1000
	}
	return per
}

// Times returns the times of all rows, counted in the smaller unit that has per to one of the file's. It fails if one
// does not fit.
func (c *Clock) Times(file, field string, per int64) ([]int64, error) {
	if per == 1 {
		return c.Whole, nil
	}
	for i, t := range c.Whole {
		if t > math.MaxInt64/per-1 || t < -math.MaxInt64/per+1 {
			return nil, &dataset.Error{File: file, Field: field,
				Msg: fmt.Sprintf("the time %d of row %d is too large, where other times have fractions of %d digits",
					t, i+1, c.digits),
				Hint: "write all times as whole numbers"}
		}
		c.Whole[i] = t * per
		if c.parts != nil {
			c.Whole[i] += c.parts[i] / (1_000_000_000 / per)
		}
	}
	return c.Whole, nil
}

// Counted returns a sentence if times are counted in a smaller unit than that of their file; "" if they are not.
func Counted(per int64) string {
	name, ok := map[int64]string{1_000: "thousandths", 1_000_000: "millionths", 1_000_000_000: "billionths"}[per]
	if !ok {
		return ""
	}
	return "some times have a fraction, so that all are counted in " + name + " of their unit"
}
