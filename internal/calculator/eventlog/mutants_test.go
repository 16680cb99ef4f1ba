package eventlog

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"privrec/internal/dataset/format"
	"privrec/internal/dataset/format/formattest"
)

// A changed log of events, in JSON Lines and in both styles of YAML, is refused or says the same events: one that is
// read as less noise or fewer steps would be a wrong account.
func TestMutants(t *testing.T) {
	sheet := formattest.Sheet{
		Header:  []format.Meaning{"name", "mechanism", "releases", "scale", "sensitivity"},
		Numbers: []format.Meaning{"releases", "scale", "sensitivity"},
		Rows: [][]string{{"first", "laplace", "3", "5", "1"}, {"second", "laplace", "1", "2", "1"},
			{"third", "laplace", "20", "8", "2"}}}
	for _, c := range []struct {
		name, ext string
		write     func(names []string, rows [][]string) []byte
	}{{"JSON Lines", ".jsonl", inJSON}, {"JSON Lines by its text", ".log", inJSON},
		{"YAML in braces", ".yaml", inBraces}, {"YAML in lines", ".yml", inYAML}} {
		t.Run(c.name, func(t *testing.T) {
			n := 500
			if testing.Short() {
				n = 500
			}
			s := sheet
			s.Write = c.write
			refused, same, said := s.Mutants(t, 1, n, c.ext, ",", func(path string) (formattest.Verdict, error) {
				f, err := Read(path)
				if err != nil {
					return formattest.Verdict{}, err
				}
				rows := fmt.Sprintln(f.Unit, *f.Records, *f.Delta)
				for _, e := range f.Events {
					rows += fmt.Sprintln(e.Name, e.Mechanism, or(e.Releases, 1), *e.Scale, *e.Sensitivity)
				}
				return formattest.Verdict{Rows: rows}, nil
			})
			t.Logf("%d refused, %d read the same, %d read with a word", refused, same, said)
			if refused < n/5 || same < n/5 {
				t.Errorf("the changes are too much alike")
			}
		})
	}
}

// word writes a field as JSON and YAML have it: a number as it is, else a text.
func word(field string) string {
	var x float64
	if json.Unmarshal([]byte(field), &x) == nil || field == "NaN" || field == "null" {
		return field
	}
	return `"` + field + `"`
}

// pairs writes the keys and values of a row.
func pairs(names, row []string, between string, quoted bool) string {
	var list []string
	for i, field := range row {
		name := "more"
		if i < len(names) {
			name = names[i]
		}
		if quoted {
			name = word(name)
		}
		list = append(list, name+": "+word(field))
	}
	return strings.Join(list, between)
}

func inJSON(names []string, rows [][]string) []byte {
	var b bytes.Buffer
	b.WriteString(`{"privrec_events": 1, "unit": "user", "records": 6040, "delta": 1e-06}` + "\n")
	for _, row := range rows {
		fmt.Fprintf(&b, "{%s}\n", pairs(names, row, ", ", true))
	}
	return b.Bytes()
}

func inBraces(names []string, rows [][]string) []byte {
	var b bytes.Buffer
	b.WriteString("privrec_events: 1\nunit: user\nrecords: 6040\ndelta: 1e-06\nevents:\n")
	for _, row := range rows {
		fmt.Fprintf(&b, "  - {%s}\n", pairs(names, row, ", ", false))
	}
	return b.Bytes()
}

func inYAML(names []string, rows [][]string) []byte {
	var b bytes.Buffer
	b.WriteString("privrec_events: 1\nunit: user\nrecords: 6040\ndelta: 1e-06\nevents:\n")
	for _, row := range rows {
		fmt.Fprintf(&b, "  - %s\n", pairs(names, row, "\n    ", false))
	}
	return b.Bytes()
}
