package config

import (
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
)

// Declared records a problem for every value outside the limit that its field declares in a tag `limit:"..."`:
//
//	1..100           an integer from 1 to 100; 1.. for one without an upper end
//	[0,1)            a number; a round bracket leaves the end out
//	a|b|c            one of these words; |a|b or a|b? where the text may be empty too, which a|b? does not call a word
//	filled           a text that is not empty
//	some             a list that is not empty
//	some of a|b|c    a list of at least one of these words, none twice; any of a|b|c where it may be empty
//	some cut in 1..9 a list of at least one number in the range, none twice; the message calls one a cut
//
// A tag `when:"key=a|b"` beside it says that the limits of the field, and of the keys below it, count only where a key
// of the same group has one of these values.
//
// of is a configuration or a pointer to one. The limits in a nil pointer do not count, nor do those in an empty list.
// Declared panics on a tag of another form.
func (c *Checker) Declared(of any) { c.declared(reflect.ValueOf(of), "") }

func (c *Checker) declared(v reflect.Value, path string) {
	switch {
	case v.Kind() == reflect.Pointer:
		if !v.IsNil() {
			c.declared(v.Elem(), path)
		}
	case isScalar(v.Type()):
	case v.Kind() == reflect.Slice:
		for i := range v.Len() {
			c.declared(v.Index(i), path+"."+strconv.Itoa(i))
		}
	case v.Kind() == reflect.Struct:
		for i := range v.NumField() {
			f := v.Type().Field(i)
			name, inline, ok := keyName(f)
			switch {
			case !ok:
			case inline:
				c.declared(v.Field(i), path)
			default:
				if !applies(f.Tag.Get("when"), v) {
					continue
				}
				if limit, ok := f.Tag.Lookup("limit"); ok {
					c.within(join(path, name), v.Field(i), limit)
				}
				c.declared(v.Field(i), join(path, name))
			}
		}
	}
}

// applies reports whether the condition of a tag holds in a struct.
func applies(when string, of reflect.Value) bool {
	key, words, _ := strings.Cut(when, "=")
	switch other, ok := lookup(of, key); {
	case when == "":
		return true
	case !ok:
		panic(fmt.Sprintf("config: the condition %q in a tag names no field beside it", when))
	default:
		return slices.Contains(strings.Split(words, "|"), fmt.Sprint(other))
	}
}

// within records a problem unless a value is within a limit in the notation of Declared.
func (c *Checker) within(key string, v reflect.Value, limit string) {
	if limit == "some" {
		c.Some(key, v.Len())
		return
	}
	if words, ok := strings.CutPrefix(limit, "some of "); ok {
		c.Words(key, v.Interface().([]string), strings.Split(words, "|")...)
		return
	}
	if words, ok := strings.CutPrefix(limit, "any of "); ok {
		c.anyOf(key, v.Interface().([]string), strings.Split(words, "|"))
		return
	}
	if what, numbers, ok := strings.Cut(limit, " in "); ok {
		lo, hi, _ := strings.Cut(numbers, "..")
		c.Integers(key, strings.TrimPrefix(what, "some "), v.Interface().([]int), end(strconv.Atoi, lo),
			end(strconv.Atoi, hi))
		return
	}
	float := func(s string) (float64, error) { return strconv.ParseFloat(s, 64) }
	switch {
	case v.CanInt():
		lo, hi, _ := strings.Cut(limit, "..")
		if hi == "" {
			c.AtLeast(key, int(v.Int()), end(strconv.Atoi, lo))
			return
		}
		c.Between(key, int(v.Int()), end(strconv.Atoi, lo), end(strconv.Atoi, hi))
	case v.CanFloat():
		last := len(limit) - 1
		low, high, _ := strings.Cut(limit[1:last], ",")
		lo, hi := end(float, low), end(float, high)
		check := map[string]func(string, float64, float64, float64) bool{"[]": c.Within, "[)": c.Below, "(]": c.Above,
			"()": c.Inside}[limit[:1]+limit[last:]]
		check(key, v.Float(), lo, hi)
	case strings.HasSuffix(limit, "?"):
		c.oneOfOrNone(key, v.String(), strings.Split(strings.TrimSuffix(limit, "?"), "|"))
	case limit == "filled":
		c.NotEmpty(key, v.String())
	default:
		c.OneOf(key, v.String(), strings.Split(limit, "|")...)
	}
}

// end returns an end of a range in a tag.
func end[T int | float64](read func(s string) (T, error), text string) T {
	x, err := read(text)
	if err != nil {
		panic(fmt.Sprintf("config: no end of a range in a tag: %v", err))
	}
	return x
}
