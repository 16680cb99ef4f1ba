package slate

import (
	"compress/gzip"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"privrec/internal/dataset"
)

const genericHead = "user\titem\tshown_at\tclicked_at\n"

// generic is zhihuLog as a table with a header.
func generic(users ...string) string {
	return genericHead + strings.ReplaceAll(zhihuLog(users...), ",", "\t")
}

// put writes a file below dir, packed where its name ends in .gz; an empty text makes a
// folder of that name.
func put(t *testing.T, dir, name, text string) {
	t.Helper()
	path := filepath.Join(dir, name)
	if text == "" {
		if err := os.MkdirAll(path, 0o777); err != nil {
			t.Fatal(err)
		}
		return
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		t.Fatal(err)
	}
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if !strings.HasSuffix(name, ".gz") {
		if _, err := f.WriteString(text); err != nil {
			t.Fatal(err)
		}
		return
	}
	z := gzip.NewWriter(f)
	if _, err := z.Write([]byte(text)); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
}

// TestOwnFolder: what may lie in the folder of an own set, and what is said of the rest.
func TestOwnFolder(t *testing.T) {
	for _, c := range []struct {
		name  string
		files map[string]string // an empty text: a folder of that name
		want  string            // of the error; empty: none
		hint  string
	}{
		{"tabs", map[string]string{"impressions.tsv": generic("1", "2", "3")}, "", ""},
		{"packed", map[string]string{"impressions.tsv.gz": generic("1", "2", "3")}, "", ""},
		{"packed and not, equal", map[string]string{"impressions.tsv": generic("1", "2", "3"), "impressions.tsv.gz": generic("1", "2", "3")}, "", ""},
		{"packed and not, different", map[string]string{"impressions.tsv": generic("1", "2", "3"), "impressions.tsv.gz": generic("1", "2", "4")},
			"impressions.tsv: and impressions.tsv.gz beside it are not the same", "keep the right one"},
		{"packed and not, longer", map[string]string{"impressions.tsv": generic("1", "2", "3"), "impressions.tsv.gz": generic("1", "2", "3", "4")},
			"impressions.tsv: and impressions.tsv.gz beside it are not the same", "keep the right one"},
		{"tabs and commas", map[string]string{"impressions.tsv": generic("1", "2", "3"), "impressions.csv": "user,item,shown_at,clicked_at\n" + zhihuLog("1", "2", "3")},
			"impressions.tsv: and impressions.csv beside it are not the same", "keep the right one"},
		{"folder", map[string]string{"impressions.tsv": ""}, "impressions.tsv: is a directory, not a data file", ""},
		{"other files", map[string]string{"own-x.csv": "user_id,item_id\n"}, "own-x: looked for impressions.tsv and impressions.csv (plain, .gz or .zst): files not found",
			"put a table with the columns user, item, shown_at, clicked_at there, see docs/add-your-own-data.md"},
	} {
		dir := t.TempDir()
		for name, text := range c.files {
			put(t, filepath.Join(dir, "own-x"), name, text)
		}
		s, err := Load(t.Context(), "own-x", dataset.View{}, Options{Dir: dir, T: 2, L: 2})
		if c.want == "" {
			if err != nil || s.Train.Len() == 0 {
				t.Errorf("%s: %v", c.name, err)
			}
			continue
		}
		e, ok := err.(*dataset.Error)
		if !ok || !strings.HasSuffix(err.Error(), c.want) || e.Hint != c.hint {
			t.Errorf("%s: %+v", c.name, err)
		}
	}
}

// TestUnknownSlates: an unknown name is told of own sets, and of slates alone.
func TestUnknownSlates(t *testing.T) {
	for _, name := range []string{"nonesuch", "own-", "own-../up"} {
		_, err := Load(t.Context(), name, dataset.View{}, Options{Dir: t.TempDir()})
		e, ok := err.(*dataset.Error)
		if !ok || e.Msg != "unknown set of slates" || !strings.Contains(e.Hint, StandIn) || !strings.Contains(e.Hint, "own-NAME") || strings.Contains(e.Hint, "ml-1m") {
			t.Errorf("%s: %+v", name, err)
		}
	}
}

// TestZhihuFolder: a folder in the place of the file is called one.
func TestZhihuFolder(t *testing.T) {
	dir := t.TempDir()
	put(t, dir, "zhihurec/inter_impression.csv", "")
	if _, err := Load(t.Context(), "zhihurec", dataset.View{}, Options{Dir: dir}); err == nil ||
		!strings.HasSuffix(err.Error(), "inter_impression.csv: is a directory, not a data file") {
		t.Error(err)
	}
}
