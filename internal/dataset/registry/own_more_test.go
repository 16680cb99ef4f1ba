package registry

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"privrec/internal/config"
	"privrec/internal/dataset"

	"github.com/google/go-cmp/cmp"
)

// A recipe that is spelled by its steps has these steps, and one spelled wrongly says what is wrong.
func TestOwnSpelling(t *testing.T) {
	set := own("own-x")
	random := dataset.Split{Kind: dataset.SplitRandom, Fraction: 0.8, Nearest: true}
	for name, want := range map[string]dataset.Recipe{
		"leave-one-out":                 {Split: dataset.Split{Kind: dataset.SplitLeaveOneOut, Valid: true}},
		"5-core+leave-one-out":          {Core: 5, Split: dataset.Split{Kind: dataset.SplitLeaveOneOut, Valid: true}},
		"distinct+ratio":                {Dedupe: dataset.KeepFirst, Split: random},
		"rating-3.5+last-7+fraction-50": {MinRating: 3.5, LastN: 7, Split: dataset.Split{Kind: dataset.SplitFraction, Fraction: 0.5}},
		"items-2+users-3+split+valid-5": {MinItem: 2, MinUser: 3, Split: dataset.Split{Kind: dataset.SplitFixed, ValidShare: 0.05}},
	} {
		r, err := set.Recipe(name)
		want.Name, want.About, want.Times, want.Known = name, r.About, true, true
		if d := cmp.Diff(want, r); err != nil || d != "" {
			t.Errorf("%s: %v\n%s", name, err, d)
		}
	}
	for name, part := range map[string]string{
		"ratoi":                 `did you mean "ratio"?`,
		"5-core+distinct+ratio": "twice or too late",
		"5-core+5-core+ratio":   "twice or too late",
		"distinct+5-core":       "does not say how to split",
		"fraction+valid-5":      "train.validation",
		"leave-one-out+valid-5": "validation rows of its own",
		"5-core+foo":            `unknown step "foo"`,
		"0-core+ratio":          `unknown step "0-core"`,
		"1.5-core+ratio":        `unknown step "1.5-core"`,
		"ratio-100":             "unknown recipe",
		"":                      "unknown recipe",
	} {
		_, err := set.Recipe(name)
		e, ok := err.(*dataset.Error)
		if !ok || !strings.Contains(e.Error()+e.Hint, part) {
			t.Errorf("%s: want %q, got %v", name, part, err)
		}
	}
}

// Columns of other names are read as the usual ones, in every form.
func TestOwnColumns(t *testing.T) {
	names := "user: who\nitem: what\nrating: stars\ntimestamp: at\nfeatures: [age, city]\nnumbers: [age]\n"
	users := "who,zip,city,age\nu1,1,Rome,30\nu2,2,Oslo,40\n"
	for name, files := range map[string]map[string]string{
		"csv":   {"own-x.csv": "stars,who,what,at\n5,u1,a,2\n4,u1,b,1\n3,u2,a,1\n3,u2,b,2\n", "own-x.users.csv": users},
		"tsv":   {"own-x.tsv": "stars\twho\twhat\tat\n5\tu1\ta\t2\n4\tu1\tb\t1\n3\tu2\ta\t1\n3\tu2\tb\t2\n", "own-x.users.csv": users},
		"inter": {"own-x.inter": "who:token\twhat:token\tstars:float\tat:float\nu1\ta\t5\t2\nu1\tb\t4\t1\nu2\ta\t3\t1\nu2\tb\t3\t2\n", "own-x.user": "who:token\tcity:token\tage:token\nu1\tRome\t30\nu2\tOslo\t40\n"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			files[ColumnsFile] = names
			ownFiles(t, dir, files)
			s, err := Load(t.Context(), "own-x", "all", dataset.View{}, Options{Dir: dir, CacheDir: t.TempDir()})
			if err != nil {
				t.Fatal(err)
			}
			if len(s.Train) != 2 || s.ItemIDs[s.Train[0][0]] != "b" || s.ItemIDs[s.Train[1][0]] != "a" { // b before a by time
				t.Errorf("train %v of %q", s.Train, s.ItemIDs)
			}
			f := s.Features
			if f == nil || len(f.Columns) != 2 || f.Columns[0].Name != "age" || f.Columns[0].Kind != dataset.Numeric || f.Columns[0].Numbers[1] != 40 || f.Columns[1].Levels[0] != "Oslo" {
				t.Errorf("features %+v", f)
			}
			if s.Ratings[0][0] != 4 {
				t.Errorf("ratings %v", s.Ratings)
			}
		})
	}
	for text, part := range map[string]string{
		"user: nobody\n":              `field "nobody": column is missing`,
		"rating: none\n":              `field "none": column is missing`,
		"usre: who\n":                 "columns.yaml:1: field \"usre\": unknown key",
		"user: who\nitem: who\n":      "which is another one too",
		"numbers: [shoe]\n":           "which columns.yaml calls a number",
		"features: [shoe]\n":          "which columns.yaml calls a feature",
		"user: [a]\n":                 "columns.yaml:1",
		"numbers: [a]\nfeatures: [b]": "none of the features",
	} {
		dir := t.TempDir()
		ownFiles(t, dir, map[string]string{"own-x.csv": "user_id,item_id,who\nu,i,w\nu,j,w\n", "own-x.users.csv": "user_id,city\nu,Rome\n", ColumnsFile: text})
		_, err := Load(t.Context(), "own-x", "all", dataset.View{}, Options{Dir: dir, NoCache: true})
		if err == nil || !strings.Contains(err.Error(), part) {
			t.Errorf("%q: want %q, got %v", text, part, err)
		}
	}
}

// A file of features that lacks users is counted in a note, and fails where a model needs it,
// unless its owner allows that.
func TestOwnPartialFeatures(t *testing.T) {
	for _, partial := range []bool{false, true} {
		dir := t.TempDir()
		files := map[string]string{"own-x.csv": "user_id,item_id\nu1,a\nu1,b\nu2,a\nu2,b\nu3,b\nu3,a\n", "own-x.users.csv": "user_id,city,age\nu2,Rome,3\n"}
		columns := "numbers: [age]\n"
		if partial {
			columns += "partial: true\n"
		}
		files[ColumnsFile] = columns
		ownFiles(t, dir, files)
		o := Options{Dir: dir, CacheDir: t.TempDir()}
		for range 2 { // the second time from the cache
			s, err := Load(t.Context(), "own-x", "all", dataset.View{}, o)
			if err != nil {
				t.Fatal(err)
			}
			if len(s.Source.Notes) != 1 || !strings.HasPrefix(s.Source.Notes[0], "1 of the 3 users have a line of user features") {
				t.Errorf("notes %q", s.Source.Notes)
			}
			if d := cmp.Diff([]int32{-1, 0, -1}, s.Features.Columns[0].Codes); d != "" {
				t.Error(d)
			}
			err = s.Features.Complete()
			if partial != (err == nil) {
				t.Errorf("partial %v: %v", partial, err)
			}
			if e, ok := err.(*dataset.Error); !partial && (!ok || !strings.HasSuffix(e.File, "own-x.users.csv") || !strings.Contains(e.Hint, "partial: true")) {
				t.Errorf("%v", err)
			}
		}
	}
}

// Two logs in a folder and two sets by name are pairs of domains with the same rows.
func TestOwnDomains(t *testing.T) {
	write := func(dir, folder, name, text string) {
		if err := os.MkdirAll(filepath.Join(dir, folder), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, folder, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	dir, one, two := t.TempDir(), "user_id,item_id,timestamp\n", "user_id\titem_id\ttimestamp\n"
	for _, u := range []string{"u1", "u2"} {
		for i, item := range []string{"a", "b", "c", "d"} {
			at := string(rune('1' + i))
			one += u + "," + item + "," + at + "\n"
			two += u + "\tx" + item + "\t" + at + "\n"
		}
	}
	one += "alone,a,1\n"
	write(dir, "own-x", "target.csv", one)
	write(dir, "own-x", "source.tsv", two)
	write(dir, "own-a", "own-a.csv", one)
	write(dir, "own-b", "own-b.tsv", two)
	o := Options{Dir: dir, NoCache: true}
	a, err := LoadCross(t.Context(), "own-x", OwnTarget, OwnSource, dataset.View{}, o)
	if err != nil {
		t.Fatal(err)
	}
	b, err := LoadCross(t.Context(), "own-a+own-b", "a", "b", dataset.View{}, o)
	if err != nil {
		t.Fatal(err)
	}
	for k := range a.Domains {
		a.Domains[k].Name = b.Domains[k].Name
	}
	if d := cmp.Diff(a.Domains, b.Domains); d != "" || a.Users != 2 || a.Domains[1].ItemIDs[a.Domains[1].Train[0][1]] != "xb" {
		t.Errorf("%d users, %+v:\n%s", a.Users, a.Domains[1], d)
	}
	if !IsOwnCross("own-x", dir) || IsOwnCross("own-a", dir) || !IsOwnCross("own-a+own-b", dir) {
		t.Error("what are pairs of domains")
	}
	if err := os.Remove(filepath.Join(dir, "own-x", "source.tsv")); err != nil {
		t.Fatal(err)
	}
	if _, err := LoadCross(t.Context(), "own-x", OwnTarget, OwnSource, dataset.View{}, o); err == nil ||
		!strings.Contains(err.Error(), "source.csv") {
		t.Errorf("a missing log: %v", err)
	}
	for _, name := range []string{"own-a+own-b+own-c", "own-a+ml-1m", "own-a/b"} {
		if _, err := FindCross(name); err == nil {
			t.Errorf("%s is a pair", name)
		}
	}
}

// Data get the recipe that suits a task unless the user named one.
func TestSuit(t *testing.T) {
	t.Setenv("PRIVREC_DATA", t.TempDir())
	type file struct {
		Data struct {
			Name   string `yaml:"name"`
			Recipe string `yaml:"recipe"`
		} `yaml:"data"`
	}
	for _, c := range []struct {
		text, want string
		sets       []string
		need       Need
		err        string
	}{
		{text: "{}", want: "recent", sets: []string{"data.name=own-x"}},
		{text: "{}", want: "all", sets: []string{"data.name=own-x", "data.recipe=all"}},
		{text: "data: {name: own-x, recipe: ratio}", want: "ratio"},
		{text: "data: {name: ml-1m, recipe: sasrec}", want: "recent", sets: []string{"data.name=own-x"}},
		{text: "data: {name: own-y, recipe: 5-core}", want: "5-core", sets: []string{"data.name=own-x"}},
		{text: "data: {name: own-x, recipe: sasrec}", want: "sasrec"}, // refused when it is loaded
		{text: "{}", want: "dipsgnn", sets: []string{"data.name=ml-1m"}},
		{text: "{}", want: "srgnn", sets: []string{"data.name=session-diginetica"}},
		{text: "data: {name: ml-1m, recipe: sasrec}", want: "sasrec"},
		{text: "data: {name: ml-1m, recipe: nothing}", want: "nothing"}, // refused when it is loaded
		{text: "data: {name: ml-1m, recipe: sasrec}", want: "dipsgnn", sets: []string{"data.name=ml-100k"}},
		{text: "{}", want: "sasrec", sets: []string{"data.name=seq-beauty"}, need: Need{Cut: LastItem}},
		{text: "{}", want: "gerai", sets: []string{"data.name=ml-100k"}, need: Need{Cut: Pairs}},
		{text: "{}", want: "gerai-valid", sets: []string{"data.name=ml-100k"}, need: Need{Cut: Pairs, Valid: true}},
		{text: "{}", want: "gerai", sets: []string{"data.name=ml-1m"}, need: Need{Cut: Pairs, Draws: true}},
		{text: "{}", sets: []string{"data.name=gowalla"}, err: "has no recipe that cuts users' rows in order, the later ones for testing: it has lightgcn, rdpgcf"},
		{text: "{}", sets: []string{"data.name=tmall"}, need: Need{Cut: Prefixes, Ratings: true}, err: "and keeps ratings: it has dipsgnn"},
		{text: "{}", sets: []string{"data.name=standin-cross"}, err: "is a set of domains"},
		{text: "{}", sets: []string{"data.name=ml-10m"}, err: "unknown data set"},
	} {
		if c.need.Cut == AnyCut {
			c.need.Cut = Prefixes
		}
		def := file{}
		def.Data.Recipe = "dipsgnn"
		got, doc, err := config.Parse("f", []byte(c.text), c.sets, def)
		if err != nil {
			t.Fatal(err)
		}
		r, err := Suit(doc, got.Data.Name, got.Data.Recipe, c.need)
		if c.err == "" && (r != c.want || err != nil) || c.err != "" && (err == nil || !strings.Contains(err.Error(), c.err)) {
			t.Errorf("%s %v: %q, %v, want %q, %q", c.text, c.sets, r, err, c.want, c.err)
		}
	}
}

// Other spellings of a name are understood as a question.
func TestNearest(t *testing.T) {
	known := []string{"ml-1m", "ml-100k", "standin-ml-1m", "gowalla"}
	for name, want := range map[string]string{
		"ML-1M": "ml-1m", "movielens-1m": "ml-1m", "ml1m": "ml-1m", "MovieLens 100K": "ml-100k", "ml_100k": "ml-100k", "Gowala": "gowalla", "netflix": "", "": "", "---": "",
	} {
		got := Nearest(name, known)
		if want == "" && got != "" || want != "" && got != "did you mean \""+want+"\"? " {
			t.Errorf("%q: %q, want %q", name, got, want)
		}
	}
}
