package registry

import (
	"os"
	"path/filepath"
	"testing"
)

// A set is absent until all files of one of its layouts are there, compressed or not; each
// domain of a pair counts, and generated sets are never absent.
func TestAbsent(t *testing.T) {
	dir := t.TempDir()
	put := func(path string) {
		path = filepath.Join(dir, path)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, nil, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	check := func(name string, want ...string) {
		t.Helper()
		sets, err := Absent(name, dir)
		if err != nil || len(sets) != len(want) {
			t.Fatalf("%s: %d sets, %v; want %v", name, len(sets), err, want)
		}
		for i, s := range sets {
			if s.Name != want[i] || s.Address == "" || s.Licence == "" {
				t.Errorf("%s: %q from %q under %q, want %s", name, s.Name, s.Address, s.Licence, want[i])
			}
		}
	}
	check("gowalla", "gowalla")
	put("gowalla/train.txt")
	check("gowalla", "gowalla")
	put("gowalla/test.txt.gz")
	check("gowalla")
	check("standin-tiny")
	check("standin-cross")
	check("cd-amazon-movie-cd-book", "amazon-movies-and-tv", "amazon-cds-and-vinyl", "amazon-books")
	check("cd-amazon-toy-game", "cd-amazon-toy-game")
	put("cd-amazon-toy-game/interactions.tsv.zst")
	check("cd-amazon-toy-game")
	if _, err := Absent("nothing", dir); err == nil {
		t.Error("an unknown set is not refused")
	}
	t.Setenv("PRIVREC_DATA", "")
	if sets, err := Absent("gowalla", ""); err != nil || len(sets) != 1 {
		t.Errorf("without a folder: %d sets, %v", len(sets), err)
	}
}
