package blurme

import (
	"compress/gzip"
	"encoding/csv"
	"errors"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"privrec/internal/config"
	"privrec/internal/dataset"
	"privrec/internal/dataset/registry"
	"privrec/internal/experiment"
	"privrec/internal/protocol/topn"
	"privrec/internal/protocol/topn/topntest"
	"privrec/internal/run"
	"privrec/internal/run/runtest"
)

// suite makes the task small. Two folds are enough to show that there are several.
var suite = topntest.Suite{
	Tasks:  []run.Task{Task(topn.Tables{})},
	Sets:   map[string][]string{"blurme": topntest.Trained("data.recipe=gerai-valid", "eval.candidates=30", "blur.folds=2")},
	Recipe: "gerai-valid",
}

// Every way to choose runs to its end, for two classes and for more, and says that nothing is
// claimed and what was added.
func TestRuns(t *testing.T) {
	suite.End(t, func(t *testing.T, dir, text string) {
		a := runtest.ReadJSON[Account](t, dir, "privacy.json", true)
		if a.Claimed != nil || !math.IsInf(float64(a.Total), 1) || strings.Join(experiment.Names(a.Unbounded), " ") != "edges attributes" {
			t.Errorf("claimed %v, total %v, open %v", a.Claimed, a.Total, a.Unbounded)
		}
		if !strings.Contains(text, "added rows") {
			t.Errorf("what is printed lacks the added rows:\n%s", text)
		}
	})
	for _, sets := range [][]string{
		{"blur.choose=random", "blur.attribute=occupation", "blur.folds=1"},
		{"blur.choose=greedy", "blur.attribute=age", "blur.bands=[25, 45]", "blur.list=20", "blur.share=1"},
	} {
		suite.Start(t, suite.Task(t, "blurme"), filepath.Join(t.TempDir(), "run"), sets...)
	}
}

// It trains on more rows than the data have, so that a forecast counts more steps.
func TestForecast(t *testing.T) { suite.Forecast(t, func(string) bool { return true }) }

func TestLearns(t *testing.T) { suite.Learn(t, "blurme") }

func TestWorkersAndSeeds(t *testing.T) { suite.Repeat(t, "blurme") }

func TestResume(t *testing.T) { suite.Resume(t, "random", "blurme", "blur.choose=random") }

func TestAnswers(t *testing.T) { suite.Answers(t) }

// The file of added rows, the counts, the measured rows and what answers give as users' items
// are of one set of additions.
func TestWhatWasAdded(t *testing.T) {
	d, err := registry.LoadInteractions(t.Context(), "standin-tiny", "gerai-valid", dataset.View{Seed: 1},
		registry.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, history := range []string{HistoryBlurred, HistoryTrue} {
		dir := filepath.Join(t.TempDir(), "run")
		suite.Start(t, suite.Task(t, "blurme"), dir, "blur.history="+history)
		o, a := runtest.ReadJSON[topn.Outcome](t, dir, "metrics.json", true), runtest.ReadJSON[Account](t, dir, "privacy.json", true)
		more := readAdded(t, dir)
		rows, had, test, valid := 0, 0, 0, 0
		for u, id := range d.UserIDs {
			rows, had = rows+len(more[id]), had+len(d.Train[u])
			for _, i := range more[id] {
				item := int32(slices.Index(d.ItemIDs, i))
				if slices.Contains(d.Train[u], item) {
					t.Errorf("user %s adds item %s, which they have", id, i)
				}
				if slices.Contains(d.Test[u], item) {
					test++
				}
				if slices.Contains(d.Valid[u], item) {
					valid++
				}
			}
		}
		if n := a.Added; n.Rows != rows || n.Users != len(more) || n.Test != test || n.Valid != valid || rows < had/10 {
			t.Errorf("counted %+v, the file has %d rows of %d users, %d of test, %d of validation", n, rows, len(more), test, valid)
		}
		held := 0
		for u := range d.Users {
			held += len(d.Test[u])
		}
		if o.Data.TrainRows != had+rows || o.Data.TestRows != held-test {
			t.Errorf("trained on %d rows and tested on %d, want %d and %d", o.Data.TrainRows, o.Data.TestRows, had+rows, held-test)
		}
		list, order, err := suite.Open(t, dir).Histories(t.Context())
		if err != nil || strings.Contains(order, "users added") != (history == HistoryBlurred) {
			t.Errorf("%s: order %q, %v", history, order, err)
		}
		for _, h := range list {
			u := slices.Index(d.UserIDs, h.User)
			want := slices.Concat(d.Train[u], d.Valid[u])
			if history == HistoryBlurred {
				for _, i := range more[h.User] {
					want = append(want, int32(slices.Index(d.ItemIDs, i)))
				}
			}
			var got []int32
			for _, i := range h.Items {
				got = append(got, int32(slices.Index(d.ItemIDs, i)))
			}
			slices.Sort(want)
			slices.Sort(got)
			if !slices.Equal(got, slices.Compact(want)) {
				t.Errorf("%s: user %s had %v, want %v", history, h.User, got, want)
			}
		}
	}
}

// readAdded reads the items that each user added.
func readAdded(t *testing.T, dir string) map[string][]string {
	t.Helper()
	f, err := os.Open(filepath.Join(dir, "added.tsv.gz"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	r := csv.NewReader(z)
	r.Comma = '\t'
	lines, err := r.ReadAll()
	if err != nil || !slices.Equal(lines[0], []string{"user_id", "item_id", "rating"}) {
		t.Fatalf("%v, %v", lines[:1], err)
	}
	all := map[string][]string{}
	for _, l := range lines[1:] {
		all[l[0]] = append(all[l[0]], l[1])
	}
	return all
}

// Which rows are held out cannot tell what is added: the additions are the same without them.
func TestAdditionsDoNotReadHeldOutRows(t *testing.T) {
	d, err := registry.LoadInteractions(t.Context(), "standin-tiny", "gerai-valid", dataset.View{Seed: 1},
		registry.Options{})
	if err != nil {
		t.Fatal(err)
	}
	blind := *d
	blind.Test, blind.Valid = nil, nil
	env := run.Rehearse(1)
	for _, choose := range []string{Greedy, Random, Ranked} {
		b := Default().Blur
		b.Choose, b.Folds = choose, 2
		want, err := b.choose(t.Context(), env, d)
		if err != nil {
			t.Fatal(err)
		}
		got, err := b.choose(t.Context(), env, &blind)
		if err != nil {
			t.Fatal(err)
		}
		for u := range got.items {
			if !slices.Equal(got.items[u], want.items[u]) {
				t.Fatalf("%s: user %d adds %v, without held-out rows %v", choose, u, want.items[u], got.items[u])
			}
		}
	}
}

func TestBadSettings(t *testing.T) {
	for _, c := range []struct{ set, want string }{
		{"blur.share=0", "blur.share"},
		{"blur.share=1.01", "blur.share"},
		{"blur.share=-0.1", "blur.share"},
		{"blur.share=.nan", "blur.share"},
		{"blur.attribute=", "blur.attribute"},
		{"blur.bands=[35]", "blur.bands"},
		{"blur.choose=best", "blur.choose"},
		{"blur.list=-1", "blur.list"},
		{"blur.folds=0", "blur.folds"},
		{"blur.history=raw", "blur.history"},
		{"model.dim=0", "model.dim"},
		{"eval.k=[0]", "eval.k"},
	} {
		err := Task(topn.Tables{}).Check("", []string{c.set})
		if err == nil || !strings.Contains(err.Error(), c.want) || !config.Is(err) {
			t.Errorf("%s: %v, want an error of the configuration about %s", c.set, err, c.want)
		}
	}
}

// What only the data can tell is refused, with the key or the feature.
func TestBadData(t *testing.T) {
	for _, c := range []struct {
		sets []string
		want string
	}{
		{[]string{"blur.attribute=height"}, "blur.attribute"},
		{[]string{"blur.attribute=age", "blur.bands=[0.1, 0.2]"}, "all users have the same value"},
		{[]string{"data.recipe=rdpgcf"}, "data.recipe"},
		{[]string{"eval.k=[301]", "eval.candidates=0"}, "eval.k"},
	} {
		err := suite.Try(t.Context(), suite.Task(t, "blurme"), filepath.Join(t.TempDir(), "run"), c.sets, run.Options{})
		usage, data := (*run.UsageError)(nil), (*dataset.Error)(nil)
		if err == nil || !strings.Contains(err.Error(), c.want) || !errors.As(err, &usage) && !errors.As(err, &data) {
			t.Errorf("%v: %v, want an error about %q", c.sets, err, c.want)
		}
	}
}
