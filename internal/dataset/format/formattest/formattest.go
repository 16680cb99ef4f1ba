package formattest

import (
	"bufio"
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"privrec/internal/dataset"
	"privrec/internal/dataset/format"
)

// The folders of test files: good ones, and one bad file for each kind of fault. The paths are those for tests of
// packages one folder below internal/dataset.
const (
	GoodDir = "../../../testdata/data"
	BadDir  = "../../../testdata/bad/data"
)

// Seeds adds the good and the bad files whose names end in one of suffixes to the fuzz corpus.
func Seeds(f *testing.F, suffixes ...string) {
	for _, dir := range []string{GoodDir, BadDir} {
		entries, err := os.ReadDir(dir)
		if err != nil {
			f.Fatal(err)
		}
		for _, e := range entries {
			for _, s := range suffixes {
				if strings.HasSuffix(e.Name(), s) {
					b, err := os.ReadFile(filepath.Join(dir, e.Name()))
					if err != nil {
						f.Fatal(err)
					}
					f.Add(b)
				}
			}
		}
	}
}

// Try parses bytes as a file. It fails the test if an error is not an *Error that names the file and an existing line.
func Try[T any](t *testing.T, b []byte, parse func(*format.Input) (T, error)) (T, bool) {
	var got T
	in, err := format.NewInput(t.Context(), "fuzzed", bytes.NewReader(b))
	if err == nil {
		defer in.Close()
		got, err = parse(in)
	}
	if err == nil {
		return got, true
	}
	var e *dataset.Error
	if !errors.As(err, &e) || e.File != "fuzzed" || e.Msg == "" {
		t.Fatalf("error without a place: %v", err)
	}
	compressed := bytes.HasPrefix(b, []byte{0x1f, 0x8b}) || bytes.HasPrefix(b, []byte{0x28, 0xb5})
	if lines := bytes.Count(b, []byte("\n")) + 1; e.Line < 0 || !compressed && e.Line > lines {
		t.Fatalf("error names line %d of %d: %v", e.Line, lines, err)
	}
	return got, false
}

// RoundTrip fails the test if a log that is written does not read back the same. It skips ids with a tab or an odd end,
// which this format cannot hold.
func RoundTrip(t *testing.T, l *dataset.Log) {
	if err := l.Valid(); err != nil {
		t.Fatal(err)
	}
	for _, id := range append(append([]string(nil), l.UserIDs...), l.ItemIDs...) {
		if strings.ContainsAny(id, "\t\n\r") {
			return
		}
	}
	var b bytes.Buffer
	w := bufio.NewWriter(&b)
	format.WriteInter(w, l)
	w.Flush()
	in, err := format.NewInput(t.Context(), "again", &b)
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	var table format.Table
	if l.Values != nil {
		table.Rating = "rating"
	}
	if l.Times != nil {
		table.Time = "timestamp"
	}
	again, err := table.Parse(in)
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(l.UserIDs, again.UserIDs) || !slices.Equal(l.ItemIDs, again.ItemIDs) ||
		!slices.Equal(l.Users, again.Users) || !slices.Equal(l.Items, again.Items) ||
		!slices.Equal(l.Times, again.Times) || !slices.Equal(l.Values, again.Values) || l.StandIn != again.StandIn {
		t.Fatalf("written %+v\nread    %+v", l, again)
	}
}

// TryFeatures parses bytes as a file of user features, like Try, and checks that every column has one value per user.
func TryFeatures(t *testing.T, b []byte, parse func(*format.Input) (*dataset.Features, error)) {
	u, ok := Try(t, b, parse)
	if !ok {
		return
	}
	if _, err := u.For(u.UserIDs, nil); err != nil {
		t.Fatal(err)
	}
	for _, c := range u.Columns {
		if max(len(c.Codes), len(c.Numbers)) != len(u.UserIDs) {
			t.Fatalf("column %q has %d rows of %d", c.Name, max(len(c.Codes), len(c.Numbers)), len(u.UserIDs))
		}
	}
}
