package registry

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"privrec/internal/dataset"

	"github.com/google/go-cmp/cmp"
)

// The same rows in every format give the same sequences, and are evidence of level C.
func TestOwnFormats(t *testing.T) {
	rows := [][4]string{{"u1", "a", "5", "3"}, {"u1", "b", "4", "1"}, {"u1", "a", "3", "2"}, {"u2", "b", "1", "9"}, {"u2", "a", "2", "8"}}
	table := func(sep, header string) string {
		out := header + "\n"
		for _, r := range rows {
			out += strings.Join(r[:], sep) + "\n"
		}
		return out
	}
	columns := []string{"user_id", "item_id", "rating", "timestamp"}
	inter := table("\t", "user_id:token\titem_id:token\trating:float\ttimestamp:float")
	want := [][]int32{{1, 2}, {2}} // floor of 80 % of 3 and 2 rows: b a, and a
	for name, files := range map[string]map[string]string{
		"csv":   {"own-x.csv": table(",", strings.Join(columns, ","))},
		"tsv":   {"own-x.tsv": table("\t", strings.Join(columns, "\t"))},
		"inter": {"own-x.inter": inter},
		"pair":  {"own-x.inter": inter, "own-x.user": "user_id:token\tcity:token\nu1\tRome\nu2\tOslo\n"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			ownFiles(t, dir, files)
			s, err := Load(t.Context(), "own-x", "all", dataset.View{}, Options{Dir: dir, NoCache: true})
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(want, s.Train); d != "" || s.Source.Level != dataset.LevelC || s.Source.Title != "own data x" {
				t.Errorf("level %v, title %q, train:\n%s", s.Source.Level, s.Source.Title, d)
			}
		})
	}
	dir := t.TempDir()
	ownFiles(t, dir, map[string]string{"train.txt": "0 1 2\n1 2\n", "test.txt": "0 1\n"})
	s, err := Load(t.Context(), "own-x", "split", dataset.View{}, Options{Dir: dir, NoCache: true})
	if err != nil || len(s.Test[0]) != 1 || s.Source.Level != dataset.LevelC {
		t.Errorf("a published split: %+v %v", s, err)
	}
}

func ownFiles(t *testing.T, dir string, files map[string]string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Join(dir, "own-x"), 0o755); err != nil {
		t.Fatal(err)
	}
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(dir, "own-x", name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// A name is a folder's, not a path.
func TestOwnNames(t *testing.T) {
	for name, ok := range map[string]bool{"own-shop": true, "own-A_1.b": true, "own-": false, "own-.x": false, "own-a/b": false, "own-..": false, "own-a b": false} {
		if _, err := Find(name); (err == nil) != ok {
			t.Errorf("%q: %v", name, err)
		}
	}
}

// What is wrong with such a file is told by file, line and field.
func TestOwnErrors(t *testing.T) {
	dir := t.TempDir()
	load := func() string {
		_, err := Load(t.Context(), "own-x", "all", dataset.View{}, Options{Dir: dir, NoCache: true})
		if err == nil {
			return ""
		}
		return err.Error()
	}
	ownFiles(t, dir, nil)
	if got := load(); !strings.Contains(got, "own-x.csv") {
		t.Errorf("no files: %q", got)
	}
	ownFiles(t, dir, map[string]string{"own-x.csv": "user_id,what\nu,a\n"})
	if got := load(); !strings.Contains(got, `"item_id"`) {
		t.Errorf("no items: %q", got)
	}
	ownFiles(t, dir, map[string]string{"own-x.csv": "user_id,item_id,timestamp\nu,a,soon\n"})
	if got := load(); !strings.Contains(got, `own-x.csv:2: field "timestamp"`) {
		t.Errorf("no time: %q", got)
	}
}

// Folders whose names begin as own sets do are listed, and nothing else.
func TestOwnFolders(t *testing.T) {
	dir := t.TempDir()
	for _, d := range []string{"own-shop", "own-a.b", "own-", "own-x y", "ml-1m", "other"} {
		if err := os.Mkdir(filepath.Join(dir, d), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(dir, "own-file"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PRIVREC_DATA", "")
	if got := OwnNames(dir); !slices.Equal(got, []string{"own-a.b", "own-shop"}) {
		t.Errorf("%q", got)
	}
	if got := OwnNames(""); got != nil {
		t.Errorf("without a folder: %q", got)
	}
	if got := OwnNames(filepath.Join(dir, "nowhere")); got != nil {
		t.Errorf("of no folder: %q", got)
	}
	t.Setenv("PRIVREC_DATA", dir)
	if got := OwnNames(""); len(got) != 2 {
		t.Errorf("of $PRIVREC_DATA: %q", got)
	}
}
