package registry

import (
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"privrec/internal/dataset"
)

// Titles that differ by case, by spaces or by the place of the article are one; those that differ by the year are not.
func TestPlainTitle(t *testing.T) {
	for _, c := range []struct{ title, want string }{
		{"Toy Story (1995)", "toy story (1995)"},
		{"Usual Suspects, The (1995)", "the usual suspects (1995)"},
		{"The Usual  Suspects (1995) ", "the usual suspects (1995)"},
		{"Postino, Il (The Postman) (1994)", "il postino (the postman) (1994)"},
		{"Bread, Love and Dreams (1953)", "bread, love and dreams (1953)"},
		{"Americans, The", "the americans"},
		{"Misérables, Les (1995)", "les misérables (1995)"},
		{"", ""},
	} {
		if got := PlainTitle(c.title); got != c.want {
			t.Errorf("%q is %q, want %q", c.title, got, c.want)
		}
	}
}

// Titles are read from the files of MovieLens' owners, which are in Latin-1, from tables, and from those beside own
// data.
func TestTitles(t *testing.T) {
	dir := t.TempDir()
	put := func(path, text string) {
		t.Helper()
		path = filepath.Join(dir, path)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	put("ml-1m/movies.dat", "1::Toy Story (1995)::Animation\n73::Mis\xe9rables, Les (1995)::Drama\n")
	put("ml-100k/items.tsv", "item\ttitle\tgenres\n1\tToy Story (1995)\tAnimation\n")
	put("own-shop/titles.csv", "item_id,title\na,\"Cups, The\"\n")
	put("own-bad/titles.tsv", "item_id\tname\na\tCup\n")
	put("own-none/own-none.csv", "user_id,item_id\n1,a\n")
	for name, want := range map[string]map[string]string{
		"ml-1m":    {"1": "Toy Story (1995)", "73": "Misérables, Les (1995)"},
		"ml-100k":  {"1": "Toy Story (1995)"},
		"own-shop": {"a": "Cups, The"},
	} {
		if got, err := Titles(t.Context(), name, Options{Dir: dir}); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %v, %v", name, got, err)
		}
	}
	put("ml-1m/movies.dat", "1\n")
	for name, want := range map[string]string{
		"standin-tiny": "standin-tiny: field \"title\": privrec knows of no titles of its items",
		"own-none":     "looked for titles.tsv, titles.csv",
		"own-bad":      "title",
		"ml-1m":        "movies.dat:1: field \"title\": no title after the id",
		"unknown":      "unknown data set",
	} {
		_, err := Titles(t.Context(), name, Options{Dir: dir})
		if e := (*dataset.Error)(nil); !errors.As(err, &e) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", name, err, want)
		}
	}
}
