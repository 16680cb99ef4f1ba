package dataset

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"privrec/internal/config"
)

// sources is the form of data/sources.yaml.
type sources struct {
	Sets []struct {
		Name, Title, Address, Licence string
		UsedBy                        []string `yaml:"used_by"`
		Archives                      []struct {
			URL, Size, SHA256, Unverified string
			Files                         []string
		}
		Recipes []struct {
			Name     string
			Expected []struct {
				Step                        string
				Users, Items, Rows, Samples int
			}
		}
	}
}

func TestSourcesAgreeWithRegistry(t *testing.T) {
	s, _, err := config.Load("../../data/sources.yaml", nil, sources{})
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, got := range s.Sets {
		names = append(names, got.Name)
		set, err := Find(got.Name)
		if err != nil {
			t.Error(err)
			continue
		}
		if d := cmp.Diff([]string{set.Title, set.Address, set.Licence}, []string{got.Title, got.Address, got.Licence}); d != "" {
			t.Errorf("%s (-registry +sources): %s", got.Name, d)
		}
		if set.StandIn == nil && len(got.Archives) == 0 {
			t.Errorf("%s: nowhere to get it from", got.Name)
		}
		for _, a := range got.Archives {
			if (len(a.SHA256) == 64) == (a.Unverified != "") {
				t.Errorf("%s: %s needs a sha256 or a reason why there is none", got.Name, a.URL)
			}
		}
		var want, have []Recipe
		for _, r := range set.Recipes {
			w := Recipe{Name: r.Name}
			for _, x := range r.Wants {
				w.Wants = append(w.Wants, Want{Rung: x.Rung})
			}
			want = append(want, w)
		}
		for _, r := range got.Recipes {
			h := Recipe{Name: r.Name}
			for _, e := range r.Expected {
				h.Wants = append(h.Wants, Want{Rung: Rung{e.Step, e.Users, e.Items, e.Rows, e.Samples}})
			}
			have = append(have, h)
		}
		if d := cmp.Diff(want, have); d != "" {
			t.Errorf("%s (-registry +sources): %s", got.Name, d)
		}
	}
	var registry []string
	for _, set := range All() {
		registry = append(registry, set.Name)
	}
	if d := cmp.Diff(registry, names); d != "" {
		t.Errorf("sets (-registry +sources): %s", d)
	}
}
