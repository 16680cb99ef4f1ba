package config

import (
	"encoding"
	"reflect"
)

// Shape describes a configuration or a value in it: its type in terms of YAML, and its default.
type Shape struct {
	Field                // Path, and where the comment on it stands; of the root only Type
	Go      reflect.Type // of the value, without pointers
	Inf     bool         // infinity is a value
	Null    bool         // null is a value
	Keys    []*Shape     // of a group, in the order of the type
	Entry   *Shape       // of a list or a map: what its entries are; nil for others
	Map     bool         // keys are free
	Default any          // nil: null, or a value in an entry, which has none
}

// ShapeOf returns the shape of a configuration with its defaults, which must be a struct.
func ShapeOf(def any) *Shape {
	v := reflect.ValueOf(def)
	s := &Shape{Field: Field{Group: true, Type: TypeName(v.Type())}}
	s.fill(v.Type(), v)
	return s
}

// fill sets the shape to that of a type. v is its default, invalid if there is none.
func (s *Shape) fill(t reflect.Type, v reflect.Value) {
	if t.Kind() == reflect.Pointer {
		s.Null, t = true, t.Elem()
		if v.IsValid() {
			v = v.Elem() // invalid for nil
		}
	}
	s.Go = t
	if v.IsValid() {
		s.Default = v.Interface()
	}
	entry := func() {
		s.Entry = &Shape{Field: Field{Path: s.Path + "[]", Of: s.Of, Name: s.Name, Type: TypeName(t.Elem()),
			Group: t.Elem().Kind() == reflect.Struct && !isScalar(t.Elem())}}
		s.Entry.fill(t.Elem(), reflect.Value{})
	}
	switch {
	case isScalar(t):
		s.Kind = want(t)
	case t.Kind() == reflect.Struct:
		s.Group = true
		s.keys(t, v)
	case t.Kind() == reflect.Slice:
		s.List = true
		entry()
	case t.Kind() == reflect.Map:
		s.Map = true
		entry()
	}
}

// keys adds the keys of a struct.
func (s *Shape) keys(t reflect.Type, v reflect.Value) {
	for i := range t.NumField() {
		f := t.Field(i)
		name, inline, ok := keyName(f)
		if !ok {
			continue
		}
		var def reflect.Value
		if v.IsValid() {
			def = v.Field(i)
		}
		if inline {
			s.keys(f.Type, def)
			continue
		}
		of := f.Type
		for of.Kind() == reflect.Pointer || of.Kind() == reflect.Slice && !isScalar(of) {
			of = of.Elem()
		}
		k := &Shape{Field: Field{Path: join(s.Path, name), Of: TypeName(t), Name: f.Name, Type: TypeName(of),
			Spare: leftOut(f)}, Inf: infinite(f)}
		k.fill(f.Type, def)
		s.Keys = append(s.Keys, k)
	}
}

// DefaultState returns the default of a value in the form of a Condition. For a value in a list entry, which has no
// default, it is zero.
func (s *Shape) DefaultState() any {
	switch {
	case s.Default != nil:
		return say(reflect.ValueOf(s.Default))
	case s.Null:
		return nil
	}
	return say(reflect.Zero(s.Go))
}

// TextForms returns which of the words "1", "0.5", "true" and "x" a type can parse, if it parses text by itself; nil
// for other types.
func TextForms(t reflect.Type) []string {
	if !reflect.PointerTo(t).Implements(textType) {
		return nil
	}
	out := []string{}
	for _, w := range []string{"1", "0.5", "true", "x"} {
		if reflect.New(t).Interface().(encoding.TextUnmarshaler).UnmarshalText([]byte(w)) == nil {
			out = append(out, w)
		}
	}
	return out
}
