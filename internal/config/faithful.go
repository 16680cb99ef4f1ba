package config

import (
	"bytes"
	"fmt"
	"reflect"
	"strings"

	"gopkg.in/yaml.v3"
)

// A key with omitempty is absent from a file if its value is zero. A reader that starts from defaults then takes the
// default, which is wrong if that is not zero. Bare and EncodeOver are the two remedies: a text from Encode is read
// over Bare, and a text that others will read over their defaults is written with EncodeOver.

// Bare returns a copy of def with zeros in the keys that Encode leaves out at zero. Read a whole configuration from
// Encode over it: an absent key was zero.
func Bare[C any](def C) C {
	v := reflect.New(reflect.TypeFor[C]()).Elem()
	v.Set(deepCopy(reflect.ValueOf(&def).Elem()))
	bare(v)
	return v.Interface().(C)
}

// bare sets to zero the keys of a struct that are left out at zero, including those of nested structs.
func bare(v reflect.Value) {
	if v.Kind() == reflect.Pointer && !v.IsNil() {
		v = v.Elem()
	}
	if v.Kind() != reflect.Struct || isScalar(v.Type()) {
		return
	}
	for i := range v.NumField() {
		f := v.Type().Field(i)
		switch _, _, ok := keyName(f); {
		case !ok:
		case leftOut(f):
			v.Field(i).SetZero()
		default:
			bare(v.Field(i))
		}
	}
}

// leftOut reports whether Encode leaves out a field at zero.
func leftOut(f reflect.StructField) bool {
	_, opts, _ := strings.Cut(f.Tag.Get("yaml"), ",")
	return strings.Contains(opts, "omitempty")
}

// EncodeOver returns the text of Encode with those zero keys added that Encode would leave out and that are not zero in
// over, the defaults that readers of the text start from. over has the type of c.
func EncodeOver[C any](c, over C) ([]byte, error) {
	return encodeOver(c, over)
}

func encodeOver(c, over any) ([]byte, error) {
	text, err := Encode(c)
	if err != nil {
		return nil, err
	}
	var doc yaml.Node
	if err := yaml.Unmarshal(text, &doc); err != nil {
		return nil, fmt.Errorf("encode configuration: %w", err)
	}
	if len(doc.Content) == 0 {
		return text, nil
	}
	added, err := fill(doc.Content[0], reflect.ValueOf(c), reflect.ValueOf(over))
	if err != nil || !added {
		return text, err
	}
	var b bytes.Buffer
	e := yaml.NewEncoder(&b)
	e.SetIndent(2)
	if err := e.Encode(&doc); err != nil {
		return nil, fmt.Errorf("encode configuration: %w", err)
	}
	return b.Bytes(), e.Close()
}

// fill adds to the mapping n of c the keys that it lacks and that differ in over. A key is added at the place of its
// field.
func fill(n *yaml.Node, c, over reflect.Value) (added bool, err error) {
	at := 0
	return fillAt(n, c, over, &at)
}

// fillAt adds keys like fill from the at-th entry on, and moves at behind the keys of c.
func fillAt(n *yaml.Node, c, over reflect.Value, at *int) (added bool, err error) {
	if c.Kind() == reflect.Pointer {
		if c.IsNil() || over.IsNil() {
			return false, nil
		}
		c, over = c.Elem(), over.Elem()
	}
	if c.Kind() != reflect.Struct || isScalar(c.Type()) || n.Kind != yaml.MappingNode {
		return false, nil
	}
	for i := range c.NumField() {
		f := c.Type().Field(i)
		name, inline, ok := keyName(f)
		if !ok {
			continue
		}
		if inline {
			more, err := fillAt(n, c.Field(i), over.Field(i), at)
			if err != nil {
				return false, err
			}
			added = added || more
			continue
		}
		if *at < len(n.Content) && n.Content[*at].Value == name {
			more, err := fill(n.Content[*at+1], c.Field(i), over.Field(i))
			if err != nil {
				return false, err
			}
			added = added || more
			*at += 2
			continue
		}
		if !leftOut(f) || over.Field(i).IsZero() || empty(over.Field(i)) {
			continue
		}
		var key, value yaml.Node
		if err := key.Encode(name); err != nil {
			return false, fmt.Errorf("encode configuration: %s: %w", name, err)
		}
		if err := value.Encode(c.Field(i).Interface()); err != nil {
			return false, fmt.Errorf("encode configuration: %s: %w", name, err)
		}
		if _, err := fill(&value, c.Field(i), over.Field(i)); err != nil {
			return false, err
		}
		rest := append([]*yaml.Node{&key, &value}, n.Content[*at:]...)
		n.Content = append(n.Content[:*at:*at], rest...)
		*at += 2
		added = true
	}
	return added, nil
}

// empty reports whether a value is a list or a map without entries. Encode leaves these out too.
func empty(v reflect.Value) bool {
	return (v.Kind() == reflect.Slice || v.Kind() == reflect.Map) && v.Len() == 0
}
