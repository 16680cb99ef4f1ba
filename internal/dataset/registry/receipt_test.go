package registry

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"privrec/internal/dataset"
	"privrec/internal/dataset/format"
)

// A receipt that says "pinned", or files that are no longer those of the receipt, are
// remarked on, from a cached entry too. The level is that of the rows: taking the receipt
// away raises nothing.
func TestReceiptNeverRaisesLevel(t *testing.T) {
	rows := "user_id:token\titem_id:token\trating:float\ttimestamp:float\n" +
		"1\t1\t5\t1\n1\t2\t5\t2\n1\t3\t5\t3\n2\t1\t5\t1\n2\t2\t5\t2\n2\t3\t5\t3\n"
	set := Set{Name: "tiny", Layouts: []Layout{{Files: []string{"tiny.inter"}, Read: func(ctx context.Context, paths []string) (*dataset.Log, *dataset.Features, error) {
		l, err := format.ReadInter(ctx, paths[0])
		return l, nil, err
	}}}}
	r := dataset.Recipe{Name: "all", Split: dataset.Split{Kind: dataset.SplitFraction, Fraction: 0.8}, Notes: append(make([]string, 0, 4), "first"),
		Wants: []dataset.Want{{Rung: dataset.Rung{Name: dataset.RungRaw, Rows: 6}, Paper: true}}}
	dir := t.TempDir()
	file := filepath.Join(dir, "tiny", "tiny.inter")
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(rows), 0o644); err != nil {
		t.Fatal(err)
	}
	f, err := format.HashFile(t.Context(), file)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name, receipt string
		level         dataset.Level
		note, fails   string
	}{
		{"no receipt", "", dataset.LevelB, "", ""},
		{"as published", `{"pinned_new": false, "files": [{"name": "tiny.inter", "sha256": "` + f.SHA256 + `"}]}`, dataset.LevelB, "", ""},
		{"pinned", `{"pinned_new": true}`, dataset.LevelB, "--pin-new", ""},
		{"changed", `{"files": [{"name": "tiny.inter", "sha256": "00"}]}`, dataset.LevelB, "changed after it was fetched", ""},
		{"no receipt at all", `<html>`, 0, "", "not a receipt"},
	} {
		path := filepath.Join(dir, "tiny", ReceiptName)
		os.Remove(path)
		if c.receipt != "" {
			if err := os.WriteFile(path, []byte(c.receipt), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		s, err := LoadSet(t.Context(), set, r, dataset.View{}, Options{Dir: dir, CacheDir: filepath.Join(dir, "cache")})
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
