package papers

import (
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"gopkg.in/yaml.v3"

	"privrec/internal/dataset"
	"privrec/internal/dataset/registry"
	"privrec/internal/dataset/slate"
	"privrec/internal/run"
)

// everyDataSet lists the names of all data sets: of one domain, of several, and of slates.
func everyDataSet() (names []string) {
	for _, s := range registry.All() {
		names = append(names, s.Name)
	}
	for _, s := range registry.CrossSets() {
		names = append(names, s.Name)
	}
	for _, s := range slate.Sources() {
		names = append(names, s.Name)
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// onData lists the tasks that a data set is named for, and no more: those with no other source of what they read.
func onData() (tasks []run.Task) {
	for _, t := range All() {
		for _, k := range t.Keys() {
			if k.Path == "data.name" {
				tasks = append(tasks, t)
			}
		}
	}
	return tasks
}

// suited is what the effective configuration says of the data.
type suited struct {
	Protocol string
	Data     struct{ Name, Recipe, Target, Auxiliary string }
}

// suit returns the effective configuration of a task on a data set of which nothing but the name is given.
func suit(t *testing.T, task run.Task, name string) (c suited, err error) {
	t.Helper()
	p, err := task.Plan(run.Options{Sets: []string{"data.name=" + name, "run.out=" + filepath.Join(t.TempDir(), "run")}})
	if err != nil {
		return c, err
	}
	text, err := p.Config()
	if err != nil {
		t.Fatal(err)
	}
	if err := yaml.Unmarshal(text, &c); err != nil {
		t.Fatal(err)
	}
	return c, nil
}

// The name of a data set is enough: every task finds what it needs of every data set, or says which ones have it.
func TestEveryTaskSuitsEveryDataSet(t *testing.T) {
	t.Setenv("PRIVREC_DATA", t.TempDir()) // names and recipes need no files
	names := everyDataSet()
	for _, task := range onData() {
		t.Run(task.Verb+"-"+task.Name, func(t *testing.T) {
			served := map[string]bool{}
			refused := map[string]*dataset.Error{}
			for _, name := range names {
				c, err := suit(t, task, name)
				var e *dataset.Error
				switch {
				case err == nil:
					served[name] = true
					checkSuited(t, task, name, c)
				case errors.As(err, &e) && e.File == name && e.Hint != "":
					refused[name] = e
				default:
					t.Errorf("%s: neither suited nor refused as data: %v", name, err)
				}
			}
			if len(served) == 0 {
				t.Fatal("no data set serves the task")
			}
			for name, e := range refused {
				said := namesIn(e.Hint)
				if len(said) == 0 {
					t.Errorf("%s: %v: names no data set", name, e)
				}
				for _, other := range said {
					if !served[other] {
						t.Errorf("%s: %v: hint %q names %s, which does not serve the task", name, e, e.Hint, other)
					}
				}
			}
		})
	}
}

// namesIn lists the data sets that a hint names.
func namesIn(hint string) (names []string) {
	for _, word := range regexp.MustCompile(`[a-z0-9][a-z0-9-]*`).FindAllString(hint, -1) {
		if slices.Contains(everyDataSet(), word) {
			names = append(names, word)
		}
	}
	return names
}

// checkSuited checks that the recipe or the domains that were chosen are there, and that recommenders with noise took no
// recipe in which one user's rows decide about those of others.
func checkSuited(t *testing.T, task run.Task, name string, c suited) {
	t.Helper()
	d := c.Data
	switch {
	case d.Name != name:
		t.Errorf("%s: the configuration has data %q", name, d.Name)
	case d.Target != "":
		domains, err := registry.DomainsOf(name)
		if err != nil || !slices.Contains(domains, d.Target) || !slices.Contains(domains, d.Auxiliary) || d.Target == d.Auxiliary {
			t.Errorf("%s: domains %q and %q of %q (%v)", name, d.Target, d.Auxiliary, domains, err)
		}
	case d.Recipe == "" || d.Recipe == slate.HistoriesRecipe:
		_, err := registry.DomainsOf(name)
		if !slate.Known(name) && (err != nil || task.Verb != "measure") {
			t.Errorf("%s: recipe %q, and it is no set of slates", name, d.Recipe)
		}
	default:
		set, err := registry.Find(name)
		if err != nil {
			t.Fatal(err)
		}
		r, err := set.Recipe(d.Recipe)
		if err != nil {
			t.Fatal(err)
		}
		if filters := r.Decisions(false).Filters; strings.HasPrefix(task.Name, "dp-") && (len(filters) > 0 || r.Split.Kind != dataset.SplitRandom && r.Split.Kind != dataset.SplitFixed) {
			t.Errorf("%s: recipe %s splits by %s and filters by %q", name, d.Recipe, r.Split.Kind, filters)
		}
	}
}

// The data sets with which a task was tuned keep their recipes, and others get the one that the task needs.
func TestSuitedRecipes(t *testing.T) {
	t.Setenv("PRIVREC_DATA", t.TempDir())
	for _, c := range []struct{ task, data, recipe, protocol string }{
		{"ease", "gowalla", "lightgcn", ""},
		{"ease", "ml-100k", "gerai", ""},
		{"ease", "standin-yelp2018", "lightgcn", ""},
		{"lightgcn", "ml-1m", "rdpgcf", ""},
		{"lightgcn", "ml-100k", "gerai-valid", ""},
		{"rdpgcf", "yelp2018", "rdpgcf", ""},
		{"rdpgcf", "ml-100k", "gerai-valid", ""},
		{"gerai", "ml-1m", "gerai", ""},
		{"dp-ease", "gowalla", "lightgcn", ""},
		{"dpmf-exp", "yelp", "dipsgnn", ""},
		{"srgnn", "session-diginetica", "srgnn", ""},
		{"sasrec", "ml-1m", "sasrec", ""},
		{"sasrec", "seq-beauty", "sasrec", ""},
		{"sasrec", "zhihurec", "histories", ""},
		{"sasrec", "ml-100k", "dipsgnn", "next-item"},
	} {
		at := slices.IndexFunc(All(), func(x run.Task) bool { return x.Verb == "train" && x.Name == c.task })
		got, err := suit(t, All()[at], c.data)
		if err != nil || got.Data.Recipe != c.recipe || got.Protocol != c.protocol {
			t.Errorf("%s on %s: recipe %q, protocol %q (%v), want %q, %q", c.task, c.data, got.Data.Recipe, got.Protocol, err, c.recipe, c.protocol)
		}
	}
}

// Where the files of data sets are, their names alone are planned for too.
func TestSuitsRealData(t *testing.T) {
	dir := os.Getenv("PRIVREC_DATA")
	if dir == "" {
		t.Skip("PRIVREC_DATA is not set")
	}
	for _, name := range everyDataSet() {
		absent, err := registry.Absent(name, "")
		if err != nil || len(absent) > 0 {
			continue
		}
		for _, task := range onData() {
			var e *dataset.Error
			if _, err := suit(t, task, name); err != nil && !errors.As(err, &e) {
				t.Errorf("%s on %s: %v", task, name, err)
			}
		}
	}
}
