package slate

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"privrec/internal/rng"
)

// anyLog draws a log of few users and items with times that tie; clicks are least after
// their show, or more.
func anyLog(t *rapid.T, least int64) *Log {
	users, items := rapid.IntRange(3, 12).Draw(t, "users"), rapid.IntRange(3, 8).Draw(t, "items")
	l := &Log{Name: "drawn"}
	for u := range users {
		l.UserIDs = append(l.UserIDs, fmt.Sprint("u", u))
	}
	for i := range items {
		l.ItemIDs = append(l.ItemIDs, fmt.Sprint(i))
	}
	n := rapid.IntRange(0, 120).Draw(t, "rows")
	for range n {
		l.Users = append(l.Users, int32(rapid.IntRange(0, users-1).Draw(t, "user")))
		l.Items = append(l.Items, int32(rapid.IntRange(0, items-1).Draw(t, "item")))
		shown := rapid.Int64Range(1, 30).Draw(t, "shown")
		clicked := int64(0)
		if rapid.Bool().Draw(t, "click") {
			clicked = shown + rapid.Int64Range(least, 9).Draw(t, "after")
		}
		l.Shown, l.Clicked = append(l.Shown, shown), append(l.Clicked, max(0, clicked))
	}
	return l
}

// naive makes the pairs of a log by the definition, one record at a time; released is that
// of the released program, where the shows of a window's own items do not count.
func naive(l *Log, t, k int, released bool) (slates, behaviours [][]int32, users []int32) {
	for u := range l.UserIDs {
		var rows []int
		for row, of := range l.Users {
			if of == int32(u) {
				rows = append(rows, row)
			}
		}
		slices.SortStableFunc(rows, func(a, b int) int { return cmp.Compare(l.Shown[a], l.Shown[b]) })
		var clicks []int
		for _, row := range rows {
			if l.Clicked[row] > 0 {
				clicks = append(clicks, row)
			}
		}
		for w := range clicks {
			if w+k > len(clicks) {
				break
			}
			var b, s []int32
			latest := int64(0)
			for i := w + k - 1; i >= w; i-- {
				b, latest = append(b, l.Items[clicks[i]]), max(latest, l.Clicked[clicks[i]])
				if !released {
					latest = max(latest, l.Shown[clicks[i]])
				}
			}
			for _, row := range rows {
				if l.Shown[row] > latest && len(s) < t {
					s = append(s, l.Items[row])
				}
			}
			if len(s) == t {
				slates, behaviours, users = append(slates, s), append(behaviours, b), append(users, int32(u))
			}
		}
	}
	return slates, behaviours, users
}

// TestBuildProperty: for any log, the set is well formed, no user has pairs in two
// parts, none is lost, and the pairs are those of the definition; of the released program
// where clicks follow their shows. A log of mostly early clicks is refused.
func TestBuildProperty(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		least := rapid.SampledFrom([]int64{-3, 0}).Draw(t, "least")
		l := anyLog(t, least)
		k, n := rapid.IntRange(1, 3).Draw(t, "L"), rapid.IntRange(1, 3).Draw(t, "T")
		seed := rng.Seed(rapid.Uint64().Draw(t, "seed"))
		slates, behaviours, users := naive(l, n, k, least == 0)
		s, err := Build(l, Options{T: n, L: k, Seed: seed})
		clicks, early := 0, 0
		for row, at := range l.Clicked {
			if at > 0 {
				clicks++
				if at < l.Shown[row] {
					early++
				}
			}
		}
		if 2*early > clicks {
			if err == nil || !strings.Contains(err.Error(), "before their item was shown") {
				t.Fatalf("%d of %d clicks are early: %v", early, clicks, err)
			}
			return
		}
		if len(distinct(users)) < 3 {
			if err == nil {
				t.Fatalf("%d users have pairs and the log is taken", len(distinct(users)))
			}
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		if err := s.valid(); err != nil {
			t.Fatal(err)
		}
		if err := s.disjoint(); err != nil {
			t.Fatal(err)
		}
		if s.Train.Len()+s.Valid.Len()+s.Test.Len() != len(users) {
			t.Fatalf("%d+%d+%d pairs of %d", s.Train.Len(), s.Valid.Len(), s.Test.Len(), len(users))
		}
		if a, b, c := len(distinct(s.Train.Users)), len(distinct(s.Valid.Users)), len(distinct(s.Test.Users)); min(a, b, c) < 1 || a+b+c != len(distinct(users)) {
			t.Fatalf("%d users fall into %d, %d, %d", len(distinct(users)), a, b, c)
		}
		next := map[*Pairs]int{}
		for i, u := range users { // parts keep the order of the pairs
			p := s.Train
			for _, other := range []*Pairs{s.Valid, s.Test} {
				if slices.Contains(other.Users, u) {
					p = other
				}
			}
			at := next[p]
			next[p]++
			for _, c := range []struct{ got, want []int32 }{{p.Slate(at), slates[i]}, {p.Behaviour(at), behaviours[i]}} {
				for j, x := range c.got {
					if p.Users[at] != u || x != OOV && s.Items[x] != l.ItemIDs[c.want[j]] || x == OOV && p == s.Train {
						t.Fatalf("pair %d of user %d is %v | %v", i, u, s.spell(p.Slate(at)), s.spell(p.Behaviour(at)))
					}
				}
			}
		}
		count := make([]int, s.Vocab)
		for _, x := range slices.Concat(s.Train.Slates, s.Train.Behaviours) {
			count[x]++
		}
		for x := int(FirstItem); x < s.Vocab; x++ {
			if count[x] == 0 || x > int(FirstItem) && (count[x] > count[x-1] || count[x] == count[x-1] && s.Items[x] < s.Items[x-1]) {
				t.Fatalf("token %d occurs %d times, the one before %d", x, count[x], count[x-1])
			}
		}
	})
}

// TestChainsProperty: the windows of a sequence without repeats, in any order, give the
// sequence back; with windows missing every window is still a stretch of what is given.
func TestChainsProperty(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		const k = 3
		n := rapid.IntRange(k, 12).Draw(t, "clicks")
		repeats := rapid.Bool().Draw(t, "repeats")
		seq := make([]int32, n)
		for i := range seq {
			seq[i] = FirstItem + int32(i)
			if repeats {
				seq[i] = FirstItem + int32(rapid.IntRange(0, 3).Draw(t, "item"))
			}
		}
		var starts []int
		for i := 0; i+k <= n; i++ {
			starts = append(starts, i)
		}
		lost := rapid.IntRange(0, len(starts)-1).Draw(t, "lost")
		starts = rapid.Permutation(starts).Draw(t, "order")[lost:]
		p := newPairs(1, k, len(starts))
		for _, i := range starts {
			b := slices.Clone(seq[i : i+k])
			slices.Reverse(b)
			p.add(0, []int32{FirstItem}, b, true)
		}
		got := chains(p, 1, [][]int32{seq})[0]
		if lost == 0 && !repeats && !slices.Equal(got, seq) {
			t.Fatalf("%v comes back as %v", seq, got)
		}
		for _, i := range starts {
			if !contains(got, seq[i:i+k]) {
				t.Fatalf("%v is no stretch of %v", seq[i:i+k], got)
			}
		}
		if !repeats && !slices.IsSorted(got) {
			t.Fatalf("%v is out of order", got)
		}
	})
}

func TestLengthen(t *testing.T) {
	log := []int32{9, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 4, 5}
	slate := log[1:11]
	for _, c := range []struct {
		slate, behaviour []int32
		t                int
		want             []int32
	}{
		{slate, []int32{9}, 3, slate},
		{slate, []int32{9}, 12, log[1:13]},
		{slate, []int32{9}, 15, log[1:16]},
		{slate, []int32{9}, 16, nil},                  // the log ends
		{[]int32{4, 5}, []int32{9}, 12, log[1:5]},     // eight items were deleted
		{[]int32{4, 5}, []int32{16}, 11, nil},         // after 16 the log ends
		{[]int32{5, 4}, []int32{9}, 12, nil},          // not in the log
		{nil, []int32{9}, 12, nil},                    // nothing to look for
		{[]int32{9, 10}, []int32{4, 9}, 11, log[6:9]}, // the first 9 is before the click
	} {
		if got := lengthen(log, c.slate, c.behaviour, c.t); !slices.Equal(got, c.want) {
			t.Errorf("%v after %v to %d: %v, want %v", c.slate, c.behaviour, c.t, got, c.want)
		}
	}
}
