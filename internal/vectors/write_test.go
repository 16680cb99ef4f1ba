package vectors

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"privrec/internal/tensor"
)

// TestRoundTrip writes tables and reads them again, in every form.
func TestRoundTrip(t *testing.T) {
	dir := t.TempDir()
	rapid.Check(t, func(rt *rapid.T) {
		table := func(name string) Table {
			m := tensor.New(rapid.IntRange(1, 40).Draw(rt, "rows"), rapid.IntRange(1, 20).Draw(rt, "columns"))
			for i := range m.Data {
				m.Data[i] = tensor.Float(rapid.Float32Range(-1e30, 1e30).Draw(rt, "number"))
			}
			right := func(id string) bool { return noText([]byte(id)) == "" }
			id := rapid.StringMatching(`[a-zé0-9 ]{1,6}`).Filter(right)
			ids := rapid.SliceOfNDistinct(id, m.Rows, m.Rows, rapid.ID[string]).Draw(rt, "ids")
			return Table{name, m, ids}
		}
		both := []Table{table("users"), table("items")}
		for _, form := range Forms() {
			parts := [][]Table{both[:1], both[1:]}
			if form.Single() {
				parts = [][]Table{both}
			}
			for _, tables := range parts {
				var b bytes.Buffer
				if err := Write(&b, form, map[string]string{"made": "by a test"}, tables...); err != nil {
					rt.Fatal(err)
				}
				path := filepath.Join(dir, "file")
				if err := os.WriteFile(path, b.Bytes(), 0o666); err != nil {
					rt.Fatal(err)
				}
				want := []Want{{}}
				if form.Single() {
					want = []Want{{Names: []string{"users"}}, {Names: []string{"items"}}}
				}
				f, err := Read(context.Background(), path, want...)
				if err != nil {
					rt.Fatal(err)
				}
				for i, got := range f.Tables {
					if got.Rows.Cols != tables[i].Rows.Cols || !slices.Equal(got.Rows.Data, tables[i].Rows.Data) || form == Parquet && !slices.Equal(got.IDs, tables[i].IDs) {
						rt.Fatalf("%s: %v %q, want %v %q", form, got.Rows, got.IDs, tables[i].Rows, tables[i].IDs)
					}
				}
			}
		}
	})
}

// TestAsNumPyWrites demands the bytes that numpy.save writes.
func TestAsNumPyWrites(t *testing.T) {
	f, err := Read(context.Background(), "testdata/f4-little.npy", Want{})
	if err != nil {
		t.Fatal(err)
	}
	want, err := os.ReadFile("testdata/f4-little.npy")
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := Write(&b, NPY, nil, f.Tables[0]); err != nil || !bytes.Equal(b.Bytes(), want) {
		t.Errorf("%q (%v), want %q", b.Bytes(), err, want)
	}
}
