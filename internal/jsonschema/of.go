package jsonschema

import (
	"encoding"
	"encoding/json"
	"fmt"
	"path"
	"reflect"
	"slices"
	"strings"
	"time"
)

// Former is a type with a MarshalJSON that writes other JSON than its fields suggest. JSONForms returns a sample of
// each type that it writes: nil stands for null, and a non-empty string for itself. The forms of a type that embeds a
// Former are its own.
type Former interface {
	JSONForms() []any
}

var (
	formerType = reflect.TypeFor[Former]()
	jsonType   = reflect.TypeFor[json.Marshaler]()
	textType   = reflect.TypeFor[encoding.TextMarshaler]()
	timeType   = reflect.TypeFor[time.Time]()
)

// definitions begins a reference to the schema of a named type.
const definitions = "#/$defs/"

// Of returns the schema of the JSON that encoding/json writes for any of the values' types. Keys with omitempty or
// omitzero, and those of embedded pointers, are optional. Slices, maps and pointers may be null, since Go's may be nil.
// Of fails on a type with a marshaler of its own that is no Former, and on values of type any, since their schema would
// accept everything.
func Of(values ...any) (*Schema, error) {
	b := builder{types: map[string]reflect.Type{}, done: map[string]*Schema{}}
	s, err := b.forms(values)
	if err != nil {
		return nil, err
	}
	for name := range b.done {
		s.Defs = append(s.Defs, Property{name, b.done[name]})
	}
	slices.SortFunc(s.Defs, func(x, y Property) int { return strings.Compare(x.Key, y.Key) })
	s.Schema = Draft
	return s, nil
}

// builder keeps the schemas of named types.
type builder struct {
	types map[string]reflect.Type // by name
	done  map[string]*Schema      // by name; nil while it is made
}

// forms returns the schema of a value of one of several types.
func (b *builder) forms(values []any) (*Schema, error) {
	var plain Types
	var words []any
	var list []*Schema
	for _, v := range values {
		if v == nil {
			plain = append(plain, Null)
			continue
		}
		if w, ok := v.(string); ok && w != "" {
			words = append(words, w)
			continue
		}
		s, err := b.of(reflect.TypeOf(v), true)
		if err != nil {
			return nil, err
		}
		if reflect.DeepEqual(s, &Schema{Type: s.Type}) {
			plain = append(plain, s.Type...)
			continue
		}
		list = append(list, s)
	}
	if len(words) > 0 {
		list = append(list, &Schema{Enum: words})
	}
	if len(plain) > 0 {
		list = append([]*Schema{{Type: plain}}, list...)
	}
	switch len(list) {
	case 0:
		return nil, fmt.Errorf("a JSON Schema of no type")
	case 1:
		return list[0], nil
	}
	return &Schema{AnyOf: list}, nil
}

// nullable returns the schema with null allowed.
func nullable(s *Schema) *Schema {
	if len(s.Type) > 0 && s.Enum == nil && s.AnyOf == nil {
		if !slices.Contains(s.Type, Null) {
			s.Type = append(s.Type, Null)
		}
		return s
	}
	return &Schema{AnyOf: []*Schema{s, {Type: Types{Null}}}}
}

// of returns the schema of a type. set is true if a pointer, slice or map is known not to be nil.
func (b *builder) of(t reflect.Type, set bool) (*Schema, error) {
	if t.Kind() == reflect.Pointer {
		s, err := b.of(t.Elem(), true)
		if err != nil || set {
			return s, err
		}
		return nullable(s), nil
	}
	switch own := reflect.PointerTo(t); {
	case t == timeType:
		return &Schema{Type: Types{String}, Format: "date-time"}, nil
	case own.Implements(formerType):
		return b.named(t, func() (*Schema, error) { return b.former(t) })
	case own.Implements(jsonType):
		return nil, fmt.Errorf("%s has a MarshalJSON and no JSONForms that says what it writes", t)
	case own.Implements(textType):
		return &Schema{Type: Types{String}}, nil
	}
	switch k := t.Kind(); k {
	case reflect.Bool:
		return &Schema{Type: Types{Boolean}}, nil
	case reflect.String:
		return &Schema{Type: Types{String}}, nil
	case reflect.Float32, reflect.Float64:
		return &Schema{Type: Types{Number}}, nil
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return &Schema{Type: Types{Integer}}, nil
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		return &Schema{Type: Types{Integer}, Minimum: Float(0)}, nil
	case reflect.Struct:
		return b.named(t, func() (*Schema, error) { return b.object(t) })
	case reflect.Slice, reflect.Array:
		return b.list(t, set)
	case reflect.Map:
		if t.Key().Kind() != reflect.String {
			return nil, fmt.Errorf("%s: a map whose keys are no strings", t)
		}
		of, err := b.of(t.Elem(), false)
		if err != nil {
			return nil, err
		}
		s := &Schema{Type: Types{Object}, Additional: of}
		if !set {
			s = nullable(s)
		}
		return s, nil
	}
	return nil, fmt.Errorf("%s: nothing says what is written of it", t)
}

// list returns the schema of a slice or an array.
func (b *builder) list(t reflect.Type, set bool) (*Schema, error) {
	if t.Kind() == reflect.Slice && t.Elem().Kind() == reflect.Uint8 {
		return nil, fmt.Errorf("%s: bytes are written as a text, which needs JSONForms", t)
	}
	of, err := b.of(t.Elem(), false)
	if err != nil {
		return nil, err
	}
	s := &Schema{Type: Types{Array}, Items: of}
	if t.Kind() == reflect.Array {
		n := t.Len()
		s.MinItems, s.MaxItems = n, &n
	} else if !set {
		s = nullable(s)
	}
	return s, nil
}

// named returns a reference to the schema of a type, which it builds on first use.
func (b *builder) named(t reflect.Type, build func() (*Schema, error)) (*Schema, error) {
	if t.Name() == "" {
		return build()
	}
	name := path.Base(t.PkgPath()) + "." + t.Name()
	if other, ok := b.types[name]; ok && other != t {
		return nil, fmt.Errorf("%s and %s have one name", other.PkgPath(), t.PkgPath())
	}
	if _, ok := b.types[name]; !ok {
		b.types[name] = t
		s, err := build()
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		b.done[name] = s
	}
	return &Schema{Ref: definitions + name}, nil
}

// former returns the schema of a Former.
func (b *builder) former(t reflect.Type) (*Schema, error) {
	forms := reflect.New(t).Interface().(Former).JSONForms()
	if t.Kind() == reflect.Struct {
		for i := range t.NumField() {
			f := t.Field(i)
			inner := f.Type
			if inner.Kind() == reflect.Pointer {
				inner = inner.Elem()
			}
			if f.Anonymous && inner.Kind() != reflect.Interface && reflect.PointerTo(inner).Implements(formerType) &&
				sameTypes(forms, reflect.New(inner).Interface().(Former).JSONForms()) {
				return nil, fmt.Errorf("it has the JSONForms of %s, which it embeds, and none of its own", inner)
			}
		}
	}
	return b.forms(forms)
}

// sameTypes reports whether two lists have the same types, one by one.
func sameTypes(a, b []any) bool {
	return slices.EqualFunc(a, b, func(x, y any) bool { return reflect.TypeOf(x) == reflect.TypeOf(y) })
}

// key holds a key of an object and its origin.
type key struct {
	name     string
	field    reflect.StructField
	depth    int
	tagged   bool
	optional bool
}

// object returns the schema of a struct. It allows no other keys.
func (b *builder) object(t reflect.Type) (*Schema, error) {
	var all []key
	if err := collect(t, 0, false, &all); err != nil {
		return nil, err
	}
	s := &Schema{Type: Types{Object}, Additional: false}
	for i, k := range all {
		if !dominant(i, all) {
			continue
		}
		of, err := b.of(k.field.Type, leftOut(k.field, "omitempty") || k.field.Type.Kind() == reflect.Pointer &&
			leftOut(k.field, "omitzero"))
		if err != nil {
			return nil, fmt.Errorf("%s: %w", k.name, err)
		}
		s.Properties = append(s.Properties, Property{k.name, of})
		if !k.optional {
			s.Required = append(s.Required, k.name)
		}
	}
	return s, nil
}

// collect appends the keys of a struct and of the structs that it embeds.
func collect(t reflect.Type, depth int, optional bool, out *[]key) error {
	for i := range t.NumField() {
		f := t.Field(i)
		tag := f.Tag.Get("json")
		if tag == "-" {
			continue
		}
		name, _, _ := strings.Cut(tag, ",")
		inner := f.Type
		if inner.Kind() == reflect.Pointer {
			inner = inner.Elem()
		}
		if f.Anonymous && name == "" && inner.Kind() == reflect.Struct {
			if err := collect(inner, depth+1, optional || inner != f.Type, out); err != nil {
				return err
			}
			continue
		}
		if !f.IsExported() {
			continue
		}
		if leftOut(f, "string") {
			return fmt.Errorf("%s: the option string of its tag has no schema", f.Name)
		}
		k := key{name: name, field: f, depth: depth, tagged: name != "", optional: optional || leftOut(f, "omitzero")}
		if name == "" {
			k.name = f.Name
		}
		switch f.Type.Kind() {
		case reflect.Struct, reflect.Array: // omitempty leaves no such value out
		default:
			k.optional = k.optional || leftOut(f, "omitempty")
		}
		*out = append(*out, k)
	}
	return nil
}

// leftOut reports whether the tag of a field has an option.
func leftOut(f reflect.StructField, option string) bool {
	_, options, _ := strings.Cut(f.Tag.Get("json"), ",")
	return slices.Contains(strings.Split(options, ","), option)
}

// dominant reports whether a key is the one that is written among those with its name: the outermost, and of several
// the one whose tag names it. If that leaves several, none is.
func dominant(i int, all []key) bool {
	k := all[i]
	for j, o := range all {
		if j == i || o.name != k.name || o.depth > k.depth {
			continue
		}
		if o.depth < k.depth || o.tagged || !k.tagged {
			return false
		}
	}
	return true
}
