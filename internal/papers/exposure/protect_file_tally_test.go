package exposure

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"privrec/internal/dataset"
	"privrec/internal/run"
)

// few makes little room for tallies.
func few(t *testing.T, n int) {
	was := tallied
	tallied = n
	t.Cleanup(func() { tallied = was })
}

// The most slates of one user are known of any number of users in order, and of few in
// none.
func TestUserTally(t *testing.T) {
	few(t, 4)
	for name, c := range map[string]struct {
		users string
		most  int64
		known bool
	}{
		"in order of bytes":  {"a a b c c c c d e f", 4, true},
		"in order of size":   {"1 2 2 3 9 9 9 10 11 100", 3, true},
		"few in no order":    {"d a d b d a", 3, true},
		"many, grouped":      {"z z y x w v", 0, false},
		"many in no order":   {"a b c d e a", 0, false},
		"many after few":     {"b a b c d e", 0, false},
		"in neither order":   {"1 10 2 11 12", 0, false},
		"as many as fit":     {"d c b a d", 2, true},
		"a user comes again": {"a b a", 2, true},
	} {
		var u userTally
		for _, id := range strings.Fields(c.users) {
			u.add([]byte(id))
		}
		if n, known := u.slates(); known != c.known || known && n != c.most {
			t.Errorf("%s: %d, %v, want %d, %v", name, n, known, c.most, c.known)
		}
	}
}

// A slate that comes again is found among the last tallied/2, and nothing else is taken
// for one; where ids ascend none can come again.
func TestSlateTally(t *testing.T) {
	few(t, 8)
	for name, c := range map[string]struct {
		keys            string
		again, complete bool
	}{
		"another user's":  {"a.1 b.1 c.1", false, true},
		"shifted":         {"a.bc ab.c", false, true},
		"next":            {"a.1 a.1", true, true},
		"later":           {"a.1 a.2 b.7 b.6 a.1", true, true},
		"half a room off": {"a.9 a.8 a.7 a.6 a.5 b.4 b.3 b.2 b.1 b.4", true, false},
		"in order":        {"a.1 a.2 a.3 b.1 b.2 b.3 b.9 b.10 c.1 c.2 c.3 c.4 c.5 d.1", false, true},
		"in no order":     {"a.14 a.13 a.12 a.11 a.10 a.9 a.8 a.7 a.6 a.5 a.4 a.3 a.2 a.1", false, false},
		"forgotten":       {"a.14 a.13 a.12 a.11 a.10 a.9 a.8 a.7 a.6 a.5 a.4 a.3 a.2 a.14", false, false},
	} {
		var s slateTally
		again := false
		for _, key := range strings.Fields(c.keys) {
			user, id, _ := strings.Cut(key, ".")
			again = !s.add([]byte(user), []byte(id)) || again
		}
		if again != c.again || s.complete() != c.complete {
			t.Errorf("%s: again %v, complete %v", name, again, s.complete())
		}
	}
}

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
	report := func(text, name string) string {
		o := PerturbOptions{In: put(t, dir, name, text), Out: filepath.Join(dir, "out.tsv"), Catalogue: put(t, dir, "all.txt", "i1\ni2\ni3\ni4\ni5\ni6\ni7\ni8\ni9\n"), Replace: ReplaceRR, Epsilon: 3, Workers: 2, Force: true}
		if _, err := PerturbFile(t.Context(), o); err != nil {
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
	says(report(linesText(users, slates), "in.txt"), "a whole user: all slates, 12 at most 144", rows, "no "+twice, "basic composition")
	says(report(longText("\t", users, slates), "in.tsv"), "a whole user: all slates, 12 at most 144", "no "+rows, "no "+twice)
	few(t, 2)
	says(report(longText("\t", users, slates), "in.tsv"), "no a whole user: all", "12 times the most slates of one user", "no "+rows, twice)
}

// What a file or an option gets wrong is said in the words of the file and the option.
func TestWordsOfAFile(t *testing.T) {
	const long = "user_id\tslate_id\tposition\titem_id\n"
	for name, c := range map[string]struct {
		in, text string
		change   func(o *PerturbOptions)
		line     int
		field    string
		want     string
	}{
		"the length asked for, lines": {"in.txt", "a 1 2\n", func(o *PerturbOptions) { o.Length = 3 }, 1, "item", "the slate has 2 items, --length says 3"},
		"the length asked for, wide":  {"in.tsv", "user_id\titem_1\titem_2\na\t1\t2\n", func(o *PerturbOptions) { o.Length = 3 }, 2, "", "the slate has 2 items, --length says 3"},
		"the length asked for, long":  {"in.tsv", long + "a\ts\t1\t1\n", func(o *PerturbOptions) { o.Length = 3 }, 2, "position", "slate \"s\" has 1 items, --length says 3"},
		"an empty item":               {"in.tsv", "user_id\titem_1\titem_2\na\t1\t2\nb\t3\t\n", nil, 3, "item_2", "empty"},
		"an item outside":             {"in.tsv", "user_id\titem_1\titem_2\na\t1\t10\n", nil, 2, "item_2", "outside the catalogue"},
		"zeros in front":              {"in.tsv", "user_id\titem_1\titem_2\na\t007\t2\n", nil, 2, "item_1", `"007" is not a number from 1 to 9`},
		"a slate twice":               {"in.tsv", long + "a\ts\t1\t1\nb\ts\t1\t1\na\ts\t1\t3\n", nil, 4, "slate_id", "is in the file twice"},
		"a slate twice in a row":      {"in.tsv", long + "a\ts\t1\t1\na\ts\t1\t1\n", nil, 3, "position", "position 1 of slate"},
	} {
		dir := t.TempDir()
		o := PerturbOptions{In: put(t, dir, c.in, c.text), Out: filepath.Join(dir, "out.tsv"), Items: 9, Replace: ReplaceRR, Epsilon: 1, Workers: 1}
		if c.change != nil {
			c.change(&o)
		}
		_, err := PerturbFile(t.Context(), o)
		var data *dataset.Error
		if !errors.As(err, &data) || data.Line != c.line || data.Field != c.field || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "others have") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// Slates and vectors have one rule for the numbers of items.
func TestItemNumbers(t *testing.T) {
	c := &itemNames{size: 12}
	for id, want := range map[string]int32{"1": 0, "12": 11, "0": -1, "13": -1, "007": -1, "01": -1, "+1": -1, "-1": -1, "": -1, "1 ": -1, "99999999999": -1, "18446744073709551617": -1} {
		if got := c.number(id); got != want {
			t.Errorf("%q is item %d in vectors, want %d", id, got, want)
		}
		if id == "" || id == "1 " {
			continue
		}
		dir := t.TempDir()
		_, err := PerturbFile(t.Context(), PerturbOptions{In: put(t, dir, "in.tsv", "user_id\titem_1\na\t"+id+"\n"), Out: filepath.Join(dir, "out.tsv"), Items: 12, Ratio: 0.5, Workers: 1})
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
		_, err := PerturbFile(t.Context(), PerturbOptions{In: in, Out: filepath.Join(dir, "out.txt"), Items: c.items, Replace: ReplaceRR, Epsilon: c.eps, Workers: 1, Force: true})
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
