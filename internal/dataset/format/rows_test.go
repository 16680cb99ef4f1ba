package format

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// rowsAs reads a text as a form: the columns, then the fields of every row.

func rowsAs(t testing.TB, form Form, text string) (columns []string, rows []string, err error) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "in")
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	r, err := OpenRows(context.Background(), path, form)
	if err != nil {
		return nil, nil, err
	}
	defer r.Close()
	for r.Next() {
		var fields []string
		for _, f := range r.Fields {
			fields = append(fields, string(f))
		}
		rows = append(rows, strings.Join(fields, "|"))
	}
	if r.Next() {
		err = errors.New("went on after the end")
	}
	return r.Columns, rows, errors.Join(err, r.Err())
}

func TestRowsOfEveryForm(t *testing.T) {
	for _, c := range []struct {
		form    Form
		text    string
		columns string
		want    []string
	}{
		{TSV, "a\tb\n1\tx y\r\n2\t\n", "a|b", []string{"1|x y", "2|"}},
		{CSV, "a,b\n\"1,5\",\"say \"\"x\"\"\"\n", "a|b", []string{`1,5|say "x"`}},
		{Atomic, "a:token\tb:float\n1\t2\n", "a|b", []string{"1|2"}},
		{Lines, "u 1 2\nv 3 \nw\n", "", []string{"u|1|2", "v|3", "w"}},
	} {
		columns, rows, err := rowsAs(t, c.form, c.text)
		if err != nil || strings.Join(columns, "|") != c.columns || !slices.Equal(rows, c.want) {
			t.Errorf("%s: columns %q, rows %q (%v)", c.form, columns, rows, err)
		}
	}
}

func TestRowsWithoutHeader(t *testing.T) {
	path := filepath.Join(t.TempDir(), "in")
	if err := os.WriteFile(path, []byte("u,\"7\"\nv,3;-4\nw\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	r, err := OpenColumns(context.Background(), path, ",", "user", "items")
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if !r.Next() || string(r.Fields[0]) != "u" || string(r.Fields[1]) != `"7"` || r.Line() != 1 {
		t.Errorf("line %d is %q", r.Line(), r.Fields)
	}
	if _, err := r.Int(1); err == nil || !strings.Contains(err.Error(), `:1: field "items": not a 64-bit integer: "\"7\""`) {
		t.Errorf("quoted: %v", err)
	}
	r.Next()
	if v, err := r.Integer("items", r.Fields[1][2:]); err != nil || v != -4 {
		t.Errorf("-4: %d (%v)", v, err)
	}
	if r.Next() || !strings.Contains(r.Err().Error(), ":3: one field instead of 2 (user, items)") {
		t.Errorf("short: %v", r.Err())
	}
}

func TestRowsRefuse(t *testing.T) {
	for _, c := range []struct {
		form Form
		text string
		want string
	}{
		{TSV, "a\tb\n1\n", "one field instead of 2 (a, b)"},
		{TSV, "a\tb\n", "no rows in the file"},
		{TSV, "a\ta\n1\t2\n", "a"},
		{Lines, "u\t1\n", "a tab in the line"},
		{Form("xls"), "a\n", `unknown form "xls"`},
		{TSV, "", "file is empty"},
	} {
		if _, _, err := rowsAs(t, c.form, c.text); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s %q: %v, want %q", c.form, c.text, err, c.want)
		}
	}
	path := filepath.Join(t.TempDir(), "in.tsv")
	if err := os.WriteFile(path, []byte("id\tx\na\t1e999\nb\t3\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	r, err := OpenRows(context.Background(), path, TSV)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if _, err := r.Column("y"); err == nil || !strings.Contains(err.Error(), `field "y": column is missing from the header`) {
		t.Errorf("column y: %v", err)
	}
	r.Next()
	if _, err := r.Float(1); err == nil || !strings.Contains(err.Error(), `:2: field "x": not a finite number: "1e999"`) {
		t.Errorf("1e999: %v", err)
	}
	r.Next()
	if v, err := r.Int(1); err != nil || v != 3 {
		t.Errorf("3: %d (%v)", v, err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	long, err := OpenRows(ctx, write3000(t), TSV)
	if err != nil {
		t.Fatal(err)
	}
	defer long.Close()
	for long.Next() {
	}
	if !errors.Is(long.Err(), context.Canceled) {
		t.Errorf("given up: %v", long.Err())
	}
}

func write3000(t *testing.T) string {
	path := filepath.Join(t.TempDir(), "long.tsv")
	if err := os.WriteFile(path, []byte("x\n"+strings.Repeat("1\n", 3000)), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}
