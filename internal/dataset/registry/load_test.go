package registry

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"privrec/internal/dataset"
	"privrec/internal/dataset/format"
	"privrec/internal/dataset/format/formattest"
	"privrec/internal/system"
)

// dataDir makes a data folder that holds the tiny stand-in as a real set named "small",
// and returns the set and its recipe.
func dataDir(t *testing.T) (dir string, set Set, r dataset.Recipe) {
	t.Helper()
	set, err := Find("standin-tiny")
	if err != nil {
		t.Fatal(err)
	}
	l, f, err := set.StandIn.Generate(t.Context(), 4)
	if err != nil {
		t.Fatal(err)
	}
	dir = t.TempDir()
	if _, err := format.WriteAtomic(filepath.Join(dir, "small"), "small", l, f, "", false); err != nil {
		t.Fatal(err)
	}
	r = set.Recipes[0]
	set.Name, set.StandIn = "small", nil
	set.Layouts = []Layout{{Files: []string{"small.inter", "small.user"}, Read: interAndUser(nil)}}
	return dir, set, r
}

func load(t *testing.T, set Set, r dataset.Recipe, v dataset.View, opts Options) *dataset.Sequential {
	t.Helper()
	s, err := LoadSet(t.Context(), set, r, v, opts)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// sameData compares all but what the cache did.
func sameData(t *testing.T, what string, want, got *dataset.Sequential) {
	t.Helper()
	if d := cmp.Diff(want, got, cmpopts.IgnoreFields(dataset.Source{}, "Cache"), cmpopts.IgnoreFields(dataset.File{}, "Modified"), cmpopts.EquateNaNs(), cmpopts.EquateEmpty()); d != "" {
		t.Errorf("%s: data differ:\n%.2000s", what, d)
	}
}

func TestStandInFilesTakeTheSamePath(t *testing.T) {
	dir, set, r := dataDir(t)
	read := load(t, set, r, dataset.View{}, Options{Dir: dir, NoCache: true})
	made, err := Load(t.Context(), "standin-tiny", "dipsgnn", dataset.View{Seed: 4}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if made.Source.Level != dataset.LevelD || read.Source.Level != dataset.LevelD { // the card beside the files tells
		t.Errorf("levels %v, %v", made.Source.Level, read.Source.Level)
	}
	if d := cmp.Diff(made, read, cmpopts.IgnoreFields(dataset.Sequential{}, "Name", "Source")); d != "" {
		t.Errorf("written and read back, data differ:\n%.2000s", d)
	}
	if len(read.Source.Files) != 2 || len(read.Source.Files[0].SHA256) != 64 {
		t.Errorf("files %v", read.Source.Files)
	}
}

func TestCache(t *testing.T) {
	dir, set, r := dataDir(t)
	cacheDir := filepath.Join(t.TempDir(), "a", "b")
	opts := Options{Dir: dir, CacheDir: cacheDir}
	first := load(t, set, r, dataset.View{}, opts)
	if !strings.HasPrefix(first.Source.Cache, "written to cache") {
		t.Errorf("first load: %q", first.Source.Cache)
	}
	second := load(t, set, r, dataset.View{}, opts)
	if !strings.HasPrefix(second.Source.Cache, "read from cache") {
		t.Errorf("second load: %q", second.Source.Cache)
	}
	sameData(t, "cached", first, second)

	other := r
	other.LastN = 7
	if s := load(t, set, other, dataset.View{}, opts); !strings.HasPrefix(s.Source.Cache, "written") {
		t.Errorf("another recipe took the entry: %q", s.Source.Cache)
	}
	split := r
	split.Split = dataset.Split{Kind: dataset.SplitLeaveOneOut}
	if s := load(t, set, split, dataset.View{}, opts); !strings.HasPrefix(s.Source.Cache, "read") {
		t.Errorf("another split rebuilt the entry: %q", s.Source.Cache)
	}

	reads := set
	reads.Layouts = slices.Clone(set.Layouts)
	reads.Layouts[0].Steps = "clicks"
	if s := load(t, reads, r, dataset.View{}, opts); !strings.HasPrefix(s.Source.Cache, "written") {
		t.Errorf("a reader with another filter took the entry: %q", s.Source.Cache)
	}

	path := strings.TrimPrefix(first.Source.Cache, "written to cache ")
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if runtime.GOOS != "windows" { // users' rows: for their owner alone, also where an earlier program let others read them
		for _, was := range []os.FileMode{0, 0o644} {
			if was != 0 {
				if err := os.Chmod(path, was); err != nil {
					t.Fatal(err)
				}
				load(t, set, r, dataset.View{}, opts)
			}
			if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
				t.Errorf("the entry has mode %v, %v", info.Mode(), err)
			}
		}
		if info, err := os.Stat(filepath.Dir(path)); err != nil || info.Mode().Perm() != 0o700 {
			t.Errorf("the cache has mode %v, %v", info.Mode(), err)
		}
	}
	flip := func(at int) []byte {
		b := append([]byte(nil), whole...)
		b[at] ^= 4
		return b
	}
	for name, b := range map[string][]byte{
		"empty": {}, "version only": whole[:len(cacheVersion)], "cut": whole[:len(whole)-1], "half": whole[:len(whole)/2],
		"version": flip(3), "checksum": flip(len(cacheVersion) + 2), "payload": flip(len(whole) - 9), "longer": append(flip(0)[:0:0], append(whole[:len(whole):len(whole)], 0)...),
	} {
		if err := os.WriteFile(path, b, 0o600); err != nil {
			t.Fatal(err)
		}
		s := load(t, set, r, dataset.View{}, opts)
		if !strings.Contains(s.Source.Cache, "ignored and rebuilt: ") || !strings.Contains(s.Source.Cache, "written to cache") {
			t.Errorf("%s entry: %q", name, s.Source.Cache)
		}
		sameData(t, name, first, s)
		if now, _ := os.ReadFile(path); string(now) != string(whole) {
			t.Errorf("%s entry was not repaired", name)
		}
	}

	// An entry of other files under this name, whole in itself.
	foreign, err := openEntry(whole)
	if err != nil {
		t.Fatal(err)
	}
	foreign.log.Hash = "other"
	if err := system.WritePrivate(path, sealEntry(foreign)); err != nil {
		t.Fatal(err)
	}
	if s := load(t, set, r, dataset.View{}, opts); !strings.Contains(s.Source.Cache, "entry of other files") {
		t.Errorf("foreign entry: %q", s.Source.Cache)
	}

	// A change of one source byte must not meet the old entry.
	inter := filepath.Join(dir, "small", "small.inter")
	raw, _ := os.ReadFile(inter)
	os.WriteFile(inter, append(raw, "1\t300\t5\t1\n"...), 0o600)
	if s := load(t, set, r, dataset.View{}, opts); !strings.HasPrefix(s.Source.Cache, "written") ||
		s.Ladder[0].Rows != first.Ladder[0].Rows+1 {
		t.Errorf("changed source: %q, %v", s.Source.Cache, s.Ladder[0])
	}
	off := Options{Dir: dir, CacheDir: cacheDir, NoCache: true}
	if s := load(t, set, r, dataset.View{}, off); s.Source.Cache != "cache is off" {
		t.Errorf("cache off: %q", s.Source.Cache)
	}
	below := Options{Dir: dir, CacheDir: filepath.Join(path, "x")} // of a file
	if s := load(t, set, r, dataset.View{}, below); !strings.Contains(s.Source.Cache, "cache not written") {
		t.Errorf("cache below a file: %q", s.Source.Cache)
	}
}

func TestCacheConcurrentWriters(t *testing.T) {
	dir, set, r := dataDir(t)
	opts := Options{Dir: dir, CacheDir: t.TempDir()}
	want := load(t, set, r, dataset.View{}, Options{Dir: dir, NoCache: true})
	var wg sync.WaitGroup
	got := make([]*dataset.Sequential, 8)
	for i := range got {
		wg.Go(func() { got[i], _ = LoadSet(context.Background(), set, r, dataset.View{}, opts) })
	}
	wg.Wait()
	for _, s := range got {
		if s == nil || strings.Contains(s.Source.Cache, "ignored") {
			t.Fatalf("a writer failed: %v", s)
		}
		sameData(t, "concurrent", want, s)
	}
	left, _ := os.ReadDir(opts.CacheDir)
	if len(left) != 1 {
		t.Errorf("%d files left in the cache, want 1", len(left))
	}
}

func TestNotFound(t *testing.T) {
	t.Setenv("PRIVREC_DATA", "")
	empty, half := t.TempDir(), t.TempDir()
	os.Mkdir(filepath.Join(half, "ml-1m"), 0o700)
	os.WriteFile(filepath.Join(half, "ml-1m", "ratings.dat"), []byte("1::1::5::1\n"), 0o600)
	for _, c := range []struct {
		name, recipe, dir string
		message, hint     []string
	}{
		{"ml-1m", "dipsgnn", "", []string{"PRIVREC_DATA is not set", "ratings.dat and users.dat, or ml-1m.inter and ml-1m.user"}, []string{"https://grouplens.org/datasets/movielens/1m/", "$PRIVREC_DATA/ml-1m"}},
		{"ml-1m", "dipsgnn", empty, []string{empty + "/ml-1m: looked for ratings.dat and users.dat, or ml-1m.inter and ml-1m.user (plain, .gz or .zst)"}, []string{"https://grouplens.org/datasets/movielens/1m/", empty + "/ml-1m"}},
		{"ml-1m", "dipsgnn", half, []string{half + "/ml-1m: has ratings.dat but not users.dat; looked for "}, []string{"https://grouplens.org/datasets/movielens/1m/"}},
		{"ml-1m", "dipsgnn", filepath.Join(empty, "no"), []string{empty + "/no: no such folder of data sets"}, []string{"PRIVREC_DATA", "ml-1m/"}},
		{"ml-1m", "dipsgnn", filepath.Join(half, "ml-1m", "ratings.dat"), []string{"no such folder of data sets"}, []string{"PRIVREC_DATA"}},
		{"ml-2m", "dipsgnn", empty, []string{`ml-2m: unknown data set`}, []string{"ml-1m, ml-100k, gowalla, yelp2018, yelp, tmall, amazon-books", "zhihurec, standin-ml-1m"}},
		{"ml-1m", "gerai?", empty, []string{`ml-1m: unknown recipe "gerai?"`}, []string{"dipsgnn"}},
	} {
		_, err := Load(t.Context(), c.name, c.recipe, dataset.View{}, Options{Dir: c.dir})
		var e *dataset.Error
		if !errors.As(err, &e) {
			t.Errorf("%v: error %v", c, err)
			continue
		}
		for _, want := range c.message {
			if !strings.Contains(e.Error(), want) {
				t.Errorf("message %q lacks %q", e.Error(), want)
			}
		}
		for _, want := range c.hint {
			if !strings.Contains(e.Hint, want) {
				t.Errorf("hint %q lacks %q", e.Hint, want)
			}
		}
	}
	_, err := Load(t.Context(), "gowalla", "lightgcn", dataset.View{}, Options{Dir: empty})
	if !errors.Is(err, dataset.ErrNotFound) {
		t.Errorf("error %v is not ErrNotFound", err)
	}
}

// TestOfficialLayout runs MovieLens' own file forms through the registry's readers.
func TestOfficialLayout(t *testing.T) {
	for _, c := range []struct {
		set   Set
		files []string
	}{{ml1m(), []string{"ratings.dat", "users.dat"}}, {ml100k(), []string{"u.data", "u.user"}}} {
		dir := t.TempDir()
		os.Mkdir(filepath.Join(dir, c.set.Name), 0o700)
		for _, f := range c.files {
			b, err := os.ReadFile(filepath.Join(formattest.GoodDir, f))
			if err != nil {
				t.Fatal(err)
			}
			os.WriteFile(filepath.Join(dir, c.set.Name, f), b, 0o600)
		}
		r := c.set.Recipes[0]
		r.Core = 1
		s, err := LoadSet(t.Context(), c.set, r, dataset.View{}, Options{Dir: dir, NoCache: true})
		if err != nil {
			t.Fatal(err)
		}
		if s.Source.Level != dataset.LevelC || s.Features.Columns[0].Name != "gender" {
			t.Errorf("%s: level %v, features %v", c.set.Name, s.Source.Level, s.Features.Columns)
		}
		// The whole recipe finds too little here and says which filter it was.
		_, err = LoadSet(t.Context(), c.set, c.set.Recipes[0], dataset.View{}, Options{Dir: dir, NoCache: true})
		if err == nil || !strings.Contains(err.Error(), `no rows left after filter "10-core"`) {
			t.Errorf("%s: %v", c.set.Name, err)
		}
	}
}

// TestSourceChangedWhileReading lets the reader itself change the file.
func TestSourceChangedWhileReading(t *testing.T) {
	dir, set, r := dataDir(t)
	read := set.Layouts[0].Read
	set.Layouts[0].Read = func(ctx context.Context, paths []string) (*dataset.Log, *dataset.Features, error) {
		l, f, err := read(ctx, paths)
		os.Truncate(paths[0], 10)
		return l, f, err
	}
	if _, err := LoadSet(t.Context(), set, r, dataset.View{}, Options{Dir: dir, NoCache: true}); err == nil ||
		!strings.Contains(err.Error(), "small.inter: file changed while it was being read") {
		t.Errorf("error %v", err)
	}
}

// TestUserFileNamed checks that a user who lacks features is looked for in the right file.
func TestUserFileNamed(t *testing.T) {
	dir, set, r := dataDir(t)
	path := filepath.Join(dir, "small", "small.user")
	b, _ := os.ReadFile(path)
	lines := strings.SplitAfter(string(b), "\n")
	os.WriteFile(path, []byte(strings.Join(append(lines[:3:3], lines[4:]...), "")), 0o600)
	for range 2 { // the second time from the cache
		_, err := LoadSet(t.Context(), set, r, dataset.View{}, Options{Dir: dir, CacheDir: filepath.Join(dir, "cache")})
		if err == nil || err.Error() != path+`: field "user": user "3" has interactions but no line of user features` {
			t.Errorf("error %v", err)
		}
	}
}
