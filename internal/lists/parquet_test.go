package lists

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"privrec/internal/dataset"
	"privrec/internal/dataset/parquet"
)

// TestParquetFiles reads the rows that scripts/reference/parquet.py wrote with pandas, polars, fastparquet and Arrow.
func TestParquetFiles(t *testing.T) {
	paths, err := filepath.Glob("testdata/parquet/[^b]*.parquet")
	if err != nil || len(paths) != 11 {
		t.Fatalf("%d files, want 11 (%v)", len(paths), err)
	}
	for _, path := range paths {
		t.Run(filepath.Base(path), func(t *testing.T) {
			ids := &IDs{}
			f, err := Read(context.Background(), path, Recommended, ids)
			if err != nil {
				t.Fatal(err)
			}
			if len(f.Rows) != 3000 || !f.Ranked || !f.Scored || f.Form != "Parquet" || len(f.Digest) != 64 {
				t.Fatalf("%d rows, ranked %v, scored %v, %s", len(f.Rows), f.Ranked, f.Scored, f.Form)
			}
			for i, r := range f.Rows {
				u, k := i/30, i%30
				if ids.Users.IDs[r.User] != strconv.Itoa(u) || ids.Items.IDs[r.Item] != strconv.Itoa(u+k) || r.Rank != int64(k+1) || r.Score != 1-float64(k+1)/64 || r.Line != int32(i+1) {
					t.Fatalf("row %d is %v: user %s, item %s", i, r, ids.Users.IDs[r.User], ids.Items.IDs[r.Item])
				}
			}
		})
	}
}

// TestParquetFaults says what is wrong with a file, and where.
func TestParquetFaults(t *testing.T) {
	for _, test := range []struct {
		name, field string
		line        int
		msg         string
	}{
		{"bad-brotli", "user_id", 1, "compressed with Brotli, which is not read"},
		{"bad-delta", "item_id", 1, "encoding DELTA_BYTE_ARRAY is not read"},
		{"bad-float-ids", "user_id", 0, "holds DOUBLE, want whole numbers or text"},
		{"bad-null", "score", 42, "empty"},
		{"bad-nan", "score", 42, "not a finite number: NaN"},
		{"bad-time", "item_id", 0, "holds TIMESTAMP, want whole numbers or text"},
		{"bad-bomb", "", 0, "20000000 rows, which a file of"},
		{"bad-column", "item_id", 0, "column is missing"},
	} {
		_, err := Read(context.Background(), "testdata/parquet/"+test.name+".parquet", Recommended, &IDs{})
		var e *dataset.Error
		if !errors.As(err, &e) || e.Field != test.field || e.Line != test.line || !strings.Contains(e.Msg, test.msg) {
			t.Errorf("%s: %v, want line %d, field %s, %q", test.name, err, test.line, test.field, test.msg)
		}
	}
}

// TestParquetCut refuses a file that was cut anywhere.
func TestParquetCut(t *testing.T) {
	whole, err := os.ReadFile("testdata/parquet/polars.parquet")
	if err != nil {
		t.Fatal(err)
	}
	for n := 4; n < len(whole); n += 7 {
		if _, _, err := readText(t, "file", string(whole[:n]), Recommended); err == nil {
			t.Errorf("the first %d of %d bytes were read", n, len(whole))
		}
	}
}

// TestParquetBombs changes a byte of a file to the largest lengths and counts that fit, at every place. Whatever the
// file claims then, reading it takes bounded memory: a dictionary, a page, its runs and its nulls for each of four
// columns, and the rows that so many bytes may stand for.
func TestParquetBombs(t *testing.T) {
	const bound = 512 << 20
	for _, name := range []string{"polars", "pandas-category", "arrow-v2"} {
		whole, err := os.ReadFile("testdata/parquet/" + name + ".parquet")
		if err != nil {
			t.Fatal(err)
		}
		worst, path := uint64(0), filepath.Join(t.TempDir(), "file")
		for at := 4; at < len(whole)-4; at += 11 {
			b := append([]byte(nil), whole...)
			copy(b[at:len(b)-4], "\xfe\xff\xff\xff\x0f")
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			if err := os.WriteFile(path, b, 0o666); err != nil {
				t.Fatal(err)
			}
			_, _ = Read(context.Background(), path, Recommended, &IDs{})
			runtime.ReadMemStats(&after)
			if took := after.TotalAlloc - before.TotalAlloc; took > worst {
				worst = took
			}
		}
		if worst > bound {
			t.Errorf("%s: %d MB were allocated for one file", name, worst>>20)
		}
		t.Logf("%s: at most %d KB", name, worst>>10)
	}
}

// Times of Parquet's own type order histories.
func TestParquetTimes(t *testing.T) {
	ids := &IDs{}
	f, err := Read(context.Background(), "testdata/libraries/pandas-times.parquet", History, ids)
	if err != nil {
		t.Fatal(err)
	}
	rows := f.ByUser(len(ids.Users.IDs))[0]
	if len(rows) != 2 || ids.Items.IDs[rows[0].Item] != "6" || rows[1].Rank-rows[0].Rank != 24*3600*1e9 {
		t.Errorf("rows %v", rows)
	}
}

// A column a place is read as in a text table: every column is an item, missing ones are counted.
func TestParquetColumnAPlace(t *testing.T) {
	path := filepath.Join(t.TempDir(), "wide.parquet")
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	w, err := parquet.NewWriter(f, parquet.Field{Name: "user", Kind: parquet.Text}, parquet.Field{Name: "score", Kind: parquet.Float},
		parquet.Field{Name: "rec_2", Kind: parquet.Text}, parquet.Field{Name: "rec_1", Kind: parquet.Int})
	if err != nil {
		t.Fatal(err)
	}
	text := func(s string) parquet.Value { return parquet.Value{Text: []byte(s)} }
	for _, row := range [][]parquet.Value{
		{text("a"), {Float: 1}, text("8"), {Int: 7}},
		{text("b"), {Float: 2}, text("NaN"), {Int: 8}},
	} {
		if err := w.Row(row...); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(w.Close(), f.Close()); err != nil {
		t.Fatal(err)
	}
	ids := &IDs{}
	lists, err := Read(context.Background(), path, Recommended, ids)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, r := range lists.Rows {
		got = append(got, fmt.Sprint(ids.Users.IDs[r.User], " ", ids.Items.IDs[r.Item], " ", r.Rank))
	}
	const left = "wide.parquet: the column score is not read; " +
		"wide.parquet: the columns rec_1 to rec_2 are read as the items of a list, the first one best; " +
		"wide.parquet: 1 places of lists are empty, and left out"
	if want := "a 7 1; a 8 2; b 8 1"; strings.Join(got, "; ") != want || strings.Join(lists.Left(), "; ") != left {
		t.Errorf("got %q and %q", got, lists.Left())
	}
}
