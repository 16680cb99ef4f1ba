package registry

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"privrec/internal/dataset"
)

// forgetting returns the view that forgets users, and a pointer to those who are found.
func forgetting(users ...string) (v dataset.View, found *[]string) {
	found = new([]string)
	return dataset.View{Seed: 3, Forgotten: dataset.Forgotten(nil).With(users...),
		Found: func(ids []string) { *found = append(*found, ids...) }}, found
}

// ownPair writes a log of two domains without some users.
func ownPair(t *testing.T, without ...string) string {
	t.Helper()
	dir := t.TempDir()
	for k, name := range []string{"own-a", "own-b"} {
		var b strings.Builder
		b.WriteString("user_id,item_id,timestamp\n")
		for u := range 30 {
			user := fmt.Sprint(u)
			if u == 7 {
				user = "word"
			}
			if slices.Contains(without, user) {
				continue
			}
			for n := range 8 + u%3 {
				fmt.Fprintf(&b, "%s,%d,%d\n", user, (u*u+n*(k+2))%19, 100+n)
			}
		}
		folder := filepath.Join(dir, name)
		if err := os.MkdirAll(folder, 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(folder, name+".csv"), []byte(b.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// Data without forgotten users have the digest of files without their rows, for logs, sequences, pairs and two domains,
// and the cache holds nothing of them.
func TestForgotten(t *testing.T) {
	t.Setenv("PRIVREC_CACHE", t.TempDir())
	for _, users := range [][]string{{"3"}, {"word"}, {"word", "0", "29"}} {
		whole, less := Options{Dir: ownPair(t)}, Options{Dir: ownPair(t, users...)}
		for _, recipe := range []string{"ratio", "leave-one-out", "5-core", "distinct+users-3+ratio-60+valid-20"} {
			v, found := forgetting(users...)
			a, err := LoadInteractions(t.Context(), "own-a", recipe, v, whole)
			if strings.HasSuffix(recipe, "5-core") && err != nil {
				continue // repeated pairs
			}
			if err != nil {
				t.Fatal(err)
			}
			b, err := LoadInteractions(t.Context(), "own-a", recipe, dataset.View{Seed: 3}, less)
			if err != nil {
				t.Fatal(err)
			}
			if a.Rows() != b.Rows() {
				t.Errorf("%v, %s: other rows than those of files without them", users, recipe)
			}
			if fmt.Sprint(a.Ladder) != fmt.Sprint(b.Ladder) {
				t.Errorf("%v, %s: the counts are\n%v, want\n%v", users, recipe, a.Ladder, b.Ladder)
			}
			slices.Sort(*found)
			if want := slices.Sorted(slices.Values(users)); !slices.Equal(slices.Compact(*found), want) {
				t.Errorf("%v, %s: found %v", users, recipe, *found)
			}
		}
		v, _ := forgetting(users...)
		a, err := LoadCross(t.Context(), "own-a+own-b", "a", "b", v, whole)
		if err != nil {
			t.Fatal(err)
		}
		b, err := LoadCross(t.Context(), "own-a+own-b", "a", "b", dataset.View{Seed: 3}, less)
		if err != nil {
			t.Fatal(err)
		}
		if a.Rows() != b.Rows() {
			t.Errorf("%v, two domains: other rows than those of files without them", users)
		}
		l, _, err := LoadLog(t.Context(), "own-a", v, whole)
		if err != nil {
			t.Fatal(err)
		}
		for _, u := range users {
			if slices.Contains(l.UserIDs, u) {
				t.Errorf("the log has user %s", u)
			}
		}
	}
}

// A list of users that is stated keeps those who are not forgotten, and its hash.
func TestForgottenStated(t *testing.T) {
	dir := ownPair(t)
	list := filepath.Join(dir, "users.txt")
	if err := os.WriteFile(list, []byte("3\n4\nword\nnobody\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	v, _ := forgetting("word")
	s, err := LoadInteractions(t.Context(), "own-a", "ratio", v, Options{Dir: dir, Users: list, NoCache: true})
	if err != nil {
		t.Fatal(err)
	}
	if want := []string{"3", "4", "nobody"}; !slices.Equal(s.UserIDs, want) {
		t.Errorf("users are %v, want %v", s.UserIDs, want)
	}
	if s.Source.Users.IDs != 4 {
		t.Errorf("the list has %d ids, want 4", s.Source.Users.IDs)
	}
}

// The cache is neither read nor written for data that forget users, and its entries are found by those they hold.
func TestForgottenCache(t *testing.T) {
	dir, cache := ownPair(t), t.TempDir()
	o := Options{Dir: dir, CacheDir: cache}
	v, _ := forgetting("3")
	if _, err := Load(t.Context(), "own-a", "ratio", v, o); err != nil {
		t.Fatal(err)
	}
	is := func(id string) bool { return id == "3" || id == "no" }
	if list, err := Cached(cache, "own-a", is); err != nil || len(list) != 0 {
		t.Fatalf("an entry was written: %v, %v", list, err)
	}
	if _, err := Load(t.Context(), "own-a", "ratio", dataset.View{Seed: 3}, o); err != nil {
		t.Fatal(err)
	}
	list, err := Cached(cache, "own-a+own-b", is)
	if err != nil || len(list) != 1 || list[0].Users != 1 || filepath.Dir(list[0].Path) != cache {
		t.Fatalf("entries are %v, %v", list, err)
	}
	for _, other := range []struct {
		set string
		is  func(string) bool
	}{{"own-b", is}, {"own-a", func(id string) bool { return id == "no" }}} {
		if list, err := Cached(cache, other.set, other.is); err != nil || len(list) != 0 {
			t.Errorf("%s: entries are %v, %v", other.set, list, err)
		}
	}
}

// Nobody is left, and a name that is none.
func TestForgottenAll(t *testing.T) {
	dir := ownPair(t)
	var all []string
	for u := range 30 {
		all = append(all, fmt.Sprint(u))
	}
	v, _ := forgetting(append(all, "word")...)
	_, err := Load(t.Context(), "own-a", "ratio", v, Options{Dir: dir, NoCache: true})
	if err == nil || !strings.Contains(err.Error(), "all users are forgotten") {
		t.Errorf("error %v", err)
	}
	v = dataset.View{Forgotten: dataset.Forgotten{"x"}}
	if _, err := Load(t.Context(), "own-a", "ratio", v, Options{Dir: dir, NoCache: true}); err == nil {
		t.Error("a name that is no hash is taken")
	}
}
