package registry

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"privrec/internal/dataset"
	"privrec/internal/dataset/standin"
)

// CrossSet is a known data set of two or more domains.
type CrossSet struct {
	Name    string
	Title   string
	Domains []CrossDomain
	sets    []Set // one set of all domains, or one set a domain
	recipe  dataset.Recipe
	standIn bool
	wants   []dataset.Want
	notes   []string
}

// CrossDomain is a domain of a CrossSet.
type CrossDomain struct {
	Name   string // what a configuration calls it
	Prefix string // prefix of its items' ids where all domains are in one file, "" otherwise
}

// FindCross returns the cross-domain set with the name. own-NAME stands for a folder with a log of each of two domains,
// and own-A+own-B for two sets of own data.
func FindCross(name string) (CrossSet, error) {
	if own, ok := ownCross(name); ok {
		return own, nil
	}
	var names []string
	for _, s := range CrossSets() {
		if s.Name == name {
			return s, nil
		}
		names = append(names, s.Name)
	}
	e := &dataset.Error{File: name, Msg: "unknown cross-domain data set", Hint: Nearest(name, names) +
		fmt.Sprintf("known are %s, and %sA+%sB for two logs of your own", strings.Join(names, ", "), OwnPrefix,
			OwnPrefix)}
	if _, err := Find(name); err == nil {
		e.Msg = "has one domain, and the task takes two"
	}
	return CrossSet{}, e
}

// domain returns the index of the set's domain with the name.
func (s CrossSet) domain(name string) (int, error) {
	names := s.domainNames()
	if i := slices.Index(names, name); i >= 0 {
		return i, nil
	}
	return 0, &dataset.Error{File: s.Name, Msg: fmt.Sprintf("unknown domain %q", name), Hint: "known are " +
		strings.Join(names, ", ")}
}

func (s CrossSet) domainNames() (names []string) {
	for _, d := range s.Domains {
		names = append(names, d.Name)
	}
	return names
}

// LoadCross loads two domains of a cross-domain set, the target first. It keeps the users who remain in every domain of
// the set. A view that holds out, plants or withholds rows is an error.
func LoadCross(ctx context.Context, name, target, auxiliary string, v dataset.View, opts Options) (*dataset.Cross,
	error) {
	if err := v.Refuse(name); err != nil {
		return nil, err
	}
	set, err := FindCross(name)
	if err != nil {
		return nil, err
	}
	var pick [2]int
	for i, d := range []string{target, auxiliary} {
		if pick[i], err = set.domain(d); err != nil {
			return nil, err
		}
	}
	if pick[0] == pick[1] {
		return nil, &dataset.Error{File: set.Name, Msg: fmt.Sprintf("domain %q is both target and auxiliary", target)}
	}
	logs, c, err := set.load(ctx, v, opts)
	if err != nil {
		return nil, err
	}
	c.Source.Notes = slices.Clone(set.notes)
	if err := c.Join(set.domainNames(), logs, pick); err != nil {
		return nil, err
	}
	c.Judge(set.wants)
	return c, nil
}

// load returns the filtered rows of every domain.
func (s CrossSet) load(ctx context.Context, v dataset.View, opts Options) ([]*dataset.Log, *dataset.Cross, error) {
	c := &dataset.Cross{Name: s.Name, Source: dataset.Source{Title: s.Title, StandIn: s.standIn,
		Decided: s.recipe.Decisions(false)}}
	if s.standIn {
		var logs []*dataset.Log
		logs, c.Source.Hash = standin.CrossLogs(v.RowsSeed())
		for d := range logs {
			var err error
			if logs[d], err = v.Remaining(logs[d]); err != nil {
				return nil, nil, err
			}
		}
		return logs, c, nil
	}
	var hashes []string
	var logs []*dataset.Log
	for i, set := range s.sets {
		q, l, err := loadSet(ctx, set, s.recipe, v, opts)
		if err != nil {
			return nil, nil, err
		}
		hashes = append(hashes, q.Source.Hash)
		c.Source.Files = append(c.Source.Files, q.Source.Files...)
		for _, rung := range q.Ladder {
			if strings.HasPrefix(rung.Name, dataset.RungTrain) || strings.HasPrefix(rung.Name, dataset.RungValid) ||
				strings.HasPrefix(rung.Name, dataset.RungTest) {
				continue // counts of this domain only
			}
			if len(s.sets) > 1 {
				rung.Name = s.Domains[i].Name + ": " + rung.Name
			}
			c.Ladder = append(c.Ladder, rung)
		}
		if len(s.sets) > 1 {
			logs = append(logs, l)
			continue
		}
		for _, d := range s.Domains {
			logs = append(logs, l.Keep(hasPrefix(l, d.Prefix)))
		}
	}
	c.Source.Hash = hashes[0]
	if len(hashes) > 1 {
		c.Source.Hash = dataset.SourceHash(hashes...)
	}
	return logs, c, nil
}

// hasPrefix returns for each row whether it belongs to one domain.
func hasPrefix(l *dataset.Log, prefix string) []bool {
	keep := make([]bool, l.Len())
	for row, i := range l.Items {
		keep[row] = strings.HasPrefix(l.ItemIDs[i], prefix)
	}
	return keep
}

// Known reports whether a set with the name exists, of one domain or of several, and whether it
// is a stand-in. It fails on an unknown name.
func Known(name string) (standIn bool, err error) {
	if s, err := FindCross(name); err == nil {
		return s.standIn, nil
	}
	s, err := Find(name)
	return s.StandIn != nil, err
}
