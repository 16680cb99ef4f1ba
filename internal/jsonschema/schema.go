// Package jsonschema writes JSON Schemas, draft 2020-12: of configurations (config/schema) and of
// the answers that commands print (Of). It checks no instance.
package jsonschema

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"strconv"
)

// Draft is the version of JSON Schema.
const Draft = "https://json-schema.org/draft/2020-12/schema"

// The types of values.
const (
	Object  = "object"
	Array   = "array"
	String  = "string"
	Number  = "number"
	Integer = "integer"
	Boolean = "boolean"
	Null    = "null"
)

// Schema is a schema or a part of one. A field that is left out constrains nothing.
type Schema struct {
	Schema      string   `json:"$schema,omitempty"`
	ID          string   `json:"$id,omitempty"`
	Ref         string   `json:"$ref,omitempty"`
	Title       string   `json:"title,omitempty"`
	Description string   `json:"description,omitempty"`
	Type        Types    `json:"type,omitempty"`
	Const       any      `json:"const,omitempty"`
	Enum        []any    `json:"enum,omitempty"`
	Default     any      `json:"default,omitempty"`
	Examples    []any    `json:"examples,omitempty"`
	Minimum     *Decimal `json:"minimum,omitempty"`
	Above       *Decimal `json:"exclusiveMinimum,omitempty"`
	Maximum     *Decimal `json:"maximum,omitempty"`
	Below       *Decimal `json:"exclusiveMaximum,omitempty"`
	MinLength   int      `json:"minLength,omitempty"`
	Pattern     string   `json:"pattern,omitempty"`
	Format      string   `json:"format,omitempty"`
	MinItems    int      `json:"minItems,omitempty"`
	MaxItems    *int     `json:"maxItems,omitempty"`
	Unique      bool     `json:"uniqueItems,omitempty"`
	Items       *Schema  `json:"items,omitempty"`

	Properties Properties `json:"properties,omitzero"`
	Required   []string   `json:"required,omitempty"`
	// Additional constrains keys without an entry in Properties: a *Schema, or false to allow none.
	Additional any `json:"additionalProperties,omitempty"`

	AllOf []*Schema `json:"allOf,omitempty"`
	AnyOf []*Schema `json:"anyOf,omitempty"`
	Not   *Schema   `json:"not,omitempty"`
	If    *Schema   `json:"if,omitempty"`
	Then  *Schema   `json:"then,omitempty"`

	Defs Properties `json:"$defs,omitzero"`
}

// Types holds one type, or several that a value may have.
type Types []string

// MarshalJSON writes one type as a word.
func (t Types) MarshalJSON() ([]byte, error) {
	if len(t) == 1 {
		return json.Marshal(t[0])
	}
	return json.Marshal([]string(t))
}

// Decimal is a bound: a number in decimal digits, so that a bound of 64 bits is exact.
type Decimal string

// MarshalJSON writes the digits.
func (d Decimal) MarshalJSON() ([]byte, error) { return []byte(d), nil }

// Float returns a bound for x; nil for NaN.
func Float(x float64) *Decimal {
	if math.IsNaN(x) {
		return nil
	}
	d := Decimal(strconv.FormatFloat(x, 'g', -1, 64))
	if x == math.Trunc(x) && math.Abs(x) < 1e15 {
		d = Decimal(strconv.FormatFloat(x, 'f', -1, 64))
	}
	return &d
}

// Property is a key with the schema of its value.
type Property struct {
	Key string
	*Schema
}

// Properties holds keys in the order in which they are shown.
type Properties []Property

// IsZero reports whether there are no properties.
func (p Properties) IsZero() bool { return len(p) == 0 }

// Get returns the schema of a key's value, nil if the key is missing.
func (p Properties) Get(key string) *Schema {
	for _, x := range p {
		if x.Key == key {
			return x.Schema
		}
	}
	return nil
}

// MarshalJSON writes an object with its keys in order.
func (p Properties) MarshalJSON() ([]byte, error) {
	var b bytes.Buffer
	b.WriteByte('{')
	for i, x := range p {
		if i > 0 {
			b.WriteByte(',')
		}
		key, err := json.Marshal(x.Key)
		if err != nil {
			return nil, err
		}
		value, err := plain(x.Schema)
		if err != nil {
			return nil, err
		}
		b.Write(key)
		b.WriteByte(':')
		b.Write(value)
	}
	b.WriteByte('}')
	return b.Bytes(), nil
}

// plain returns JSON without the escapes meant for web pages.
func plain(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return nil, fmt.Errorf("write a JSON Schema: %w", err)
	}
	return bytes.TrimSuffix(b.Bytes(), []byte{'\n'}), nil
}

// Text returns the schema as an indented document.
func (s *Schema) Text() ([]byte, error) {
	b, err := plain(s)
	if err != nil {
		return nil, err
	}
	var out bytes.Buffer
	if err := json.Indent(&out, b, "", "  "); err != nil {
		return nil, fmt.Errorf("write a JSON Schema: %w", err)
	}
	out.WriteByte('\n')
	return out.Bytes(), nil
}
