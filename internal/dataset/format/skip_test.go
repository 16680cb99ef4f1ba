package format_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"privrec/internal/dataset/format"
)

// Rows that cannot be read are passed over one by one, with their text, and all others are read: cut
// ones, text that is none, blank lines, and those that the caller refuses. A file that is damaged
// stays an error.
func TestRowsSkip(t *testing.T) {
	path := filepath.Join(t.TempDir(), "in.tsv")
	lines := []string{"a\tb", "1\t2", "cut", "3\t4", "\xff\t1", "", "", "5\t6", "7\tbad", "8\t9\t10", "x\x00\t1", "11\t12", "end"}
	if err := os.WriteFile(path, []byte(strings.Join(lines, "\n")+"\n\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	r, err := format.OpenRows(context.Background(), path, format.TSV)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	var good, bad []string
	for {
		var failed error
		if r.Next() {
			if _, failed = r.Int(1); failed == nil {
				good = append(good, string(r.Fields[0]))
				continue
			}
		} else if failed = r.Err(); failed == nil {
			break
		}
		text, ok := r.Skip(failed)
		if !ok {
			t.Fatal(failed)
		}
		bad = append(bad, string(text))
	}
	if got, want := strings.Join(good, " "), "1 3 5 11"; got != want {
		t.Errorf("rows %q, want %q", got, want)
	}
	if got, want := strings.Join(bad, "|"), "cut|\xff\t1||7\tbad|8\t9\t10|x\x00\t1|end"; got != want {
		t.Errorf("passed over %q, want %q", got, want)
	}

	cut := filepath.Join(t.TempDir(), "in.tsv.gz")
	if err := os.WriteFile(cut, []byte("\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\x03\x4b\xe2"), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := format.OpenRows(context.Background(), cut, format.TSV); err == nil {
		t.Fatal("a cut file is read")
	}
}
