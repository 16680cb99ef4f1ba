package registry

import (
	"compress/gzip"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"privrec/internal/dataset"
)

// adjacencyDir is a data folder with a published split of the given lines.
func adjacencyDir(t *testing.T, train, test string) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "gowalla"), 0o755); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{"train.txt.gz": train, "test.txt.gz": test} {
		f, err := os.Create(filepath.Join(dir, "gowalla", name))
		if err != nil {
			t.Fatal(err)
		}
		z := gzip.NewWriter(f)
		if _, err := z.Write([]byte(text)); err != nil {
			t.Fatal(err)
		}
		if err := errors.Join(z.Close(), f.Close()); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func TestLoadInteractionsKeepsWhatTestAloneHas(t *testing.T) {
	// Item 9 and user 5 are in test alone; ids have gaps; user 3 has no test row.
	dir := adjacencyDir(t, "0 4 2\n3 2 7\n", "0 9 7\n5 2\n")
	x, err := LoadInteractions(t.Context(), "gowalla", "lightgcn", dataset.View{}, Options{Dir: dir, NoCache: true})
	if err != nil {
		t.Fatal(err)
	}
	if x.Users != 3 || x.Items != 4 || !slices.Equal(x.UserIDs, []string{"0", "3", "5"}) || !slices.Equal(x.ItemIDs, []string{"2", "4", "7", "9"}) {
		t.Errorf("%d users %v, %d items %v", x.Users, x.UserIDs, x.Items, x.ItemIDs)
	}
	for _, c := range []struct {
		name string
		got  [][]int32
		want [][]int32
	}{
		{"train", x.Train, [][]int32{{0, 1}, {0, 2}, {}}},
		{"test", x.Test, [][]int32{{2, 3}, {}, {0}}},
	} {
		if !slices.EqualFunc(c.got, c.want, slices.Equal) {
			t.Errorf("%s is %v, want %v", c.name, c.got, c.want)
		}
	}
	if x.Valid != nil {
		t.Errorf("validation rows %v without a validation part", x.Valid)
	}
	if users, items := x.Only(); users != 1 || items != 1 {
		t.Errorf("%d users and %d items outside train, want one each", users, items)
	}
}

func TestLoadInteractionsRefuses(t *testing.T) {
	for _, c := range []struct{ name, train, test, want string }{
		{"a repeated item", "0 1 2 1\n", "0 3\n", `user "0" has item "1" twice in train`},
		{"a repeated test item", "0 1 2\n", "0 3 3\n", `user "0" has item "3" twice in test`},
		{"a pair in both parts", "0 1\n4 1 2\n", "4 3 2\n", `user "4" has item "2" in train and in test`},
		{"a negative item", "0 1 -2\n", "0 3\n", `field "item"`},
		{"a negative user", "-1 1 2\n", "0 3\n", `field "user"`},
		{"an empty line", "0 1 2\n\n1 2\n", "0 3\n", "train.txt.gz:2"},
		{"a second line of a user", "0 1\n0 2\n", "0 3\n", "second line"},
		{"no rows", "", "0 3\n", "train.txt.gz"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := LoadInteractions(t.Context(), "gowalla", "lightgcn", dataset.View{},
				Options{Dir: adjacencyDir(t, c.train, c.test), NoCache: true})
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("error %v, want one with %q", err, c.want)
			}
		})
	}
}

// A random split divides the rows: each pair is in one part, and the parts together
// are the log.
func TestLoadInteractionsDivides(t *testing.T) {
	x, err := LoadInteractions(t.Context(), "standin-tiny", "rdpgcf", dataset.View{Seed: 3}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	rows := map[string]int{}
	for name, lists := range map[string][][]int32{"train": x.Train, "valid": x.Valid, "test": x.Test} {
		if len(lists) != x.Users {
			t.Fatalf("%s has lists of %d users of %d", name, len(lists), x.Users)
		}
		for _, l := range lists {
			rows[name] += len(l)
			if !slices.IsSorted(l) {
				t.Fatalf("%s: %v is not ascending", name, l)
			}
		}
	}
	raw, _ := x.Ladder.Get(dataset.RungRaw)
	if rows["train"]+rows["valid"]+rows["test"] != raw.Rows || rows["valid"] == 0 || rows["test"] == 0 {
		t.Errorf("parts of %v from %d rows", rows, raw.Rows)
	}
	again, err := LoadInteractions(t.Context(), "standin-tiny", "rdpgcf", dataset.View{Seed: 4}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if slices.EqualFunc(x.Test, again.Test, slices.Equal) {
		t.Error("another seed divides alike")
	}
}

func TestLoadInteractionsUnknown(t *testing.T) {
	for _, c := range [][2]string{{"nowhere", "rdpgcf"}, {"gowalla", "none"}} {
		if _, err := LoadInteractions(t.Context(), c[0], c[1], dataset.View{}, Options{Dir: t.TempDir()}); err == nil {
			t.Errorf("%s, %s: no error", c[0], c[1])
		}
	}
}

// Rows that are held out of labels stay in the data: what is learned from are the rows that stay where the same draw holds
// them out whole. Sequences have no labels of their own.
func TestHeldOutOfLabels(t *testing.T) {
	load := func(h dataset.HoldOut) *dataset.Interactions {
		t.Helper()
		v := dataset.View{Seed: 1}
		if h.Rows > 0 {
			v.HoldOut = &h
		}
		d, err := LoadInteractions(t.Context(), "standin-tiny", "rdpgcf", v, Options{})
		if err != nil {
			t.Fatal(err)
		}
		return d
	}
	whole := load(dataset.HoldOut{})
	held, labels := load(dataset.HoldOut{Rows: 0.5, Seed: 1}), load(dataset.HoldOut{Rows: 0.5, Seed: 1, Labels: true})
	if !reflect.DeepEqual(labels.Train, whole.Train) || !reflect.DeepEqual(labels.Test, whole.Test) || whole.Labels != nil || held.Labels != nil {
		t.Error("rows that are held out of labels are not in the data")
	}
	if !reflect.DeepEqual(labels.Labels, held.Train) || reflect.DeepEqual(held.Train, whole.Train) {
		t.Error("labels are not the rows that the draw leaves")
	}
	v := dataset.View{HoldOut: &dataset.HoldOut{Rows: 0.5, Labels: true}}
	if _, err := Load(t.Context(), "standin-tiny", "dipsgnn", v, Options{}); err == nil ||
		!strings.Contains(err.Error(), "of labels alone") {
		t.Error(err)
	}
	v.HoldOut.Users = 0.5
	if _, err := LoadInteractions(t.Context(), "standin-tiny", "rdpgcf", v, Options{}); err == nil ||
		!strings.Contains(err.Error(), "users are to be held out whole") {
		t.Errorf("users were held out of labels: %v", err)
	}
}
