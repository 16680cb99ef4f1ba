package goldentest

import (
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// notes collects what a test would have failed with.
type notes []string

func (n *notes) Errorf(format string, args ...any) { *n = append(*n, fmt.Sprintf(format, args...)) }
func (n *notes) Logf(string, ...any)               {}

// Every way for a row to be wrong, or not to be looked at, is found.
func TestHarnessBites(t *testing.T) {
	const text = `{"id": "x/p/1", "fn": "F", "params": {"a": 2}, "value": 4, "rel_tol": 1e-9, "abs_tol": 0%s}`
	square := func(r *row) (float64, error) { return r.num("a") * r.num("a"), nil }
	order := func(o float64) answers {
		return func(r *row) ([]answer, error) { return []answer{{by: "f", got: r.num("a") * 2, order: o}}, nil }
	}
	of := func(v float64, s side) answers {
		return func(r *row) ([]answer, error) { r.num("a"); return []answer{{by: "f", got: v, side: s}}, nil }
	}
	for _, c := range []struct {
		name, file string
		f          answers
		want       string // part of the only complaint; empty: none
	}{
		{"right", fmt.Sprintf(text, ""), one("f", square), ""},
		{"wrong", fmt.Sprintf(text, ""), of(4.0001, equal), "relative error 2.5e-05"},
		{"not a number", fmt.Sprintf(text, ""), of(math.NaN(), above), "not a number"},
		{"infinite", fmt.Sprintf(text, ""), of(math.Inf(1), equal), "want 4"},
		{"infinities agree", strings.Replace(fmt.Sprintf(text, ""), `"value": 4`, `"value": "+Inf"`, 1), of(math.Inf(1), equal), ""},
		{"other infinity", strings.Replace(fmt.Sprintf(text, ""), `"value": 4`, `"value": "-Inf"`, 1), of(math.Inf(1), equal), "want -Inf"},
		{"finite for an infinity", strings.Replace(fmt.Sprintf(text, ""), `"value": 4`, `"value": "+Inf"`, 1), of(1e300, equal), "want +Inf"},
		{"upper bound", fmt.Sprintf(text, ""), of(5, above), ""},
		{"upper bound below", fmt.Sprintf(text, ""), of(3.9, above), "an upper bound below"},
		{"upper bound beyond its slack", fmt.Sprintf(text, `, "pld_h1e_4": 4.1`), of(4.2, above), "at most 0.15"},
		{"lower bound", fmt.Sprintf(text, ""), of(3, below), ""},
		{"lower bound above", fmt.Sprintf(text, ""), of(4.1, below), "a lower bound above"},
		{"calibrated too low", strings.Replace(fmt.Sprintf(text, ""), "1e-9", "1e-3", 1), of(3.999, safe), "or a little more"},
		{"calibrated", strings.Replace(fmt.Sprintf(text, ""), "1e-9", "1e-3", 1), of(4.001, safe), ""},
		{"known mistake", fmt.Sprintf(text, `, "wrong_value": 5`), of(5, above), "known to be wrong"},
		{"misprint", fmt.Sprintf(text, `, "wrong_value_nosquare": 5`), of(5, above), "known to be wrong"},
		{"best order", fmt.Sprintf(text, `, "best_order": 7`), order(7), ""},
		{"other order", fmt.Sprintf(text, `, "best_order": 7`), order(8), "best order 8"},
		{"outside of a bracket", fmt.Sprintf(text, `, "lo": 4.5, "hi": 5`), one("f", square), "outside of the reference's bracket"},
		{"unread parameter", strings.Replace(fmt.Sprintf(text, ""), `"a": 2`, `"a": 2, "b": 3`, 1), one("f", square), "nothing reads the parameter b"},
		{"missing parameter", strings.Replace(fmt.Sprintf(text, ""), `"a": 2`, `"c": 2`, 1), one("f", square), "parameter a"},
		{"parameter of another type", strings.Replace(fmt.Sprintf(text, ""), `"a": 2`, `"a": "2"`, 1), one("f", square), "parameter a: "},
		{"count that is none", strings.Replace(fmt.Sprintf(text, ""), `"a": 2`, `"a": 2.5`, 1), one("f", func(r *row) (float64, error) { return float64(r.count("a")), nil }), "no whole number"},
		{"error", fmt.Sprintf(text, ""), one("f", func(r *row) (float64, error) { return 4, errors.New("broken") }), "broken"},
		{"no answer", fmt.Sprintf(text, ""), func(r *row) ([]answer, error) { return nil, nil }, "0 answers"},
		{"error of one of several", fmt.Sprintf(text, ""), all(one("f", square), one("g", func(r *row) (float64, error) { return 4, errors.New("second") })), "second"},
		{"one of several wrong", fmt.Sprintf(text, ""), all(one("f", square), of(3, equal)), "want 4"},
		{"unknown function", strings.Replace(fmt.Sprintf(text, ""), `"F"`, `"G"`, 1), one("f", square), "no function answers G"},
	} {
		folder := t.TempDir()
		whole := `{"schema": "dpgold/1", "category": "x", "count": 1, "entries": [` + c.file + `]}`
		if err := os.WriteFile(filepath.Join(folder, "x.json"), []byte(whole), 0o600); err != nil {
			t.Fatal(err)
		}
		var n notes
		rows := library(&n, folder, map[string]answers{"F": c.f}, map[string]bool{"F": true})
		if rows != 1 || (c.want == "") != (len(n) == 0) || c.want != "" && !strings.Contains(strings.Join(n, "\n"), c.want) {
			t.Errorf("%s: %d rows, complaints %q, want %q", c.name, rows, n, c.want)
		}
	}
}

// So are files that are cut, of another form or not there, and functions that
// nothing asks for.
func TestHarnessReadsAll(t *testing.T) {
	f := map[string]answers{"F": plain("f", func(*row) float64 { return 1 })}
	for text, want := range map[string]string{
		`{"schema": "dpgold/1", "count": 2, "entries": [{"id": "a", "fn": "F", "value": 1}]}`: "1 rows, says 2",
		`{"schema": "dpgold/2", "count": 1, "entries": [{"id": "a", "fn": "F", "value": 1}]}`: "dpgold/2",
		`{"schema": "dpgold/1", "count": 0, "entries": []}`:                                   "0 rows",
		`{"schema": "dpgold/1", "count": 1, "entries": [`:                                     "unexpected end",
		"": "no files",
	} {
		folder := t.TempDir()
		if text != "" {
			if err := os.WriteFile(filepath.Join(folder, "x.json"), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		var n notes
		library(&n, folder, f, nil)
		if got := strings.Join(n, "\n"); !strings.Contains(got, want) {
			t.Errorf("%s: complaints %q, want %q", text, got, want)
		}
		if got := strings.Join(n, "\n"); !strings.Contains(text, `"F"`) && !strings.Contains(got, "no row asks for F") {
			t.Errorf("%s: complaints %q", text, got)
		}
	}
}
