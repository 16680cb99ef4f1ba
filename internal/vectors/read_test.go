package vectors

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"unsafe"

	"privrec/internal/dataset"
	"privrec/internal/tensor"
)

// value is the number of row r and column c in every file of scripts/reference/vectors.py.
func value(r, c int) tensor.Float { return tensor.Float(8*r+c-40) / 64 }

// names are the ids of the rows.
func names() (ids []string) {
	for r := range 12 {
		ids = append(ids, fmt.Sprintf("u%d", r))
	}
	return ids
}

func holds(t *testing.T, m tensor.Matrix, cols int, row func(r int) int) {
	t.Helper()
	if m.Rows != 12 || m.Cols != cols {
		t.Fatalf("%d x %d numbers", m.Rows, m.Cols)
	}
	for r := range 12 {
		for c, v := range tensor.Row(m, r) {
			if v != value(row(r), c) {
				t.Fatalf("row %d, column %d is %v, want %v", r, c, v, value(row(r), c))
			}
		}
	}
}

func same(r int) int     { return r }
func reversed(r int) int { return 11 - r }

// TestFiles reads the files that NumPy, safetensors, pandas, polars and Arrow wrote.
func TestFiles(t *testing.T) {
	for _, test := range []struct {
		file, form string
		want       []Want
		ids        bool
	}{
		{"f2-little.npy", "NumPy array", []Want{{}}, false},
		{"f2-big.npy", "NumPy array", []Want{{}}, false},
		{"f4-little.npy", "NumPy array", []Want{{}}, false},
		{"f4-big.npy", "NumPy array", []Want{{}}, false},
		{"f8-little.npy", "NumPy array", []Want{{}}, false},
		{"f8-big.npy", "NumPy array", []Want{{}}, false},
		{"fortran.npy", "NumPy array", []Want{{}}, false},
		{"version2.npy", "NumPy array", []Want{{}}, false},
		{"version3.npy", "NumPy array", []Want{{}}, false},
		{"bias.npy", "NumPy array", []Want{{Flat: true}}, false},
		{"stored.npz", "NumPy archive", []Want{{Names: []string{"user", "users"}}, {Names: []string{"items"}}, {Names: []string{"bias"}, Flat: true}}, false},
		{"deflated.npz", "NumPy archive", []Want{{Names: []string{"users"}}, {Names: []string{"items"}}}, false},
		{"f32.safetensors", "safetensors", []Want{{Names: []string{"users"}}, {Names: []string{"items"}}, {Names: []string{"bias"}, Flat: true}}, false},
		{"f16.safetensors", "safetensors", []Want{{}}, false},
		{"bf16.safetensors", "safetensors", []Want{{}}, false},
		{"f64.safetensors", "safetensors", []Want{{}}, false},
		{"pandas-columns.parquet", "Parquet", []Want{{}}, false},
		{"pandas-ids.parquet", "Parquet", []Want{{}}, true},
		{"pandas-index.parquet", "Parquet", []Want{{}}, true},
		{"pandas-lists.parquet", "Parquet", []Want{{}}, true},
		{"polars-lists.parquet", "Parquet", []Want{{}}, true},
		{"polars-arrays.parquet", "Parquet", []Want{{}}, true},
		{"arrow-fixed.parquet", "Parquet", []Want{{}}, true},
		{"arrow-pages.parquet", "Parquet", []Want{{}}, true},
	} {
		t.Run(test.file, func(t *testing.T) {
			f, err := Read(context.Background(), "testdata/"+test.file, test.want...)
			if err != nil {
				t.Fatal(err)
			}
			if f.Form != test.form || len(f.Digest) != 64 || len(f.Tables) != len(test.want) {
				t.Fatalf("%s, digest %q, %d tables", f.Form, f.Digest, len(f.Tables))
			}
			for i, table := range f.Tables {
				row, cols := same, 5
				if table.Name == "items" {
					row = reversed
				}
				if test.want[i].Flat {
					cols = 1
				}
				holds(t, table.Rows, cols, row)
				if test.ids && !slices.Equal(table.IDs, names()) || !test.ids && table.IDs != nil {
					t.Errorf("ids %q", table.IDs)
				}
			}
		})
	}
}

// TestFaults says what is wrong with a file, and where.
func TestFaults(t *testing.T) {
	users := Want{Names: []string{"users"}}
	for _, test := range []struct {
		file  string
		want  Want
		field string
		line  int
		msg   string
	}{
		{"bad-object.npy", Want{}, "", 0, "an object array: it holds pickled Python objects"},
		{"bad-object.npz", users, "users", 0, "an object array: it holds pickled Python objects"},
		{"bad-pickle.npy", Want{}, "", 0, "a pickle: it is not read"},
		{"bad-torch.npz", users, "", 0, "an archive of pickles, as torch.save writes it"},
		{"bad-integers.npy", Want{}, "", 0, `it holds whole numbers ("<i8"), want float16, float32 or float64`},
		{"bad-text.npy", Want{}, "", 0, `it holds text ("<U1")`},
		{"bad-complex.npy", Want{}, "", 0, `it holds complex numbers ("<c8")`},
		{"bad-long.npy", Want{}, "", 0, `it holds a type that is not read ("<f16")`},
		{"bad-records.npy", Want{}, "", 0, "an array of records with fields"},
		{"bad-axes.npy", Want{}, "", 0, "shape (3, 4, 5), want two axes"},
		{"bad-flat.npy", Want{}, "", 0, "shape (60,), want two axes"},
		{"f4-little.npy", Want{Flat: true}, "", 0, "shape (12, 5), want (rows,)"},
		{"bad-empty.npy", Want{}, "", 0, "shape (0, 5) holds no vector"},
		{"bad-nan.npy", Want{}, "", 0, "row 7, column 3: not a finite number: NaN"},
		{"bad-nan-fortran.npy", Want{}, "", 0, "row 7, column 3: not a finite number: NaN"},
		{"bad-infinite.npy", Want{}, "", 0, "row 7, column 3: not a finite number: -Inf"},
		{"bad-infinite-fortran.npy", Want{}, "", 0, "row 7, column 3: not a finite number: -Inf"},
		{"bad-cut.npy", Want{}, "", 0, "takes 240 bytes, and 236 follow the header"},
		{"bad-surplus.npy", Want{}, "", 0, "takes 240 bytes, and 244 follow the header"},
		{"bad-claim.npy", Want{}, "", 0, "takes 4000000000 bytes, and 0 follow the header"},
		{"bad-overflow.npy", Want{}, "", 0, "shape (4294967296, 4294967296): vectors of at most 65536 numbers are read"},
		{"bad-header.npy", Want{}, "", 0, "a header of 4294967295 bytes, at most 65536 are read"},
		{"bad-code.npy", Want{}, "", 0, "an array of records with fields"},
		{"bad-version.npy", Want{}, "", 0, "version 4.0 of the format, want 1.0, 2.0 or 3.0"},
		{"bad-bomb.npz", users, "users", 0, "vectors do not compress so much"},
		{"bad-lzma.npz", users, "users", 0, "compressed by method 14 of zip"},
		{"bad-damaged.npz", users, "users", 0, "the archive is damaged (zip: checksum error)"},
		{"stored.npz", Want{}, "", 0, "3 arrays in the file, and none is named"},
		{"stored.npz", Want{Names: []string{"people"}}, "people", 0, "no array of that name"},
		{"f32.safetensors", Want{Names: []string{"counts"}}, "counts", 0, "it holds I64, want F16, BF16, F32 or F64"},
		{"f32.safetensors", Want{Names: []string{"bias"}}, "bias", 0, "shape (12,), want two axes"},
		{"bad-ragged.parquet", Want{}, "vector", 7, "4 numbers, and 5 in the rows before"},
		{"bad-null.parquet", Want{}, "vector", 7, "empty, or with an empty number"},
		{"bad-hole.parquet", Want{}, "vector", 7, "empty, or with an empty number"},
		{"bad-nan.parquet", Want{}, "vector", 7, "not a finite number: NaN"},
		{"bad-integers.parquet", Want{}, "vector", 0, "holds lists of INT64, want numbers"},
		{"bad-groups.parquet", Want{}, "a", 0, "holds lists of DOUBLE"},
		{"bad-twice.parquet", Want{}, "user_id", 12, `second row of "3"`},
		{"bad-bomb.parquet", Want{}, "", 0, "numbers, which a file of"},
		{"ids.txt", Want{}, "", 0, "not a form that is read"},
	} {
		f, err := Read(context.Background(), "testdata/"+test.file, test.want)
		var e *dataset.Error
		if !errors.As(err, &e) || e.File != "testdata/"+test.file || e.Field != test.field || e.Line != test.line || !strings.Contains(e.Msg, test.msg) {
			t.Errorf("%s: %v, want line %d, field %s, %q (%v)", test.file, err, test.line, test.field, test.msg, f)
		}
	}
}

// Columns of a Parquet file that are not those of one vector, in their order, are refused by name.
func TestColumnsOfAVector(t *testing.T) {
	for _, test := range []struct {
		names []string
		want  string
	}{
		{[]string{"x0", "x1", "x2"}, ""}, {[]string{"9", "10", "11"}, ""},
		{[]string{"mean", "spread", "skew"}, ""}, {[]string{"X1:float", "x2:float", "x3:float"}, ""},
		{[]string{"x0", "x2", "x1"}, `field "x2": stands among the numbers of a vector, which begin with x0 and`},
		{[]string{"x0:token", "x2:token", "x1:token"}, `field "x2:token": stands among the numbers`},
		{[]string{"x0", "x1", "year"}, `field "year": stands among the numbers`},
		{[]string{"year", "x0", "x1"}, `field "year": stands among the numbers`},
		{[]string{"mean", "skew", "mean"}, `field "mean": stands twice`},
	} {
		path := filepath.Join(t.TempDir(), "v.parquet")
		if err := os.WriteFile(path, asParquet(test.names, [][]string{{"0.5", "1.5", "2.5"}}), 0o600); err != nil {
			t.Fatal(err)
		}
		_, err := Read(t.Context(), path, Want{})
		if (err == nil) != (test.want == "") || err != nil && !strings.Contains(err.Error(), test.want) {
			t.Errorf("%v: %v, want %q", test.names, err, test.want)
		}
	}
}

// A column of ids in Parquet has the names that it has in every other table.
func TestNamesOfIDs(t *testing.T) {
	for name, is := range map[string]bool{
		"user_id": true, "item_id": true, "id": true, "IID": true, "__index_level_0__": true,
		"User-ID": true, "itemId:token": true,
		"name": false, "movie_id": false,
	} {
		path := filepath.Join(t.TempDir(), "v.parquet")
		text := asParquet([]string{name, "x0", "x1"}, [][]string{{"7", "0.5", "1.5"}})
		if err := os.WriteFile(path, text, 0o600); err != nil {
			t.Fatal(err)
		}
		f, err := Read(t.Context(), path, Want{})
		switch {
		case is && (err != nil || !slices.Equal(f.Tables[0].IDs, []string{"7"})):
			t.Errorf("%s: %v, %v", name, f, err)
		case !is && (err == nil ||
			!strings.Contains(err.Error(), "want numbers, lists of numbers, or ids under the name id")):
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestTooLarge refuses a number that 32 bits cannot hold, where the program computes in 32 bits.
func TestTooLarge(t *testing.T) {
	_, err := Read(context.Background(), "testdata/bad-large.npy", Want{})
	if unsafe.Sizeof(tensor.Float(0)) == 8 {
		if err != nil {
			t.Fatal(err)
		}
		return
	}
	if err == nil || !strings.Contains(err.Error(), "row 2, column 1: 1e+300 is too large for 32 bits") {
		t.Fatal(err)
	}
}

// TestSafetensorsFaults says what is wrong with a header that no library writes.
func TestSafetensorsFaults(t *testing.T) {
	file := func(header string, data int) []byte {
		b := append([]byte{byte(len(header)), byte(len(header) >> 8), 0, 0, 0, 0, 0, 0}, header...)
		return append(b, make([]byte, data)...)
	}
	for _, test := range []struct {
		name, msg string
		b         []byte
	}{
		{"overlap", "gap or overlap", file(`{"a":{"dtype":"F32","shape":[2,1],"data_offsets":[0,8]},"b":{"dtype":"F32","shape":[2,1],"data_offsets":[4,12]}}`, 12)},
		{"gap", "gap or overlap", file(`{"a":{"dtype":"F32","shape":[1,1],"data_offsets":[4,8]}}`, 8)},
		{"beyond the file", "truncated or surplus data", file(`{"a":{"dtype":"F32","shape":[100000,100],"data_offsets":[0,40000000]}}`, 8)},
		{"shape and bytes", "has shape [3 1] in 8 bytes", file(`{"a":{"dtype":"F32","shape":[3,1],"data_offsets":[0,8]}}`, 8)},
		{"twice", `"a" stands twice`, file(`{"a":{"dtype":"F32","shape":[1,1],"data_offsets":[0,4]},"a":{"dtype":"F32","shape":[1,1],"data_offsets":[0,4]}}`, 4)},
		{"unknown type", `type "F7"`, file(`{"a":{"dtype":"F7","shape":[1,1],"data_offsets":[0,4]}}`, 4)},
		{"long header", "header of 134217728 bytes", append([]byte{0, 0, 0, 8, 0, 0, 0, 0}, `{"a":1}`...)},
		{"no JSON", "header is not JSON", file(`{"a":`, 4)},
		{"more behind it", "header is not JSON", file(`{} {}`, 0)},
	} {
		path := filepath.Join(t.TempDir(), "file")
		if err := os.WriteFile(path, test.b, 0o666); err != nil {
			t.Fatal(err)
		}
		_, err := Read(context.Background(), path, Want{Names: []string{"a"}})
		if err == nil || !strings.Contains(err.Error(), test.msg) {
			t.Errorf("%s: %v, want %q", test.name, err, test.msg)
		}
	}
}

// TestCut refuses a file that was cut anywhere.
func TestCut(t *testing.T) {
	path := filepath.Join(t.TempDir(), "file")
	for _, name := range []string{"f4-little.npy", "stored.npz", "deflated.npz", "f16.safetensors", "pandas-lists.parquet", "arrow-pages.parquet"} {
		whole, err := os.ReadFile("testdata/" + name)
		if err != nil {
			t.Fatal(err)
		}
		for n := 0; n < len(whole); n += 1 + n/50 {
			if err := os.WriteFile(path, whole[:n], 0o666); err != nil {
				t.Fatal(err)
			}
			want := Want{}
			if strings.HasSuffix(name, ".npz") {
				want.Names = []string{"users"}
			}
			if _, err := Read(context.Background(), path, want); err == nil {
				t.Errorf("the first %d of %d bytes of %s were read", n, len(whole), name)
			}
		}
	}
}

// TestBombs changes bytes of a file to the largest lengths and counts that fit, at every place. Whatever the file
// claims then, reading it takes bounded memory.
func TestBombs(t *testing.T) {
	const bound = 512 << 20
	path := filepath.Join(t.TempDir(), "file")
	read := func(b []byte) uint64 {
		if err := os.WriteFile(path, b, 0o666); err != nil {
			t.Fatal(err)
		}
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, _ = Read(context.Background(), path, Want{Names: []string{"users"}})
		runtime.ReadMemStats(&after)
		return after.TotalAlloc - before.TotalAlloc
	}
	for _, name := range []string{"f4-little.npy", "deflated.npz", "f16.safetensors", "polars-lists.parquet", "bad-bomb.npz", "bad-bomb.parquet"} {
		whole, err := os.ReadFile("testdata/" + name)
		if err != nil {
			t.Fatal(err)
		}
		worst := read(whole)
		if len(whole) < 4000 {
			for at := 4; at < len(whole)-4; at += 7 {
				b := bytes.Clone(whole)
				copy(b[at:len(b)-4], "\xfe\xff\xff\xff\x0f")
				worst = max(worst, read(b))
			}
		}
		if worst > bound {
			t.Errorf("%s: %d MB were allocated for one file", name, worst>>20)
		}
		t.Logf("%s: at most %d KB", name, worst>>10)
	}
}

// TestIDs reads ids of every form.
func TestIDs(t *testing.T) {
	for _, test := range []struct{ file, column string }{
		{"ids.txt", ""}, {"ids.tsv", ""}, {"ids.csv", ""}, {"ids.tsv", "user_id:token"}, {"pandas-ids.parquet", ""}, {"pandas-ids.parquet", "user_id"},
	} {
		ids, err := ReadIDs(context.Background(), "testdata/"+test.file, "user", test.column)
		if err != nil || !slices.Equal(ids.IDs, names()) || len(ids.Digest) != 64 {
			t.Errorf("%s: %v (%v)", test.file, ids, err)
		}
	}
	for _, test := range []struct{ name, text, column, msg string }{
		{"twice", "a\nb\na\n", "", `second row of "a"`},
		{"an empty line", "a\n\nb\n", "", "blank line"},
		{"no column", "name,age\nx,2\n", "", "no column is called user_id or id"},
		{"two columns", "user_id,uid\nx,2\n", "", "the columns user_id and uid both may have the ids"},
		{"a column that there is not", "a\nb\n", "user", "column is missing"},
	} {
		path := filepath.Join(t.TempDir(), "ids")
		if err := os.WriteFile(path, []byte(test.text), 0o666); err != nil {
			t.Fatal(err)
		}
		if ids, err := ReadIDs(context.Background(), path, "user", test.column); err == nil || !strings.Contains(err.Error(), test.msg) {
			t.Errorf("%s: %v (%v), want %q", test.name, err, ids, test.msg)
		}
	}
}
