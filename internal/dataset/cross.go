package dataset

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
)

// Cross is two domains with the same users, as sequential cross-domain models take
// them. It is read-only after it is made.
type Cross struct {
	Name    string
	Users   int      // 0..Users-1, the same people in both domains
	UserIDs []string // ascending
	Domains [2]Domain
	Ladder  Ladder
	Source  Source
}

// Domain is one domain of a Cross: each user's items in time order, cut leave-one-out.
type Domain struct {
	Name    string
	Items   int       // 1..Items; 0 is padding
	ItemIDs []string  // Items+1 original ids, ItemIDs[0] is ""
	Train   [][]int32 // per user, in time order, every item once
	Valid   []int32   // per user, 0: none
	Test    []int32   // per user, 0: none
	Left    LeftOut   // held-out rows that are not ranked
}

// LeftOut counts the held-out rows of a domain, and those of them that are not ranked. Of the
// test rows left out, TestItem + TestByValid are all.
type LeftOut struct {
	ValidRows   int `json:"valid_rows"`          // cut off, before any was left out
	TestRows    int `json:"test_rows"`           // likewise
	ValidItem   int `json:"valid_new_item"`      // validation rows whose item no training row has
	TestItem    int `json:"test_new_item"`       // test rows whose item no training and no ranked validation row has
	TestByValid int `json:"test_by_their_valid"` // test rows whose item is known, left out only because their user's validation row is
}

// Test is the number of test rows left out.
func (l LeftOut) Test() int { return l.TestItem + l.TestByValid }

// CrossSet is a data set of two or more domains that the program knows.
type CrossSet struct {
	Name    string
	Title   string
	Domains []CrossDomain
	sets    []Set // one of all domains, or one a domain
	recipe  Recipe
	standIn bool
	wants   []Want
	notes   []string
}

// CrossDomain is a domain of a CrossSet.
type CrossDomain struct {
	Name   string // what a configuration calls it
	Prefix string // of its items where all domains are in one file, "" otherwise
}

// FindCross returns the cross-domain set of that name.
func FindCross(name string) (CrossSet, error) {
	var names []string
	for _, s := range CrossSets() {
		if s.Name == name {
			return s, nil
		}
		names = append(names, s.Name)
	}
	return CrossSet{}, &Error{File: name, Msg: "unknown cross-domain data set", Hint: "known are " + strings.Join(names, ", ")}
}

// domain returns the index of the set's domain of that name.
func (s CrossSet) domain(name string) (int, error) {
	var names []string
	for i, d := range s.Domains {
		if d.Name == name {
			return i, nil
		}
		names = append(names, d.Name)
	}
	return 0, &Error{File: s.Name, Msg: fmt.Sprintf("unknown domain %q", name), Hint: "known are " + strings.Join(names, ", ")}
}

// LoadCross loads two domains of a cross-domain set, the first one the target. A user
// belongs to it who is left in every domain of the set.
func LoadCross(ctx context.Context, name, target, auxiliary string, opts Options) (*Cross, error) {
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
		return nil, &Error{File: set.Name, Msg: fmt.Sprintf("domain %q is asked for twice", target)}
	}
	logs, c, err := set.load(ctx, opts)
	if err != nil {
		return nil, err
	}
	logs, shared := common(logs)
	if len(shared) == 0 {
		return nil, &Error{File: set.Name, Msg: "no user is left in every domain"}
	}
	c.Users, c.UserIDs = len(shared), shared
	for i, l := range logs {
		c.Ladder = append(c.Ladder, l.Rung(set.Domains[i].Name))
	}
	for i, k := range pick {
		c.Domains[i] = leaveOneOut(set.Domains[k].Name, logs[k], shared)
	}
	c.Source.Checks = c.Ladder.Compare(set.wants)
	c.Source.Level = grade(set.standIn, splitOwn, false, c.Source.Checks)
	c.Source.Notes = append(slices.Clip(c.Source.Notes), set.notes...)
	if n := sharedItems(logs[pick[0]], logs[pick[1]]); n > 0 {
		c.Source.Notes = append(c.Source.Notes, fmt.Sprintf("%d items are in both domains; they are different items here", n))
	}
	return c, nil
}

// load reads the filtered rows of every domain.
func (s CrossSet) load(ctx context.Context, opts Options) ([]*Log, *Cross, error) {
	c := &Cross{Name: s.Name, Source: Source{Title: s.Title, StandIn: s.standIn}}
	if s.standIn {
		logs := crossStandIn(opts.Seed)
		sum := sha256.Sum256(fmt.Appendf(nil, "privrec %s %d seed %d", s.Name, crossGenerator, uint64(opts.Seed)))
		c.Source.Hash = hex.EncodeToString(sum[:])
		return logs, c, nil
	}
	var hashes []string
	var logs []*Log
	for i, set := range s.sets {
		q, l, err := loadSet(ctx, set, s.recipe, opts)
		if err != nil {
			return nil, nil, err
		}
		hashes = append(hashes, q.Source.Hash)
		c.Source.Files = append(c.Source.Files, q.Source.Files...)
		for _, rung := range q.Ladder {
			if strings.HasPrefix(rung.Name, RungTrain) || strings.HasPrefix(rung.Name, RungValid) || strings.HasPrefix(rung.Name, RungTest) {
				continue // of the domain alone
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
		c.Source.Hash = SourceHash(hashes...)
	}
	return logs, c, nil
}

// hasPrefix marks the rows of one domain.
func hasPrefix(l *Log, prefix string) []bool {
	keep := make([]bool, l.Len())
	for row, i := range l.Items {
		keep[row] = strings.HasPrefix(l.ItemIDs[i], prefix)
	}
	return keep
}

// common keeps the users of all logs, without filtering items again, and lists them.
func common(logs []*Log) ([]*Log, []string) {
	in := map[string]int{}
	for _, l := range logs {
		for _, id := range l.UserIDs {
			in[id]++
		}
	}
	out := make([]*Log, len(logs))
	for i, l := range logs {
		keep := make([]bool, l.Len())
		for row, u := range l.Users {
			keep[row] = in[l.UserIDs[u]] == len(logs)
		}
		out[i] = l.Keep(keep)
	}
	return out, out[0].UserIDs
}

// sharedItems counts ids that two logs have in common.
func sharedItems(a, b *Log) (n int) {
	in := make(map[string]bool, len(a.ItemIDs))
	for _, id := range a.ItemIDs {
		in[id] = true
	}
	for _, id := range b.ItemIDs {
		if in[id] {
			n++
		}
	}
	return n
}

// Known says whether a set of one domain or of several has the name, and whether it is
// made up here.
func Known(name string) (standIn bool, err error) {
	if s, err := FindCross(name); err == nil {
		return s.standIn, nil
	}
	s, err := Find(name)
	return s.StandIn != nil, err
}
