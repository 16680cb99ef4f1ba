package lists

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"privrec/internal/dataset"
)

// readText reads a file with this text.
func readText(t testing.TB, name, text string, kind Kind) (*File, *IDs, error) {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	ids := &IDs{}
	f, err := Read(context.Background(), path, kind, ids)
	return f, ids, err
}

func zipped(t *testing.T, text string) string {
	t.Helper()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	if _, err := z.Write([]byte(text)); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// TestForms reads the same two lists in every form.
func TestForms(t *testing.T) {
	ranked := []Row{{0, 0, 2, 1, 0.5}, {0, 1, 3, 2, 0.25}, {1, 0, 4, 1, 3}}
	scored := []Row{{0, 0, 2, 0, 0.5}, {0, 1, 3, 0, 0.25}, {1, 0, 4, 0, 3}}
	plain := []Row{{0, 0, 2, 0, 1}, {0, 1, 3, 0, 1}, {1, 0, 4, 0, 1}}
	first := func(rows []Row) []Row { // of a file without a header
		out := append([]Row(nil), rows...)
		for i := range out {
			out[i].Line--
		}
		return out
	}
	tests := []struct {
		name, text string
		kind       Kind
		form       string
		rows       []Row
		ranked     bool
		scored     bool
		graded     bool
	}{
		{"tsv", "user_id\titem_id\trank\tscore\na\tx\t1\t0.5\na\ty\t2\t0.25\nb\tx\t1\t3\n", Recommended, "table", ranked, true, true, false},
		{"csv, other names and order", "score,item,user\n0.5,x,a\n0.25,y,a\n3,x,b\n", Recommended, "table", scored, false, true, false},
		{"csv of surprise, quotes", "uid,iid,\"prediction\"\n\"a\",x,0.5\na,y,2.5e-1\nb,x,3\n", Recommended, "table", scored, false, true, false},
		{"RecBole's types", "user_id:token\titem_id:token\trank:float\tscore:float\na\tx\t1.0\t0.5\na\ty\t2.0\t0.25\nb\tx\t1.0\t3\n", Recommended, "table", ranked, true, true, false},
		{"typed csv", "user_id:token,item_id:token,rating:float\na,x,3\na,y,1\nb,x,0.5\n", Truth, "table", plain, false, false, false},
		{"ratings of which some are bad", "user_id,item_id,rating\na,x,3\na,y,0\nb,x,-1\n", Truth, "table", []Row{{0, 0, 2, 0, 1}, {0, 1, 3, 0, 0}, {1, 0, 4, 0, 0}}, false, false, false},
		{"Surprise's estimates", "uid,iid,r_ui,est,details\na,x,4,0.5,{}\na,y,2,0.25,{}\nb,x,1,3,{}\n", Recommended, "table", scored, false, true, false},
		{"Spark's ratings", "userId,movieId,rating\na,x,0.5\na,y,0.25\nb,x,3\n", Recommended, "table", scored, false, true, false},
		{"positions, pandas' index", "Unnamed: 0,User-ID,ISBN,position\n0,a,x,1\n1,a,y,2\n2,b,x,1\n", Recommended, "table", []Row{{0, 0, 2, 1, 1}, {0, 1, 3, 2, 1}, {1, 0, 4, 1, 1}}, true, false, false},
		{"a name that is usual goes before others", "user_id,item_id,asin,score,rating\na,x,q,0.5,9\na,y,q,0.25,9\nb,x,q,3,9\n", Recommended, "table", scored, false, true, false},
		{"a score that fills", "user,item,score\na,x,0.5\na,y,0.25\na,-1,-3.4028235e+38\nb,x,3\n", Recommended, "table", []Row{{0, 0, 2, 0, 0.5}, {0, 1, 3, 0, 0.25}, {1, 0, 5, 0, 3}}, false, true, false},
		{"a constant orders nothing", "user,item,fold\na,x,1\na,y,1\nb,x,1\n", Recommended, "table", plain, false, false, false},
		{"text and times order nothing", "user,item,title,timestamp\na,x,T,9\na,y,2,8\nb,x,3,7\n", Recommended, "table", plain, false, false, false},
		{"byte order mark, CRLF", "\xef\xbb\xbfuserId,itemId\r\na,x\r\na,y\r\nb,x\r\n", Training, "table", plain, false, false, false},
		{"gzip", zipped(t, "user\titem\na\tx\na\ty\nb\tx\n"), Recommended, "table", plain, false, false, false},
		{"TREC run", "a Q0 x 1 0.5 me\na Q0 y 2 0.25 me\nb\tQ0\tx  1 3 me\n", Recommended, "TREC run", first(scored), false, true, false},
		{"TREC qrels", "a 0 x 1\na 0 y 0\nb 0 x 2\n", Truth, "TREC qrels", []Row{{0, 0, 1, 0, 1}, {0, 1, 2, 0, 0}, {1, 0, 3, 0, 2}}, false, false, true},
		{"ratings.dat", "a::x::4::978300760\na::y::1::978300761\nb::x::5::978300762\n", Training, "ratings.dat", first(plain), false, false, false},
		{"relevance", "user_id\titem_id\trelevance\na\tx\t2\na\ty\t-1\n", Truth, "table", []Row{{0, 0, 2, 0, 2}, {0, 1, 3, 0, -1}}, false, false, true},
		{"ranks of training do not count", "user_id\titem_id\trank\na\tx\tbest\na\ty\tbad\nb\tx\t\n", Training, "table", plain, false, false, false},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			f, ids, err := readText(t, "file", test.text, test.kind)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.rows, f.Rows); diff != "" {
				t.Error(diff)
			}
			if f.Form != test.form || f.Ranked != test.ranked || f.Scored != test.scored || f.Graded != test.graded || len(f.Digest) != 64 {
				t.Errorf("form %q, ranked %v, scored %v, graded %v, digest %q", f.Form, f.Ranked, f.Scored, f.Graded, f.Digest)
			}
			if ids.Users.IDs[0] != "a" || ids.Items.IDs[1] != "y" {
				t.Errorf("users %v, items %v", ids.Users.IDs, ids.Items.IDs)
			}
		})
	}
}

// TestFaults says where a file is wrong, and in what.
func TestFaults(t *testing.T) {
	tests := []struct {
		name, text string
		kind       Kind
		line       int
		field, msg string
	}{
		{"no form", "1 2 3\n", Recommended, 1, "", "not a form that is read"},
		{"qrels are no lists", "a 0 x 1\n", Recommended, 1, "", "not a form that is read"},
		{"a run is no truth", "a Q0 x 1 0.5 me\n", Truth, 1, "", "not a form that is read"},
		{"no header", "1,2,0.5\n", Recommended, 1, "", "not a form that is read"},
		{"no item column", "user_id,thing\na,b\n", Recommended, 1, "item_id", "column is missing"},
		{"no user column", "item_id\tscore\na\t1\n", Recommended, 1, "user_id", "column is missing"},
		{"two user columns", "user_id,user,item\na,a,x\n", Recommended, 1, "user_id", "both mean it"},
		{"NaN score", "user,item,score\na,x,1\na,y,NaN\n", Recommended, 3, "score", "not a finite number"},
		{"infinite score", "user,item,score\na,x,-inf\n", Recommended, 2, "score", "not a finite number"},
		{"NaN in a run", "a Q0 x 1 2 me\na Q0 y 2 nan me\n", Recommended, 2, "score", "not a finite number"},
		{"no score", "user,item,score\na,x,\n", Recommended, 2, "score", "not a finite number"},
		{"rank of no number", "user,item,rank\na,x,first\n", Recommended, 2, "rank", "not"},
		{"half a rank", "user,item,rank\na,x,1.5\n", Recommended, 2, "rank", "not a whole number"},
		{"rank twice", "user,item,rank\na,x,1\nb,x,1\na,y,1\n", Recommended, 4, "rank", `the list of user "a" has rank 1 twice`},
		{"rank that is a half", "user,item,Rank\na,x,0.5\n", Recommended, 2, "Rank", `rank "0.5" is not a whole number`},
		{"ranks against scores", "user,item,rank,score\na,x,1,1\na,y,2,2\n", Recommended, 3, "rank", "ranks and scores order the items differently in all lists"},
		{"a rank against its score", "user,item,rank,score\na,x,1,2\na,y,2,1\nb,x,1,3\nb,y,2,1\nb,z,3,2\n", Recommended, 6, "rank", "in 1 of 2 lists: of user \"b\", item \"y\" has rank 2 and score 1, item \"z\" rank 3 and score 2"},
		{"numbers that are not read", "user,item,weight\na,x,1\na,y,0.5\n", Recommended, 0, "weight", "this column of numbers is not read"},
		{"no items", "user,item,score\na,-1,-3.4028235e38\n", Recommended, 0, "", "all 1 rows have the score of a filler"},
		{"a judgement against another", "user,item,relevance\na,x,1\nb,x,1\na,x,0\n", Truth, 4, "relevance", `user "a" has item "x" with relevance 0 here and 1 on line 2`},
		{"no user", "user,item\n,x\n", Recommended, 2, "user", "empty"},
		{"no item", "a::::3\n", Training, 1, "item", "empty"},
		{"short line", "user,item,score\na,x\n", Recommended, 2, "score", "2 fields instead of 3"},
		{"fields of a run", "a Q0 x 1 0.5 me\na Q0 x 0.5 me\n", Recommended, 2, "", "5 fields instead of 6"},
		{"fields of ratings", "a::x::3::1\na::x::3\n", Training, 2, "field 4", "3 fields instead of 4"},
		{"grade of qrels", "a 0 x 1\na 0 y 0.5\n", Truth, 2, "relevance", "not a 64-bit integer"},
		{"header alone", "user,item\n", Truth, 0, "", "no rows in the file"},
		{"empty", "", Truth, 0, "", "file is empty"},
		{"binary", "\x00\x01\x02\x03\x04", Truth, 1, "", "not a form that is read"},
		{"UTF-16", "\xff\xfeu\x00", Truth, 0, "", "the file is UTF-16"},
		{"cut gzip", "\x1f\x8b\x08\x00\x00", Truth, 0, "", "compressed file is cut short"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			_, _, err := readText(t, "file", test.text, test.kind)
			var e *dataset.Error
			if !errors.As(err, &e) {
				t.Fatalf("error %v, want a *dataset.Error", err)
			}
			if e.Line != test.line || e.Field != test.field || !strings.Contains(e.Error(), test.msg) {
				t.Errorf("line %d, field %q, %v", e.Line, e.Field, e)
			}
		})
	}
}

// TestShared numbers a user and an item alike in two files.
func TestShared(t *testing.T) {
	dir := t.TempDir()
	ids := &IDs{}
	for i, text := range []string{"user,item\na,x\nb,y\n", "user,item\nb,y\na,z\n"} {
		path := filepath.Join(dir, "file")
		if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		f, err := Read(context.Background(), path, Training, ids)
		if err != nil {
			t.Fatal(err)
		}
		if want := [2][2]int32{{0, 1}, {1, 0}}[i]; f.Rows[0].User != want[0] || f.Rows[1].User != want[1] {
			t.Errorf("file %d: %v", i, f.Rows)
		}
	}
	if len(ids.Users.IDs) != 2 || len(ids.Items.IDs) != 3 {
		t.Errorf("users %v, items %v", ids.Users.IDs, ids.Items.IDs)
	}
}

// FuzzRead reads any bytes as rows of any kind: it returns rows, or a *dataset.Error that names the file.
func FuzzRead(f *testing.F) {
	for _, text := range []string{
		"user_id\titem_id\trank\tscore\na\tx\t1\t0.5\na\ty\t2\t0.25\n", "user,item,score\na,x,1\na,x,1\n", "a Q0 x 1 0.5 me\n",
		"a 0 x 1\nb 0 y 0\n", "1::2::3::4\n", "user_id:token,item_id:token\n\"a\"\"b\",x\n", "user,item,rank\na,x,1e3\n", "::\n", "\xef\xbb\xbfuser,item\r\na,x\r\n",
		"PAR1\x00\x00\x00\x00PAR1", "\x1f\x8b\x08\x00", "user\x00,item\n", "\n\nuser,item\na,b\n",
		`{"user":"a","items":["x","y"],"scores":[1,2]}`, `{"user":1,"recommendations":[{"item":5,"rating":1.5},{"item":6,"rating":2}]}`,
		`{"user":1,"recs":[{}]}`, `{"user":{"id":1},"item":[[1]]}`, "user,rec_1,rec_2\na,x,\n", "\"user\";\"item\"\n\"a\";\"b;c\"\n", "user::item::score\na::x::1\n",
	} {
		for kind := range byte(4) {
			f.Add(kind, text)
		}
	}
	f.Fuzz(func(t *testing.T, kind byte, text string) {
		file, ids, err := readText(t, "file", text, Kind(kind%4))
		if err != nil {
			if e := (*dataset.Error)(nil); !errors.As(err, &e) || !strings.HasSuffix(e.File, "file") {
				t.Fatalf("error of type %T: %v", err, err)
			}
			return
		}
		for _, r := range file.Rows {
			if int(r.User) >= len(ids.Users.IDs) || int(r.Item) >= len(ids.Items.IDs) || r.Score != r.Score || r.Line < 1 {
				t.Fatalf("row %v of %d users and %d items", r, len(ids.Users.IDs), len(ids.Items.IDs))
			}
		}
	})
}

// Scores that count the rows of every list are ranks: they are refused, since the largest score is best. Scores that rise
// otherwise are taken as they are, and Rising says so.
func TestScoresThatAreRanks(t *testing.T) {
	for name, test := range map[string]struct {
		text   string
		rising bool
		fails  bool
	}{
		"from 1":                {"user,item,score\na,x,1\na,y,2\nb,x,1\na,z,3\nb,y,2\n", true, true},
		"from 0":                {"user,item,score\na,x,0\na,y,1\na,z,2\n", true, true},
		"of a run":              {"a Q0 x 1 1 me\na Q0 y 2 2 me\na Q0 z 3 3 me\n", true, true},
		"best first":            {"user,item,score\na,x,3\na,y,2\na,z,1\n", false, false},
		"of one list":           {"user,item,score\na,x,1\na,y,2\na,z,3\nb,x,0.5\nb,y,0.25\n", false, false},
		"in short lists":        {"user,item,score\na,x,1\na,y,2\nb,x,1\nb,y,2\n", false, false},
		"beside ranks":          {"user,item,rank,score\na,x,3,1\na,y,2,2\na,z,1,3\n", true, false},
		"of a distance":         {"user,item,score\na,x,0.1\na,y,0.2\na,z,0.4\n", true, false},
		"with a gap":            {"user,item,score\na,x,1\na,y,2\na,z,4\n", true, false},
		"equal":                 {"user,item,score\na,x,1\na,y,1\na,z,1\n", false, false},
		"of another order":      {"user,item,score\na,y,2\na,x,1\na,z,3\n", false, false},
		"without scores at all": {"user,item,rank\na,x,1\na,y,2\na,z,3\n", false, false},
	} {
		f, ids, err := readText(t, "recs", test.text, Recommended)
		if (err != nil) != test.fails || err != nil && !strings.Contains(err.Error(), "looks like a rank") {
			t.Errorf("%s: %v", name, err)
		}
		if f != nil && f.Rising(len(ids.Users.IDs)) != test.rising {
			t.Errorf("%s: rising is %t", name, !test.rising)
		}
	}
}
