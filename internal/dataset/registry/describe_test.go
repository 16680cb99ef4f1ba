package registry

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// The columns of every form of files are found with their roles and types, and the counts are
// those of the rows.
func TestDescribe(t *testing.T) {
	for _, c := range []struct {
		set   string
		files map[string]string
		want  []string // file, form, then name/header/role/type of the columns
	}{
		{"own-x", map[string]string{
			"own-x.csv":       "who,\"what, exactly\",user_id,rating\nu,a,1,5\nv,b,,4.5\n",
			"own-x.users.csv": "who,zip,age,note\nu,01234,30,\nv,56789,31,\n",
			ColumnsFile:       "user: who\nitem: \"what, exactly\"\nfeatures: [zip, age]\n",
		}, []string{
			"own-x.csv header who/who/user/text what, exactly/what, exactly/item/text user_id/user_id//number rating/rating/rating/number",
			ColumnsFile + " none",
			"own-x.users.csv header who/who/user/text zip/zip/feature/text age/age/feature/integer note/note//text",
		}},
		{"own-x", map[string]string{"own-x.inter": "user_id:token\titem_id:token\ttimestamp:float\nu\t1\t10\nv\t2\t1e3\n"}, []string{
			"own-x.inter header user_id/user_id:token/user/text item_id/item_id:token/item/text timestamp/timestamp:float/time/number",
		}},
		{"own-x", map[string]string{"train.txt": "0 0\n1 1\n", "test.txt": "0 1\n"}, []string{
			"train.txt histories user/user/user/text items/items/item/list of text",
			"test.txt histories user/user/user/text items/items/item/list of text",
		}},
		{"ml-100k", map[string]string{"u.data": "1\t1\t5\t10\n2\t2\t4\t11\n", "u.user": "1|24|M|writer|T8H1N\n2|53|F|other|94043\n"}, []string{
			"u.data bare user/user/user/text item/item/item/text rating/rating/rating/number timestamp/timestamp/time/integer",
			"u.user bare user/user/user/text age/age/feature/integer gender/gender/feature/text occupation/occupation/feature/text zip/zip/feature/text",
		}},
		{"seq-beauty", map[string]string{"sequences.tsv": "user\titems\n1\t1 2\n2\t2\n"}, []string{
			"sequences.tsv header user/user/user/text items/items/item/list of text",
		}},
	} {
		dir := t.TempDir()
		folder := filepath.Join(dir, c.set)
		if err := os.Mkdir(folder, 0o755); err != nil {
			t.Fatal(err)
		}
		for name, text := range c.files {
			if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		d, err := Describe(t.Context(), c.set, Options{Dir: dir})
		if err != nil {
			t.Errorf("%s: %v", c.want, err)
			continue
		}
		var got []string
		for _, f := range d.Files {
			line := f.Name + " " + string(f.Rows)
			for _, col := range f.Columns {
				typ := col.Type
				if col.List {
					typ = "list of " + typ
				}
				line += fmt.Sprintf(" %s/%s/%s/%s", col.Name, col.Header, col.Role, typ)
			}
			got = append(got, line)
		}
		if diff := cmp.Diff(c.want, got); diff != "" || d.Users != 2 || d.Items != 2 || d.Rows < 2 {
			t.Errorf("%d users, %d items, %d rows:\n%s", d.Users, d.Items, d.Rows, diff)
		}
	}
}

// What has no files is refused.
func TestDescribeRefuses(t *testing.T) {
	if _, err := Describe(t.Context(), "standin-tiny", Options{}); err == nil || !strings.Contains(err.Error(), "no files to describe") {
		t.Errorf("a stand-in: %v", err)
	}
}
