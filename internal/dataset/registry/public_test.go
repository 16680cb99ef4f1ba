package registry

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"privrec/internal/dataset"
)

// shop writes own data of three users, of whom one has an item that nobody else has, and returns the folder of data.
func shop(t *testing.T, without string) string {
	t.Helper()
	dir := t.TempDir()
	var b strings.Builder
	b.WriteString("user_id,item_id,rating,timestamp\n")
	for u, items := range map[string]string{"1": "abc", "2": "abcd", "3": "bcz"} {
		if u == without {
			continue
		}
		for k, i := range items {
			b.WriteString(u + "," + string(i) + ",5," + string(rune('1'+k)) + "\n")
		}
	}
	for name, text := range map[string]string{
		"own-shop/own-shop.csv": b.String(), "items.txt": "b\na\nc\nd\nq\n", "items.csv": "item_id,title\na,A\nb,B\nc,C\nd,D\nq,Q\n",
		"users.txt": "1\n2\n9\n", "twice.txt": "a\nb\na\n", "empty.txt": "", "none.txt": "x\ny\n", "items.bin": "a\n",
	} {
		path := filepath.Join(dir, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte(text), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// TestStatedItems: items are those of the list, in its order by id, whoever is in the data; rows of others are left
// out and counted, and the source names the file.
func TestStatedItems(t *testing.T) {
	for _, c := range []struct{ file, without string }{{"items.txt", ""}, {"items.txt", "3"}, {"items.csv", "2"}} {
		dir := shop(t, c.without)
		v, opts := dataset.View{Seed: 3}, Options{Dir: dir, NoCache: true, Items: filepath.Join(dir, c.file)}
		x, err := LoadInteractions(t.Context(), "own-shop", "ratio", v, opts)
		if err != nil {
			t.Fatal(err)
		}
		if want := []string{"a", "b", "c", "d", "q"}; !slices.Equal(x.ItemIDs, want) || x.Items != 5 {
			t.Errorf("%v: items %v, want %v", c, x.ItemIDs, want)
		}
		left := 1 // z
		if c.without == "3" {
			left = 0
		}
		if s := x.Source.Items; s == nil || s.IDs != 5 || s.Left != left || s.File != opts.Items || len(s.SHA256) != 64 {
			t.Errorf("%v: stated %+v", c, x.Source.Items)
		}
		q, err := Load(t.Context(), "own-shop", "all", v, opts)
		if err != nil {
			t.Fatal(err)
		}
		if want := []string{"", "a", "b", "c", "d", "q"}; !slices.Equal(q.ItemIDs, want) || q.Items != 5 || q.CandidatesCore != 5 {
			t.Errorf("%v: items of sequences %v (%d, %d)", c, q.ItemIDs, q.Items, q.CandidatesCore)
		}
		rows := 0
		for u := range q.Train {
			rows += len(q.Train[u]) + len(q.Test[u])
		}
		if want := map[string]int{"": 9, "3": 7, "2": 5}[c.without]; rows != want {
			t.Errorf("%v: %d rows of sequences, want %d", c, rows, want)
		}
		opts = Again(x.Source)
		opts.Dir, opts.NoCache = dir, true
		again, err := LoadInteractions(t.Context(), "own-shop", "ratio", v, opts)
		if err != nil || SameLists(x.Source, again.Source) != nil || !slices.Equal(again.ItemIDs, x.ItemIDs) {
			t.Errorf("%v: loaded again: %v, %v", c, again, err)
		}
		without, err := LoadInteractions(t.Context(), "own-shop", "ratio", v, Options{Dir: dir, NoCache: true})
		if err != nil || SameLists(x.Source, without.Source) == nil {
			t.Errorf("%v: data with a list and without one pass as the same: %v", c, err)
		}
	}
}

// TestStatedUsers: users are those of the list, also one without rows.
func TestStatedUsers(t *testing.T) {
	dir := shop(t, "")
	x, err := LoadInteractions(t.Context(), "own-shop", "ratio", dataset.View{},
		Options{Dir: dir, NoCache: true, Items: filepath.Join(dir, "items.txt"),
			Users: filepath.Join(dir, "users.txt")})
	if err != nil {
		t.Fatal(err)
	}
	if want := []string{"1", "2", "9"}; !slices.Equal(x.UserIDs, want) || len(x.Train) != 3 || len(x.Train[2]) != 0 {
		t.Errorf("users %v with rows %v", x.UserIDs, x.Train)
	}
	if s := x.Source.Users; s == nil || s.Left != 2 || s.IDs != 3 {
		t.Errorf("stated %+v", x.Source.Users)
	}
}

// TestStatedRefused: what cannot be taken as a list says why.
func TestStatedRefused(t *testing.T) {
	dir := shop(t, "")
	for file, want := range map[string]string{
		"twice.txt": "second row of", "empty.txt": "file is empty", "none.txt": "no row has an id of this list", "missing.txt": "no such file",
		"items.bin": "the name does not tell the form", Published: "knows of no such list",
	} {
		path := file
		if file != Published {
			path = filepath.Join(dir, file)
		}
		_, err := LoadInteractions(t.Context(), "own-shop", "ratio", dataset.View{},
			Options{Dir: dir, NoCache: true, Items: path})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", file, err, want)
		}
	}
	for _, path := range []string{dir, os.DevNull} {
		_, err := LoadInteractions(t.Context(), "own-shop", "ratio", dataset.View{},
			Options{Dir: dir, NoCache: true, Items: path})
		if err == nil || !strings.Contains(err.Error(), "no regular file") {
			t.Errorf("%s: %v", path, err)
		}
	}
	// Of generated rows all ids are public: the word states nothing more. A file is read as with other data.
	if s, err := Load(t.Context(), "standin-tiny", "dipsgnn", dataset.View{},
		Options{Items: Published, Users: Published}); err != nil || s.Source.Items != nil || s.Source.Users != nil {
		t.Errorf("generated data, published lists: %+v, %v", s, err)
	}
}

// TestDecisions: a recipe says which of its filters count rows of many users. Users' own rows are no others' business.
func TestDecisions(t *testing.T) {
	for name, want := range map[string][]string{
		"all": nil, "ratio": nil, "recent": nil, "users-3+ratio": nil, "rating-4+last-5+leave-one-out": nil, "5-core": {"5-core"},
		"items-2+ratio": {"items >= 2 rows"}, "items-2+3-core+split": {"items >= 2 rows", "3-core"},
	} {
		set, err := Find("own-shop")
		if err != nil {
			t.Fatal(err)
		}
		r, err := set.Recipe(name)
		if err != nil {
			t.Fatal(err)
		}
		if d := r.Decisions(false); !slices.Equal(d.Filters, want) || d.Published {
			t.Errorf("%s: %+v, want %v", name, d, want)
		}
	}
	dir := shop(t, "")
	s, err := Foreseen(t.Context(), "own-shop", "5-core", Public{Items: filepath.Join(dir, "items.txt")})
	if err != nil || s.StandIn || s.Items.IDs != 5 || len(s.Decided.Filters) != 1 {
		t.Errorf("foreseen %+v, %v", s, err)
	}
	if s, err = Foreseen(t.Context(), "standin-tiny", "dipsgnn", Public{}); err != nil || !s.StandIn {
		t.Errorf("foreseen %+v, %v", s, err)
	}
}

// TestPublishedLists reads the lists that MovieLens was published with, in its own forms and in others.
func TestPublishedLists(t *testing.T) {
	for _, c := range []struct{ set, file, text string }{
		{"ml-1m", "movies.dat", "1::Toy Story (1995)::Animation|Comedy\n12::Caf\xe9::Drama\n"}, // Latin-1
		{"ml-1m", "items.tsv", "item\ttitle\n1\tToy Story\n12\tX\n"},
		{"ml-100k", "u.item", "1|Toy Story (1995)|01-Jan-1995||http://x|0|1\n12|Y|||\n"},
		{"ml-100k", "ml-100k.item", "item_id:token\tmovie_title:token_seq\n1\tToy\n12\tY\n"},
	} {
		dir := t.TempDir()
		if err := errors.Join(os.Mkdir(filepath.Join(dir, c.set), 0o700), os.WriteFile(filepath.Join(dir, c.set, c.file), []byte(c.text), 0o600)); err != nil {
			t.Fatal(err)
		}
		set, err := Find(c.set)
		if err != nil {
			t.Fatal(err)
		}
		items, users, err := set.stated(t.Context(), Options{Dir: dir, Items: Published})
		if err != nil || users != nil || !slices.Equal(items.Names, []string{"1", "12"}) || items.File != Published {
			t.Errorf("%s: %+v, %v", c.file, items, err)
		}
		if _, _, err := set.stated(t.Context(), Options{Dir: dir, Users: Published}); !errors.Is(err, dataset.ErrNotFound) {
			t.Errorf("%s: users %v", c.file, err)
		}
	}
}
