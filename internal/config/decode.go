package config

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"gopkg.in/yaml.v3"
)

// decoder walks through a YAML tree and a Go type together and collects every problem.
type decoder struct {
	doc  *Document
	errs Errors
}

// decode returns a copy of def, filled from root.
func decode[C any](doc *Document, root *yaml.Node, def C) (C, Errors) {
	d := &decoder{doc: doc}
	v := reflect.New(reflect.TypeFor[C]()).Elem()
	v.Set(deepCopy(reflect.ValueOf(&def).Elem()))
	if v.Kind() != reflect.Struct {
		panic(fmt.Sprintf("config: want a struct to decode into, got %s", v.Type()))
	}
	d.value(root, "", v)
	return v.Interface().(C), d.errs
}

func (d *decoder) fail(n *yaml.Node, path, format string, args ...any) *Error {
	e := d.doc.Errorf(path, format, args...)
	if e.Set == "" && n.Line > 0 {
		e.Line, e.Column = n.Line, n.Column
	}
	d.errs = append(d.errs, e)
	return e
}

// value decodes node n at key path into v, which holds the default.
func (d *decoder) value(n *yaml.Node, path string, v reflect.Value) {
	if n.Line > 0 {
		d.doc.pos[path] = position{n.Line, n.Column}
	}
	switch {
	case n.Kind == yaml.AliasNode || n.Anchor != "":
		d.fail(n, path, "anchors and aliases are not supported, write the value out")
		return
	case n.Style&yaml.TaggedStyle != 0:
		d.fail(n, path, "tag %s is not supported, write the plain value", n.Tag)
		return
	case n.Kind == yaml.ScalarNode && n.Tag == "!!null" && v.Kind() == reflect.Pointer:
		v.SetZero() // what Encode writes for a nil pointer
		return
	case n.Kind == yaml.ScalarNode && n.Tag == "!!null":
		d.fail(n, path, "no value (null)").Fix = "give a value, or delete the key to take the default"
		return
	}
	switch {
	case isScalar(v.Type()):
		if err := setScalar(n, d.doc.sets[path], v); err != nil {
			d.fail(n, path, "%s", err)
		}
	case v.Kind() == reflect.Struct:
		d.structure(n, path, v)
	case v.Kind() == reflect.Slice:
		d.list(n, path, v)
	case v.Kind() == reflect.Map && v.Type().Key().Kind() == reflect.String:
		d.mapping(n, path, v)
	case v.Kind() == reflect.Pointer:
		p := reflect.New(v.Type().Elem())
		if !v.IsNil() {
			p.Elem().Set(v.Elem())
		}
		d.value(n, path, p.Elem())
		v.Set(p)
	default:
		panic(fmt.Sprintf("config: field %s has type %s, which no configuration can hold", path, v.Type()))
	}
}

// UnknownKey is the message about a key that a configuration does not have.
const UnknownKey = "unknown key"

// structure decodes a mapping into a struct's named fields.
func (d *decoder) structure(n *yaml.Node, path string, v reflect.Value) {
	if n.Kind != yaml.MappingNode {
		d.fail(n, path, "want keys and values, found %s", describe(n))
		return
	}
	fields := map[string]field{}
	collect(v.Type(), nil, fields)
	for _, kv := range d.pairs(n, path) {
		f, ok := fields[kv.name]
		if !ok {
			e := d.fail(kv.key, join(path, kv.name), UnknownKey)
			e.Fix = suggest(kv.name, fields)
			continue
		}
		fv := v.FieldByIndex(f.index)
		if f.inf && isInfinite(kv.value) && fv.Kind() == reflect.Float64 {
			setInfinite(kv.value, fv)
			d.doc.pos[join(path, kv.name)] = position{kv.value.Line, kv.value.Column}
			continue
		}
		d.value(kv.value, join(path, kv.name), fv)
	}
}

type pair struct {
	name       string
	key, value *yaml.Node
}

// pairs returns a mapping's entries. It reports keys that are not plain words and keys given twice.
func (d *decoder) pairs(n *yaml.Node, path string) []pair {
	first := map[string]*yaml.Node{}
	var out []pair
	for i := 0; i+1 < len(n.Content); i += 2 {
		k, v := n.Content[i], n.Content[i+1]
		if k.Kind != yaml.ScalarNode || k.Value == "<<" || k.Anchor != "" || k.Tag == "!!null" ||
			k.Style&yaml.TaggedStyle != 0 {
			d.fail(k, path, "a key must be a plain word, found %s", describe(k))
			continue
		}
		if was := first[k.Value]; was != nil {
			d.twice(was, k, join(path, k.Value))
			continue
		}
		first[k.Value] = k
		out = append(out, pair{k.Value, k, v})
	}
	return out
}

// twice reports the second use of a key. In the file this is a fault of the file, even if an override names the key.
func (d *decoder) twice(first, second *yaml.Node, path string) {
	if second.Line == 0 {
		d.fail(second, path, "given twice")
		return
	}
	e := d.fail(second, path, "given twice, first on line %d", first.Line)
	e.File, e.Line, e.Column, e.Set = d.doc.file, second.Line, second.Column, ""
}

func (d *decoder) list(n *yaml.Node, path string, v reflect.Value) {
	if n.Kind != yaml.SequenceNode {
		d.fail(n, path, "want a list, found %s", describe(n)).Fix = "write " + lastKey(path) + ": [a, b]"
		return
	}
	out := reflect.MakeSlice(v.Type(), len(n.Content), len(n.Content))
	for i, c := range n.Content {
		p := fmt.Sprintf("%s.%d", path, i)
		if d.doc.sets[path] {
			d.doc.sets[p] = true
		}
		d.value(c, p, out.Index(i))
	}
	v.Set(out)
}

func (d *decoder) mapping(n *yaml.Node, path string, v reflect.Value) {
	if n.Kind != yaml.MappingNode {
		d.fail(n, path, "want keys and values, found %s", describe(n))
		return
	}
	out := reflect.MakeMapWithSize(v.Type(), len(n.Content)/2)
	for _, kv := range d.pairs(n, path) {
		p := join(path, kv.name)
		if d.doc.sets[path] {
			d.doc.sets[p] = true
		}
		e := reflect.New(v.Type().Elem()).Elem()
		d.value(kv.value, p, e)
		out.SetMapIndex(reflect.ValueOf(kv.name).Convert(v.Type().Key()), e)
	}
	v.Set(out)
}

// field is one key of a struct.
type field struct {
	index []int
	inf   bool // infinity is a legal value
}

// collect adds to out the keys of struct type t, including those of inlined structs.
func collect(t reflect.Type, index []int, out map[string]field) {
	for i := range t.NumField() {
		f := t.Field(i)
		name, inline, ok := keyName(f)
		if !ok {
			continue
		}
		at := append(append([]int(nil), index...), i)
		if inline {
			collect(f.Type, at, out)
			continue
		}
		if _, twice := out[name]; twice {
			panic(fmt.Sprintf("config: type %s has two fields named %q", t, name))
		}
		out[name] = field{at, infinite(f)}
	}
}

// infinite reports whether a field may be infinite.
func infinite(f reflect.StructField) bool { return strings.Contains(f.Tag.Get("config"), "inf") }

// keyName returns the key of a struct's field. inline is set if the field's own keys take its place. ok is false for a
// field without a key.
func keyName(f reflect.StructField) (name string, inline, ok bool) {
	name, opts, _ := strings.Cut(f.Tag.Get("yaml"), ",")
	if !f.IsExported() || name == "-" {
		return "", false, false
	}
	if name == "" {
		name = strings.ToLower(f.Name)
	}
	return name, strings.Contains(opts, "inline"), true
}

// suggest returns the hint for an unknown key: the closest known key, or all keys.
func suggest(name string, fields map[string]field) string {
	known := slices.Sorted(maps.Keys(fields))
	if best := Nearest(name, known); best != "" {
		return fmt.Sprintf("did you mean %q?", best)
	}
	return "known keys here: " + strings.Join(known, ", ")
}

func lastKey(path string) string { return path[strings.LastIndexByte(path, '.')+1:] }

// Encode returns the effective configuration, including defaults, in canonical form: fields in the order of the type,
// map keys sorted, each number in the fewest digits that read back to it. Parsing the result gives c again.
func Encode(c any) ([]byte, error) {
	var b bytes.Buffer
	e := yaml.NewEncoder(&b)
	e.SetIndent(2)
	if err := e.Encode(c); err != nil {
		return nil, fmt.Errorf("encode configuration: %w", err)
	}
	if err := e.Close(); err != nil {
		return nil, fmt.Errorf("encode configuration: %w", err)
	}
	return b.Bytes(), nil
}

// Hash returns the SHA-256 of the canonical encoding, in hexadecimal. Comments, key order and
// explicit defaults do not change it; any effective value does.
func Hash(c any) (string, error) {
	b, err := Encode(c)
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:]), nil
}
