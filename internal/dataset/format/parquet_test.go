package format

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"privrec/internal/dataset"
	"privrec/internal/dataset/parquet"
)

// parquetFile writes rows of a user, an item, a rating and a time.
func parquetFile(t *testing.T, name string, rows int, text func(n int) string) string {
	t.Helper()
	var b bytes.Buffer
	w, err := parquet.NewWriter(&b, parquet.Field{Name: "userId", Kind: parquet.Text}, parquet.Field{Name: "item_id", Kind: parquet.Int},
		parquet.Field{Name: "rating", Kind: parquet.Float}, parquet.Field{Name: "ts", Kind: parquet.Float})
	if err != nil {
		t.Fatal(err)
	}
	for n := range rows {
		err := w.Row(parquet.Value{Text: []byte(text(n))}, parquet.Value{Int: int64(n % 7)}, parquet.Value{Float: float64(n%5) + .5}, parquet.Value{Float: 1577836800.25 + float64(n)})
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, b.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func user(n int) string { return "user " + string(rune('a'+n/1000)) }

// A Parquet file is read as the table of its columns: the same rows, and the digest of the file itself.
func TestParquetAsATable(t *testing.T) {
	const rows = 20_000
	path := parquetFile(t, "log.parquet", rows, user)
	l, err := Table{Sep: "\t"}.ReadKnown(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	if l.Len() != rows || len(l.UserIDs) != 20 || len(l.ItemIDs) != 7 || l.Values[0] != .5 || l.Times[1]-l.Times[0] != 1000 || l.TimesPerUnit != 1000 {
		t.Errorf("%d rows, %d users, %d items, first rating %v, times %v", l.Len(), len(l.UserIDs), len(l.ItemIDs), l.Values[0], l.Times[:2])
	}
	f, err := HashFile(t.Context(), path)
	if err != nil || l.Hash != f.SHA256 {
		t.Errorf("hash %s, want %s (%v)", l.Hash, f.SHA256, err)
	}
	form, ok := OfInput(path)
	s, err := OpenStream(t.Context(), path, form)
	if err != nil || !ok {
		t.Fatal(err)
	}
	n := 0
	for s.Next() {
		n++
	}
	if s.Close(); n != rows || s.Err() != nil || fmt.Sprint(s.Left) != "[the column ts is read as timestamp the column rating is not read]" {
		t.Errorf("%d rows, %v, %q", n, s.Err(), s.Left)
	}
}

// A reader that stops early, or is cancelled, leaves nothing running, and faults are named with the file.
func TestParquetAsATableFaults(t *testing.T) {
	path := parquetFile(t, "log.parquet", 200_000, user)
	s, err := OpenStream(t.Context(), path, TSV)
	if err != nil {
		t.Fatal(err)
	}
	s.Next()
	s.Close() // waits for the writer

	ctx, cancel := context.WithCancel(t.Context())
	if s, err = OpenStream(ctx, path, TSV); err != nil {
		t.Fatal(err)
	}
	s.Next()
	cancel()
	for s.Next() {
	}
	if s.Close(); !errors.Is(s.Err(), context.Canceled) {
		t.Errorf("cancelled: %v", s.Err())
	}

	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name, want string
		bytes      []byte
	}{
		{"log.csv", "the file is Parquet", b},
		{"cut.parquet", "was it cut?", b[:len(b)-9]},
		{"tab.parquet", `a text with a tab or a line end: "a\tb"`, nil},
	} {
		at := filepath.Join(t.TempDir(), c.name)
		if c.bytes == nil {
			at = parquetFile(t, c.name, 3, func(int) string { return "a\tb" })
		} else if err := os.WriteFile(at, c.bytes, 0o600); err != nil {
			t.Fatal(err)
		}
		_, err := Table{Sep: "\t"}.ReadKnown(t.Context(), at)
		var e *dataset.Error
		if !errors.As(err, &e) || e.File != at || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", c.name, err, c.want)
		}
	}
}

// The command that sorts a Parquet file is none for text, and that for lines of a user is a word.
func TestSortOfOtherForms(t *testing.T) {
	path := parquetFile(t, "my log.parquet", 3, func(n int) string { return "user " + string(rune('a'+n%2)) })
	s, err := OpenStream(t.Context(), path, TSV)
	if err != nil {
		t.Fatal(err)
	}
	s.Together = true
	for s.Next() {
	}
	s.Close()
	want := `.sort_values(["userId", "ts"], kind="stable").to_parquet("SORTED.parquet")'`
	var e *dataset.Error
	if err := s.Err(); !errors.As(err, &e) || !strings.Contains(e.Hint, want) || strings.Contains(e.Hint, "cat ") {
		t.Errorf("got %v, want %s", err, want)
	}
	if got := (&Stream{cursor: cursor{form: Lines}}).Sort(); got != "join the two lines" {
		t.Errorf("lines: %s", got)
	}
}
