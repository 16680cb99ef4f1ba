package protect

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"privrec/internal/dataset"
	"privrec/internal/perturb"
	"privrec/internal/run"
)

// The report of randomized response says what a user has, from users with 6, 10 and 12
// slates: 144 at epsilon 3 and slates of 4. Where that is not known, and where a slate may
// have come twice, it says so.
func TestReportOfAUser(t *testing.T) {
	dir := t.TempDir()
	var users []string
	for _, u := range []string{"c06", "a12", "b10"} {
		var n int
		fmt.Sscanf(u[1:], "%d", &n)
		for range n {
			users = append(users, u)
		}
	}
	_, slates := fileSlates(len(users), 4, 9, 1)
	report := func(text, name string, remember int) string {
		o := FileOptions{Method: Method{Replace: ReplaceRR, Epsilon: 3}, Settings: perturb.Settings{In: put(t, dir, name, text), Out: filepath.Join(dir, "out.tsv"), Catalogue: put(t, dir, "all.txt", "i1\ni2\ni3\ni4\ni5\ni6\ni7\ni8\ni9\n"), Workers: 2, Force: true}, remember: remember}
		if _, err := File(t.Context(), o); err != nil {
			t.Fatal(err)
		}
		return strings.Join(strings.Fields(get(t, filepath.Join(dir, "out.report.txt"))), " ")
	}
	says := func(text string, want ...string) {
		t.Helper()
		for _, w := range want {
			if no, ok := strings.CutPrefix(w, "no "); ok == strings.Contains(text, no) {
				t.Errorf("%q in the report:\n%s", w, text)
			}
		}
	}
	const twice, rows = "A slate that is in the file twice is released twice", "Every row is taken for a slate of its own"
	says(report(linesText(users, slates), "in.txt", 0), "a whole user: all slates, 12 at most 144", rows, "no "+twice, "basic composition")
	says(report(longText("\t", users, slates), "in.tsv", 0), "a whole user: all slates, 12 at most 144", "no "+rows, "no "+twice)
	says(report(longText("\t", users, slates), "in.tsv", 2), "no a whole user: all", "12 times the most slates of one user", "no "+rows, twice)
}

// What a file or an option gets wrong is said in the words of the file and the option.
func TestWordsOfAFile(t *testing.T) {
	const long = "user_id\tslate_id\tposition\titem_id\n"
	for name, c := range map[string]struct {
		in, text string
		change   func(o *FileOptions)
		line     int
		field    string
		want     string
	}{
		"the length asked for, lines": {"in.txt", "a 1 2\n", func(o *FileOptions) { o.Length = 3 }, 1, "item", "the slate has 2 items, --length says 3"},
		"the length asked for, wide":  {"in.tsv", "user_id\titem_1\titem_2\na\t1\t2\n", func(o *FileOptions) { o.Length = 3 }, 2, "", "the slate has 2 items, --length says 3"},
		"the length asked for, long":  {"in.tsv", long + "a\ts\t1\t1\n", func(o *FileOptions) { o.Length = 3 }, 2, "position", "slate \"s\" has 1 items, --length says 3"},
		"an empty item":               {"in.tsv", "user_id\titem_1\titem_2\na\t1\t2\nb\t3\t\n", nil, 3, "item_2", "empty"},
		"an item outside":             {"in.tsv", "user_id\titem_1\titem_2\na\t1\t10\n", nil, 2, "item_2", "outside the catalogue"},
		"zeros in front":              {"in.tsv", "user_id\titem_1\titem_2\na\t007\t2\n", nil, 2, "item_1", `"007" is not a number from 1 to 9`},
		"a slate twice":               {"in.tsv", long + "a\ts\t1\t1\nb\ts\t1\t1\na\ts\t1\t3\n", nil, 4, "slate_id", "is in the file twice"},
		"a slate twice in a row":      {"in.tsv", long + "a\ts\t1\t1\na\ts\t1\t1\n", nil, 3, "position", "position 1 of slate"},
	} {
		dir := t.TempDir()
		o := FileOptions{Method: Method{Replace: ReplaceRR, Epsilon: 1}, Settings: perturb.Settings{In: put(t, dir, c.in, c.text), Out: filepath.Join(dir, "out.tsv"), Items: 9, Workers: 1}}
		if c.change != nil {
			c.change(&o)
		}
		_, err := File(t.Context(), o)
		var data *dataset.Error
		if !errors.As(err, &data) || data.Line != c.line || data.Field != c.field || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "others have") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// Slates and vectors have one rule for the numbers of items.
func TestItemNumbers(t *testing.T) {
	c := &perturb.Catalogue{Size: 12}
	for id, want := range map[string]int32{"1": 0, "12": 11, "0": -1, "13": -1, "007": -1, "01": -1, "+1": -1, "-1": -1, "": -1, "1 ": -1, "99999999999": -1, "18446744073709551617": -1} {
		if got, ok := c.Number([]byte(id)); ok != (want >= 0) || ok && got != want {
			t.Errorf("%q is item %d in vectors, %v, want %d", id, got, ok, want)
		}
		if id == "" || id == "1 " {
			continue
		}
		dir := t.TempDir()
		_, err := File(t.Context(), FileOptions{Method: Method{Ratio: 0.5}, Settings: perturb.Settings{In: put(t, dir, "in.tsv", "user_id\titem_1\na\t"+id+"\n"), Out: filepath.Join(dir, "out.tsv"), Items: 12, Workers: 1}})
		if (err == nil) != (want >= 0) {
			t.Errorf("%q in a slate: %v", id, err)
		}
	}
}

// ceil(T ratio) is exact: no more for what rounding adds to a product, and one for
// whatever is above 0.
func TestPositionsAreExact(t *testing.T) {
	for _, c := range []struct {
		t     int
		ratio float64
		want  int
	}{
		{10, 0, 0}, {10, 1e-12, 1}, {10, 5e-324, 1}, {10, 0.1, 1}, {10, 0.100000001, 2}, {10, 0.3, 3}, {10, 0.1 + 0.2, 3}, {1000, 0.007, 7}, {1000, 0.0070000000001, 8}, {7, 0.4, 3},
		{10, 0.7, 7}, {5, 0.6, 3}, {10, 0.9999999999, 10}, {3, 1.0 / 3, 1}, {49, 1.0 / 49, 1}, {1000, 0.057, 57},
	} {
		if got := positions(c.t, c.ratio); got != c.want {
			t.Errorf("%d positions, ratio %v: %d, want %d", c.t, c.ratio, got, c.want)
		}
	}
}

// Epsilon has one range, and noise is called by its name in a small catalogue too.
func TestEpsilonOfAFile(t *testing.T) {
	dir := t.TempDir()
	in := put(t, dir, "in.txt", "a 1\n")
	for _, c := range []struct {
		items int
		eps   float64
		warns string
	}{
		{50, 1e-300, "refused"}, {50, 9e-10, "refused"}, {50, 1001, "refused"},
		{50, 1e-9, "pure noise"}, {50, 0.1, "pure noise"}, {2, 0.03, "pure noise"}, {50, 1, ""}, {50, 3.9, ""}, {2, 0.1, ""},
		{50, 8, "nearly plain text"}, {50, 1000, "nearly plain text"}, {100_000, 7, "pure noise"}, {100_000, 8, ""},
	} {
		_, err := File(t.Context(), FileOptions{Method: Method{Replace: ReplaceRR, Epsilon: c.eps}, Settings: perturb.Settings{In: in, Out: filepath.Join(dir, "out.txt"), Items: c.items, Workers: 1, Force: true}})
		var usage *run.UsageError
		if c.warns == "refused" {
			if !errors.As(err, &usage) || !strings.Contains(err.Error(), "want 1e-09 to 1000") {
				t.Errorf("epsilon %g: %v", c.eps, err)
			}
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		text := get(t, filepath.Join(dir, "out.report.txt"))
		if strings.Contains(text, "warning") != (c.warns != "") || !strings.Contains(text, c.warns) {
			t.Errorf("%d items, epsilon %g: no %q in\n%s", c.items, c.eps, c.warns, text)
		}
	}
}
