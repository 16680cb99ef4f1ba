package calculator

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"slices"

	"privrec/internal/report"
)

// page holds an answer in the form that is shown: values under their JSON keys, in order, then a sentence and warnings.
type page struct {
	title     string
	fields    []field
	statement string
	warnings  []string
	remarks   []string      // after the warnings, only in text
	table     *report.Table // only in text; nil: none
}

type field struct {
	key, label, shown string // without a label only in JSON, without a key only in text
	value             any
}

func (p *page) add(key string, value any, label, shown string) {
	p.fields = append(p.fields, field{key, label, shown, value})
}

func (p *page) warn(format string, args ...any) {
	p.warnings = append(p.warnings, fmt.Sprintf(format, args...))
}

// MarshalJSON writes the fields in their order, then statement and warnings. Infinity becomes the string "infinity",
// since JSON has none.
func (p *page) MarshalJSON() ([]byte, error) {
	var b bytes.Buffer
	b.WriteByte('{')
	warnings := p.warnings
	if warnings == nil {
		warnings = []string{}
	}
	first := true
	for _, f := range append(slices.Clone(p.fields), field{key: "statement", value: p.statement},
		field{key: "warnings", value: warnings}) {
		if f.key == "" {
			continue
		}
		if !first {
			b.WriteByte(',')
		}
		first = false
		if v, ok := f.value.(float64); ok && math.IsInf(v, 1) {
			f.value = "infinity"
		}
		key, err := json.Marshal(f.key)
		if err != nil {
			return nil, err
		}
		value, err := json.Marshal(f.value)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", f.key, err)
		}
		b.Write(append(append(key, ':'), value...))
	}
	b.WriteByte('}')
	return b.Bytes(), nil
}

// Text shows the page to a person.
func (p *page) Text(w io.Writer) error { return p.document().Text(w) }

func (p *page) document() *report.Document {
	d := &report.Document{Title: p.title, Notes: append(append([]string{p.statement}, p.warnings...), p.remarks...)}
	for _, f := range p.fields {
		if f.label != "" {
			d.Facts = append(d.Facts, report.Fact{Label: f.label, Value: f.shown})
		}
	}
	if p.table != nil {
		d.Tables = []*report.Table{p.table}
	}
	return d
}
