package lists

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// TestRoundTrip writes lists in every form and reads them again.
func TestRoundTrip(t *testing.T) {
	dir := t.TempDir()
	rapid.Check(t, func(rt *rapid.T) {
		ending := rapid.SampledFrom([]string{".tsv", ".csv", ".trec", ".run", ".parquet", ".tsv.gz", ".csv.zst"}).Draw(rt, "ending")
		path := filepath.Join(dir, "lists"+ending)
		form, kind, err := FormOf(path)
		if err != nil {
			rt.Fatal(err)
		}
		ids := rapid.StringMatching(`[a-z0-9é,":]{1,5}`)
		users := rapid.SliceOfNDistinct(ids, 1, 5, rapid.ID[string]).Draw(rt, "users")
		items := rapid.SliceOfNDistinct(ids, 1, 9, rapid.ID[string]).Draw(rt, "items")
		scores := rapid.SliceOfN(rapid.Float64Range(-1e9, 1e9), len(items), len(items)).Draw(rt, "scores")
		if rapid.Bool().Draw(rt, "narrow") {
			for i := range scores {
				scores[i] = float64(float32(scores[i]))
			}
		}
		slices.SortFunc(scores, func(a, b float64) int { return cmp.Compare(b, a) })
		var b bytes.Buffer
		w, err := NewWriter(&b, form, kind, true)
		if err != nil {
			rt.Fatal(err)
		}
		for _, u := range users {
			for r, i := range items {
				if err := w.Row(u, i, r+1, scores[r]); err != nil {
					rt.Fatal(err)
				}
			}
		}
		if err := w.Close(); err != nil {
			rt.Fatal(err)
		}
		if err := os.WriteFile(path, b.Bytes(), 0o666); err != nil {
			rt.Fatal(err)
		}
		got := &IDs{}
		f, err := Read(context.Background(), path, Recommended, got)
		if err != nil {
			rt.Fatal(err)
		}
		if len(f.Rows) != len(users)*len(items) || !f.Scored {
			rt.Fatalf("%d rows of %d", len(f.Rows), len(users)*len(items))
		}
		for n, row := range f.Rows {
			u, r := n/len(items), n%len(items)
			same := row.Score == scores[r] || float32(row.Score) == float32(scores[r]) && float64(float32(scores[r])) == scores[r]
			if got.Users.IDs[row.User] != users[u] || got.Items.IDs[row.Item] != items[r] || !same || f.Ranked && row.Rank != int64(r+1) {
				rt.Fatalf("row %d is %v: %q %q", n, row, got.Users.IDs[row.User], got.Items.IDs[row.Item])
			}
		}
	})
}

// TestWriterRefuses what a form cannot hold, and names without a form.
func TestWriterRefuses(t *testing.T) {
	for _, test := range []struct {
		form    Form
		id, msg string
	}{{TREC, "a b", "has a space"}, {TSV, "a\tb", "has a tab"}} {
		w, err := NewWriter(new(bytes.Buffer), test.form, "", true)
		if err != nil {
			t.Fatal(err)
		}
		if err := w.Row(test.id, "i", 1, 0); err == nil || !strings.Contains(err.Error(), test.msg) {
			t.Errorf("%s: %v", test.form, err)
		}
	}
	if _, err := NewWriter(new(bytes.Buffer), TREC, "", false); err == nil {
		t.Error("a TREC run without ranks")
	}
	for _, path := range []string{"lists", "lists.gz", "lists.txt", "lists.parquet.gz", "dir.tsv/lists"} {
		if form, _, err := FormOf(path); err == nil {
			t.Error(fmt.Sprint(path, " is ", form))
		}
	}
}
