package registry

import (
	"context"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"privrec/internal/dataset"
	"privrec/internal/dataset/standin"
	"privrec/internal/rng"
)

// crossFolder writes a table under the name of the toys and games.
func crossFolder(t *testing.T, text string) Options {
	t.Helper()
	dir := t.TempDir()
	folder := filepath.Join(dir, "cd-amazon-toy-game")
	if err := os.Mkdir(folder, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(folder, "interactions.tsv"), []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	return Options{Dir: dir, NoCache: true}
}

const crossHeader = "user\ttimestamp\tdomain\titem\n"

// Users in both domains stay; repeats keep the first row; ties keep the order of the
// file; a held-out row whose item is new goes, and takes the test row with it.
func TestLoadCross(t *testing.T) {
	rows := crossHeader +
		"1\t5\tA\t1\n1\t5\tA\t2\n1\t6\tA\t1\n1\t7\tA\t3\n1\t8\tA\t4\n1\t1\tB\t9\n" + // A: 1 2 3 4
		"2\t1\tA\t3\n2\t2\tA\t4\n2\t3\tA\t1\n2\t4\tA\t2\n2\t1\tB\t9\n2\t2\tB\t8\n2\t3\tB\t9\n" + // B: 9 8
		"3\t1\tA\t1\n3\t2\tA\t7\n3\t3\tA\t1\n3\t4\tA\t2\n3\t9\tB\t8\n" + // A: 1 7 2, item 7 is new
		"4\t1\tA\t5\n" // in A alone
	c, err := LoadCross(context.Background(), "cd-amazon-toy-game", "toys", "games", dataset.View{},
		crossFolder(t, rows))
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(c.UserIDs, []string{"1", "2", "3"}) || c.Users != 3 || c.Source.Level != dataset.LevelC {
		t.Fatalf("users %v, level %v", c.UserIDs, c.Source.Level)
	}
	d := &c.Domains[0]
	name := func(items ...int32) string {
		var ids []string
		for _, i := range items {
			ids = append(ids, strings.TrimPrefix(d.ItemIDs[i], "A:"))
		}
		return strings.Join(ids, " ")
	}
	for u, want := range []struct{ train, valid, test string }{{"1 2", "3", "4"}, {"3 4", "1", "2"}, {"1", "", ""}} {
		if name(d.Train[u]...) != want.train || name(d.Valid[u]) != want.valid || name(d.Test[u]) != want.test {
			t.Errorf("user %d: %q %q %q, want %v", u, name(d.Train[u]...), name(d.Valid[u]), name(d.Test[u]), want)
		}
	}
	// 5 of user 4 is gone, 7 stays an item. The test item of user 3 is one that others train on.
	if want := (dataset.LeftOut{ValidRows: 3, TestRows: 3, ValidItem: 1, TestByValid: 1}); d.Left != want || d.Items != 5 {
		t.Errorf("left out %+v of %d items, want %+v", d.Left, d.Items, want)
	}
	if got := c.Domains[1].Train; len(got[0]) != 1 || len(got[1]) != 2 || c.Domains[1].Test[1] != 0 {
		t.Errorf("games are %v", got)
	}
	if m := d.Matrix(2, true); name(m[0:2]...) != "2 3" || m[4] != 0 || name(m[5]) != "1" {
		t.Errorf("matrix %v", m)
	}
	if m := d.Matrix(3, false); m[0] != 0 || name(m[1:3]...) != "1 2" {
		t.Errorf("matrix %v", m)
	}
	if k := d.Known(false); k[0] || !k[d.Train[0][0]] {
		t.Errorf("known %v", k)
	}
}

func TestLoadCrossRefuses(t *testing.T) {
	good := crossHeader + "1\t5\tA\t1\n1\t5\tB\t2\n"
	for _, c := range []struct{ set, target, auxiliary, text, want string }{
		{"nowhere", "toys", "games", good, "unknown cross-domain data set"},
		{"cd-amazon-toy-game", "toys", "food", good, `unknown domain "food"`},
		{"cd-amazon-toy-game", "toys", "toys", good, "both target and auxiliary"},
		{"cd-amazon-toy-game", "toys", "games", crossHeader + "1\t5\tA\t1\n2\t5\tB\t2\n", "no user is left"},
		{"cd-amazon-toy-game", "toys", "games", "user\ttimestamp\titem\n1\t2\t3\n", `"domain"`},
		{"cd-amazon-toy-game", "toys", "games", crossHeader + "1\tx\tA\t1\n", "interactions.tsv:2"},
		{"cd-amazon-toy-game", "toys", "games", crossHeader + "1\t5\tA\n", "interactions.tsv:2"},
		{"cd-amazon-toy-game", "toys", "games", crossHeader + "1\t5\t\t1\n", `"domain"`},
	} {
		_, err := LoadCross(context.Background(), c.set, c.target, c.auxiliary, dataset.View{}, crossFolder(t, c.text))
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s %s %s: error %v, want one that says %q", c.set, c.target, c.auxiliary, err, c.want)
		}
	}
}

// The three domains of PriCDSR: items then users with five rows, then the users of all.
func TestAmazonCross(t *testing.T) {
	dir := t.TempDir()
	for _, category := range []string{"Movies_and_TV", "CDs_and_Vinyl", "Books"} {
		var b strings.Builder
		for u := range 9 {
			for i := range 6 {
				if category == "Books" && u == 8 && i > 1 {
					break // user 8 is too short there
				}
				fmt.Fprintf(&b, "A%013d,%010d,4.0,%d\n", u, i, 86400*((i+u)%6))
			}
		}
		folder := filepath.Join(dir, "amazon-"+strings.ToLower(strings.ReplaceAll(category, "_", "-")))
		if err := os.Mkdir(folder, 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(folder, "ratings_"+category+".csv"), []byte(b.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	c, err := LoadCross(context.Background(), "cd-amazon-movie-cd-book", "movies", "books", dataset.View{},
		Options{Dir: dir, NoCache: true})
	if err != nil {
		t.Fatal(err)
	}
	if c.Users != 8 || c.Domains[0].Items != 6 || c.Source.Level != dataset.LevelC {
		t.Errorf("%d users, %d items, level %v", c.Users, c.Domains[0].Items, c.Source.Level)
	}
	if r, ok := c.Ladder.Get("books"); !ok || r.Users != 8 || r.Rows != 48 {
		t.Errorf("books: %+v in %+v", r, c.Ladder)
	}
	if r, ok := c.Ladder.Get("movies: raw"); !ok || r.Users != 9 {
		t.Errorf("movies: %+v", r)
	}
	if !slices.ContainsFunc(c.Source.Notes, func(n string) bool { return strings.Contains(n, "6 items are in both") }) {
		t.Errorf("notes %q", c.Source.Notes)
	}
}

// Lists hold distinct items that the user never has, and follow popularity: the first
// item drawn for many users of one and the same history is that of the counts, within
// 6 standard deviations an item (false alarm below 1e-7 over all).
func TestCrossLists(t *testing.T) {
	const users = 4000
	d := dataset.Domain{Name: "d", Items: 6, Train: make([][]int32, users), Valid: make([]int32, users), Test: make([]int32, users)}
	for u := range users {
		d.Train[u], d.Test[u] = []int32{1}, 2
		switch { // items 3, 4, 5, 6 in the ratio 1:2:3:4, by users without held-out rows
		case u%10 < 1:
			d.Train[u], d.Test[u] = []int32{3}, 0
		case u%10 < 3:
			d.Train[u], d.Test[u] = []int32{4}, 0
		case u%10 < 6:
			d.Train[u], d.Test[u] = []int32{5}, 0
		}
	}
	for range users * 4 / 10 {
		d.Train, d.Valid, d.Test = append(d.Train, []int32{6}), append(d.Valid, 0), append(d.Test, 0)
	}
	ids := make([]string, len(d.Train))
	for u := range ids {
		ids[u] = strconv.Itoa(u)
	}
	lists, err := d.Lists(4, 7, ids)
	if err != nil {
		t.Fatal(err)
	}
	first, n := map[int32]int{}, 0
	for u, l := range lists {
		if d.Test[u] == 0 {
			if l != nil {
				t.Fatalf("user %d has nothing to rank and a list %v", u, l)
			}
			continue
		}
		sorted := slices.Clone(l)
		slices.Sort(sorted)
		if !slices.Equal(sorted, []int32{3, 4, 5, 6}) {
			t.Fatalf("user %d: %v", u, l)
		}
		first[l[0]]++
		n++
	}
	for item, share := range map[int32]float64{3: 0.1, 4: 0.2, 5: 0.3, 6: 0.4} {
		if sd := math.Sqrt(float64(n) * share * (1 - share)); math.Abs(float64(first[item])-share*float64(n)) > 6*sd {
			t.Errorf("item %d came first %d of %d times, want a share of %v", item, first[item], n, share)
		}
	}
	again, _ := d.Lists(4, 7, ids)
	other, _ := d.Lists(4, 8, ids)
	at := slices.IndexFunc(d.Test, func(i int32) bool { return i != 0 })
	if !slices.Equal(again[at], lists[at]) || slices.EqualFunc(other, lists, slices.Equal[[]int32]) {
		t.Error("lists must depend on the seed alone")
	}
	if _, err := d.Lists(5, 7, ids); err == nil || !strings.Contains(err.Error(), "want 5") {
		t.Errorf("five of four items: %v", err)
	}
}

func TestCrossStandIn(t *testing.T) {
	load := func(seed rng.Seed) *dataset.Cross {
		c, err := LoadCross(context.Background(), standin.CrossName, "left", "right", dataset.View{Seed: seed},
			Options{})
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	a, b := load(1), load(2)
	if a.Source.Level != dataset.LevelD || a.Source.Hash == b.Source.Hash || a.Users != 240 {
		t.Errorf("level %v, hash %q, %d users", a.Source.Level, a.Source.Hash, a.Users)
	}
	tests := 0
	for u, item := range a.Domains[0].Test {
		if item != 0 {
			tests++
		}
		seq := slices.Clone(a.Domains[0].Train[u])
		slices.Sort(seq)
		if len(slices.Compact(seq)) != len(a.Domains[0].Train[u]) {
			t.Fatalf("user %d has an item twice", u)
		}
	}
	if tests < 240/2 {
		t.Errorf("%d test rows", tests)
	}
}

func TestKnown(t *testing.T) {
	for name, want := range map[string]bool{standin.CrossName: true, "standin-tiny": true, "ml-1m": false, "cd-amazon-toy-game": false} {
		if made, err := Known(name); err != nil || made != want {
			t.Errorf("%s: %v, %v", name, made, err)
		}
	}
	if _, err := Known("nowhere"); err == nil {
		t.Error("nowhere is not known")
	}
}
