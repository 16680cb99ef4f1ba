package registry

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unsafe"

	"github.com/google/go-cmp/cmp"

	"privrec/internal/dataset"
	"privrec/internal/dataset/format/formattest"
	"privrec/internal/dataset/standin"
	"privrec/internal/rng"
)

// official writes the files of a set in the form of its owner; row k of user u is item
// (u+k*k)%items, for k below length(u).
type official struct {
	users, items int
	length       func(user int) int
}

// rows calls f in an order in which users alternate and days go up.
func (o official) rows(f func(user, item, k int)) {
	for k := 0; ; k++ {
		some := false
		for u := range o.users {
			if k < o.length(u) {
				some = true
				f(u, (u+k*k)%o.items, k)
			}
		}
		if !some {
			return
		}
	}
}

// write lays out the files of the set below dir.
func (o official) write(t *testing.T, dir string, set Set) {
	t.Helper()
	files := map[string]*bytes.Buffer{}
	for _, name := range set.Layouts[0].Files {
		files[name] = &bytes.Buffer{}
	}
	out := func(name, format string, args ...any) { fmt.Fprintf(files[name], format, args...) }
	switch {
	case set.Name == "yelp":
		o.rows(func(u, i, k int) {
			out("yelp_academic_dataset_review.json", `{"review_id":"r","user_id":"u%d","business_id":"b%d","stars":%d,"text":"t","date":"2017-01-%02d 10:00:00"}`+"\n", u, i, 1+k%5, 1+k%28)
		})
		for u := range o.users {
			out("yelp_academic_dataset_user.json", `{"user_id":"u%d","name":"n","review_count":%d,"useful":1,"funny":2,"cool":3,"fans":4,"average_stars":%d.5,"friends":"None"}`+"\n", u, o.length(u), u%5)
		}
	case set.Name == "tmall":
		out("user_log_format1.csv", "user_id,item_id,cat_id,seller_id,brand_id,time_stamp,action_type\n")
		o.rows(func(u, i, k int) {
			out("user_log_format1.csv", "%d,%d,1,1,,%d,0\n", u, i, 1101+k%7)
			out("user_log_format1.csv", "%d,%d,1,1,,1101,2\n%d,%d,1,1,,1111,0\n", u, i, u, i)
		})
		out("user_info_format1.csv", "user_id,age_range,gender\n")
		for u := range o.users {
			out("user_info_format1.csv", "%d,%s,%d\n", u, []string{"", "0", "3"}[u%3], u%2)
		}
	case strings.HasPrefix(set.Name, "amazon-"):
		o.rows(func(u, i, k int) {
			out(set.Layouts[0].Files[0], "A%013d,%010d,4.0,%d\n", u, i, 86400*k)
		})
	case strings.HasPrefix(set.Name, "cd-"):
		out("interactions.tsv", "user\ttimestamp\tdomain\titem\n")
		o.rows(func(u, i, k int) {
			out("interactions.tsv", "%d\t%d\t%c\t%d\n", u, 86400*k, "AB"[i%2], i)
		})
	case set.Name == "mind-small":
		o.rows(func(u, i, k int) {
			out([]string{"train/behaviors.tsv", "dev/behaviors.tsv"}[k%2], "%d\tU%d\t11/%d/2019 9:05:58 AM\tN1\tN%d-1 N900-0 N%d-0\n", k, u, 1+k%28, i, i)
		})
	case set.Name == "zhihurec":
		o.rows(func(u, i, k int) {
			out("inter_impression.csv", "%d,%d,%d,%d\n%d,900,%d,0\n", u, i, 100*k, 100*k+5, u, 100*k+1)
		})
	case set.Name == "seq-beauty":
		lines := make([]string, o.users)
		o.rows(func(u, i, _ int) { lines[u] += fmt.Sprint(" ", i+1) })
		for u, items := range lines {
			out("Beauty.txt", "%d%s\n", u+1, items)
		}
	case set.Name == "session-diginetica":
		lines := make([]string, o.users)
		o.rows(func(u, i, _ int) { lines[u] += fmt.Sprint(" ", i+1) })
		out("sessions.tsv", "session\tsplit\titems\n")
		for u, items := range lines {
			out("sessions.tsv", "%d\t%s\t%s\n", u, []string{"train", "train", "test"}[u%3], items[1:])
		}
	case set.Name == "yelp2018" || set.Name == "gowalla":
		seen := map[[2]int]bool{}
		lines := map[string][]string{}
		o.rows(func(u, i, k int) {
			if !seen[[2]int{u, i}] {
				seen[[2]int{u, i}] = true
				at := fmt.Sprint([]string{"train.txt", "train.txt", "test.txt"}[k%3], " ", u)
				lines[at] = append(lines[at], strconv.Itoa(i))
			}
		})
		for _, file := range []string{"train.txt", "test.txt"} {
			for u := range o.users {
				out(file, "%d %s\n", u, strings.Join(lines[fmt.Sprint(file, " ", u)], " "))
			}
		}
	default:
		t.Fatalf("no form for %s", set.Name)
	}
	for name, b := range files {
		path := filepath.Join(dir, set.Name, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, b.Bytes(), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// TestRecipesOnOfficialFiles runs every recipe of the sets that are not here on files
// in their owners' forms, twice, the second time from the cache.
func TestRecipesOnOfficialFiles(t *testing.T) {
	o := official{users: 40, items: 25, length: func(u int) int { return 3 + u%37 }}
	dir, cacheDir := t.TempDir(), t.TempDir()
	rungs := map[string][]string{
		"yelp/dipsgnn":     {dataset.RungRaw, "10-core round 1", "10-core", "last 30", dataset.RungTrain, dataset.RungTest, dataset.RungKnownTest},
		"tmall/dipsgnn":    {dataset.RungRaw, "clicks", "days 1101 to 1107", "10-core round 1", "10-core", "last 50", dataset.RungTrain, dataset.RungTest, dataset.RungKnownTest},
		"mind-small":       {dataset.RungRaw, "clicked", dataset.RungTrain, dataset.RungValid, "valid, known items", dataset.RungTest, dataset.RungKnownTest},
		"zhihurec":         {dataset.RungRaw, "clicked", dataset.RungTrain, dataset.RungValid, "valid, known items", dataset.RungTest, dataset.RungKnownTest},
		"yelp2018/rdpgcf":  {dataset.RungRaw, dataset.RungTrain, dataset.RungValid, "valid, known items", dataset.RungTest, dataset.RungKnownTest},
		"cd-amazon-toy":    {dataset.RungRaw, "distinct pairs", dataset.RungTrain, dataset.RungValid, "valid, known items", dataset.RungTest, dataset.RungKnownTest},
		"amazon":           {dataset.RungRaw, "distinct pairs", "items >= 5 rows", "users >= 5 rows", dataset.RungTrain, dataset.RungValid, "valid, known items", dataset.RungTest, dataset.RungKnownTest},
		"gowalla/lightgcn": {dataset.RungRaw, dataset.RungTrain, dataset.RungTest, dataset.RungKnownTest},
		"session-":         {dataset.RungRaw, dataset.RungTrain, dataset.RungTest, dataset.RungKnownTest},
		"seq-beauty":       {dataset.RungRaw, dataset.RungTrain, dataset.RungValid, "valid, known items", dataset.RungTest, dataset.RungKnownTest},
	}
	tested := 0
	for _, set := range All() {
		if set.StandIn != nil || set.Name == "ml-1m" || set.Name == "ml-100k" {
			continue
		}
		o.write(t, dir, set)
		for _, r := range set.Recipes {
			v, opts := dataset.View{Seed: 3}, Options{Dir: dir, CacheDir: cacheDir}
			first, second := load(t, set, r, v, opts), load(t, set, r, v, opts)
			// Recipes that only split differently share an entry.
			shared := r.Name == "rdpgcf"
			if !shared && !strings.HasPrefix(first.Source.Cache, "written") || !strings.HasPrefix(second.Source.Cache, "read") {
				t.Errorf("%s/%s: cache %q, then %q", set.Name, r.Name, first.Source.Cache, second.Source.Cache)
			}
			sameData(t, set.Name+"/"+r.Name, first, second)
			if first.Source.Level != dataset.LevelC {
				t.Errorf("%s/%s: level %v on made-up rows", set.Name, r.Name, first.Source.Level)
			}
			if first.Features != nil && !slices.EqualFunc(first.Features.Columns, r.Features, func(c dataset.Column, name string) bool { return c.Name == name }) || (first.Features == nil) != (r.Features == nil) {
				t.Errorf("%s/%s: features %v", set.Name, r.Name, first.Features)
			}
			for key, want := range rungs {
				if !strings.HasPrefix(set.Name+"/"+r.Name, key) {
					continue
				}
				tested++
				var got []string
				for _, rung := range first.Ladder {
					got = append(got, rung.Name)
				}
				if d := cmp.Diff(want, got); d != "" {
					t.Errorf("%s/%s (-want +got): %s", set.Name, r.Name, d)
				}
			}
			for i := 1; i < len(first.Ladder) && first.Ladder[i].Name != dataset.RungTrain; i++ {
				if first.Ladder[i].Rows > first.Ladder[i-1].Rows {
					t.Errorf("%s/%s: ladder grows: %v", set.Name, r.Name, first.Ladder)
				}
			}
		}
	}
	if want := len(rungs) + len(amazonCategories) - 1; tested != want {
		t.Errorf("the rungs of %d recipes were looked at, want %d", tested, want)
	}
}

// TestTmallRecipe follows the counts of every step.
func TestTmallRecipe(t *testing.T) {
	o := official{users: 40, items: 25, length: func(u int) int { return 3 + u%37 }}
	dir := t.TempDir()
	o.write(t, dir, tmall())
	s := load(t, tmall(), tmall().Recipes[0], dataset.View{}, Options{Dir: dir, NoCache: true})
	rows := 0
	for u := range o.users {
		rows += o.length(u)
	}
	want := dataset.Ladder{{Name: dataset.RungRaw, Users: 40, Items: 25, Rows: 3 * rows}, {Name: "clicks", Users: 40, Items: 25, Rows: 2 * rows}, {Name: "days 1101 to 1107", Users: 40, Items: 25, Rows: rows}}
	if d := cmp.Diff(want, s.Ladder[:3]); d != "" {
		t.Errorf("(-want +got): %s", d)
	}
	if got := s.Features.Columns[0].Levels; !slices.Equal(got, []string{"0", "3"}) || s.Features.Columns[0].Codes[slices.Index(s.UserIDs, "12")] != -1 {
		t.Errorf("ages %v", s.Features.Columns[0])
	}
}

// TestYelpUsers checks that users without reviews are dropped while reading, and that
// ids are held once.
func TestYelpUsers(t *testing.T) {
	paths := []string{filepath.Join(formattest.GoodDir, "yelp_academic_dataset_review.json"), filepath.Join(formattest.GoodDir, "yelp_academic_dataset_user.json")}
	l, f, err := readYelp(t.Context(), paths)
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(f.UserIDs, l.UserIDs) || f.Columns[0].Numbers[2] != 585 {
		t.Errorf("users %v, reviewers %v, counts %v", f.UserIDs, l.UserIDs, f.Columns[0].Numbers)
	}
	for i := range f.UserIDs {
		if unsafe.StringData(f.UserIDs[i]) != unsafe.StringData(l.UserIDs[i]) {
			t.Errorf("the id %s is held twice", f.UserIDs[i])
		}
	}
	other := filepath.Join(t.TempDir(), "user.json")
	b, _ := os.ReadFile(paths[1])
	os.WriteFile(other, bytes.ReplaceAll(b, []byte(`"u`), []byte(`"v`)), 0o600)
	if _, _, err := readYelp(t.Context(), []string{paths[0], other}); err == nil {
		t.Error("users of another release were taken")
	}
	b = bytes.ReplaceAll(b, []byte(`"vseful"`), []byte(`"useful"`))
	os.WriteFile(other, bytes.ReplaceAll(bytes.ReplaceAll(b, []byte(`_id": "u`), []byte(`_id": "v`)), []byte("vX"), []byte("uX")), 0o600)
	if _, _, err := readYelp(t.Context(), []string{paths[0], other}); err == nil || !strings.Contains(err.Error(), "none of its 4 users has a review") {
		t.Errorf("users of another release: %v", err)
	}
}

// TestYelpNumbers has ids whose order as numbers is not that of their bytes.
func TestYelpNumbers(t *testing.T) {
	dir := t.TempDir()
	paths := []string{filepath.Join(dir, "review.json"), filepath.Join(dir, "user.json")}
	var reviews, users bytes.Buffer
	for _, u := range []int{9, 10, 100, 20} {
		fmt.Fprintf(&reviews, `{"user_id":"%d","business_id":"1","stars":5,"date":"2017-01-01"}`+"\n", u)
		fmt.Fprintf(&users, `{"user_id":"%d","review_count":%d,"useful":0,"funny":0,"cool":0,"fans":0,"average_stars":1}`+"\n", u, u)
	}
	os.WriteFile(paths[0], reviews.Bytes(), 0o600)
	os.WriteFile(paths[1], users.Bytes(), 0o600)
	l, f, err := readYelp(t.Context(), paths)
	if err != nil {
		t.Fatal(err)
	}
	if want := []string{"9", "10", "20", "100"}; !slices.Equal(l.UserIDs, want) || !slices.Equal(f.UserIDs, want) || !slices.Equal(f.Columns[0].Numbers, []float64{9, 10, 20, 100}) {
		t.Errorf("reviewers %v, users %v, counts %v", l.UserIDs, f.UserIDs, f.Columns[0].Numbers)
	}
}

// TestMINDParts reads both parts of MIND: clicks of the second are Test, and the ladder
// counts both.
func TestMINDParts(t *testing.T) {
	dir := t.TempDir()
	dev := filepath.Join(dir, "dev.tsv")
	os.WriteFile(dev, []byte("1\tU13740\t11/10/2019 9:05:58 AM\tN1\tN7-1 N55689-0\n"), 0o600)
	l, err := ReadMIND(t.Context(), filepath.Join(formattest.GoodDir, "behaviors.tsv"), dev)
	if err != nil {
		t.Fatal(err)
	}
	if want := []dataset.Part{dataset.Train, dataset.Test, dataset.Train, dataset.Train, dataset.Train}; !slices.Equal(l.Parts, want) {
		t.Errorf("parts %v, want %v", l.Parts, want)
	}
	if want := (dataset.Rung{Name: dataset.RungRaw, Users: 2, Items: 8, Rows: 10}); l.Ladder[0] != want || l.Ladder[1].Rows != 5 {
		t.Errorf("ladder %v", l.Ladder)
	}
}

// TestSeedOfSplit checks that the seed of the view reaches a split that is drawn.
func TestSeedOfSplit(t *testing.T) {
	dir, set, r := dataDir(t)
	r.Split = dataset.Split{Kind: dataset.SplitRandom, Fraction: 0.8}
	r.Core = 0
	at := func(seed int) *dataset.Sequential {
		return load(t, set, r, dataset.View{Seed: rng.Seed(seed)}, Options{Dir: dir, NoCache: true})
	}
	first := at(1)
	sameData(t, "the same seed", first, at(1))
	if cmp.Equal(first.Train, at(2).Train) {
		t.Error("another seed gave the same split")
	}
}

// No recipe asks a stand-in of clicks for ratings.
func TestStandInsWithoutRatings(t *testing.T) {
	asked := 0
	for _, p := range standin.Profiles() {
		for _, r := range StandIn(p).Recipes {
			if r.Ratings && p.Implicit {
				t.Errorf("standin-%s has no ratings, which recipe %s keeps", p.Name, r.Name)
			} else if r.Ratings {
				asked++
			}
		}
	}
	if asked == 0 {
		t.Error("no recipe of a stand-in keeps ratings")
	}
}
