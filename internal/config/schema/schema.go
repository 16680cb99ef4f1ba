// Package schema writes the JSON Schema of a configuration, from its Go type, its defaults, the
// comments on its keys and what its checks say of them. Editors complete and check YAML by it.
//
// A schema refuses nothing that the program takes. What it cannot say, the program checks when it
// reads the file; the description of the schema lists that: Spelling, and the rules between keys.
package schema

import (
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"
	"time"

	"privrec/internal/config"
	"privrec/internal/config/explain"
	js "privrec/internal/jsonschema"
)

// Source holds everything from which a schema is made.
type Source struct {
	ID       string // file name of the schema
	Title    string
	About    string // what the file is for, with its source
	Shape    *config.Shape
	Probed   config.Probed
	Comments explain.Comments
	Required []string // keys at the top that have no default
}

// Spelling lists requirements on the text of a file that no schema can check.
var Spelling = []string{
	"integers are written without a point, an exponent or a leading zero, and in decimal digits",
	"numbers that are not 0 are not so small that they would read as 0, and none is .nan",
	"there are no anchors, aliases, merge keys and tags, no key is there twice, and no second document follows",
}

// Of returns the schema of a configuration.
func Of(s Source) *js.Schema {
	b := builder{comments: s.Comments, at: map[string]*node{}, rules: map[string][]string{}}
	for _, r := range s.Probed.Rules {
		b.rules[r.Path] = append(b.rules[r.Path], r.Words)
	}
	root := b.build(s.Shape, nil)
	root.Schema, root.ID, root.Title = js.Draft, s.ID, s.Title
	root.Description = describe(s)
	root.Required = s.Required
	for _, l := range s.Probed.Limits {
		b.apply(l)
	}
	b.branches(root)
	return root
}

// describe returns the description of the root.
func describe(s Source) string {
	var b strings.Builder
	b.WriteString(s.About)
	b.WriteString("\nThe program checks more than a schema can say. Spelling: " + strings.Join(Spelling, "; ") + ".")
	if len(s.Probed.Rules) > 0 {
		b.WriteString("\nRules:")
		for _, r := range s.Probed.Rules {
			fmt.Fprintf(&b, "\n- %s: %s", r.Path, r.Words)
		}
	}
	if len(s.Probed.Loose) > 0 {
		b.WriteString("\nTheir ranges depend on other keys: " + strings.Join(s.Probed.Loose, ", ") + ".")
	}
	return b.String()
}

// node holds a value's shape with its schema.
type node struct {
	shape  *config.Shape
	schema *js.Schema
}

type builder struct {
	comments explain.Comments
	at       map[string]*node // by path
	rules    map[string][]string
	branch   []*branch
}

// build returns the schema of a value without its limits.
func (b *builder) build(s *config.Shape, parent *config.Shape) *js.Schema {
	out := &js.Schema{}
	b.at[s.Path] = &node{s, out}
	if parent == nil || parent.Entry != s { // an entry has the comment of its list
		out.Description = b.words(s)
	}
	switch {
	case s.Group:
		out.Type, out.Additional = js.Types{js.Object}, false
		for _, k := range s.Keys {
			out.Properties = append(out.Properties, js.Property{Key: k.Path[strings.LastIndexAny(k.Path, ".")+1:],
				Schema: b.build(k, s)})
		}
	case s.List:
		out.Type, out.Items = js.Types{js.Array}, b.build(s.Entry, s)
		out.Default = plainDefault(s)
	case s.Map:
		out.Type, out.Additional = js.Types{js.Object}, b.build(s.Entry, s)
	default:
		scalar(out, s)
		out.Default = plainDefault(s)
	}
	if s.Null {
		out.Type = append(out.Type, js.Null)
	}
	return out
}

// words returns the description of a key: its comment, and the rules that no limit states.
func (b *builder) words(s *config.Shape) string {
	if s.Name == "" {
		return ""
	}
	text := b.comments.Of(s.Field)
	if text != "" && !strings.HasSuffix(text, ".") {
		text += "."
	}
	if f, ok := s.Default.(float64); ok && math.IsInf(f, 1) {
		text += " Default: .inf."
	}
	for _, r := range b.rules[s.Path] {
		text += "\nRule: " + r + "."
	}
	return strings.TrimSpace(text)
}

// plainDefault returns a default as JSON; nil if there is none, for an empty entry of a list, and for infinity.
func plainDefault(s *config.Shape) any {
	if s.Default == nil {
		return nil
	}
	v := reflect.ValueOf(s.Default)
	switch {
	case v.CanFloat() && math.IsInf(v.Float(), 0):
		return nil
	case v.Kind() == reflect.Slice && v.Len() == 0:
		return []any{}
	case v.Kind() == reflect.Slice && v.Type().Elem().Kind() == reflect.Struct:
		return nil
	}
	if d, ok := s.Default.(time.Duration); ok {
		return d.String()
	}
	return s.Default
}

var durations = `^[-+]?(0|([0-9]+(\.[0-9]*)?|\.[0-9]+)(ns|us|µs|μs|ms|s|m|h))+$`

// scalar sets the type of a one-word value, and the bounds of its Go type.
func scalar(out *js.Schema, s *config.Shape) {
	dec := func(format string, x any) *js.Decimal {
		d := js.Decimal(fmt.Sprintf(format, x))
		return &d
	}
	if s.Go == reflect.TypeFor[time.Duration]() {
		out.Type, out.Pattern = js.Types{js.String}, durations
		return
	}
	if words := config.TextForms(s.Go); words != nil {
		out.Type = js.Types{js.String}
		switch {
		case slices.Contains(words, "1") && slices.Contains(words, "0.5"):
			out.Type = append(out.Type, js.Number)
		case slices.Contains(words, "1"):
			out.Type = append(out.Type, js.Integer)
		}
		if slices.Contains(words, "true") {
			out.Type = append(out.Type, js.Boolean)
		}
		return
	}
	bits := 0
	if s.Go.Kind() >= reflect.Int && s.Go.Kind() <= reflect.Float64 {
		bits = s.Go.Bits()
	}
	switch k := s.Go.Kind(); {
	case k == reflect.Bool:
		out.Type = js.Types{js.Boolean}
	case k == reflect.String:
		out.Type = js.Types{js.String}
	case k == reflect.Float32:
		out.Type, out.Minimum, out.Maximum = js.Types{js.Number}, js.Float(-math.MaxFloat32), js.Float(math.MaxFloat32)
	case k == reflect.Float64:
		out.Type = js.Types{js.Number}
		if !s.Inf {
			out.Minimum, out.Maximum = js.Float(-math.MaxFloat64), js.Float(math.MaxFloat64)
		}
	case k >= reflect.Int && k <= reflect.Int64:
		out.Type, out.Minimum, out.Maximum = js.Types{js.Integer}, dec("%d", int64(-1)<<(bits-1)),
			dec("%d", int64(1)<<(bits-1)-1)
	default:
		out.Type, out.Minimum, out.Maximum = js.Types{js.Integer}, js.Float(0), dec("%d", ^uint64(0)>>(64-bits))
	}
}
