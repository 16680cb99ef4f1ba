package parquet

import (
	"bytes"
	"context"
	"testing"

	"pgregory.net/rapid"
)

// TestWriter writes rows and reads them again: several pages and groups of rows where there are many.
func TestWriter(t *testing.T) {
	fields := []Field{{"id", Text}, {"n", Int}, {"x", Float}, {"vector", Floats}}
	for _, test := range []struct {
		name        string
		most, width int
	}{{"small", 300, 20}, {"large", 30_000, 400}} {
		t.Run(test.name, func(t *testing.T) {
			cases := 0
			rapid.Check(t, func(rt *rapid.T) {
				if cases++; cases > 3 && test.name == "large" {
					return
				}
				rows := rapid.IntRange(0, test.most).Draw(rt, "rows")
				width := rapid.IntRange(1, test.width).Draw(rt, "width")
				value := func(n int) (string, int64, float64, []float64) {
					list := make([]float64, 1+n%width)
					for k := range list {
						list[k] = float64(n-k) / 8
					}
					return string(rune('a'+n%26)) + "é"[:n%2*2], int64(n) * -7919, float64(n) / 3, list
				}
				var b bytes.Buffer
				w, err := NewWriter(&b, fields...)
				if err != nil {
					rt.Fatal(err)
				}
				for n := range rows {
					id, i, x, list := value(n)
					if err := w.Row(Value{Text: []byte(id)}, Value{Int: i}, Value{Float: x}, Value{List: list}); err != nil {
						rt.Fatal(err)
					}
				}
				if err := w.Close(Remark{"key", "text"}); err != nil {
					rt.Fatal(err)
				}
				f, err := Open(bytes.NewReader(b.Bytes()), int64(b.Len()))
				if err != nil {
					rt.Fatal(err)
				}
				if test.name == "large" && rows > 25_000 && width > 350 && len(f.groups) < 2 {
					rt.Fatalf("%d groups of rows", len(f.groups))
				}
				read := 0
				if err := f.Read(context.Background(), []int{0, 1, 2, 3}, func(n int64, v []Value) error {
					id, i, x, list := value(int(n - 1))
					same := string(v[0].Text) == id && v[1].Int == i && v[2].Float == x && len(v[3].List) == len(list)
					for k := range list {
						same = same && v[3].List[k] == list[k]
					}
					if !same {
						rt.Fatalf("row %d is %v", n, v)
					}
					read++
					return nil
				}); err != nil || read != rows {
					rt.Fatalf("%d rows of %d (%v)", read, rows, err)
				}
			})
		})
	}
}

// TestWriterRefuses rows that do not have a value for each column.
func TestWriterRefuses(t *testing.T) {
	w, err := NewWriter(new(bytes.Buffer), Field{"vector", Floats})
	if err != nil {
		t.Fatal(err)
	}
	if w.Row() == nil || w.Row(Value{}) == nil || w.Row(Value{List: []float64{1}}) != nil {
		t.Error("a row without values was written, or one with values was not")
	}
}
