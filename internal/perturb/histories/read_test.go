package histories

import (
	"context"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"privrec/internal/dataset/format"
	"privrec/internal/perturb"
)

// Rows against a plain account of definition 1.
func TestReaderAgainstPlainDefinition(t *testing.T) {
	path := filepath.Join(t.TempDir(), "in.txt")
	rapid.Check(t, func(r *rapid.T) {
		length, items := rapid.IntRange(1, 6).Draw(r, "L"), rapid.IntRange(1, 9).Draw(r, "m")
		var in strings.Builder
		var want [][]int32
		for u := range rapid.IntRange(1, 5).Draw(r, "users") {
			fmt.Fprintf(&in, "%d", u)
			var first []int32
			for _, i := range rapid.SliceOfN(rapid.Int32Range(1, int32(items)), 0, 20).Draw(r, "items") {
				fmt.Fprintf(&in, " %d", i)
				if !slices.Contains(first, i) {
					first = append(first, i)
				}
			}
			in.WriteString("\n")
			first = first[max(0, len(first)-length):]
			want = append(want, append(make([]int32, length-len(first)), first...))
		}
		if err := os.WriteFile(path, []byte(in.String()), 0o644); err != nil {
			r.Fatal(err)
		}
		rd, err := Open(context.Background(), &perturb.Settings{In: path, InForm: format.Lines, Length: length}, &perturb.Catalogue{Size: items}, false)
		if err != nil {
			r.Fatal(err)
		}
		defer rd.Close()
		rd.mark = rapid.SampledFrom([]uint32{0, math.MaxUint32 - 2}).Draw(r, "mark") // marks start over
		b := perturb.NewBlock[int32](length, 0, 2)
		for ok := true; ok; {
			if ok, err = rd.Read(b); err != nil {
				r.Fatal(err)
			}
		}
		if b.Len() != len(want) {
			r.Fatalf("%d users, want %d", b.Len(), len(want))
		}
		for u, row := range want {
			if !slices.Equal(b.Cells(u), row) || string(b.ID(u, 0)) != fmt.Sprint(u) || b.Line(u) != u+1 {
				r.Fatalf("user %d: %v, want %v", u, b.Cells(u), row)
			}
		}
	})
}
