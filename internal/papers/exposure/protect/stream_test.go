package protect

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"privrec/internal/perturb"
)

// firstNew is the first item that comes into a slate, -1 where none does.
func firstNew(was, is []int32) int32 {
	for k := range was {
		if is[k] != was[k] {
			return is[k]
		}
	}
	return -1
}

// No two settings share draws: of 400 slates hardly one gets the same first item under
// two of them. By chance two do with at most 1/300 (in-batch draws from 375 items of which
// those of the slate are left out), so that 30 of 400 come with less than 1e-26 for a pair
// of settings, and there are fewer than 2000 pairs.
func TestSettingsHaveDrawsOfTheirOwn(t *testing.T) {
	const n, vocab = 400, 5000
	set := logged(n, vocab, 10, 5, 1)
	base := Options{Method: Method{Batch: 25}, Pool: pool(t, set), Seed: 5, Vectors: directions(vocab), Workers: 2, Part: "test"}
	var options []Options
	for _, s := range figureGrid() {
		o := base
		o.Select, o.Replace, o.Ratio = s.Select, s.Replace, s.Ratio
		options = append(options, o)
	}
	similar := options[12]
	similar.Select, similar.Replace, similar.Ratio = SelectSimilar, ReplaceUniform, 0.4
	inBatch := similar
	inBatch.Select, inBatch.Replace = SelectRandom, ReplaceInBatch
	for _, c := range []struct {
		from   Options
		change func(o *Options)
	}{
		{similar, func(o *Options) { o.Reference = ReferenceSlate }},
		{similar, func(o *Options) { o.Weighted = true }},
		{similar, func(o *Options) { o.Weighted, o.Tau = true, 0.2 }},
		{similar, func(o *Options) { o.Weighted, o.Tau, o.Reference = true, 0.2, ReferenceSlate }},
		{inBatch, func(o *Options) { o.OwnRows = true }},
		{inBatch, func(o *Options) { o.Batch = 30 }},
	} {
		o := c.from
		c.change(&o)
		options = append(options, o)
	}
	made := make([][]int32, len(options))
	for i, o := range options {
		out, _, err := Slates(context.Background(), set.Test, o)
		if err != nil {
			t.Fatal(err)
		}
		for k := range n {
			made[i] = append(made[i], firstNew(set.Test.Slate(k), out.Slate(k)))
		}
	}
	for i := range options {
		for k := range i {
			same := 0
			for j := range n {
				if made[i][j] == made[k][j] {
					same++
				}
			}
			if same >= 30 {
				t.Errorf("%+v and %+v begin %d of %d slates alike", label(options[i]), label(options[k]), same, n)
			}
		}
	}
}

func label(o Options) string {
	return fmt.Sprintf("%s, %s, ratio %g, weighted %v, tau %g, reference %q, own rows %v, batch %d", o.Select, o.Replace, o.Ratio, o.Weighted, o.Tau, o.Reference, o.OwnRows, o.Batch)
}

// What a method does not read does not change its draws, and one setting in two spellings
// is one setting.
func TestDrawsFollowWhatIsRead(t *testing.T) {
	set := logged(60, 90, 10, 5, 1)
	base := Options{Method: Method{Select: SelectRandom, Replace: ReplaceUniform, Ratio: 0.4}, Pool: pool(t, set), Vectors: directions(90)}
	want, _, err := Slates(context.Background(), set.Test, base)
	if err != nil {
		t.Fatal(err)
	}
	for name, change := range map[string]func(o *Options){
		"select":    func(o *Options) { o.Select = "" },
		"replace":   func(o *Options) { o.Replace = "" },
		"tau":       func(o *Options) { o.Tau = 3 },
		"weighted":  func(o *Options) { o.Weighted = true },
		"reference": func(o *Options) { o.Reference = ReferenceSlate },
		"batch":     func(o *Options) { o.Batch = 30 },
		"own rows":  func(o *Options) { o.OwnRows = true },
	} {
		o := base
		change(&o)
		if got, _, err := Slates(context.Background(), set.Test, o); err != nil || !slices.Equal(got.Slates, want.Slates) {
			t.Errorf("%s changes the draws of random, uniform (%v)", name, err)
		}
	}
	var rr [][]int32
	for _, how := range []string{"", SelectNone} {
		o := Options{Pool: base.Pool}
		rrOptions(t)(&o)
		o.Select = how
		got, _, err := Slates(context.Background(), set.Test, o)
		if err != nil {
			t.Fatal(err)
		}
		rr = append(rr, got.Slates)
	}
	if !slices.Equal(rr[0], rr[1]) {
		t.Error("rr answers otherwise where no selection is called none")
	}
}

// Files of two settings share no draws either.
func TestFileSettingsHaveDrawsOfTheirOwn(t *testing.T) {
	const n = 400 // slates; false alarm as above, of 4990 items
	dir := t.TempDir()
	var users []string
	var rows [][]string
	for i := range n {
		users = append(users, fmt.Sprint(i))
		row := make([]string, 10)
		for k := range row {
			row[k] = fmt.Sprint(1 + (i*10+k)%5000)
		}
		rows = append(rows, row)
	}
	var vectors strings.Builder
	vectors.WriteString("item_id\tx\ty\n")
	for i := 1; i <= 5000; i++ {
		fmt.Fprintf(&vectors, "%d\t%d\t%d\n", i, i%7-3, i%11-5)
	}
	in, file := put(t, dir, "in.txt", linesText(users, rows)), put(t, dir, "v.tsv", vectors.String())
	first := map[string][]string{}
	for name, change := range map[string]func(o *FileOptions){
		"first":           func(o *FileOptions) {},
		"weighted":        func(o *FileOptions) { o.Weighted = true },
		"weighted at 0.2": func(o *FileOptions) { o.Weighted, o.Tau = true, 0.2 },
	} {
		o := FileOptions{Method: Method{Select: SelectSimilar, Ratio: 0.4, Reference: ReferenceSlate}, Settings: perturb.Settings{In: in, Out: filepath.Join(dir, name+".txt"), Items: 5000, Workers: 2}, Vectors: file}
		change(&o)
		if _, err := File(t.Context(), o); err != nil {
			t.Fatal(err)
		}
		for i, row := range fieldsOf(t, "out.txt", get(t, o.Out)) {
			at := 0
			for at < 9 && row[at] == rows[i][at] {
				at++
			}
			first[name] = append(first[name], row[at])
		}
	}
	for a, x := range first {
		for b, y := range first {
			same := 0
			for i := range x {
				if x[i] == y[i] {
					same++
				}
			}
			if a != b && same >= 30 {
				t.Errorf("%s and %s begin %d of %d slates alike", a, b, same, n)
			}
		}
	}
}
