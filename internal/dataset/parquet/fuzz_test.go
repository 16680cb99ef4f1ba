package parquet

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"testing"
)

// FuzzRead reads every column of any bytes that begin and end as Parquet. It neither panics nor returns more rows than
// the footer says.
func FuzzRead(f *testing.F) {
	paths, err := filepath.Glob("../../lists/testdata/parquet/*.parquet")
	if err != nil || len(paths) == 0 {
		f.Fatal("no files to begin with", err)
	}
	more, err := filepath.Glob("../../vectors/testdata/*.parquet") // with lists of numbers
	if err != nil || len(more) == 0 {
		f.Fatal("no files of vectors to begin with", err)
	}
	for _, path := range append(paths, more...) {
		b, err := os.ReadFile(path)
		if err != nil {
			f.Fatal(err)
		}
		if len(b) < 6000 { // a fuzzer is slow on large files
			f.Add(b)
		}
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		p, err := Open(bytes.NewReader(b), int64(len(b)))
		if err != nil {
			return
		}
		for i, c := range p.Columns {
			if c.Kind == Other {
				continue
			}
			rows := int64(0)
			err := p.Read(context.Background(), []int{i}, func(n int64, v []Value) error {
				if rows++; n != rows || len(v) != 1 {
					t.Fatalf("row %d is the %dth, of %d values", n, rows, len(v))
				}
				if c.Kind == Floats && !v[0].Null && (len(v[0].List) == 0 || len(v[0].List) > maxList) {
					t.Fatalf("row %d has a list of %d", n, len(v[0].List))
				}
				return nil
			})
			if rows > max(0, p.Rows) || err == nil && rows != p.Rows {
				t.Fatalf("%d rows of %d (%v)", rows, p.Rows, err)
			}
		}
	})
}

// TestRuns reads run lengths and packed bits as the format's specification has them.
func TestRuns(t *testing.T) {
	for _, test := range []struct {
		name  string
		b     []byte
		width int
		n     int
		want  []uint32 // nil: refused
	}{
		{"a run", []byte{8 << 1, 5}, 3, 8, []uint32{5, 5, 5, 5, 5, 5, 5, 5}},
		{"packed, the specification's example", []byte{1<<1 | 1, 0x88, 0xc6, 0xfa}, 3, 8, []uint32{0, 1, 2, 3, 4, 5, 6, 7}},
		{"packed, cut to the values", []byte{1<<1 | 1, 0x88, 0xc6, 0xfa}, 3, 3, []uint32{0, 1, 2}},
		{"two runs", []byte{2 << 1, 1, 1 << 1, 0}, 1, 3, []uint32{1, 1, 0}},
		{"no width", []byte{3 << 1}, 0, 3, []uint32{0, 0, 0}},
		{"two bytes", []byte{1 << 1, 0x34, 0x12}, 13, 1, []uint32{0x1234}},
		{"too few", []byte{2 << 1, 1}, 1, 3, nil},
		{"a run of none", []byte{0, 1, 2 << 1, 1}, 1, 2, nil},
		{"a value too wide", []byte{2 << 1, 2}, 1, 2, nil},
		{"packed bits are missing", []byte{1<<1 | 1, 0x88}, 3, 8, nil},
		{"a width that there is not", []byte{2 << 1, 1}, 33, 2, nil},
	} {
		got := []uint32{}
		err := runs(test.b, test.width, test.n, func(v uint32) error { got = append(got, v); return nil })
		if (err != nil) != (test.want == nil) {
			t.Errorf("%s: %v", test.name, err)
			continue
		}
		for i := range test.want {
			if len(got) != len(test.want) || got[i] != test.want[i] {
				t.Errorf("%s: %v, want %v", test.name, got, test.want)
				break
			}
		}
	}
}
