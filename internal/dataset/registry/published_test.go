package registry

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"privrec/internal/dataset"
	"privrec/internal/rng"
)

// publishedFolder writes the lines of a split into the folder of a data set.
func publishedFolder(t *testing.T, name string, train, test [][]string) Options {
	t.Helper()
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, name), 0o755); err != nil {
		t.Fatal(err)
	}
	for file, lists := range map[string][][]string{"train.txt": train, "test.txt": test} {
		var b strings.Builder
		for _, l := range lists {
			b.WriteString(strings.Join(l, " ") + "\n")
		}
		if err := os.WriteFile(filepath.Join(dir, name, file), []byte(b.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return Options{Dir: dir, NoCache: true}
}

// A split that was published is known by its rows: in another order it is still level A,
// reshuffled within each user, with all counts equal, it is level C, with or without a
// receipt.
func TestPublishedSplitIsKnownByItsRows(t *testing.T) {
	train := [][]string{{"0", "0", "1", "2"}, {"1", "0", "3"}, {"2", "1", "2", "3"}}
	test := [][]string{{"0", "3"}, {"1", "1", "2"}, {"2", "0"}}
	recipe := dataset.Recipe{Name: "as published", Split: dataset.Split{Kind: dataset.SplitFixed}, Wants: []dataset.Want{
		{Rung: dataset.Rung{Name: dataset.RungRaw, Users: 3, Items: 4, Rows: 12}, Paper: true},
		{Rung: dataset.Rung{Name: dataset.RungTrain, Users: 3, Rows: 8}, Paper: true},
		{Rung: dataset.Rung{Name: dataset.RungKnownTest, Users: 3, Rows: 4}, Paper: true},
	}}
	set := Set{Name: "tiny", Layouts: []Layout{{Files: []string{"train.txt", "test.txt"}, Read: readSplitAdjacency}}}
	log, _, err := readSplitAdjacency(t.Context(), []string{
		filepath.Join(publishedFolder(t, "tiny", train, test).Dir, "tiny", "train.txt"),
		filepath.Join(publishedFolder(t, "tiny", train, test).Dir, "tiny", "test.txt")})
	if err != nil {
		t.Fatal(err)
	}
	recipe.Digest = log.Digest()
	for _, c := range []struct {
		name        string
		train, test [][]string
		receipt     string
		level       dataset.Level
		note        string
	}{
		{"as published", train, test, "", dataset.LevelA, ""},
		{"in another order", [][]string{{"2", "3", "2", "1"}, {"1", "3", "0"}, {"0", "2", "0", "1"}}, [][]string{{"2", "0"}, {"0", "3"}, {"1", "2", "1"}}, "", dataset.LevelA, ""},
		{"in another order, pinned", [][]string{{"2", "3", "2", "1"}, {"1", "3", "0"}, {"0", "2", "0", "1"}}, test, `{"pinned_new": true}`, dataset.LevelA, "--pin-new"},
		{"reshuffled within users", [][]string{{"0", "0", "1", "3"}, {"1", "0", "1"}, {"2", "1", "2", "0"}}, [][]string{{"0", "2"}, {"1", "3", "2"}, {"2", "3"}}, "", dataset.LevelC, "not the rows of the published split"},
		{"reshuffled within users, pinned", [][]string{{"0", "0", "1", "3"}, {"1", "0", "1"}, {"2", "1", "2", "0"}}, [][]string{{"0", "2"}, {"1", "3", "2"}, {"2", "3"}}, `{"pinned_new": true}`, dataset.LevelC, "--pin-new"},
	} {
		o := publishedFolder(t, "tiny", c.train, c.test)
		if c.receipt != "" {
			if err := os.WriteFile(filepath.Join(o.Dir, "tiny", ReceiptName), []byte(c.receipt), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		s, err := LoadSet(t.Context(), set, recipe, dataset.View{}, o)
		if err != nil {
			t.Fatalf("%s: %v", c.name, err)
		}
		notes := strings.Join(s.Source.Notes, "; ")
		if s.Source.Level != c.level || !strings.Contains(notes, c.note) || c.note == "" && notes != "" {
			t.Errorf("%s: level %v, notes %q; want %v, %q", c.name, s.Source.Level, notes, c.level, c.note)
		}
		for _, k := range s.Source.Checks {
			if !k.OK() {
				t.Errorf("%s: the counts differ, so that they are no test of the digest: %v", c.name, k)
			}
		}
	}
}

// Every recipe that takes a published split says by what it is known.
func TestPublishedSplitsHaveDigests(t *testing.T) {
	for _, set := range All() {
		for _, r := range set.Recipes {
			if fixed := r.Split.Kind == dataset.SplitFixed; fixed != (len(r.Digest) == 64) || fixed != (r.Digest != "") {
				t.Errorf("%s, %s: split %s, digest %q", set.Name, r.Name, r.Split.Kind, r.Digest)
			}
		}
	}
}

// The digest of each published split is that of its real files, which reshuffled within
// users are no longer of its level.
func TestRealDigests(t *testing.T) {
	dir := realData(t)
	for _, name := range []string{"gowalla", "yelp2018"} {
		t.Run(name, func(t *testing.T) {
			// A folder of data need not hold every set. Gowalla's it must: without it nothing
			// would be checked.
			if _, err := os.Stat(filepath.Join(dir, name)); err != nil && name != "gowalla" {
				t.Skipf("%s is not among the data sets of this machine: its digest is not checked", name)
			}
			set, err := Find(name)
			if err != nil {
				t.Fatal(err)
			}
			l, _, err := LoadLog(t.Context(), name, dataset.View{}, Options{Dir: dir})
			if err != nil {
				t.Fatal(err)
			}
			if got := l.Digest(); got != set.Recipes[0].Digest {
				t.Fatalf("digest %s, the registry has %s", got, set.Recipes[0].Digest)
			}
			if same, err := SamePublished(t.Context(), name, filepath.Join(dir, name)); err != nil || !same {
				t.Errorf("the folder of the set does not hold it: %v", err)
			}
			off := l.Offsets()
			for u := range l.UserIDs {
				s := rng.Seed(1).Stream("reshuffle", uint64(u))
				parts := append([]dataset.Part{}, l.Parts[off[u]:off[u+1]]...)
				for i, k := range s.Perm(len(parts)) {
					l.Parts[off[u]+i] = parts[k]
				}
			}
			for _, r := range set.Recipes {
				if l.Digest() == r.Digest {
					t.Errorf("%s, reshuffled within users, is still taken for the published split", r.Name)
				}
			}
		})
	}
}

// Other rows, files that lack one, and sets without a published split are not one.
func TestSamePublished(t *testing.T) {
	o := publishedFolder(t, "gowalla", [][]string{{"0", "0", "1"}}, [][]string{{"0", "2"}})
	folder := filepath.Join(o.Dir, "gowalla")
	for _, name := range []string{"gowalla", "ml-1m"} {
		if same, err := SamePublished(t.Context(), name, folder); same || err != nil {
			t.Errorf("%s: %v, %v", name, same, err)
		}
	}
	if err := os.WriteFile(filepath.Join(folder, "test.txt"), []byte("not numbers\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if same, err := SamePublished(t.Context(), "gowalla", folder); same || err == nil {
		t.Errorf("a file that is no list: %v, %v", same, err)
	}
	if err := os.Remove(filepath.Join(folder, "test.txt")); err != nil {
		t.Fatal(err)
	}
	if same, err := SamePublished(t.Context(), "gowalla", folder); same || err != nil {
		t.Errorf("half of it: %v, %v", same, err)
	}
}
