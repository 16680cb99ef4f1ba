package exposure

import (
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"privrec/internal/dataset/slate"
	"privrec/internal/experiment"
	"privrec/internal/papers/exposure/protect"
	"privrec/internal/privacy"
)

// windows adds n slates of a user: windows of t tokens that slide by one over the tokens
// from first on.
func windows(p *slate.Pairs, user int32, n int, first int32) {
	for i := range n {
		for k := range p.T {
			p.Slates = append(p.Slates, first+int32(i+k))
		}
		p.Users, p.Complete = append(p.Users, user), append(p.Complete, true)
	}
}

// crowd is a set of slates of four: three users of 6, 10 and 12 in the test part, whose
// windows slide by one, so that 12 windows show 15 items, each in at most 4 of them.
func crowd() *slate.Set {
	empty := func() *slate.Pairs { return &slate.Pairs{T: 4} }
	s := &slate.Set{Vocab: 60, Users: []string{"a", "b", "c", slate.UnknownUser}, Train: empty(), Valid: empty(), Test: empty()}
	windows(s.Test, 0, 6, 4)
	windows(s.Test, 2, 12, 20)
	windows(s.Test, 1, 10, 4)
	return s
}

// Of three users with 6, 10 and 12 slates of 4, at epsilon 3 a position, all slates of one
// are 12 times 12: 144. What else of one user is counted is in the cases.
func TestSharesOfUsers(t *testing.T) {
	for name, c := range map[string]struct {
		change func(s *slate.Set)
		want   shares
	}{
		"one part":            {func(*slate.Set) {}, shares{T: 4, Slates: 12, Item: 4, Known: 4, Apart: true}},
		"another part":        {func(s *slate.Set) { s.Users = append(s.Users, "d"); windows(s.Train, 4, 13, 4) }, shares{T: 4, Slates: 13, Item: 4, Known: 4, Apart: true}},
		"a user in two parts": {func(s *slate.Set) { windows(s.Train, 0, 5, 4); windows(s.Valid, 0, 2, 4) }, shares{T: 4, Slates: 13, Item: 10, Known: 10}},
		"twice in a slate":    {func(s *slate.Set) { copy(s.Test.Slates, []int32{9, 9, 9, 9}) }, shares{T: 4, Slates: 12, Item: 8, Known: 8, Apart: true}},
		"unknown items":       {func(s *slate.Set) { copy(s.Test.Slates[24:], slices.Repeat([]int32{slate.OOV}, 11)) }, shares{T: 4, Slates: 12, Item: 11, Known: 4, Apart: true}},
	} {
		s := crowd()
		c.change(s)
		if got := sharesOf(s, []part{{"test", s.Test}, {"train", s.Train}, {"valid", s.Valid}}); got != c.want {
			t.Errorf("%s: %+v, want %+v", name, got, c.want)
		}
	}
	s := crowd()
	got := map[string]privacy.Number{}
	for _, u := range responseUnits(3, 4, sharesOf(s, []part{{"test", s.Test}})) {
		if got[u.Unit] = u.Accounted.Eps; u.Accounted.Eps != 3*privacy.Number(u.Positions) || u.Unit == unitUser && !strings.Contains(u.Neighbouring, "12 of 4 at most") {
			t.Errorf("unit %+v", u)
		}
	}
	if len(got) != 4 || got["position"] != 3 || got["slate"] != 12 || got["user"] != 144 || got["item of a user"] != 12 {
		t.Errorf("epsilons %v", got)
	}
}

// A ledger is told how many positions a user holds where that is known, and then
// amounts to the user's epsilon.
func TestLedgerKnowsAUsersPositions(t *testing.T) {
	s := crowd()
	c := Default()
	c.Protect.Replace, c.Protect.Epsilon, c.Data.Slate = protect.ReplaceRR, 3, 4
	known := sharesOf(s, []part{{"test", s.Test}})
	for name, x := range map[string]struct {
		shares shares
		want   []privacy.Holding
	}{
		"known":   {known, []privacy.Holding{{Unit: privacy.User, Of: privacy.Position, Most: int64(known.Slates * 4)}}},
		"unknown": {shares{T: 4, Unknown: "users are not known"}, nil},
	} {
		l, err := privacy.NewLedger(privacy.Research)
		if err != nil {
			t.Fatal(err)
		}
		if err := c.account(x.shares).hold(l); err != nil || !slices.Equal(l.Holdings(), x.want) {
			t.Errorf("%s: %v (%v), want %v", name, l.Holdings(), err, x.want)
		}
	}
}

// Where users are not known, those of pairs that a sample left out among them, there is no
// unit of a user: the account names it with the reason.
func TestUsersThatAreNotKnown(t *testing.T) {
	for name, change := range map[string]func(s *slate.Set) *slate.Pairs{
		"nobody":           func(s *slate.Set) *slate.Pairs { windows(s.Train, 3, 1, 4); return s.Train },
		"outside":          func(s *slate.Set) *slate.Pairs { windows(s.Train, -1, 1, 4); return s.Train },
		"beyond":           func(s *slate.Set) *slate.Pairs { windows(s.Train, 9, 1, 4); return s.Train },
		"not in a sample":  func(s *slate.Set) *slate.Pairs { windows(s.Train, 3, 1, 4); return &slate.Pairs{T: 4} },
		"of the test part": func(s *slate.Set) *slate.Pairs { windows(s.Test, 3, 1, 4); return s.Train },
	} {
		s := crowd()
		train := change(s)
		c := Default()
		c.Protect.Replace, c.Protect.Epsilon, c.Data.Slate = protect.ReplaceRR, 3, 4
		a := c.account(sharesOf(s, []part{{"test", s.Test}, {"train", train}}))
		if len(a.Units) != 2 {
			t.Errorf("%s: units %+v", name, a.Units)
		}
		for _, what := range []string{"overlap", unitUser, unitItem} {
			if i := slices.IndexFunc(a.Unbounded, func(o experiment.Open) bool { return o.What == what }); i < 0 || what != "overlap" && !strings.Contains(a.Unbounded[i].Why, "the users of 1 t") {
				t.Errorf("%s: %s is not said to be without bound: %+v", name, what, a.Unbounded)
			}
		}
	}
}

// The ledger of an adaptive run has the epsilon of a position once where data.split keeps
// users apart, and once a part where a part begins with users of the one before.
func TestLedgerOfAnAdaptiveRun(t *testing.T) {
	for split, want := range map[string]float64{slate.SplitUsers: 3, slate.SplitReleased: 9} {
		dir := t.TempDir()
		start(t, dir, "protect.replace=rr", "protect.epsilon=3", "protect.attacker=adaptive", "data.split="+split, "train.epochs=1", "eval.k=[5]", "eval.vocabulary=[full]", "eval.budget=[k]")
		l, err := privacy.Reading{}.File(filepath.Join(dir, "ledger.jsonl"))
		if err != nil {
			t.Fatal(err)
		}
		sum := 0.0
		for _, e := range l.Entries() {
			if rr, ok := e.Event.(privacy.RandomizedResponse); ok {
				sum += rr.Epsilon * float64(e.Count)
			}
		}
		a := result[Account](t, dir, "privacy.json")
		if sum != want || len(a.Units) != 4 || math.Abs(float64(a.Units[0].Total)-3) > 0 {
			t.Errorf("%s: the ledger adds up to %g, want %g; units %+v", split, sum, want, a.Units)
		}
	}
}
