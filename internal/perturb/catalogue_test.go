package perturb

import (
	"errors"
	"testing"

	"privrec/internal/dataset"
	"privrec/internal/dataset/format"
)

// A catalogue of names knows its names and no numbers; one of numbers knows no two ids for
// one item. Both write what they read.
func TestCatalogue(t *testing.T) {
	named := NewCatalogue()
	for i, name := range []string{"b", "7", "a,b"} {
		if item := named.Add(name); item != int32(i) || named.Size != i+1 {
			t.Errorf("%s is item %d of %d", name, item, named.Size)
		}
	}
	for _, c := range []struct {
		of   *Catalogue
		id   string
		item int32
		csv  string // empty: it is no item
	}{
		{named, "b", 0, "b"}, {named, "7", 1, "7"}, {named, "a,b", 2, `"a,b"`}, {named, "1", 0, ""}, {named, "", 0, ""},
		{&Catalogue{Size: 12}, "1", 0, "1"}, {&Catalogue{Size: 12}, "12", 11, "12"}, {&Catalogue{Size: 12}, "13", 0, ""}, {&Catalogue{Size: 12}, "0", 0, ""},
		{&Catalogue{Size: 12}, "01", 0, ""}, {&Catalogue{Size: 12}, "", 0, ""}, {&Catalogue{Size: 12}, "+1", 0, ""}, {&Catalogue{Size: 12}, "18446744073709551617", 0, ""},
	} {
		item, ok := c.of.Number([]byte(c.id))
		if ok != (c.csv != "") || item != c.item {
			t.Errorf("%q is item %d, %v", c.id, item, ok)
		}
		if !ok {
			continue
		}
		if b, err := c.of.Append(nil, format.CSV, item); err != nil || string(b) != c.csv {
			t.Errorf("%q is written as %s (%v), want %s", c.id, b, err, c.csv)
		}
	}
	named.Add("x y")
	var e *dataset.Error
	if err := named.Writable(format.Lines, "items.csv"); !errors.As(err, &e) || e.File != "items.csv" || e.Field != "item_id" || e.Line != 0 {
		t.Errorf("a name with a blank on lines: %v", err)
	}
	if err := named.Writable(format.TSV, "items.csv"); err != nil {
		t.Errorf("a name with a blank between tabs: %v", err)
	}
}
