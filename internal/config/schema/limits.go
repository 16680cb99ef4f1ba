package schema

import (
	"encoding/json"
	"math"
	"reflect"
	"regexp"
	"slices"
	"strings"

	"privrec/internal/config"
	js "privrec/internal/jsonschema"
)

// branch holds the limits that apply under some conditions.
type branch struct {
	list string // of whose entries the conditions and the limits are; "": of the whole
	when []config.Condition
	id   string
	then []config.Finding
}

// apply adds a limit to the schema of its key, or to a branch if it has conditions.
func (b *builder) apply(l config.Conditional) {
	n := b.at[l.Path]
	if n == nil {
		return // of a map's entry, which has no path of its own
	}
	limit, when := l.Limit, l.When
	when = slices.DeleteFunc(slices.Clone(when), func(w config.Condition) bool { // that there are entries to limit
		return (w.Path == l.Path || strings.HasPrefix(l.Path, w.Path+"[]")) && len(w.Out) == 1 &&
			w.Out[0] == config.Empty
	})
	if n.shape.List && slices.ContainsFunc(l.When, func(w config.Condition) bool { return w.Path == l.Path }) &&
		len(when) < len(l.When) {
		limit.Filled = false // of a list with entries
	}
	if len(when) == 1 && when[0].Path == l.Path && len(when[0].Out) == 1 {
		limit, when = config.OrLimit(limit, when[0].Out...), nil
	}
	list := ""
	if i := strings.LastIndex(l.Path, "[]."); i >= 0 {
		list = l.Path[:i+2]
	}
	if len(when) == 0 {
		b.set(n, limit)
		b.require(list, l.Path, limit)
		return
	}
	var own []config.Condition
	for _, w := range when {
		switch inner := strings.HasPrefix(w.Path, list+".") && list != ""; {
		case inner:
			own = append(own, config.Condition{Path: w.Path[len(list)+1:], In: w.In, Out: w.Out})
		case list == "" && !strings.Contains(w.Path, "[]"):
			own = append(own, w)
		default:
			return // on entries of another list
		}
	}
	if len(own) == 0 {
		b.set(n, limit)
		b.require(list, l.Path, limit)
		return
	}
	id, err := json.Marshal(describeConditions(own))
	if err != nil {
		return
	}
	for _, x := range b.branch {
		if x.id == string(id) && x.list == list {
			x.then = append(x.then, config.Finding{Path: l.Path, Limit: limit})
			return
		}
	}
	b.branch = append(b.branch, &branch{list, own, string(id), []config.Finding{{Path: l.Path, Limit: limit}}})
}

// require makes a key required if its default violates a limit that always holds. list is the list whose entries have
// the key; "" for the whole configuration.
func (b *builder) require(list, path string, l config.Limit) {
	if allows(b.at[path].shape, l) {
		return
	}
	at := list
	rest := path
	if list != "" {
		rest = strings.TrimPrefix(path, list+".")
	}
	for _, word := range strings.Split(rest, ".") {
		group := b.at[at]
		if group == nil || strings.HasSuffix(word, "[]") {
			return // of an entry itself
		}
		if !slices.Contains(group.schema.Required, word) {
			group.schema.Required = append(group.schema.Required, word)
		}
		if at = word; group.shape.Path != "" {
			at = group.shape.Path + "." + word
		}
	}
}

// describeConditions returns conditions in a form for JSON, which has no infinity.
func describeConditions(when []config.Condition) (out []any) {
	say := func(xs []any) (words []any) {
		for _, x := range xs {
			if f, ok := x.(float64); ok && math.IsInf(f, 0) {
				x = "infinity"
			}
			words = append(words, x)
		}
		return words
	}
	for _, w := range when {
		out = append(out, []any{w.Path, say(w.In), say(w.Out)})
	}
	return out
}

// set adds a limit to the schema of a value.
func (b *builder) set(n *node, l config.Limit) {
	add(n.schema, n.shape, l)
}

// add adds a limit to a schema. For a list, ranges and words apply to its entries.
func add(s *js.Schema, shape *config.Shape, l config.Limit) {
	if shape.List {
		s.MinItems = max(s.MinItems, count(l.Filled))
		s.Unique = s.Unique || l.Once
		l.Filled, l.Once = false, false
		if shape.Entry.Group || reflect.DeepEqual(bare(l), bare(config.FilledLimit())) {
			return
		}
		if s.Items == nil {
			s.Items = &js.Schema{}
		}
		add(s.Items, shape.Entry, l)
		return
	}
	part := &js.Schema{}
	if l.Filled && shape.Go.Kind() == reflect.String {
		part.MinLength = 1
	}
	part.Pattern = l.Pattern
	if l.Words != nil {
		for _, w := range l.Words {
			part.Enum = append(part.Enum, w)
		}
	}
	if l.Only != nil {
		part.Enum = l.Only
	}
	low, high := js.Float(finite(l.Lo)), js.Float(finite(l.Hi))
	if l.OpenLo {
		part.Above = low
	} else {
		part.Minimum = low
	}
	if l.OpenHi {
		part.Below = high
	} else {
		part.Maximum = high
	}
	if l.Not != nil {
		part.Not = values(l.Not)
	}
	if len(l.Or) > 0 {
		switch {
		case part.Enum != nil:
			part.Enum = append(slices.Clip(part.Enum), l.Or...)
		default:
			or := []*js.Schema{part, values(l.Or)}
			part = &js.Schema{AnyOf: or}
		}
	}
	merge(s, part)
}

// bare returns a limit with its bounds in a form that can be compared.
func bare(l config.Limit) config.Limit {
	l.Filled = false
	if math.IsNaN(l.Lo) {
		l.Lo = math.MaxFloat64
	}
	if math.IsNaN(l.Hi) {
		l.Hi = math.MaxFloat64
	}
	return l
}

// finite returns x, or NaN for no bound.
func finite(x float64) float64 {
	if math.IsInf(x, 0) {
		return math.NaN()
	}
	return x
}

func count(b bool) int {
	if b {
		return 1
	}
	return 0
}

// merge adds a part to a schema, as a separate part if the schema has another value already.
func merge(s, part *js.Schema) {
	typed := func(x *js.Decimal) bool { return x != nil && len(*x) < 18 } // not the bounds of a Go type
	switch {
	case s.Pattern != "" && part.Pattern != "", s.Enum != nil && part.Enum != nil, s.AnyOf != nil && part.AnyOf != nil,
		s.Not != nil && part.Not != nil,
		typed(s.Minimum) || s.Above != nil || typed(s.Maximum) || s.Below != nil:
		if !reflect.DeepEqual(s.Enum, part.Enum) || part.Enum == nil {
			s.AllOf = append(s.AllOf, part)
		}
		return
	}
	s.MinLength = max(s.MinLength, part.MinLength)
	if part.Pattern != "" {
		s.Pattern = part.Pattern
	}
	if part.Enum != nil {
		s.Enum = part.Enum
	}
	if part.AnyOf != nil {
		s.AnyOf = part.AnyOf
	}
	if part.Minimum != nil || part.Above != nil {
		s.Minimum, s.Above = part.Minimum, part.Above
	}
	if part.Maximum != nil || part.Below != nil {
		s.Maximum, s.Below = part.Maximum, part.Below
	}
	if part.Not != nil {
		s.Not = part.Not
	}
}

// branches adds the branches to the schema of the whole configuration, and to those of list entries.
func (b *builder) branches(root *js.Schema) {
	for _, x := range b.branch {
		at, from := root, ""
		if x.list != "" {
			at, from = b.at[x.list].schema, x.list+"."
		}
		part := &js.Schema{If: b.test(x, from), Then: &js.Schema{}}
		for _, f := range x.then {
			deep, shape := part.Then, b.at[f.Path].shape
			must := !allows(shape, f.Limit) // the default is wrong here
			for _, word := range strings.Split(strings.TrimPrefix(f.Path, from), ".") {
				if must && !slices.Contains(deep.Required, strings.TrimSuffix(word, "[]")) {
					deep.Required = append(deep.Required, strings.TrimSuffix(word, "[]"))
				}
				deep = step(deep, word)
			}
			add(deep, shape, f.Limit)
		}
		at.AllOf = append(at.AllOf, part)
	}
}

// step returns the schema of a key below a schema, and creates it if it is missing.
func step(s *js.Schema, word string) *js.Schema {
	name, entries := strings.CutSuffix(word, "[]")
	next := s.Properties.Get(name)
	if next == nil {
		next = &js.Schema{}
		s.Properties = append(s.Properties, js.Property{Key: name, Schema: next})
	}
	if !entries {
		return next
	}
	if next.Items == nil {
		next.Items = &js.Schema{}
	}
	return next.Items
}

// test returns the schema that tests the conditions of a branch. An absent key has its default.
func (b *builder) test(x *branch, from string) *js.Schema {
	out := &js.Schema{}
	for _, w := range x.when {
		n := b.at[from+w.Path]
		if n == nil {
			continue
		}
		deep, must := out, !fulfils(n.shape, w)
		words := strings.Split(w.Path, ".")
		for i, word := range words {
			if must && !slices.Contains(deep.Required, word) {
				deep.Required = append(deep.Required, word)
			}
			deep = step(deep, word)
			if i == len(words)-1 {
				if w.In != nil {
					also(deep, values(w.In))
				}
				if w.Out != nil {
					also(deep, &js.Schema{Not: values(w.Out)})
				}
			}
		}
	}
	return out
}

// allows reports whether the default of a value is within a limit.
func allows(s *config.Shape, l config.Limit) bool {
	d := s.DefaultState()
	if slices.Contains(l.Or, d) {
		return true
	}
	if s.List {
		return !l.Filled || d == config.Filled
	}
	word, text := d.(string)
	x, number := d.(float64)
	switch {
	case text && l.Filled && word == "",
		text && l.Pattern != "" && !regexp.MustCompile(l.Pattern).MatchString(word),
		text && l.Words != nil && !slices.Contains(l.Words, word),
		l.Only != nil && !slices.Contains(l.Only, d),
		slices.Contains(l.Not, d),
		number && (x < l.Lo || x > l.Hi || l.OpenLo && x == l.Lo || l.OpenHi && x == l.Hi):
		return false
	}
	return true
}

// also adds a part to the conditions that a value must also meet (allOf).
func also(s, part *js.Schema) { s.AllOf = append(s.AllOf, part) }

// fulfils reports whether the default of a key fulfils a condition.
func fulfils(s *config.Shape, w config.Condition) bool {
	has := func(xs []any) bool {
		return slices.ContainsFunc(xs, func(x any) bool { return x == s.DefaultState() })
	}
	return (w.In == nil || has(w.In)) && (w.Out == nil || !has(w.Out))
}

// values returns the schema that allows some values, given as in a Condition.
func values(xs []any) *js.Schema {
	var out js.Schema
	var more []*js.Schema
	for _, x := range xs {
		f, number := x.(float64)
		switch {
		case number && math.IsInf(f, 1):
			more = append(more, &js.Schema{Above: js.Float(math.MaxFloat64)})
		case x == config.Empty:
			none := 0
			more = append(more, &js.Schema{MaxItems: &none})
		case x == config.Filled:
			more = append(more, &js.Schema{MinItems: 1})
		case x == config.Given:
			more = append(more, &js.Schema{Not: &js.Schema{Type: js.Types{js.Null}}})
		default:
			out.Enum = append(out.Enum, x)
		}
	}
	switch {
	case len(more) == 0:
		return &out
	case len(out.Enum) > 0:
		more = append([]*js.Schema{&out}, more...)
	}
	if len(more) == 1 {
		return more[0]
	}
	return &js.Schema{AnyOf: more}
}
