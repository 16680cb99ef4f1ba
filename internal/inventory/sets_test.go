package inventory

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"privrec/internal/dataset"
)

// A name and a recipe mean slates where the name is that of no other data set, or the recipe
// is theirs.
func TestSlateSource(t *testing.T) {
	for _, c := range []struct {
		name, recipe string
		want         string // name of the set of slates; empty: none
		err          string // part of the error
	}{
		{"standin-slates", "", "standin-slates", ""},
		{"standin-slates", "slates", "standin-slates", ""},
		{"standin-slates", "dipsgnn", "", `unknown recipe "dipsgnn"`},
		{"zhihurec", "", "", ""}, // a data set too
		{"zhihurec", "slates", "zhihurec", ""},
		{"ml-1m", "slates", "", ""},
		{"own-shop", "slates", "own-shop", ""},
		{"own-shop", "", "", ""},
		{"nothing", "", "", ""},
	} {
		src, ok, err := SlateSource(c.name, c.recipe)
		if ok != (c.want != "") || src.Name != c.want || (err == nil) != (c.err == "") || err != nil && !strings.Contains(err.Error(), c.err) {
			t.Errorf("%s, recipe %q: %q, %v, %v", c.name, c.recipe, src.Name, ok, err)
		}
	}
}

// Every set has its name once, and the error of an unknown name shows them all.
func TestNames(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("PRIVREC_DATA", dir)
	if err := os.Mkdir(filepath.Join(dir, "own-shop"), 0o755); err != nil {
		t.Fatal(err)
	}
	names := Names()
	if unique := slices.Compact(slices.Sorted(slices.Values(names))); len(unique) != len(names) {
		t.Errorf("%d names, %d of them different", len(names), len(unique))
	}
	for _, want := range []string{"ml-1m", "zhihurec", "standin-slates", "own-shop"} {
		if !slices.Contains(names, want) {
			t.Errorf("%s is not among %v", want, names)
		}
	}
	_, err := Find("nothing")
	var e *dataset.Error
	if !errors.As(err, &e) {
		t.Fatalf("%v", err)
	}
	for _, name := range names {
		if name != "own-shop" && !strings.Contains(e.Hint, name) { // which needs no entry
			t.Errorf("%s is not in the hint %q", name, e.Hint)
		}
	}
	if rows := len(Sets().Rows) + len(Slates().Rows); rows < len(names) {
		t.Errorf("%d rows for %d sets", rows, len(names))
	}
}
