package config

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// Limit states the allowed values of a key, whatever other keys are: a range, a list of words, a list that is not
// empty. For a list, range and words apply to its entries.
type Limit struct {
	Words          []string // one of these; nil: any
	Lo, Hi         float64  // NaN: no bound
	OpenLo, OpenHi bool     // the bound itself is excluded
	Pattern        string   // regular expression that a text matches, in the words of Go and of JSON Schema; "": any
	Filled         bool     // a text or a list must not be empty
	Once           bool     // no entry of a list occurs twice
	Only           []any    // nothing but one of these values, such as false; nil: any
	Not            []any    // none of these values
	Or             []any    // values beside the range, such as 0; infinity is one
}

// OneOfLimit returns the limit to one of some words.
func OneOfLimit(words ...string) Limit { return Limit{Words: words, Lo: math.NaN(), Hi: math.NaN()} }

// RangeLimit returns the limit of a number from lo to hi, both included; NaN: no bound.
func RangeLimit(lo, hi float64) Limit { return Limit{Lo: lo, Hi: hi} }

// FilledLimit returns the limit of a text or list that is not empty.
func FilledLimit() Limit { return Limit{Filled: true, Lo: math.NaN(), Hi: math.NaN()} }

// PatternLimit returns the limit of a text that matches a regular expression.
func PatternLimit(pattern string) Limit {
	return Limit{Pattern: pattern, Lo: math.NaN(), Hi: math.NaN()}
}

// onceLimit returns the limit to a list without repeated entries.
func onceLimit() Limit { return Limit{Once: true, Lo: math.NaN(), Hi: math.NaN()} }

// OnlyLimit returns the limit to one of a few values.
func OnlyLimit(values ...any) Limit { return Limit{Only: values, Lo: math.NaN(), Hi: math.NaN()} }

// NotLimit returns the limit that excludes a few values.
func NotLimit(values ...any) Limit { return Limit{Not: values, Lo: math.NaN(), Hi: math.NaN()} }

// OrLimit returns the limit l with further allowed values.
func OrLimit(l Limit, values ...any) Limit {
	l.Or = values
	return l
}

// Finding is a limit that a check applied to a key, as recorded for a schema.
type Finding struct {
	Path  string // with [] for the entries of a list
	Limit Limit

	id string // tells findings apart
}

// id returns a text that identifies the limit.
func (l Limit) id() string {
	b := make([]byte, 0, 64)
	for _, x := range []float64{l.Lo, l.Hi} {
		b = strconv.AppendFloat(append(b, ' '), x, 'g', -1, 64)
	}
	for _, x := range []bool{l.OpenLo, l.OpenHi, l.Filled, l.Once} {
		b = strconv.AppendBool(append(b, ' '), x)
	}
	for _, w := range l.Words {
		b = strconv.AppendQuote(append(b, ' '), w)
	}
	if l.Pattern != "" {
		b = strconv.AppendQuote(append(b, " pattern "...), l.Pattern)
	}
	for _, list := range [][]any{l.Only, l.Not, l.Or} {
		if list != nil {
			b = fmt.Appendf(b, " %q", list)
		}
	}
	return string(b)
}

// Rule is a check that no Limit can state: a relation between keys, or a form of a value.
type Rule struct {
	Path   string // that the check names, with [] for the entries of a list
	Format string // of the message; with Path, the name of the rule
	Words  string // the message without the value found
}

// Name returns the identifying name of the rule.
func (r Rule) Name() string { return r.Path + ": " + r.Format }

// pattern returns a key path with [] in place of the numbers of entries.
func pattern(key string) string {
	if !strings.ContainsAny(key, "0123456789") {
		return key
	}
	path := ""
	for _, word := range strings.Split(key, ".") {
		if _, err := strconv.Atoi(word); err == nil {
			path += "[]"
		} else {
			path = join(path, word)
		}
	}
	return path
}

// limit records a limit of a key.
func (c *Checker) limit(key string, l Limit) {
	if c.limits != nil {
		path := pattern(key)
		c.found = append(c.found, Finding{path, l, path + l.id()})
	}
}

// bounds records the range of a number.
func (c *Checker) bounds(key string, lo, hi float64, openLo, openHi bool) {
	c.limit(key, Limit{Lo: lo, Hi: hi, OpenLo: openLo, OpenHi: openHi})
}

// Limited records a problem like Check, for a condition that the limit states too, so that it is about the value of the
// key alone.
func (c *Checker) Limited(l Limit, ok bool, key, format string, args ...any) bool {
	c.limit(key, l)
	return c.fail(ok, "", key, format, args...)
}

// rule records a check that no limit states.
func (c *Checker) rule(key, format string, args []any) {
	if c.limits == nil {
		return
	}
	r := Rule{Path: pattern(key), Format: format}
	if c.probed[r.Name()] {
		return
	}
	words, _, _ := strings.Cut(format, ", got %")
	if n := strings.Count(words, "%") - 2*strings.Count(words, "%%"); n <= len(args) {
		args = args[:n]
	}
	words = fmt.Sprintf(words, args...)
	if strings.Contains(words, "<nil>") { // the words come from an error, and here is none
		words = "must be what the program can read"
	}
	r.Words = words
	c.rules = append(c.rules, r)
}
