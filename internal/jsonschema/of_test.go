package jsonschema

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	validator "github.com/santhosh-tekuri/jsonschema/v6"
)

type unknown struct{ A int }

func (unknown) MarshalJSON() ([]byte, error) { return []byte(`1`), nil }

type known struct{ A int }

func (known) MarshalJSON() ([]byte, error) { return []byte(`"many"`), nil }
func (known) JSONForms() []any             { return []any{0, "many"} }

// borrowed has a marshaler of its own and only what it embeds says what is written.
type borrowed struct{ known }

func (borrowed) MarshalJSON() ([]byte, error) { return []byte(`{}`), nil }

type inner struct {
	Same  string `json:"same"`
	Inner int    `json:"inner"`
	Twice int
}

type other struct {
	Twice int
}

type word string

type outer struct {
	Same float64 `json:"same"`
	inner
	other
	*optional
	List   []string        `json:"list"`
	Set    []string        `json:"set,omitempty"`
	Two    [2]float64      `json:"two"`
	Map    map[string]int  `json:"map"`
	Next   *outer          `json:"next"`
	At     time.Time       `json:"at"`
	Known  known           `json:"known"`
	Word   word            `json:"word,omitempty"`
	Empty  struct{}        `json:"empty,omitempty"`
	Zero   struct{ X int } `json:"zero,omitzero"`
	Plain  int
	Hidden int `json:"-"`
	lower  int
}

type optional struct {
	Optional int `json:"optional"`
}

// What encoding/json writes fits the schema, and the schema has the keys that it writes.
func TestOfIsWhatJSONWrites(t *testing.T) {
	s, err := Of(outer{})
	if err != nil {
		t.Fatal(err)
	}
	v := compile(t, s)
	full := outer{List: []string{"a"}, Set: []string{"b"}, Map: map[string]int{"a": 1}, optional: &optional{}, Word: "w", lower: 1}
	full.Next, full.Zero.X = &outer{}, 1
	for _, x := range []outer{{}, full} {
		if err := v.Validate(written(t, x)); err != nil {
			t.Error(err)
		}
	}
	keys := written(t, full).(map[string]any)
	defined := s.Defs.Get("jsonschema.outer").Properties
	for _, p := range defined {
		if _, ok := keys[p.Key]; !ok {
			t.Errorf("the schema has the key %s, which is not written", p.Key)
		}
	}
	if len(keys) != len(defined) {
		t.Errorf("%d keys are written, the schema has %d", len(keys), len(defined))
	}
	empty := written(t, outer{}).(map[string]any)
	for _, key := range s.Defs.Get("jsonschema.outer").Required {
		if _, ok := empty[key]; !ok {
			t.Errorf("the schema requires %s, which is left out where it is empty", key)
		}
		less := written(t, outer{}).(map[string]any)
		delete(less, key)
		if v.Validate(less) == nil {
			t.Errorf("the schema takes an object without %s", key)
		}
	}
	for key, wrong := range map[string]any{"more": json.Number("1"), "list": "a", "two": []any{json.Number("1")}, "known": "few", "at": "noon", "next": json.Number("1"), "same": "x"} {
		x := written(t, outer{}).(map[string]any)
		x[key] = wrong
		if v.Validate(x) == nil {
			t.Errorf("the schema takes %s: %v", key, wrong)
		}
	}
}

// What no type says is refused, at any depth.
func TestOfRefuses(t *testing.T) {
	for want, v := range map[string]any{
		"unknown has a MarshalJSON and no JSONForms": []map[string]unknown{},
		"nothing says what is written":               struct{ A any }{},
		"has the JSONForms of jsonschema.known":      struct{ A *borrowed }{},
		"RawMessage has a MarshalJSON":               struct{ A json.RawMessage }{},
		"bytes are written as a text":                []byte{},
		"keys are no strings":                        map[int]int{},
		"the option string": struct {
			A int `json:"a,string"`
		}{},
	} {
		if _, err := Of(v); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%T: %v, want %s", v, err, want)
		}
	}
}

// A schema is the same text every time.
func TestOfIsDeterministic(t *testing.T) {
	text := ""
	for range 20 {
		s, err := Of(outer{}, 0, nil, []other{})
		if err != nil {
			t.Fatal(err)
		}
		b, err := s.Text()
		if err != nil {
			t.Fatal(err)
		}
		if text != "" && text != string(b) {
			t.Fatal("two texts")
		}
		text = string(b)
	}
}

// compile returns the validator of a schema.
func compile(t *testing.T, s *Schema) *validator.Schema {
	t.Helper()
	text, err := s.Text()
	if err != nil {
		t.Fatal(err)
	}
	doc, err := validator.UnmarshalJSON(strings.NewReader(string(text)))
	if err != nil {
		t.Fatal(err)
	}
	c := validator.NewCompiler()
	c.AssertFormat()
	if err := c.AddResource("file:///x.json", doc); err != nil {
		t.Fatal(err)
	}
	v, err := c.Compile("file:///x.json")
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// written returns what JSON has of a value.
func written(t *testing.T, x any) any {
	t.Helper()
	b, err := json.Marshal(x)
	if err != nil {
		t.Fatal(err)
	}
	v, err := validator.UnmarshalJSON(strings.NewReader(string(b)))
	if err != nil {
		t.Fatal(err)
	}
	return v
}
