package inventory

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"privrec/internal/dataset/registry"
	"privrec/internal/run"

	"github.com/google/go-cmp/cmp"
)

// described writes a folder of data and describes it.
func described(t *testing.T, name string, files map[string]string) *registry.Description {
	t.Helper()
	dir := t.TempDir()
	for file, text := range files {
		path := filepath.Join(dir, name, file)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	d, err := Describe(t.Context(), name, registry.Options{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// Text and JSON are the same bytes every time. Each field names a file of the distribution, and
// no two nodes have one name. Nothing is said of the terms of own data.
func TestCroissant(t *testing.T) {
	var docs []string
	for range 2 {
		d := described(t, "own-x", map[string]string{
			"own-x.csv": "user_id,item_id,rating\n1,a b,5\n2,c,4\n", "own-x.users.csv": "user_id,home town\n1,Rome\n2,Oslo\n",
		})
		var text, asJSON bytes.Buffer
		if err := run.Show(&text, false, ToCroissant(d)); err != nil {
			t.Fatal(err)
		}
		if err := run.Show(&asJSON, true, ToCroissant(d)); err != nil {
			t.Fatal(err)
		}
		docs = append(docs, text.String(), asJSON.String())
	}
	for _, d := range docs[1:] {
		if diff := cmp.Diff(docs[0], d); diff != "" {
			t.Fatalf("two documents:\n%s", diff)
		}
	}
	type node struct {
		ID     string `json:"@id"`
		SHA256 string
		URL    string `json:"contentUrl"`
		Field  []struct {
			ID       string `json:"@id"`
			DataType string
			Source   struct {
				File struct {
					ID string `json:"@id"`
				} `json:"fileObject"`
				Extract struct{ Column string }
			}
		}
	}
	var doc struct {
		Name, License, CiteAs string
		Distribution          []node
		RecordSet             []node
		VariableMeasured      []struct {
			Name  string
			Value int
		}
	}
	if err := json.Unmarshal([]byte(docs[0]), &doc); err != nil {
		t.Fatal(err)
	}
	if doc.License != "" || doc.CiteAs != "" {
		t.Errorf("own data have the terms %q and the paper %q", doc.License, doc.CiteAs)
	}
	seen := map[string]bool{}
	for _, f := range doc.Distribution {
		if seen[f.ID] || len(f.SHA256) != 64 {
			t.Errorf("file %+v", f)
		}
		seen[f.ID] = true
	}
	files := len(seen)
	var fields []string
	for _, r := range doc.RecordSet {
		for _, f := range r.Field {
			if seen[f.ID] || !seen[f.Source.File.ID] {
				t.Errorf("field %+v", f)
			}
			seen[f.ID] = true
			fields = append(fields, f.ID+" "+f.Source.Extract.Column+" "+f.DataType)
		}
	}
	want := []string{"interactions/user_id user_id sc:Text", "interactions/item_id item_id sc:Text", "interactions/rating rating sc:Float",
		"users/user_id user_id sc:Text", "users/home%20town home town sc:Text"}
	if diff := cmp.Diff(want, fields); diff != "" || files != 2 {
		t.Errorf("%d files, fields:\n%s", files, diff)
	}
	for i, v := range []int{2, 2, 2} {
		if doc.VariableMeasured[i].Value != v {
			t.Errorf("count %+v, want %d", doc.VariableMeasured[i], v)
		}
	}
}

// The patterns for lines without a header find the fields that a reader finds.
func TestCroissantLines(t *testing.T) {
	for _, c := range []struct {
		set   string
		files map[string]string
		line  string
		want  []string
	}{
		{"ml-1m", map[string]string{"ratings.dat": "1::7::5::9\n", "users.dat": "1::F::1::10::48067\n"}, "12::34::5::978300760", []string{"12", "34", "5", "978300760"}},
		{"ml-100k", map[string]string{"u.data": "1\t7\t5\t9\n", "u.user": "1|24|M|writer|1\n"}, "12\t34\t5\t9", []string{"12", "34", "5", "9"}},
		{"gowalla", map[string]string{"train.txt": "0 0 1\n", "test.txt": "0 1\n"}, "12 3 4 5 ", []string{"12", "3 4 5"}},
	} {
		b, err := json.Marshal(ToCroissant(described(t, c.set, c.files)))
		if err != nil {
			t.Fatal(err)
		}
		var doc struct {
			CiteAs    string
			License   string
			RecordSet []struct {
				Field []struct {
					Source struct {
						Transform []struct{ Regex, Separator string }
					}
				}
			}
		}
		if err := json.Unmarshal(b, &doc); err != nil {
			t.Fatal(err)
		}
		if doc.License == "" || strings.HasPrefix(c.set, "ml-") && !strings.Contains(doc.CiteAs, "Harper") {
			t.Errorf("%s: terms %q, paper %q", c.set, doc.License, doc.CiteAs)
		}
		var got []string
		for _, f := range doc.RecordSet[0].Field {
			m := regexp.MustCompile(f.Source.Transform[0].Regex).FindStringSubmatch(c.line)
			if len(m) != 2 {
				t.Fatalf("%s: %q does not match", c.set, f.Source.Transform[0].Regex)
			}
			got = append(got, m[1])
		}
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s:\n%s", c.set, diff)
		}
	}
}
