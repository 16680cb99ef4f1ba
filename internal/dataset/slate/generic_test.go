package slate

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"privrec/internal/dataset"
	"privrec/internal/dataset/format"
	"privrec/internal/dataset/registry"

	"github.com/google/go-cmp/cmp"
)

// Times and flags, columns in any order and of any name, are the same log.
func TestGenericColumns(t *testing.T) {
	at := func(rows ...string) string { return strings.Join(rows, "\n") + "\n" }
	for name, c := range map[string]struct {
		text    string
		columns registry.Columns
		clicked []int64
	}{
		"times":                          {at("user,item,shown_at,clicked_at", "a,x,10,15", "a,y,20,", "b,x,30,0"), registry.Columns{}, []int64{15, 0, 0}},
		"times, clicked":                 {at("user,item,shown,clicked", "a,x,10,15", "a,y,20,", "b,x,30,0"), registry.Columns{}, []int64{15, 0, 0}},
		"flags":                          {at("user,item,shown,clicked", "a,x,10,1", "a,y,20,", "b,x,30,0"), registry.Columns{}, []int64{10, 0, 0}},
		"words":                          {at("user_id,item_id,shown,clicked", "a,x,10,true", "a,y,20,False", "b,x,30,"), registry.Columns{}, []int64{10, 0, 0}},
		"order, others":                  {at("clicked,price,shown,item,user", "1,3,10,x,a", "0,,20,y,a", "0,5,30,x,b"), registry.Columns{}, []int64{10, 0, 0}},
		"names":                          {at("who,what,seen,tap", "a,x,10,1", "a,y,20,0", "b,x,30,0"), registry.Columns{User: "who", Item: "what", Shown: "seen", Clicked: "tap"}, []int64{10, 0, 0}},
		"a time of 1 under its own name": {at("user,item,shown_at,clicked_at", "a,x,10,1", "a,y,20,", "b,x,30,0"), registry.Columns{}, []int64{1, 0, 0}},
	} {
		l, err := ReadGeneric(t.Context(), writeFile(t, "impressions.csv", c.text), format.CSV, c.columns)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if d := cmp.Diff(c.clicked, l.Clicked) + cmp.Diff([]int64{10, 20, 30}, l.Shown) + cmp.Diff([]string{"a", "b"}, l.UserIDs) + cmp.Diff([]int32{0, 1, 0}, l.Items); d != "" {
			t.Errorf("%s: %s", name, d)
		}
	}
	for text, part := range map[string]string{
		at("user,item,shown", "a,x,10"):                            "not the header",
		at("user,user_id,item,shown,clicked", "a,a,x,10,1"):        `the columns user and user_id both mean it`,
		at("user,item,shown,clicked", "a,x,10,yes"):                `field "clicked": not a finite number`,
		at("user,item,shown,clicked", "a,x,2023-11-14 22:13:20,1"): `field "shown"`,
		at("user,item,shown,clicked", ",x,10,1"):                   `field "user": empty`,
	} {
		if _, err := ReadGeneric(t.Context(), writeFile(t, "impressions.csv", text), format.CSV, registry.Columns{}); err == nil || !strings.Contains(err.Error(), part) {
			t.Errorf("%q: want %q, got %v", text, part, err)
		}
	}
}

// The names of columns beside a table are read, and count in the hash of the data.
func TestOwnSlatesColumns(t *testing.T) {
	log := zhihuLog("1", "2", "3")
	dir := t.TempDir()
	load := func(header, columns string) *Set {
		t.Helper()
		folder := filepath.Join(dir, "own-x")
		if err := os.RemoveAll(folder); err != nil {
			t.Fatal(err)
		}
		if err := os.MkdirAll(folder, 0o755); err != nil {
			t.Fatal(err)
		}
		files := map[string]string{"impressions.csv": header + "\n" + log}
		if columns != "" {
			files[registry.ColumnsFile] = columns
		}
		for name, text := range files {
			if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		s, err := Load(t.Context(), "own-x", dataset.View{}, Options{Dir: dir, T: 2, L: 2})
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	a := load("user,item,shown_at,clicked_at", "")
	b := load("who,what,seen,tap", "user: who\nitem: what\nshown: seen\nclicked: tap\n")
	if d := cmp.Diff(a.Ladder, b.Ladder); d != "" || a.Hash == b.Hash {
		t.Errorf("hash %s and %s:\n%s", a.Hash, b.Hash, d)
	}
}
