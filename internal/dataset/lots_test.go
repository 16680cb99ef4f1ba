package dataset

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"privrec/internal/rng"
)

// partsByID lists the parts of every user's rows by the ids of user and item, each with its number among equals.
func partsByID(l *Log, parts []Part) map[string]map[string]Part {
	all := map[string]map[string]Part{}
	for row, u := range l.Users {
		of := all[l.UserIDs[u]]
		if of == nil {
			of = map[string]Part{}
			all[l.UserIDs[u]] = of
		}
		for n := 0; ; n++ {
			name := l.ItemIDs[l.Items[row]] + "#" + strconv.Itoa(n)
			if _, there := of[name]; !there {
				of[name] = parts[row]
				break
			}
		}
	}
	return all
}

// cuts are all ways in which rows get parts at random: splits, shares held out for validation, rows and users held out,
// test rows withheld.
func cuts(seed rng.Seed) map[string]func(l *Log) ([]Part, error) {
	split := func(s Split) func(l *Log) ([]Part, error) {
		s.Seed = seed
		return s.Parts
	}
	after := func(s Split, then func(l *Log, parts []Part)) func(l *Log) ([]Part, error) {
		return func(l *Log) ([]Part, error) {
			parts, err := split(s)(l)
			if err == nil {
				then(l, parts)
			}
			return parts, err
		}
	}
	ratio := Split{Kind: SplitRandom, Fraction: 0.8, Nearest: true}
	held := ratio
	held.ValidShare = 0.3
	fixed := Split{Kind: SplitFixed, ValidShare: 0.3}
	hold := func(h HoldOut) func(l *Log, parts []Part) {
		h.Seed = seed
		return h.Parts
	}
	return map[string]func(l *Log) ([]Part, error){
		"ratio": split(ratio), "ratio, rounded down": split(Split{Kind: SplitRandom, Fraction: 0.6}), "ratio, validation": split(held),
		"fixed, validation": func(l *Log) ([]Part, error) {
			with := *l
			with.Parts = make([]Part, l.Len())
			for row := range with.Parts {
				if l.Times[row] == 4 { // of the row alone
					with.Parts[row] = Test
				}
			}
			return split(fixed)(&with)
		},
		"fraction":                split(Split{Kind: SplitFraction, Fraction: 0.8}),
		"leave one out":           split(Split{Kind: SplitLeaveOneOut, Valid: true}),
		"ratio, withheld":         after(ratio, func(l *Log, parts []Part) { Withholding{Share: 0.3, Seed: seed}.Parts(l, parts) }),
		"ratio, rows held out":    after(ratio, hold(HoldOut{Rows: 0.4, Draw: 2})),
		"ratio, users held out":   after(ratio, hold(HoldOut{Users: 0.4, Apart: 0.2, Swap: true})),
		"ratio, users, validated": after(held, hold(HoldOut{Users: 0.4, Rows: 0.2})),
	}
}

// TestOneUserMovesNoOther leaves out one user after the other, under every way to cut rows: the rows of all others are
// in the same parts, also where the order of ids changes or an item is gone.
func TestOneUserMovesNoOther(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		l := anyLog(t)
		if rapid.Bool().Draw(t, "words") { // without this user all ids are numbers, and in another order
			l.UserIDs[len(l.UserIDs)-1] += "x"
		}
		for name, cut := range cuts(rng.Seed(rapid.Uint64().Draw(t, "seed"))) {
			parts, err := cut(l)
			if err != nil {
				t.Fatal(err)
			}
			whole := partsByID(l, parts)
			for u, id := range l.UserIDs {
				keep := make([]bool, l.Len())
				for row := range keep {
					keep[row] = l.Users[row] != int32(u)
				}
				less := l.Keep(keep)
				if less.Len() == 0 {
					continue
				}
				if parts, err = cut(less); err != nil {
					t.Fatal(err)
				}
				want := map[string]map[string]Part{}
				for user, rows := range whole {
					if user != id {
						want[user] = rows
					}
				}
				if d := cmp.Diff(want, partsByID(less, parts)); d != "" {
					t.Fatalf("%s: without user %q the rows of others move:\n%s", name, id, d)
				}
			}
		}
	})
}

// TestOneRowMovesOneRow leaves out one row after the other of a random split: beside it at most one row of the same
// user changes its part, and none of others.
func TestOneRowMovesOneRow(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		l := anyLog(t).Dedupe(KeepFirst)
		split := Split{Kind: SplitRandom, Fraction: rapid.SampledFrom([]float64{0.5, 0.8, 0.29}).Draw(t, "fraction"), Seed: 3}
		parts, err := split.Parts(l)
		if err != nil {
			t.Fatal(err)
		}
		whole := partsByID(l, parts)
		for out := range l.Len() {
			keep := make([]bool, l.Len())
			for row := range keep {
				keep[row] = row != out
			}
			less := l.Keep(keep)
			if less.Len() == 0 {
				continue
			}
			if parts, err = split.Parts(less); err != nil {
				t.Fatal(err)
			}
			moved := 0
			for user, rows := range partsByID(less, parts) {
				for item, p := range rows {
					if whole[user][item] != p {
						if moved++; user != l.UserIDs[l.Users[out]] {
							t.Fatalf("without a row of user %q one of user %q is in %v", l.UserIDs[l.Users[out]], user, p)
						}
					}
				}
			}
			if moved > 1 {
				t.Fatalf("without one row %d others change their part", moved)
			}
		}
	})
}

// TestSamplesOfOthersStay does for samples what TestOneUserMovesNoOther does for rows.
func TestSamplesOfOthersStay(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var seqs [][]int32
		for range rapid.IntRange(2, 8).Draw(t, "users") {
			seqs = append(seqs, rapid.SliceOfN(rapid.Int32Range(1, 5), 0, 8).Draw(t, "items"))
		}
		out := rapid.IntRange(0, len(seqs)-1).Draw(t, "left out")
		ids := func(list [][]int32, name func(u int32) string) (Samples, Owners) {
			all := Prefixes(list)
			return all, Owners{User: func(i int) string { return name(all.User[i]) }, Item: func(i int) string {
				_, target := all.At(list, i)
				return strconv.Itoa(int(target))
			}}
		}
		name := func(u int32) string { return fmt.Sprintf("u%d", u) }
		less := slices.Delete(slices.Clone(seqs), out, out+1)
		later := func(u int32) string {
			if int(u) >= out {
				u++
			}
			return name(u)
		}
		for _, hold := range []func(Samples, float64, Owners, rng.Stream) (Samples, Samples, error){Samples.HoldOutSamples, Samples.HoldOutUsers} {
			of := func(list [][]int32, name func(u int32) string) map[string]bool {
				all, owners := ids(list, name)
				_, valid, err := hold(all, 0.3, owners, rng.Seed(1).Stream("x"))
				if err != nil {
					t.Fatal(err)
				}
				held := map[string]bool{}
				for i, u := range valid.User {
					if name(u) != name(int32(out)) || len(list) != len(seqs) {
						held[fmt.Sprint(name(u), " ", valid.Length[i])] = true
					}
				}
				return held
			}
			whole := of(seqs, name)
			for k := range whole {
				if k[:2] == name(int32(out)) {
					delete(whole, k)
				}
			}
			if d := cmp.Diff(whole, of(less, later)); d != "" {
				t.Fatalf("without user %d: %s", out, d)
			}
		}
	})
}

// TestLotsAreFair draws about 20,000 users and 20,000 rows of one user: means and shares lie within 6.2 deviations
// (false alarm 1e-9), and different names, items and numbers among equals have different draws.
func TestLotsAreFair(t *testing.T) {
	const n = 20000
	lots := NewLots(rng.Seed(5).Stream("fair"))
	sum, share := 0.0, 0
	for u := range n {
		sum += lots.User(strconv.Itoa(u))
		share += lots.share(strconv.Itoa(u), 0.29, 5) // 1.45
	}
	if math.Abs(sum/n-0.5) > 6.2*math.Sqrt(1.0/12/n) || math.Abs(float64(share)/n-1.45) > 6.2*math.Sqrt(0.45*0.55/n) {
		t.Errorf("mean %v of [0, 1), mean share %v, want 1.45", sum/n, float64(share)/n)
	}
	seen, held := map[uint64]bool{}, 0
	for _, x := range lots.Rows("a", n, func(k int) string { return strconv.Itoa(k / 2) }) { // every item twice
		seen[x] = true
		if below(x, 0.3) {
			held++
		}
	}
	if len(seen) != n || math.Abs(float64(held)/n-0.3) > 6.2*math.Sqrt(0.21/n) {
		t.Errorf("%d numbers of %d rows, %d below 0.3", len(seen), n, held)
	}
	a := slices.Clone(lots.Rows("ab", 1, func(int) string { return "c" }))
	if b := lots.Rows("a", 1, func(int) string { return "bc" }); a[0] == b[0] {
		t.Error("user ab with item c and user a with item bc have one draw")
	}
	users := []int32{7, 3, 9, 1, 4}
	ids := numbered(10)
	some := lots.Some(ids, users, 3)
	if len(some) != 3 || !slices.IsSorted(some) || len(lots.Some(ids, users, 9)) != 5 {
		t.Errorf("some users: %v", some)
	}
	if without := lots.Some(ids, slices.DeleteFunc(slices.Clone(users), func(u int32) bool { return u == some[0] }), 2); !slices.Equal(without, some[1:]) {
		t.Errorf("without %d the others are %v, want %v", some[0], without, some[1:])
	}
}

func numbered(n int) []string {
	ids := make([]string, n)
	for k := range ids {
		ids[k] = strconv.Itoa(k)
	}
	return ids
}

// TestByPlace holds the draws of earlier programs to what they were: a split with one of a seed known then.
func TestByPlace(t *testing.T) {
	var rows [][4]int
	for k := range 10 {
		rows = append(rows, [4]int{1, k, k, 1}, [4]int{2, k, k, 1})
	}
	l := logOf(rows...)
	parts, err := Split{Kind: SplitRandom, Fraction: 0.8, ValidShare: 0.25, Seed: 7, ByPlace: true}.Parts(l)
	if err != nil {
		t.Fatal(err)
	}
	got := ""
	for _, p := range parts {
		got += string("tvT"[p])
	}
	if want := "vTtttTttttTTttttvtvv"; got != want {
		t.Errorf("parts %s, want %s", got, want)
	}
}
