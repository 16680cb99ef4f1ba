package config

import (
	"cmp"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strings"
)

// Checker collects every problem with the values of a configuration, so that a user sees all of them at once. Its
// methods take the key path of a value, record a problem with its file and line, and report whether the value is right.
// Ranges of numbers are written as in mathematics; NaN is in none of them.
type Checker struct {
	doc    *Document
	errs   Errors
	limits map[string]string // allowed values of each key, in words; nil: not kept
	found  []Finding         // what limits says, for programs
	rules  []Rule            // checks that no limit says
	probed map[string]bool   // rules that Probe knows already; nil: no probe
}

// NewChecker returns a checker of the values of a document. doc is nil for values that were set in
// code.
func NewChecker(doc *Document) *Checker { return &Checker{doc: doc} }

// NewRecorder returns a checker that keeps the allowed values, for Limits.
func NewRecorder() *Checker { return &Checker{limits: map[string]string{}} }

// Limits returns in words the allowed values of the checked keys, such as "1..100". It knows only checks that have a
// method of their own and that ran for the values at hand.
func (c *Checker) Limits() map[string]string { return c.limits }

// note records the allowed values of a key. An entry of a list counts as the list.
func (c *Checker) note(key, format string, args ...any) {
	if c.limits == nil || c.probed != nil {
		return
	}
	c.limits[pattern(key)] = fmt.Sprintf(format, args...)
}

// Err returns all problems as an Errors, or nil. Those of the file come in the order of its lines, behind those that
// stand on no line. Problems of one line, or of none, keep the order of the checks.
func (c *Checker) Err() error {
	if len(c.errs) == 0 {
		return nil
	}
	slices.SortStableFunc(c.errs, func(a, b *Error) int { return cmp.Compare(a.Line, b.Line) })
	return c.errs
}

// OK reports whether there is no problem so far.
func (c *Checker) OK() bool { return len(c.errs) == 0 }

// Check records a problem unless ok. The message continues "key: ", as in "must be even, got 3".
func (c *Checker) Check(ok bool, key, format string, args ...any) bool {
	c.rule(key, format, args)
	return c.fail(ok, Rule{Path: pattern(key), Format: format}.Name(), key, format, args...)
}

// CheckAs records a problem unless ok, if the message contains the value found: words state the rule without it.
func (c *Checker) CheckAs(ok bool, key, words, format string, args ...any) bool {
	c.rule(key, words, nil)
	return c.fail(ok, Rule{Path: pattern(key), Format: words}.Name(), key, format, args...)
}

// CheckEntry records a problem like CheckAs, for an entry of the map at key of. The rule belongs to the map, whatever
// its keys are.
func (c *Checker) CheckEntry(ok bool, of, entry, words, format string, args ...any) bool {
	c.rule(of, words, nil)
	return c.fail(ok, Rule{Path: pattern(of), Format: words}.Name(), of+"."+entry, format, args...)
}

// EntryOneOf records a problem unless the name of an entry of the map at key of is one of the allowed words.
func (c *Checker) EntryOneOf(of, entry, words string, allowed ...string) bool {
	c.rule(of, words, nil)
	e := c.doc.OneOf(of+"."+entry, entry, allowed...)
	if e != nil {
		e.Rule = Rule{Path: pattern(of), Format: words}.Name()
		c.errs = append(c.errs, e)
	}
	return e == nil
}

// fail records a problem unless ok. rule names the rule that found it, "" for a limit.
func (c *Checker) fail(ok bool, rule, key, format string, args ...any) bool {
	if !ok {
		e := c.doc.Errorf(key, format, args...)
		e.Rule = rule
		c.errs = append(c.errs, e)
	}
	return ok
}

// NotEmpty records a problem for an empty text.
func (c *Checker) NotEmpty(key, x string) bool {
	c.note(key, "not empty")
	return c.Limited(FilledLimit(), x != "", key, "must not be empty")
}

// OneOf records a problem unless x is one of the allowed words. The problem names the closest of them, and completion
// offers them all.
func (c *Checker) OneOf(key, x string, allowed ...string) bool {
	c.limit(key, OneOfLimit(allowed...))
	return c.word(key, x, allowed)
}

// oneOfOrNone records a problem like OneOf for a text that is not empty.
func (c *Checker) oneOfOrNone(key, x string, allowed []string) {
	c.limit(key, OrLimit(OneOfLimit(allowed...), ""))
	if x != "" {
		c.word(key, x, allowed)
	}
}

// word records a problem unless x is one of the allowed words.
func (c *Checker) word(key, x string, allowed []string) bool {
	c.note(key, "%s", inWords(allowed))
	e := c.doc.OneOf(key, x, allowed...)
	if e != nil {
		c.errs = append(c.errs, e)
	}
	return e == nil
}

// Choices returns the words that a key may be, nil where any may be right. Only a recorder knows them.
func (c *Checker) Choices(key string) []string {
	for _, f := range c.found {
		if f.Path == key && f.Limit.Words != nil {
			return f.Limit.Words
		}
	}
	return nil
}

// Some records a problem for a list without entries.
func (c *Checker) Some(key string, entries int) bool {
	return c.Limited(FilledLimit(), entries > 0, key, "must name at least one")
}

// Matches records a problem unless a regular expression matches a text. form describes the expression in words.
func (c *Checker) Matches(key, x string, re *regexp.Regexp, form string) bool {
	c.note(key, "%s", form)
	return c.Limited(PatternLimit(re.String()), re.MatchString(x), key, "must be %s, got %q", form, x)
}

// Words records a problem unless xs has at least one word, only allowed ones, and none twice.
func (c *Checker) Words(key string, xs []string, allowed ...string) bool {
	ok := c.Limited(FilledLimit(), len(xs) > 0, key, "must name at least one of %s", strings.Join(allowed, ", "))
	return c.anyOf(key, xs, allowed) && ok
}

// anyOf records a problem like Words, and accepts an empty list.
func (c *Checker) anyOf(key string, xs, allowed []string) bool {
	ok := true
	c.limit(key, OneOfLimit(allowed...)) // of a list without entries too
	c.limit(key, onceLimit())
	for i, x := range xs {
		ok = c.OneOf(key, x, allowed...) && ok
		ok = c.fail(!slices.Contains(xs[:i], x), "", key, "names %q twice", x) && ok
	}
	return ok
}

// Between records a problem unless x is from lo to hi, both included.
func (c *Checker) Between(key string, x, lo, hi int) bool {
	c.note(key, "%d..%d", lo, hi)
	return c.Limited(RangeLimit(float64(lo), float64(hi)), x >= lo && x <= hi, key, "must lie in %d..%d, got %d", lo,
		hi, x)
}

// AtLeast records a problem for an integer below lo.
func (c *Checker) AtLeast(key string, x, lo int) bool {
	c.note(key, "at least %d", lo)
	return c.Limited(RangeLimit(float64(lo), math.NaN()), x >= lo, key, "must be at least %d, got %d", lo, x)
}

// Integers records a problem unless xs has at least one integer, each from lo to hi, and none twice. what names one of
// them, such as "cutoff".
func (c *Checker) Integers(key, what string, xs []int, lo, hi int) bool {
	ok := c.Limited(FilledLimit(), len(xs) > 0, key, "must name at least one %s", what)
	return Each(c, key, xs, func(x int) bool { return c.Between(key, x, lo, hi) }) && ok
}

// Within records a problem unless x is in [lo,hi].
func (c *Checker) Within(key string, x, lo, hi float64) bool {
	c.note(key, "[%g,%g]", lo, hi)
	c.bounds(key, lo, hi, false, false)
	return c.fail(x >= lo && x <= hi, "", key, "must lie in [%g,%g], got %v", lo, hi, x)
}

// Below records a problem unless x is in [lo,hi).
func (c *Checker) Below(key string, x, lo, hi float64) bool {
	c.note(key, "[%g,%g)", lo, hi)
	c.bounds(key, lo, hi, false, true)
	return c.fail(x >= lo && x < hi, "", key, "must lie in [%g,%g), got %v", lo, hi, x)
}

// Above records a problem unless x is in (lo,hi].
func (c *Checker) Above(key string, x, lo, hi float64) bool {
	c.note(key, "(%g,%g]", lo, hi)
	c.bounds(key, lo, hi, true, false)
	return c.fail(x > lo && x <= hi, "", key, "must lie in (%g,%g], got %v", lo, hi, x)
}

// Inside records a problem unless x is in (lo,hi).
func (c *Checker) Inside(key string, x, lo, hi float64) bool {
	c.note(key, "(%g,%g)", lo, hi)
	c.bounds(key, lo, hi, true, true)
	return c.fail(x > lo && x < hi, "", key, "must lie in (%g,%g), got %v", lo, hi, x)
}

// Each applies one check to every number of a list and records a problem for a number that occurs twice. It accepts an
// empty list.
func Each[T int | float64](c *Checker, key string, xs []T, one func(x T) bool) bool {
	ok := true
	c.limit(key, onceLimit())
	for i, x := range xs {
		ok = one(x) && ok
		ok = c.fail(!slices.Contains(xs[:i], x), "", key, "names %v twice", x) && ok
	}
	return ok
}

// Overridden reports whether the key path itself was set by an override.
func (v *Checker) Overridden(path string) bool { return v.doc.Overridden(path) }

// inWords returns words as a list for a message, with "left out" for the empty one.
func inWords(words []string) string {
	var out []string
	for _, w := range words {
		if w == "" {
			w = "left out"
		}
		out = append(out, w)
	}
	return strings.Join(out, ", ")
}
