package format

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"privrec/internal/dataset"

	"github.com/google/go-cmp/cmp"
)

// RecBole's types may stand in the header of any table.
func TestTypedHeader(t *testing.T) {
	for _, name := range []string{"typed.csv", "typed.tsv"} {
		sep := "\t"
		if name == "typed.csv" {
			sep = ","
		}
		var logs []*dataset.Log
		for _, header := range [][]string{{"user_id", "item_id", "rating", "timestamp", "tags"}, {"user_id:token", "item_id:token", "rating:float", "timestamp:float", "tags:token_seq"}} {
			path := filepath.Join(t.TempDir(), name)
			text := strings.Join(header, sep) + "\n" + strings.Join([]string{"u", "a", "5", "7", "x"}, sep) + "\n"
			if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
			l, err := Table{Sep: sep}.ReadKnown(t.Context(), path)
			if err != nil {
				t.Fatalf("%s: %v", header, err)
			}
			l.Hash = ""
			logs = append(logs, l)

			form, _ := Of(path)
			s, err := OpenStream(t.Context(), path, form)
			if err != nil {
				t.Fatalf("%s: %v", header, err)
			}
			if !s.Next() || string(s.User) != "u" || string(s.Item) != "a" || s.Time != 7 {
				t.Errorf("%s: %s, %s, %d, %v", header, s.User, s.Item, s.Time, s.Err())
			}
			s.Close()
		}
		if diff := cmp.Diff(logs[0], logs[1]); diff != "" {
			t.Error(diff)
		}
	}
}

// A table of Book-Crossing has semicolons, and quotes around everything.
func TestSemicolons(t *testing.T) {
	path := filepath.Join(t.TempDir(), "BX-Book-Ratings.csv")
	text := "\"User-ID\";\"ISBN\";\"Book-Rating\"\n\"276725\";\"034545104X\";\"0\"\n\"276726\";\"0155;1\"\"2\";\"5\"\n"
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	l, err := Table{Sep: ","}.ReadKnown(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	if got := fmt.Sprint(l.UserIDs, l.ItemIDs, l.Values); got != `[276725 276726] [0155;1"2 034545104X] [0 5]` {
		t.Errorf("got %s", got)
	}
}
