package format

import (
	"errors"
	"os"
	"strings"
	"testing"
)

func TestColumnNames(t *testing.T) {
	fail := func(field, msg, _ string) error { return errors.New(field + ": " + msg) }
	for name, c := range map[string]struct {
		header string
		is     Meaning
		at     int
		err    string
	}{
		"RecBole":                         {"user_id:token item_id:token rating:float timestamp:float", Time, 3, ""},
		"MovieLens":                       {"userId movieId rating timestamp", Item, 1, ""},
		"Book-Crossing":                   {"User-ID ISBN Book-Rating", Item, 1, ""},
		"Surprise, the estimate":          {"uid iid r_ui est details", Score, 3, ""},
		"Surprise, the rating":            {"uid iid r_ui est details", Rating, 2, ""},
		"Spark":                           {"user item prediction", Score, 2, ""},
		"Amazon reviews":                  {"reviewerID asin overall unixReviewTime", Time, 3, ""},
		"usual before others":             {"asin item_id", Item, 1, ""},
		"a rating is a score without one": {"user item rating", Score, 2, ""},
		"a score goes before a rating":    {"user item rating score", Score, 3, ""},
		"none":                            {"user item title", Score, -1, ""},
		"two usual ones":                  {"user user_id item", User, -1, "user_id: the columns user and user_id both mean it"},
		"two others":                      {"user asin isbn", Item, -1, "item_id: the columns asin and isbn both mean it"},
	} {
		at, err := c.is.Column(strings.Fields(c.header), fail)
		if at != c.at || (err != nil) != (c.err != "") || err != nil && err.Error() != c.err {
			t.Errorf("%s: column %d, %v", name, at, err)
		}
	}
}

// The documentation lists the names that are read.
func TestColumnNamesDocumented(t *testing.T) {
	b, err := os.ReadFile("../../../docs/bring-your-own-model.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range []Meaning{User, Item, Rank, Score, Relevance, Time, Rating} {
		if row := "| `" + string(m) + "` | " + m.Spelled() + " |"; !strings.Contains(string(b), row) {
			t.Errorf("the documentation lacks the row\n%s", row)
		}
	}
}
