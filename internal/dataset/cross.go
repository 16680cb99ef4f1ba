package dataset

import (
	"fmt"
	"slices"
)

// Cross is two domains with the same users, as sequential cross-domain models take them. Do not
// change it once it is made.
type Cross struct {
	Name    string
	Users   int      // 0..Users-1, the same users in both domains
	UserIDs []string // ascending
	Domains [2]Domain
	Ladder  Ladder
	Source  Source
}

// Domain is one domain of a Cross: each user's items in time order, split leave-one-out.
type Domain struct {
	Name    string
	Items   int       // 1..Items; 0 is padding
	ItemIDs []string  // Items+1 original ids, ItemIDs[0] is ""
	Train   [][]int32 // per user, in time order, every item once
	Valid   []int32   // per user, 0: none
	Test    []int32   // per user, 0: none
	Left    LeftOut   // held-out rows that are not ranked
}

// LeftOut counts the held-out rows of a domain and those among them that are not ranked. The
// test rows left out are TestItem + TestByValid.
type LeftOut struct {
	ValidRows   int `json:"valid_rows"`          // held out, before any was left out
	TestRows    int `json:"test_rows"`           // held out, before any was left out
	ValidItem   int `json:"valid_new_item"`      // validation rows whose item no training row has
	TestItem    int `json:"test_new_item"`       // test rows whose item neither a training row nor a ranked validation row has
	TestByValid int `json:"test_by_their_valid"` // test rows with a known item, left out only because the validation row of the same user is
}

// Test returns the number of test rows left out.
func (l LeftOut) Test() int { return l.TestItem + l.TestByValid }

// Join fills in the users and the two domains numbered pick, from the filtered rows of all the
// domains named. It keeps the users who are left in every domain. The ladder gets a rung a
// domain.
func (c *Cross) Join(names []string, logs []*Log, pick [2]int) error {
	logs, shared := common(logs)
	if len(shared) == 0 {
		return &Error{File: c.Name, Msg: "no user is left in every domain"}
	}
	c.Users, c.UserIDs = len(shared), shared
	for i, l := range logs {
		c.Ladder = append(c.Ladder, l.Rung(names[i]))
	}
	for i, k := range pick {
		c.Domains[i] = leaveOneOut(names[k], logs[k], shared)
	}
	if n := sharedItems(logs[pick[0]], logs[pick[1]]); n > 0 {
		c.Source.Notes = append(slices.Clip(c.Source.Notes), fmt.Sprintf("%d items are in both domains; each domain counts them as its own", n))
	}
	return nil
}

// Judge compares the ladder with the expected counts and sets the level of evidence.
func (c *Cross) Judge(wants []Want) {
	c.Source.Checks = c.Ladder.Compare(wants)
	c.Source.Level = grade(c.Source.StandIn, splitOwn, false, c.Source.Checks)
}

// common keeps the users that all logs have, without filtering items again, and lists them.
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

// sharedItems returns the number of ids that two logs have in common.
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
