package lists

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"privrec/internal/dataset"
)

// Files that libraries wrote (testdata/libraries/make.py) hold the lists that the libraries have in memory, and what is
// not read of them is named.
func TestFilesOfLibraries(t *testing.T) {
	b, err := os.ReadFile("testdata/libraries/want.json")
	if err != nil {
		t.Fatal(err)
	}
	var want map[string]json.RawMessage
	if err := json.Unmarshal(b, &want); err != nil {
		t.Fatal(err)
	}
	left := map[string][]string{
		"surprise.csv":           {"the columns r_ui, details are not read", "the column est is read as score"},
		"surprise.jsonl":         {"the columns r_ui, details.was_impossible are not read", "the column est is read as score"},
		"implicit.csv":           nil,
		"implicit.parquet":       {"the column __index_level_0__ is not read"},
		"lenskit.csv":            nil,
		"lenskit-flat.parquet":   nil,
		"lenskit-native.parquet": nil,
		"pandas-lists.jsonl":     {"the column items is read as item_id"},
		"pandas-lists.parquet":   {"the column items is read as item_id"},
		"pandas-wide.csv":        {"the columns rec_1 to rec_6 are read as the items of a list, the first one best"},
		"spark.csv":              {"the column rating is read as score"},
		"spark.json":             {"the column rating is read as score"},
		"spark.parquet":          {"the column rating is read as score"},
		"spark-prediction.csv":   nil,
	}
	delete(want, "versions")
	if len(want) != len(left) {
		t.Errorf("%d files, want %d", len(want), len(left))
	}
	for name, lists := range want {
		t.Run(name, func(t *testing.T) {
			var of map[string][]string
			if err := json.Unmarshal(lists, &of); err != nil {
				t.Fatal(err)
			}
			ids := &IDs{}
			f, err := Read(t.Context(), filepath.Join("testdata/libraries", name), Recommended, ids)
			if err != nil {
				t.Fatal(err)
			}
			for u, rows := range f.ByUser(len(ids.Users.IDs)) {
				var got []string
				for _, r := range rows {
					got = append(got, ids.Items.IDs[r.Item])
				}
				if w := of[ids.Users.IDs[u]]; len(w) == 0 || len(got) < len(w) || !slices.Equal(got[:len(w)], w) {
					t.Errorf("user %s has %v, want %v", ids.Users.IDs[u], got, w)
				}
			}
			if len(ids.Users.IDs) != len(of) {
				t.Errorf("%d users, want %d", len(ids.Users.IDs), len(of))
			}
			var notes []string
			for _, n := range f.Left() {
				notes = append(notes, strings.TrimPrefix(n, name+": "))
			}
			if !slices.Equal(notes, left[name]) {
				t.Errorf("left: %q, want %q", notes, left[name])
			}
		})
	}
	_, err = Read(t.Context(), "testdata/libraries/elliot.tsv", Recommended, &IDs{})
	var e *dataset.Error
	if !errors.As(err, &e) || !strings.Contains(e.Hint, "as in files of Elliot") {
		t.Errorf("a file of Elliot: %v", err)
	}
}

// Rows of JSON lines are rows of a table, or lists.
func TestJSONLines(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"rows", `{"user":"a","item":1,"score":0.5}` + "\n" + `{"user":"a","item":2,"score":0.75}`, "a: 2 1"},
		{"numbers", `{"user":7,"item":105,"rank":2}` + "\n" + `{"user":7,"item":3,"rank":1}`, "7: 3 105"},
		{"lists", `{"user":"a","items":["x","y"]}` + "\n" + `{"user":"b","items":["y","x","z"]}`, "a: x y; b: y x z"},
		{"scores", `{"user":"a","items":["x","y"],"scores":[1,2]}`, "a: y x"},
		{"objects", `{"user":1,"recommendations":[{"item":5,"rating":1.5},{"item":6,"rating":2}]}`, "1: 6 5"},
		{"empty list", `{"user":"a","items":["x"]}` + "\n" + `{"user":"b","items":[]}`, "a: x (1 rows hold an empty list, and are left out)"},
		{"lists of lists", `{"user":"a","items":[["x",1]]}`, "error: holds lists of lists"},
		{"other names", `{"user":"a","item":"x"}` + "\n" + `{"user":"a","itm":"y"}`, "error: the names user, itm are not those of the first line: user, item"},
		{"twice", `{"user":"a","user":"b","item":"x"}`, `error: the name "user" is twice`},
		{"lengths", `{"user":"a","items":["x","y"],"scores":[1]}`, "error: a list of 1 values, beside one of 2"},
		{"cut", `{"user":"a","item":"x"}` + "\n" + `{"user":"a","it`, "error: ends too early"},
		{"two in a line", `{"user":"a","item":"x"} {"user":"b","item":"x"}`, "error: more than one JSON object"},
		{"no item", `{"user":"a","thing":"x"}`, "error: column is missing"},
		{"users in lists", `{"user":["a","b"],"item":"x"}`, "error: holds lists of users"},
		{"null", `{"user":"a","item":null}`, "error: empty"},
		{"scores alone in lists", `{"user":"a","item":"x","score":[1,2]}`, "error: holds lists, and item does not"},
		{"not alike", `{"user":"a","items":[{"item":1},{"id":2}]}`, "error: are not alike"},
		{"an element without a name", `{"user":1,"recommendations":[{}]}`, "error: are not alike"},
		{"values, then objects", `{"user":1,"items":[2,{"item":3}]}`, "error: are not alike"},
		{"objects, then values", `{"user":1,"items":[{"item":3},2]}`, "error: are not alike"},
		{"deep", strings.Repeat(`{"a":`, 100_000) + "1" + strings.Repeat("}", 100_000), "error: nested more than 64 deep"},
		{"deep lists", strings.Repeat(`{"a":[`, 100_000) + "1" + strings.Repeat("]}", 100_000), "error: nested more than 64 deep"},
		{"a column a place", `{"user":"a","rec_1":"x","rec_2":"y"}` + "\n" + `{"user":"b","rec_1":"y","rec_2":null}`, "a: x y; b: y"},
		{"objects, then none", `{"user":1,"recs":[{"item":5,"rating":1}]}` + "\n" + `{"user":2,"recs":[]}`,
			"1: 5 (1 rows hold an empty list, and are left out)"},
		{"none, then objects", `{"user":2,"recs":[]}` + "\n" + `{"user":1,"recs":[{"item":5,"rating":1}]}`,
			"1: 5 (1 rows hold an empty list, and are left out)"},
		{"a list of tags", `{"user":"a","item":"x","score":1,"tags":[]}` + "\n" + `{"user":"a","item":"y","score":2,"tags":["t"]}`, "a: y x"},
		{"a list, then none", `{"user":1,"items":["x"]}` + "\n" + `{"user":2,"items":"y"}`, "error: is a list in one line and none in another"},
		{"null in a list", `{"user":1,"items":["x",null]}`, "error: empty"},
		{"order in doubt", `{"user":"a","item":"x","weight":1}` + "\n" + `{"user":"a","item":"y","weight":2}`, "error: weight"},
	} {
		t.Run(c.name, func(t *testing.T) {
			f, ids, err := readText(t, "recs.jsonl", c.text, Recommended)
			if part, fails := strings.CutPrefix(c.want, "error: "); fails {
				if err == nil || !strings.Contains(err.Error(), part) || !strings.Contains(err.Error(), "recs.jsonl") {
					t.Errorf("got %v, want %q", err, part)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			var lists []string
			for u, rows := range f.ByUser(len(ids.Users.IDs)) {
				text := ids.Users.IDs[u] + ":"
				for _, r := range rows {
					text += " " + ids.Items.IDs[r.Item]
				}
				lists = append(lists, text)
			}
			got := strings.Join(lists, "; ")
			for _, left := range f.Left() {
				if f.Empty > 0 && strings.Contains(left, "empty list") {
					got += " (" + strings.TrimPrefix(left, "recs.jsonl: ") + ")"
				}
			}
			if got != c.want {
				t.Errorf("got %s, want %s", got, c.want)
			}
		})
	}
}
