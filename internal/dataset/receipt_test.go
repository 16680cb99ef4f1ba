package dataset

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A receipt that says "pinned", or files that are no longer those of the receipt, are
// remarked on, from a cached entry too. The level is that of the rows: taking the receipt
// away raises nothing.
func TestReceiptNeverRaisesLevel(t *testing.T) {
	rows := "user_id:token\titem_id:token\trating:float\ttimestamp:float\n" +
		"1\t1\t5\t1\n1\t2\t5\t2\n1\t3\t5\t3\n2\t1\t5\t1\n2\t2\t5\t2\n2\t3\t5\t3\n"
	set := Set{Name: "tiny", Layouts: []Layout{{Files: []string{"tiny.inter"}, Read: func(ctx context.Context, paths []string) (*Log, *Features, error) {
		l, err := ReadInter(ctx, paths[0])
		return l, nil, err
	}}}}
	r := Recipe{Name: "all", Split: Split{Kind: SplitFraction, Fraction: 0.8}, Notes: append(make([]string, 0, 4), "first"),
		Wants: []Want{{Rung: Rung{Name: RungRaw, Rows: 6}, Paper: true}}}
	dir := t.TempDir()
	file := filepath.Join(dir, "tiny", "tiny.inter")
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(rows), 0o644); err != nil {
		t.Fatal(err)
	}
	f, err := hashFile(t.Context(), file)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name, receipt string
		level         Level
		note, fails   string
	}{
		{"no receipt", "", LevelB, "", ""},
		{"as published", `{"pinned_new": false, "files": [{"name": "tiny.inter", "sha256": "` + f.SHA256 + `"}]}`, LevelB, "", ""},
		{"pinned", `{"pinned_new": true}`, LevelB, "--pin-new", ""},
		{"changed", `{"files": [{"name": "tiny.inter", "sha256": "00"}]}`, LevelB, "changed after it was fetched", ""},
		{"no receipt at all", `<html>`, 0, "", "not a receipt"},
	} {
		path := filepath.Join(dir, "tiny", ReceiptName)
		os.Remove(path)
		if c.receipt != "" {
			if err := os.WriteFile(path, []byte(c.receipt), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		s, err := LoadSet(t.Context(), set, r, Options{Dir: dir, CacheDir: filepath.Join(dir, "cache")})
		if c.fails != "" {
			if err == nil || !strings.Contains(err.Error(), c.fails) {
				t.Errorf("%s: error %v, want %q", c.name, err, c.fails)
			}
			continue
		}
		if err != nil {
			t.Fatalf("%s: %v", c.name, err)
		}
		if s.Source.Level != c.level || !strings.Contains(strings.Join(s.Source.Notes, "; "), c.note) {
			t.Errorf("%s: level %s, notes %q, want %s and %q", c.name, s.Source.Level, s.Source.Notes, c.level, c.note)
		}
		if r.Notes[:2][1] != "" {
			t.Fatalf("%s: the recipe's own notes were written to", c.name)
		}
	}
}
