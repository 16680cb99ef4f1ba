package registry

import (
	"bufio"
	"compress/gzip"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"privrec/internal/dataset"
	"privrec/internal/dataset/format"
)

// TestRealPapers compares the papers' counts with real data, one recipe a line, and
// says which level of evidence comes out.
func TestRealPapers(t *testing.T) {
	dir := realData(t)
	for _, c := range []struct {
		name, recipe string
		level        dataset.Level
		lost         bool // some test rows are of items that no training row has
	}{
		{"ml-1m", "rdpgcf", dataset.LevelB, true},
		{"ml-1m", "rdpgcf-core", dataset.LevelC, false}, // the paper prints no count of it
		{"ml-100k", "gerai", dataset.LevelB, true},
		{"ml-100k", "gerai-valid", dataset.LevelB, true},
		{"ml-1m", "gerai", dataset.LevelC, true}, // the paper does not use it
		{"ml-1m", "gerai-valid", dataset.LevelC, true},
		{"gowalla", "rdpgcf", dataset.LevelB, true}, // the published split, a tenth of it drawn here
	} {
		t.Run(c.name+"/"+c.recipe, func(t *testing.T) {
			v, opts := dataset.View{Seed: 1}, Options{Dir: dir, CacheDir: t.TempDir()}
			s, err := Load(t.Context(), c.name, c.recipe, v, opts)
			if err != nil {
				t.Fatal(err)
			}
			for _, k := range s.Source.Checks {
				if !k.OK() {
					t.Error(k)
				}
			}
			if s.Source.Level != c.level {
				t.Errorf("level %v, want %v", s.Source.Level, c.level)
			}
			test, _ := s.Ladder.Get(dataset.RungTest)
			known, _ := s.Ladder.Get(dataset.RungKnownTest)
			t.Logf("level %v; %d items train; %d of %d test rows are of other items", s.Source.Level, s.Items, test.Rows-known.Rows, test.Rows)
			if (known.Rows < test.Rows) != c.lost {
				t.Errorf("%d of %d test rows have a known item", known.Rows, test.Rows)
			}
			again, err := Load(t.Context(), c.name, c.recipe, v, opts)
			if err != nil {
				t.Fatal(err)
			}
			again.Source.Cache = s.Source.Cache
			if !reflect.DeepEqual(s, again) {
				t.Error("the cache gave other data")
			}
			v.Seed = 2
			other, err := Load(t.Context(), c.name, c.recipe, v, opts)
			if err != nil {
				t.Fatal(err)
			}
			same := 0
			for u := range s.Train {
				if fmt.Sprint(s.Train[u]) == fmt.Sprint(other.Train[u]) {
					same++
				}
			}
			if same > s.Users/2 {
				t.Errorf("another seed gave %d of %d users the same training rows", same, s.Users)
			}
		})
	}
}

// eachRealRow calls f with the fields of every line of a gzip table but its header.
func eachRealRow(t *testing.T, path string, f func(v []string)) {
	t.Helper()
	file, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	z, err := gzip.NewReader(file)
	if err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(z)
	lines.Buffer(nil, 1<<22)
	for first := true; lines.Scan(); first = false {
		if !first {
			f(strings.Split(lines.Text(), "\t"))
		}
	}
	if err := lines.Err(); err != nil {
		t.Fatal(err)
	}
}

// TestRealMIND reads 5,000 real impressions, put back into the form of their owner.
func TestRealMIND(t *testing.T) {
	dir := realData(t)
	path := filepath.Join(t.TempDir(), "behaviors.tsv")
	out, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	w := bufio.NewWriter(out)
	clicks := 0
	eachRealRow(t, filepath.Join(dir, "mind-small-sample", "impressions.tsv.gz"), func(v []string) {
		at, err := time.Parse("2006-01-02T15:04:05", v[2])
		if err != nil {
			t.Fatal(err)
		}
		clicks += strings.Count(v[4], "-1 ")
		if strings.HasSuffix(v[4], "-1") {
			clicks++
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\n", v[0], v[1], at.Format("1/2/2006 3:04:05 PM"), v[3], v[4])
	})
	if err := w.Flush(); err != nil {
		t.Fatal(err)
	}
	l, err := ReadMIND(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	raw, _ := l.Ladder.Get(dataset.RungRaw)
	if raw.Users != 4637 || raw.Rows != 189359 || l.Len() != 7542 || clicks != 7542 {
		t.Errorf("%v, %d clicks, counted apart %d; want 4,637 users, 189,359 shown, 7,542 clicks", raw, l.Len(), clicks)
	}
	first, last := time.Unix(l.Times[0], 0).UTC(), time.Unix(l.Times[0], 0).UTC()
	for _, at := range l.Times {
		u := time.Unix(at, 0).UTC()
		if u.Before(first) {
			first = u
		}
		if u.After(last) {
			last = u
		}
	}
	if f, l := first.Format(time.DateOnly), last.Format(time.DateOnly); f != "2019-11-09" || l != "2019-11-14" {
		t.Errorf("times from %s to %s", f, l)
	}
}

// TestRealDomains reads the cross-domain tables as plain tables with a header.
func TestRealDomains(t *testing.T) {
	dir := realData(t)
	for _, c := range []struct {
		name               string
		users, items, rows int
	}{{"cd-amazon-toy-game", 7996, 49603, 197358}, {"cd-amazon-food-kitchen", 7144, 28095, 173548}} {
		l, err := format.Table{User: "user", Item: "item", Time: "timestamp"}.Read(t.Context(), filepath.Join(dir, c.name, "interactions.tsv.gz"))
		if err != nil {
			t.Fatal(err)
		}
		if got := l.Rung(""); got != (dataset.Rung{Users: c.users, Items: c.items, Rows: c.rows}) {
			t.Errorf("%s: %+v", c.name, got)
		}
	}
}
