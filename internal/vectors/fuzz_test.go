package vectors

import (
	"bytes"
	"context"
	"math"
	"os"
	"path/filepath"
	"testing"
)

// seeds adds the small files of an ending.
func seeds(f *testing.F, ending string) {
	f.Helper()
	paths, err := filepath.Glob("testdata/*" + ending)
	if err != nil || len(paths) == 0 {
		f.Fatal("no files to begin with", err)
	}
	for _, path := range paths {
		b, err := os.ReadFile(path)
		if err != nil {
			f.Fatal(err)
		}
		if len(b) < 6000 { // a fuzzer is slow on large files
			f.Add(b)
		}
	}
}

// fuzz reads any bytes as a file of vectors. What is accepted has finite numbers, as many as its size says, and ids of
// all rows or none; written and read again, it is the same.
func fuzz(f *testing.F) {
	f.Fuzz(func(t *testing.T, b []byte) {
		for _, want := range []Want{{}, {Names: []string{"users"}}, {Names: []string{"bias", "users"}, Flat: true}} {
			file := &File{Path: "file"}
			if err := file.read(context.Background(), bytes.NewReader(b), int64(len(b)), []Want{want}); err != nil {
				if file.placed(context.Background(), err).Error() == "" {
					t.Fatal("an error without a message")
				}
				continue
			}
			table := file.Tables[0]
			if m := table.Rows; len(m.Data) != m.Rows*m.Cols || m.Rows < 1 || m.Cols < 1 || want.Flat && m.Cols != 1 {
				t.Fatalf("%d numbers of %d x %d", len(m.Data), m.Rows, m.Cols)
			}
			if table.IDs != nil && len(table.IDs) != table.Rows.Rows {
				t.Fatalf("%d ids of %d rows", len(table.IDs), table.Rows.Rows)
			}
			for _, v := range table.Rows.Data {
				if math.IsNaN(float64(v)) || math.IsInf(float64(v), 0) {
					t.Fatalf("the number %v", v)
				}
			}
		}
	})
}

// FuzzNpy reads any bytes that begin as an array of NumPy.
func FuzzNpy(f *testing.F) { seeds(f, ".npy"); fuzz(f) }

// FuzzNpz reads any bytes that begin as an archive of NumPy.
func FuzzNpz(f *testing.F) { seeds(f, ".npz"); fuzz(f) }

// FuzzSafetensors reads any bytes as a file of that format.
func FuzzSafetensors(f *testing.F) { seeds(f, ".safetensors"); fuzz(f) }

// FuzzParquet reads any bytes that begin as Parquet.
func FuzzParquet(f *testing.F) { seeds(f, ".parquet"); fuzz(f) }

// FuzzIDs reads any bytes as a file of ids, which are then distinct and not empty.
func FuzzIDs(f *testing.F) {
	for _, name := range []string{"ids.txt", "ids.tsv", "ids.csv", "pandas-ids.parquet"} {
		b, err := os.ReadFile("testdata/" + name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b, "")
		f.Add(b, "user_id")
	}
	path := filepath.Join(f.TempDir(), "ids") // a worker runs one after the other
	f.Fuzz(func(t *testing.T, b []byte, column string) {
		if err := os.WriteFile(path, b, 0o600); err != nil {
			t.Fatal(err)
		}
		ids, err := ReadIDs(context.Background(), path, "user", column)
		if err != nil {
			return
		}
		seen := map[string]bool{}
		for _, id := range ids.IDs {
			if id == "" || seen[id] {
				t.Fatalf("the id %q", id)
			}
			seen[id] = true
		}
		if len(seen) == 0 {
			t.Fatal("no ids")
		}
	})
}
