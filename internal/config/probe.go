package config

import (
	"cmp"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"
)

// The allowed values of a key can depend on other keys: a width is checked only if a network is chosen that has one.
// Probe finds such limits by trials: it runs the checks on the defaults and on configurations with one change, and
// records which limits they apply.

// Conditional is a limit with the values of other keys under which it applies.
type Conditional struct {
	Finding
	When []Condition // all of them; empty: always
}

// Condition requires that a key has one of the values In, or none of the values Out. Numbers are float64; nil is null.
// For a list, a map, and a value that may be null, a State is compared instead.
type Condition struct {
	Path    string
	In, Out []any
}

// State describes a list, a map or a value that may be null in a Condition.
type State string

// The states.
const (
	Empty  State = "empty"  // a list or map without entries
	Filled State = "filled" // one with entries
	Given  State = "given"  // not null
)

// Probed holds everything that the checks of a configuration require of its keys.
type Probed struct {
	Limits []Conditional
	Rules  []Rule   // rules that no limit states, by key
	Loose  []string // keys with a range that depends on other keys in a way that no Condition states
}

// Probe returns the limits and rules found by running the checks on the defaults and on changes of them. check must not
// change c.
func Probe[C any](def C, check func(v *Checker, c C)) Probed { return ProbeAll(check, def) }

// ProbeAll returns the limits and rules found by running the checks on several configurations and on changes of each,
// since limits of list entries only show if there are entries. Findings of a later one count if the earlier ones do not
// state them.
func ProbeAll[C any](check func(v *Checker, c C), from ...C) Probed {
	return probe(func(v *Checker, c any) { check(v, c.(C)) }, reflect.ValueOf(from))
}

// probe does the work of ProbeAll for a list of configurations of any type.
func probe(check func(v *Checker, c any), from reflect.Value) Probed {
	p := prober{words: map[string][]string{}, seen: map[string]bool{}, rules: map[string]bool{},
		loose: map[string]bool{}}
	p.record = func(c reflect.Value) (found map[string]Finding) {
		v := NewRecorder()
		v.probed = p.rules
		check(v, c.Interface())
		for _, r := range v.rules {
			if !p.rules[r.Name()] {
				p.rules[r.Name()] = true
				p.out.Rules = append(p.out.Rules, r)
			}
		}
		found = map[string]Finding{}
		for _, f := range v.found {
			if f.Limit.Words != nil {
				p.addWords(f)
			}
			found[f.id] = f
		}
		return found
	}
	bases := make([]reflect.Value, from.Len())
	for i := range bases {
		bases[i] = reflect.New(from.Type().Elem()).Elem()
		bases[i].Set(deepCopy(from.Index(i)))
	}
	// First the words of keys are collected, those behind other words too.
	for known := -1; known != p.known; {
		known = p.known
		for _, base := range bases {
			for _, c := range p.changes(base) {
				p.record(apply(base, c))
			}
		}
	}
	for _, base := range bases {
		p.round(base)
	}
	// Checks may go over a map, whose order differs.
	slices.SortStableFunc(p.out.Rules, func(a, b Rule) int { return cmp.Compare(a.Name(), b.Name()) })
	slices.SortStableFunc(p.out.Limits, func(a, b Conditional) int { return cmp.Compare(a.Path, b.Path) })
	p.out.Loose = slices.Sorted(func(yield func(string) bool) {
		for k := range p.loose {
			if !yield(k) {
				return
			}
		}
	})
	return p.out
}

type prober struct {
	record func(c reflect.Value) map[string]Finding
	words  map[string][]string // that keys may be, by path with []
	known  int                 // number of words
	seen   map[string]bool     // conditionals that are in out
	rules  map[string]bool
	loose  map[string]bool
	out    Probed
}

// addWords adds the words of a finding to the known words of its key.
func (p *prober) addWords(f Finding) {
	for _, w := range f.Limit.Words {
		if !slices.Contains(p.words[f.Path], w) {
			p.words[f.Path] = append(p.words[f.Path], w)
			p.known++
		}
	}
}

// change holds a key and a value to set it to.
type change struct {
	path  string // with the numbers of entries
	value reflect.Value
	say   any // the value, as a Condition has it
}

// round tries the base and every configuration that one change makes of it.
func (p *prober) round(base reflect.Value) {
	points := []reflect.Value{base}
	for _, c := range p.changes(base) {
		points = append(points, apply(base, c))
	}
	for _, at := range points {
		here := p.record(at)
		var fresh []Finding
		for id, f := range here {
			if !p.explained(id, at) {
				fresh = append(fresh, f)
			}
		}
		if len(fresh) == 0 {
			continue
		}
		slices.SortFunc(fresh, func(a, b Finding) int { return cmp.Compare(a.id, b.id) })
		p.explain(at, fresh)
	}
}

// explained reports whether the finding follows from a conditional that holds at a point.
func (p *prober) explained(id string, at reflect.Value) bool {
	for _, c := range p.out.Limits {
		if c.id == id && holds(at, c.When) {
			return true
		}
	}
	return false
}

// explain adds the findings of a point with the conditions under which they occur. It changes every key alone: a
// finding that disappears depends on that key.
func (p *prober) explain(at reflect.Value, fresh []Finding) {
	changes := p.changes(at)
	results := make([]map[string]Finding, len(changes))
	for i, c := range changes {
		results[i] = p.record(apply(at, c))
	}
	for _, f := range fresh {
		out := Conditional{Finding: f}
		keys := []string{}
		with, without := map[string][]any{}, map[string][]any{}
		for i, c := range changes {
			if !slices.Contains(keys, c.path) {
				keys = append(keys, c.path)
			}
			if _, ok := results[i][f.id]; ok {
				with[c.path] = append(with[c.path], c.say)
			} else {
				without[c.path] = append(without[c.path], c.say)
			}
		}
		for _, k := range keys {
			if len(without[k]) == 0 {
				continue
			}
			v, _ := lookup(at, k)
			cond, exact := p.condition(k, v, say(v), with[k], without[k])
			if !exact {
				p.loose[f.Path] = true
			}
			out.When = append(out.When, cond)
		}
		if id := fmt.Sprintf("%s %+v", f.id, out.When); !p.seen[id] {
			p.seen[id] = true
			p.out.Limits = append(p.out.Limits, out)
		}
	}
}

// condition returns for which values of a key a finding occurs. exact reports whether this describes all values that
// were tried.
func (p *prober) condition(path string, v reflect.Value, here any, with, without []any) (c Condition, exact bool) {
	c.Path = pattern(path)
	with = append([]any{here}, with...)
	switch words := p.words[c.Path]; {
	case v.Kind() == reflect.Bool:
		c.In = with
		return c, true
	case v.Kind() == reflect.String && words != nil:
		known := slices.DeleteFunc(slices.Clone(with),
			func(x any) bool { return x != "" && !slices.Contains(words, x.(string)) })
		if len(without) == 1 || len(known) == 0 {
			c.Out = without
		} else {
			c.In = known
		}
		return c, true
	case len(without) == 1 && nothing(without[0]): // nothing but the empty value
		c.Out = without
		return c, true
	case len(with) == 1 && nothing(with[0]):
		c.In = with
		return c, true
	case v.Kind() == reflect.Float64 && len(without) == 1 && isInf(without[0]):
		c.Out = without
		return c, true
	case v.Kind() == reflect.Float64 && len(with) == 1 && isInf(with[0]):
		c.In = with
		return c, true
	}
	c.In = with
	return c, false
}

// isInf reports whether a value is infinite.
func isInf(x any) bool {
	f, ok := x.(float64)
	return ok && math.IsInf(f, 0)
}

// nothing reports whether a value is 0, false, "", null or an empty list.
func nothing(x any) bool { return x == nil || x == Empty || reflect.ValueOf(x).IsZero() }

// holds reports whether a configuration fulfils conditions. For keys of list entries the first entry counts.
func holds(c reflect.Value, when []Condition) bool {
	for _, w := range when {
		v, ok := lookup(c, strings.ReplaceAll(w.Path, "[]", ".0"))
		if !ok {
			return false
		}
		has := func(xs []any) bool {
			return slices.ContainsFunc(xs, func(x any) bool { return x == say(v) })
		}
		if w.In != nil && !has(w.In) || w.Out != nil && has(w.Out) {
			return false
		}
	}
	return true
}

// say returns a value in the form of a Condition.
func say(v reflect.Value) any {
	switch {
	case v.Kind() == reflect.Pointer && v.IsNil():
		return nil
	case v.Kind() == reflect.Pointer:
		return Given
	case empty(v):
		return Empty
	case v.Kind() == reflect.Slice, v.Kind() == reflect.Map:
		return Filled
	case v.CanInt():
		return float64(v.Int())
	case v.CanUint():
		return float64(v.Uint())
	case v.CanFloat():
		return v.Float()
	case v.Kind() == reflect.String:
		return v.String()
	case v.Kind() == reflect.Bool:
		return v.Bool()
	}
	return fmt.Sprint(v.Interface())
}

// changes returns the values that every key is set to in turn, besides its own.
func (p *prober) changes(c reflect.Value) (out []change) {
	p.changesAt(c, "", &out)
	return out
}

func (p *prober) changesAt(v reflect.Value, path string, out *[]change) {
	add := func(value any) {
		x := reflect.New(v.Type()).Elem()
		x.Set(reflect.ValueOf(value).Convert(v.Type()))
		if say(x) != say(v) {
			*out = append(*out, change{path, x, say(x)})
		}
	}
	words := p.words[pattern(path)]
	switch {
	case v.Kind() == reflect.Pointer:
		if v.IsNil() {
			*out = append(*out, change{path, reflect.New(v.Type().Elem()), Given})
			return
		}
		*out = append(*out, change{path, reflect.Zero(v.Type()), nil})
		p.changesAt(v.Elem(), path, out)
	case v.Kind() == reflect.Bool:
		add(!v.Bool())
	case v.Kind() == reflect.String:
		if len(words) == 0 {
			words = []string{"x"}
		}
		if !slices.Contains(words, "") {
			add("")
		}
		for _, w := range words {
			add(w)
		}
	case v.Kind() == reflect.Float64:
		for _, x := range []float64{0, 0.25, 1, 2, math.Inf(1)} {
			add(x)
		}
	case v.CanInt() || v.CanUint():
		for _, x := range []int{0, 1, 2, 3} {
			add(x)
		}
	case isScalar(v.Type()):
	case v.Kind() == reflect.Struct:
		for i := range v.NumField() {
			name, inline, ok := keyName(v.Type().Field(i))
			switch {
			case !ok:
			case inline:
				p.changesAt(v.Field(i), path, out)
			default:
				p.changesAt(v.Field(i), join(path, name), out)
			}
		}
	case v.Kind() == reflect.Slice:
		one := reflect.MakeSlice(v.Type(), 1, 1)
		if len(words) > 0 && one.Index(0).Kind() == reflect.String {
			one.Index(0).SetString(words[0])
		}
		if empty(v) {
			*out = append(*out, change{path, one, Filled})
			return
		}
		*out = append(*out, change{path, reflect.Zero(v.Type()), Empty})
		if v.Type().Elem().Kind() == reflect.Struct && !isScalar(v.Type().Elem()) {
			p.changesAt(v.Index(0), path+".0", out)
		}
	}
}

// apply returns a copy of a configuration with a change.
func apply(c reflect.Value, x change) reflect.Value {
	out := reflect.New(c.Type()).Elem()
	out.Set(deepCopy(c))
	v, _ := lookup(out, x.path)
	v.Set(x.value)
	return out
}

// lookup returns the value at a key path with the numbers of entries.
func lookup(v reflect.Value, path string) (reflect.Value, bool) {
	if path == "" {
		return v, true
	}
	if v.Kind() == reflect.Pointer {
		if v.IsNil() {
			return v, false
		}
		return lookup(v.Elem(), path)
	}
	word, rest, _ := strings.Cut(path, ".")
	switch v.Kind() {
	case reflect.Slice:
		i, err := strconv.Atoi(word)
		if err != nil || i >= v.Len() {
			return v, false
		}
		return lookup(v.Index(i), rest)
	case reflect.Struct:
		for i := range v.NumField() {
			name, inline, ok := keyName(v.Type().Field(i))
			switch {
			case !ok:
			case inline:
				if x, ok := lookup(v.Field(i), path); ok {
					return x, true
				}
			case name == word:
				return lookup(v.Field(i), rest)
			}
		}
	}
	return v, false
}
