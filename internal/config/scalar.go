package config

import (
	"encoding"
	"errors"
	"fmt"
	"math"
	"reflect"
	"regexp"
	"strings"
	"time"

	"gopkg.in/yaml.v3"
)

var (
	durationType = reflect.TypeFor[time.Duration]()
	textType     = reflect.TypeFor[encoding.TextUnmarshaler]()
	octal        = regexp.MustCompile(`^[-+]?0[0-9_]+$`)
	otherDigits  = regexp.MustCompile(`^[-+]?0[xXoObB]|_`) // 0x10, 0o17, 0b11, 1_000
)

// isScalar reports whether YAML writes a value of the type as one word.
func isScalar(t reflect.Type) bool {
	switch t.Kind() {
	case reflect.Bool, reflect.String, reflect.Float32, reflect.Float64,
		reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64,
		reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		return true
	}
	return reflect.PointerTo(t).Implements(textType)
}

// setScalar decodes one word. fromSet is less strict with strings only: on a command line users
// do not quote the 7 of "--set name=7".
func setScalar(n *yaml.Node, fromSet bool, v reflect.Value) error {
	if n.Kind != yaml.ScalarNode {
		return fmt.Errorf("want %s, found %s", want(v.Type()), describe(n))
	}
	if v.CanAddr() && v.Addr().Type().Implements(textType) {
		return v.Addr().Interface().(encoding.TextUnmarshaler).UnmarshalText([]byte(n.Value))
	}
	if v.Type() == durationType {
		d, err := time.ParseDuration(n.Value)
		if err != nil {
			return fmt.Errorf("want a duration like 30s, found %s", describe(n))
		}
		v.SetInt(int64(d))
		return nil
	}
	mismatch := fmt.Errorf("want %s, found %s", want(v.Type()), describe(n))
	switch v.Kind() {
	case reflect.String:
		// A date and "<<" have tags of their own in YAML 1.1, and are words here.
		if n.Tag != "!!str" && n.Tag != "!!timestamp" && n.Tag != "!!merge" && !fromSet {
			return fmt.Errorf("want text, found %s; quote it", describe(n))
		}
		v.SetString(n.Value)
		return nil
	case reflect.Bool:
		if n.Tag != "!!bool" {
			return mismatch
		}
	case reflect.Float32, reflect.Float64:
		return setFloat(n, v)
	default:
		if n.Tag != "!!int" {
			return mismatch
		}
		if octal.MatchString(n.Value) {
			return fmt.Errorf("integer %s starts with a zero, which YAML reads as octal", n.Value)
		}
		if otherDigits.MatchString(n.Value) {
			return fmt.Errorf("integer %s is not written in plain decimal digits", n.Value)
		}
	}
	if err := n.Decode(v.Addr().Interface()); err != nil {
		return fmt.Errorf("%s does not fit %s", n.Value, want(v.Type()))
	}
	return nil
}

func setFloat(n *yaml.Node, v reflect.Value) error {
	if n.Tag != "!!int" && n.Tag != "!!float" {
		return fmt.Errorf("want a number, found %s", describe(n))
	}
	if octal.MatchString(n.Value) {
		return fmt.Errorf("number %s starts with a zero, which YAML reads as octal", n.Value)
	}
	if otherDigits.MatchString(n.Value) {
		return fmt.Errorf("number %s is not written in plain decimal digits", n.Value)
	}
	var x float64
	if err := n.Decode(&x); err != nil {
		return fmt.Errorf("%s does not fit a number", n.Value)
	}
	switch {
	case math.IsNaN(x):
		return errors.New("NaN is not a value")
	case math.IsInf(x, 0):
		return errors.New("must be finite")
	case v.OverflowFloat(x):
		return fmt.Errorf("%s does not fit a 32-bit number", n.Value)
	case underflows(n.Value, x), v.Kind() == reflect.Float32 && underflows(n.Value, float64(float32(x))):
		return fmt.Errorf("%s is too small, it would become 0", n.Value)
	}
	v.SetFloat(x + 0) // a negative zero becomes 0: its canonical text would be another
	return nil
}

// underflows reports whether a number was read as x = 0 although its text is not 0.
func underflows(text string, x float64) bool {
	mantissa, _, _ := strings.Cut(strings.ToLower(text), "e")
	return x == 0 && strings.ContainsAny(mantissa, "123456789")
}

// isInfinite reports whether n is YAML's infinity.
func isInfinite(n *yaml.Node) bool {
	if n.Kind != yaml.ScalarNode || n.Tag != "!!float" {
		return false
	}
	return strings.EqualFold(strings.TrimLeft(n.Value, "+-"), ".inf")
}

func setInfinite(n *yaml.Node, v reflect.Value) {
	sign := 1
	if strings.HasPrefix(n.Value, "-") {
		sign = -1
	}
	v.SetFloat(math.Inf(sign))
}

// want returns the name of a type for a message.
func want(t reflect.Type) string {
	switch t.Kind() {
	case reflect.Bool:
		return "true or false"
	case reflect.String:
		return "text"
	case reflect.Float32, reflect.Float64:
		return "a number"
	case reflect.Uint, reflect.Uint64:
		return "an integer of at least 0"
	case reflect.Int, reflect.Int64:
		return "an integer"
	case reflect.Struct:
		return "one word"
	}
	return "an integer of type " + t.Kind().String()
}

// describe returns, for a message, the content of the file at a node.
func describe(n *yaml.Node) string {
	switch n.Kind {
	case yaml.MappingNode:
		return "keys and values"
	case yaml.SequenceNode:
		return "a list"
	case yaml.AliasNode:
		return "an alias"
	}
	short := n.Value
	if len(short) > 40 {
		short = short[:40] + "..."
	}
	switch n.Tag {
	case "!!null":
		return "null"
	case "!!merge":
		return "a merge key"
	case "!!int":
		return "the integer " + short
	case "!!float":
		return "the number " + short
	case "!!bool":
		return "the truth value " + short
	}
	return fmt.Sprintf("the text %q", short)
}

// deepCopy copies slices, maps and pointers, so that decoding into a copy never changes the
// defaults of the next run.
func deepCopy(v reflect.Value) reflect.Value {
	switch v.Kind() {
	case reflect.Struct:
		out := reflect.New(v.Type()).Elem()
		out.Set(v)
		for i := range v.NumField() {
			if out.Field(i).CanSet() {
				out.Field(i).Set(deepCopy(v.Field(i)))
			}
		}
		return out
	case reflect.Slice:
		if v.IsNil() {
			return v
		}
		out := reflect.MakeSlice(v.Type(), v.Len(), v.Len())
		for i := range v.Len() {
			out.Index(i).Set(deepCopy(v.Index(i)))
		}
		return out
	case reflect.Map:
		if v.IsNil() {
			return v
		}
		out := reflect.MakeMapWithSize(v.Type(), v.Len())
		for it := v.MapRange(); it.Next(); {
			out.SetMapIndex(it.Key(), deepCopy(it.Value()))
		}
		return out
	case reflect.Pointer:
		if v.IsNil() {
			return v
		}
		out := reflect.New(v.Type().Elem())
		out.Elem().Set(deepCopy(v.Elem()))
		return out
	}
	return v
}
