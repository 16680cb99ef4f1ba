package pricdsr

import (
	"context"
	"errors"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"privrec/internal/run"
)

// Sizes that no sampler can hold are refused before anything of that size is made.
func TestSizesAreRefusedBeforeMemoryIsTaken(t *testing.T) {
	dir := t.TempDir()
	in := write(t, dir, "in.tsv", "user_id\titem_id\nann\t1\n")
	for _, c := range []struct {
		items, length int
		want          string
	}{
		{math.MaxInt, 3, "items is 9223372036854775807"}, {1 << 28, 1 << 27, "length is 134217728"},
		{20, math.MaxInt, "length is 9223372036854775807"}, {math.MaxInt, math.MaxInt, "length is"},
	} {
		_, err := Perturb(context.Background(), Options{In: in, Out: filepath.Join(dir, "out.tsv"), Epsilon: 3, Items: c.items, Length: c.length, Small: true, Workers: 1})
		var usage *run.UsageError
		if !errors.As(err, &usage) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%d items, %d cells: %v, want %q", c.items, c.length, err, c.want)
		}
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) != 1 {
		t.Errorf("left %v (%v)", left, err)
	}
}

// What is read is never replaced, by whatever name: it is the only true copy.
func TestWhatIsReadIsNotReplaced(t *testing.T) {
	const text = "user_id\titem_id\nann\t1\n"
	for _, c := range []struct{ in, catalogue, out string }{
		{"in.tsv", "", "in.tsv"}, {"in.tsv", "", "./x/../in.tsv"}, {"in.tsv", "", "link.tsv"}, {"link.tsv", "", "in.tsv"},
		{"out.empty.tsv", "", "out.tsv"}, {"out.report.txt", "", "out.csv"}, {"in.tsv", "all.tsv", "all.tsv"},
	} {
		dir := t.TempDir()
		if err := errors.Join(os.Mkdir(filepath.Join(dir, "x"), 0o755), os.Symlink(filepath.Join(dir, "in.tsv"), filepath.Join(dir, "link.tsv"))); err != nil {
			t.Fatal(err)
		}
		write(t, dir, "in.tsv", text)
		if c.in != "link.tsv" {
			write(t, dir, c.in, text)
		}
		o := Options{In: filepath.Join(dir, c.in), InForm: "tsv", Out: dir + "/" + c.out, Epsilon: 3, Items: 9, Length: 2, Force: true, Workers: 1}
		if c.catalogue != "" {
			o.Items, o.Catalogue = 0, write(t, dir, c.catalogue, "item_id\n1\n2\n")
		}
		_, err := Perturb(context.Background(), o)
		var usage *run.UsageError
		if !errors.As(err, &usage) || !strings.Contains(err.Error(), "is read by this run") {
			t.Errorf("%+v: %v", c, err)
		}
		if got := read(t, o.In); got != text {
			t.Errorf("%+v: the input is now %q", c, got)
		}
	}
}
