package config

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Checker collects every problem with the values of a configuration, so that a user sees all of
// them at once. Its methods take the key path of a value, note a problem with its file and line,
// and report whether the value is right. Ranges of numbers are written as in mathematics; NaN is
// in none of them.
type Checker struct {
	doc    *Document
	errs   Errors
	limits map[string]string // what each key may be, in words; nil: not kept
}

// NewChecker returns a checker of the values of a document. doc is nil for values that were set in
// code.
func NewChecker(doc *Document) *Checker { return &Checker{doc: doc} }

// NewRecorder returns a checker that keeps what values may be, for Limits.
func NewRecorder() *Checker { return &Checker{limits: map[string]string{}} }

// Limits says in words what values the keys that were checked may have, such as "1..100". It knows
// the checks that have a method, as they are made of the values at hand.
func (c *Checker) Limits() map[string]string { return c.limits }

// note keeps what a key may be. An entry of a list counts as the list.
func (c *Checker) note(key, format string, args ...any) {
	if c.limits == nil {
		return
	}
	path := ""
	for _, word := range strings.Split(key, ".") {
		if _, err := strconv.Atoi(word); err == nil { // an entry of a list
			path += "[]"
		} else {
			path = join(path, word)
		}
	}
	c.limits[path] = fmt.Sprintf(format, args...)
}

// Err returns all problems as an Errors, in the order of the checks, or nil.
func (c *Checker) Err() error {
	if len(c.errs) == 0 {
		return nil
	}
	return c.errs
}

// OK reports whether there is no problem so far.
func (c *Checker) OK() bool { return len(c.errs) == 0 }

// Check notes a problem unless ok. The message continues "key: ", as in "must be even, got 3".
func (c *Checker) Check(ok bool, key, format string, args ...any) bool {
	if !ok {
		c.errs = append(c.errs, c.doc.Errorf(key, format, args...))
	}
	return ok
}

// NotEmpty fails on an empty text.
func (c *Checker) NotEmpty(key, x string) bool {
	c.note(key, "not empty")
	return c.Check(x != "", key, "must not be empty")
}

// OneOf fails unless x is one of the allowed words. The problem names the closest of them, and
// completion offers them all.
func (c *Checker) OneOf(key, x string, allowed ...string) bool {
	c.note(key, "%s", inWords(allowed))
	e := c.doc.OneOf(key, x, allowed...)
	if e != nil {
		c.errs = append(c.errs, e)
	}
	return e == nil
}

// Words fails unless xs has at least one word, only allowed ones, and none twice.
func (c *Checker) Words(key string, xs []string, allowed ...string) bool {
	ok := c.Check(len(xs) > 0, key, "must name at least one of %s", strings.Join(allowed, ", "))
	for i, x := range xs {
		ok = c.OneOf(key, x, allowed...) && ok
		ok = c.Check(!slices.Contains(xs[:i], x), key, "names %q twice", x) && ok
	}
	return ok
}

// Between fails unless x is from lo to hi, both included.
func (c *Checker) Between(key string, x, lo, hi int) bool {
	c.note(key, "%d..%d", lo, hi)
	return c.Check(x >= lo && x <= hi, key, "must lie in %d..%d, got %d", lo, hi, x)
}

// AtLeast fails on an integer below lo.
func (c *Checker) AtLeast(key string, x, lo int) bool {
	c.note(key, "at least %d", lo)
	return c.Check(x >= lo, key, "must be at least %d, got %d", lo, x)
}

// Integers fails unless xs has at least one integer, each from lo to hi, and none twice. what
// names one of them, such as "cutoff".
func (c *Checker) Integers(key, what string, xs []int, lo, hi int) bool {
	ok := c.Check(len(xs) > 0, key, "must name at least one %s", what)
	return Each(c, key, xs, func(x int) bool { return c.Between(key, x, lo, hi) }) && ok
}

// Within fails unless x is in [lo,hi].
func (c *Checker) Within(key string, x, lo, hi float64) bool {
	c.note(key, "[%g,%g]", lo, hi)
	return c.Check(x >= lo && x <= hi, key, "must lie in [%g,%g], got %v", lo, hi, x)
}

// Below fails unless x is in [lo,hi).
func (c *Checker) Below(key string, x, lo, hi float64) bool {
	c.note(key, "[%g,%g)", lo, hi)
	return c.Check(x >= lo && x < hi, key, "must lie in [%g,%g), got %v", lo, hi, x)
}

// Above fails unless x is in (lo,hi].
func (c *Checker) Above(key string, x, lo, hi float64) bool {
	c.note(key, "(%g,%g]", lo, hi)
	return c.Check(x > lo && x <= hi, key, "must lie in (%g,%g], got %v", lo, hi, x)
}

// Inside fails unless x is in (lo,hi).
func (c *Checker) Inside(key string, x, lo, hi float64) bool {
	c.note(key, "(%g,%g)", lo, hi)
	return c.Check(x > lo && x < hi, key, "must lie in (%g,%g), got %v", lo, hi, x)
}

// Each applies one check to every number of a list and fails on a number that is there twice. It
// accepts an empty list.
func Each[T int | float64](c *Checker, key string, xs []T, one func(x T) bool) bool {
	ok := true
	for i, x := range xs {
		ok = one(x) && ok
		ok = c.Check(!slices.Contains(xs[:i], x), key, "names %v twice", x) && ok
	}
	return ok
}

// Overridden reports whether the key path itself was set by an override.
func (v *Checker) Overridden(path string) bool { return v.doc.Overridden(path) }

// inWords lists words, with "left out" for the empty one.
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
