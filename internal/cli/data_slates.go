package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"privrec/internal/dataset"
	"privrec/internal/dataset/registry"
	"privrec/internal/dataset/slate"
	"privrec/internal/report"
)

// slatesRecipe is the recipe of pairs of a slate with the clicks before it.
const slatesRecipe = "slates"

// slateSets lists the sets of slates.
func slateSets() *report.Table {
	t := &report.Table{Name: "slates", Title: "Sets of slates, for exposure attacks (recipe slates)", Columns: report.Columns("", "name", "what", "pairs", "from")}
	for _, s := range slate.Sources() {
		from := s.From
		if s.StandIn {
			from = "generated"
		}
		t.Add(s.Name, s.Title, s.About, from)
	}
	return t
}

// slateSource finds the set of slates that a name and a recipe mean; ok is false where
// they mean none. A name of a data set too means slates under their own recipe only.
func slateSource(name, recipe string) (src slate.Source, ok bool, err error) {
	_, none := registry.Find(name)
	if none == nil && recipe != slatesRecipe {
		return src, false, nil
	}
	if none == nil && strings.HasPrefix(name, registry.OwnPrefix) {
		return slate.Source{Name: name, Title: "own impressions"}, true, nil
	}
	i := slices.IndexFunc(slate.Sources(), func(s slate.Source) bool { return s.Name == name })
	switch {
	case i < 0:
		return src, false, nil
	case recipe != "" && recipe != slatesRecipe:
		return src, false, &dataset.Error{File: name, Msg: fmt.Sprintf("unknown recipe %q", recipe), Hint: "known are " + slatesRecipe}
	}
	return slate.Sources()[i], true, nil
}

// findSet is dataset.Find, whose error of an unknown name also knows the sets of slates.
func findSet(name string) (registry.Set, error) {
	set, err := registry.Find(name)
	var e *dataset.Error
	if errors.As(err, &e) {
		for _, other := range setNames() {
			if _, err := registry.Find(other); err != nil {
				e.Hint += ", " + other
			}
		}
	}
	return set, err
}

// setNames are those of all sets and of the user's own in $PRIVREC_DATA, once each.
func setNames() []string {
	var names []string
	for _, s := range registry.All() {
		names = append(names, s.Name)
	}
	for _, s := range slate.Sources() {
		if !slices.Contains(names, s.Name) {
			names = append(names, s.Name)
		}
	}
	return append(names, registry.OwnNames("")...)
}

// slateStats loads a set of slates and shows its ladder beside the counts known of it.
func slateStats(ctx context.Context, src slate.Source, o slate.Options) (*report.Document, error) {
	s, err := slate.Load(ctx, src.Name, o)
	if err != nil {
		return nil, err
	}
	d := &report.Document{
		Title: src.Title, Subtitle: fmt.Sprintf("data set %s, recipe %s, sha256 %.12s", s.Name, slatesRecipe, s.Hash),
		Level: s.Level, Tables: []*report.Table{ladderTable(s.Ladder)}, Notes: s.Notes,
	}
	if checks := checksTable(s.Ladder.Compare(src.Wants)); len(checks.Rows) > 0 {
		d.Tables = append(d.Tables, checks)
	}
	shape := &report.Table{Name: "shape", Title: "Pairs", Columns: report.Columns("", "statistic", "value")}
	shape.Add("items shown", s.Train.T)
	shape.Add("clicks before them", s.Train.L)
	shape.Add("tokens, four special", s.Vocab)
	for _, x := range []struct {
		name  string
		lists [][]int32
	}{{"users whose log is known", s.Logged}, {"training users with a history", s.Histories}} {
		n := 0
		for _, list := range x.lists {
			if list != nil {
				n++
			}
		}
		shape.Add(x.name, n)
	}
	d.Tables = append(d.Tables, shape)
	return d, nil
}
