package dataset

import (
	"math"
	"slices"
	"strconv"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"privrec/internal/rng"
)

func TestSplits(t *testing.T) {
	// User 1 has rows at 1..5, user 2 at 3 and 9, user 3 at 4.
	l := logOf([4]int{1, 1, 1, 1}, [4]int{1, 2, 2, 1}, [4]int{1, 3, 3, 1}, [4]int{1, 4, 4, 1}, [4]int{1, 5, 5, 1},
		[4]int{2, 1, 3, 1}, [4]int{2, 6, 9, 1}, [4]int{3, 1, 4, 1})
	fixed := *l
	fixed.Parts = []Part{Test, Train, Train, Train, Train, Test, Train, Train}
	for _, c := range []struct {
		name  string
		log   *Log
		split Split
		want  string // a letter a row: t train, v valid, T test; "" for an error
	}{
		{"fraction", l, Split{Kind: SplitFraction, Fraction: 0.8}, "ttttT tT T"},
		{"half", l, Split{Kind: SplitFraction, Fraction: 0.5}, "ttTTT tT T"},
		{"leave one out", l, Split{Kind: SplitLeaveOneOut}, "ttttT tT t"},
		{"leave two out", l, Split{Kind: SplitLeaveOneOut, Valid: true}, "tttvT tt t"},
		{"time", l, Split{Kind: SplitTime, Fraction: 0.5}, "tttTT tT T"}, // times 1 2 3 3 4 4 5 9: row 4 is at 4
		{"fixed", &fixed, Split{Kind: SplitFixed}, "Ttttt Tt t"},
		{"fixed without parts", l, Split{Kind: SplitFixed}, ""},
		{"fraction 1", l, Split{Kind: SplitFraction, Fraction: 1}, ""},
		{"time 0", l, Split{Kind: SplitTime}, ""},
		{"no kind", l, Split{}, ""},
	} {
		parts, err := c.split.Parts(c.log)
		got := ""
		for row, p := range parts {
			if row > 0 && l.Users[row] != l.Users[row-1] {
				got += " "
			}
			got += string("tvT"[p])
		}
		if got != c.want || (err == nil) != (c.want != "") {
			t.Errorf("%s: %q (%v), want %q", c.name, got, err, c.want)
		}
	}
	for _, c := range []struct {
		f       float64
		m, want int
	}{
		{0.29, 100, 29}, {0.8, 44, 35}, {0.8, 5, 4}, {0.9999999999, 1, 0}, {0.9999999999, 1e10, 9999999999},
		{0.1, 1e15, 1e14}, {0.7, 1e16, 7e15}, {0.3333333333, 3e10, 9999999999}, {1e-300, 1e9, 0}, {math.Nextafter(1, 0), 1, 0}, {0.5, 0, 0},
	} {
		if got := floorShare(c.f, c.m); got != c.want {
			t.Errorf("%v of %d rows: %d, want %d", c.f, c.m, got, c.want)
		}
	}
	one := logOf([4]int{1, 5, 1, 1})
	for _, l := range []*Log{one, {Times: []int64{}}} {
		if parts, err := (Split{Kind: SplitTime, Fraction: 0.9999999999}).Parts(l); err != nil || len(parts) != l.Len() {
			t.Errorf("%v, %v", parts, err)
		}
	}
}

// TestRandomSplit checks counts, rounding, order and what the draw depends on.
func TestRandomSplit(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		l := anyLog(t)
		split := Split{Kind: SplitRandom, Fraction: rapid.SampledFrom([]float64{0.5, 0.8, 0.29}).Draw(t, "fraction"),
			Nearest: rapid.Bool().Draw(t, "nearest"), Seed: rng.Seed(rapid.Uint64().Draw(t, "seed"))}
		parts, err := split.Parts(l)
		if err != nil {
			t.Fatal(err)
		}
		off := l.Offsets()
		train := 0
		for u := range l.UserIDs {
			m, n := off[u+1]-off[u], 0
			for _, p := range parts[off[u]:off[u+1]] {
				if p == Train {
					n++
				}
			}
			want := int(split.Fraction*float64(m) + 1e-9)
			if split.Nearest {
				want = min(int(split.Fraction*float64(m)+0.5+1e-9), m-1)
			}
			if n != want {
				t.Fatalf("%d of %d rows train, want %d", n, m, want)
			}
			train += n
		}
		again, _ := split.Parts(l)
		if !slices.Equal(parts, again) {
			t.Fatal("the same seed gave another split")
		}
		split.ValidShare = 0.1
		held, err := split.Parts(l)
		if err != nil {
			t.Fatal(err)
		}
		valid := 0
		for row, p := range held {
			if p == Valid {
				valid++
				p = Train
			}
			if p != parts[row] {
				t.Fatal("holding out changed the test part")
			}
		}
		// A user's share is rounded down or up, and one of their rows stays.
		least, most := 0, 0
		for u := range l.UserIDs {
			n := 0
			for _, p := range parts[off[u]:off[u+1]] {
				if p == Train {
					n++
				}
			}
			least, most = least+n/10, most+min(n/10+1, max(n-1, 0))
		}
		if valid < least || valid > most {
			t.Fatalf("%d of %d training rows held out, want %d to %d", valid, train, least, most)
		}
	})
	// Every row is equally likely to be test: 2 of 10 rows over 4,000 seeds, 800
	// expected of each; seven standard deviations, false alarm below 1e-9.
	var rows [][4]int
	for k := range 10 {
		rows = append(rows, [4]int{1, k, k, 1})
	}
	l := logOf(rows...)
	var hits [10]int
	for seed := range 4000 {
		parts, _ := Split{Kind: SplitRandom, Fraction: 0.8, Seed: rng.Seed(seed)}.Parts(l)
		for row, p := range parts {
			if p == Test {
				hits[row]++
			}
		}
	}
	for row, n := range hits {
		if math.Abs(float64(n)-800) > 7*math.Sqrt(4000*0.2*0.8) {
			t.Errorf("row %d is test in %d of 4,000 splits, want about 800", row, n)
		}
	}
	// Users of equal length are drawn apart.
	var twins [][4]int
	for k := range 60 {
		twins = append(twins, [4]int{1, k, k, 1}, [4]int{2, k, k, 1})
	}
	parts, err := Split{Kind: SplitRandom, Fraction: 0.5}.Parts(logOf(twins...))
	if err != nil || slices.Equal(parts[:60], parts[60:]) {
		t.Errorf("two users share one draw (%v)", err)
	}
	for _, bad := range []Split{{Kind: SplitRandom}, {Kind: SplitRandom, Fraction: 1}, {Kind: SplitRandom, Fraction: 0.8, ValidShare: 1},
		{Kind: SplitFixed, ValidShare: -0.1}, {Kind: SplitFraction, Fraction: 0.8, ValidShare: 0.1}, {Kind: SplitRandom, Fraction: 0.8, ValidShare: math.NaN()}} {
		if _, err := bad.Parts(l); err == nil {
			t.Errorf("%+v was accepted", bad)
		}
	}
}

// TestHeldOutOfFixed checks that a share held out of a published split lowers the level
// a run can reach, and that the published test rows stay.
func TestHeldOutOfFixed(t *testing.T) {
	l := logOf([4]int{1, 1, 1, 1}, [4]int{1, 2, 2, 1}, [4]int{1, 3, 3, 1}, [4]int{2, 1, 1, 1}, [4]int{2, 2, 2, 1}, [4]int{2, 3, 3, 1})
	l.Parts = []Part{Train, Train, Test, Train, Train, Test}
	for _, c := range []struct {
		share  float64
		counts [3]int
		level  Level
	}{{0, [3]int{4, 0, 2}, LevelA}, {0.5, [3]int{2, 2, 2}, LevelB}} {
		r := Recipe{Split: Split{Kind: SplitFixed, ValidShare: c.share}, Digest: l.Digest(), Wants: []Want{{Rung: Rung{Name: RungRaw, Users: 2, Items: 3, Rows: 6}, Paper: true}}}
		parts, err := r.Split.Parts(l)
		if err != nil {
			t.Fatal(err)
		}
		var counts [3]int
		for row, p := range parts {
			counts[p]++
			if (p == Test) != (l.Parts[row] == Test) {
				t.Errorf("share %v moved row %d to %v", c.share, row, p)
			}
		}
		s, err := r.Apply(l, nil)
		if err != nil {
			t.Fatal(err)
		}
		if counts != c.counts || s.Source.Level != c.level {
			t.Errorf("share %v: parts %v, level %v", c.share, counts, s.Source.Level)
		}
	}
}

func TestSequence(t *testing.T) {
	// Train of user 1 is 5 3 5, of user 2 is 4 3; test items 9 and 8 are unknown.
	l := logOf([4]int{1, 5, 1, 1}, [4]int{1, 3, 2, 1}, [4]int{1, 5, 3, 1}, [4]int{1, 9, 4, 1}, [4]int{1, 4, 5, 1},
		[4]int{2, 4, 1, 1}, [4]int{2, 3, 2, 1}, [4]int{2, 8, 3, 1}, [4]int{2, 5, 4, 1}, [4]int{2, 5, 5, 1})
	parts := []Part{Train, Train, Train, Test, Test, Train, Train, Test, Valid, Test}
	s := sequence(l, parts)
	if d := cmp.Diff([]string{"", "5", "3", "4"}, s.ItemIDs); d != "" || s.Items != 3 {
		t.Errorf("items: %s", d)
	}
	if d := cmp.Diff([][][]int32{{{1, 2, 1}, {3, 2}}, {{}, {1}}, {{3}, {1}}}, [][][]int32{s.Train, s.Valid, s.Test}); d != "" {
		t.Errorf("sequences: %s", d)
	}
	want := Ladder{
		{Name: RungTrain, Users: 2, Items: 3, Rows: 5, Samples: 3},
		{Name: RungValid, Users: 1, Items: 1, Rows: 1},
		{Name: RungValid + ", known items", Users: 1, Items: 1, Rows: 1},
		{Name: RungTest, Users: 2, Items: 4, Rows: 4, Samples: 2},
		{Name: RungKnownTest, Users: 2, Items: 2, Rows: 2},
	}
	if d := cmp.Diff(want, s.Ladder); d != "" {
		t.Errorf("ladder: %s", d)
	}
	st := s.Stats()
	if st.Rows != 8 || st.Users != 2 || st.Items != 3 {
		t.Errorf("stats %v", st)
	}
}

func TestRatingsOfTrain(t *testing.T) {
	l := logOf([4]int{1, 5, 1, 5}, [4]int{1, 3, 2, 1}, [4]int{1, 5, 3, 4}, [4]int{2, 9, 1, 2}, [4]int{3, 3, 1, 3})
	l.Parts = []Part{Train, Test, Train, Test, Train}
	r := Recipe{Split: Split{Kind: SplitFixed}, Ratings: true}
	s, err := r.Apply(l, nil)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff([][]float32{{5, 4}, {}, {3}}, s.Ratings); d != "" {
		t.Error(d)
	}
	l.Values = nil
	if _, err := r.Apply(l, nil); err == nil || err.Error() != `hand-made: field "rating": the recipe keeps ratings but the data have none` {
		t.Errorf("error %v", err)
	}
}

// Times follow the items of every part: rows of items that training does not know are left out of
// both.
func TestTimesFollowItems(t *testing.T) {
	l := &Log{Name: "hand", UserIDs: []string{"a", "b", "c"}, ItemIDs: []string{"x", "y", "z"},
		Users: []int32{0, 0, 0, 0, 1, 2, 2, 2}, Items: []int32{0, 1, 2, 0, 2, 0, 2, 1}, Times: []int64{10, 11, 12, 13, 14, 15, 16, 17},
		Parts: []Part{Train, Train, Test, Test, Valid, Train, Test, Valid}}
	r := Recipe{Split: Split{Kind: SplitFixed}, Times: true}
	s, err := r.Apply(l, nil)
	if err != nil {
		t.Fatal(err)
	}
	want := &Times{Train: [][]int64{{10, 11}, {}, {15}}, Valid: [][]int64{{}, {}, {17}}, Test: [][]int64{{13}, {}, {}}}
	if d := cmp.Diff(want, s.Times); d != "" {
		t.Error(d)
	}
	for _, part := range []struct {
		items [][]int32
		times [][]int64
	}{{s.Train, s.Times.Train}, {s.Valid, s.Times.Valid}, {s.Test, s.Times.Test}} {
		for u := range part.items {
			if len(part.items[u]) != len(part.times[u]) {
				t.Errorf("user %d has %d items and %d times", u, len(part.items[u]), len(part.times[u]))
			}
		}
	}
	l.Times = nil
	if s, err = r.Apply(l, nil); err != nil || s.Times != nil {
		t.Errorf("data without times have %v, %v", s.Times, err)
	}
}

func TestPrefixes(t *testing.T) {
	seqs := [][]int32{{7, 8, 9}, {5}, {}, {4, 6}}
	p := Prefixes(seqs)
	if d := cmp.Diff(Samples{User: []int32{0, 0, 3}, Length: []int32{1, 2, 1}}, p); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff([]int32{8, 9, 6}, p.Targets(seqs)); d != "" {
		t.Error(d)
	}
	prefix, target := p.At(seqs, 1)
	if d := cmp.Diff([]int32{7, 8}, prefix); d != "" || target != 9 || cap(prefix) != 2 {
		t.Errorf("prefix %v, target %d", prefix, target)
	}
}

// Windows of all sizes share no row and leave out no more than single rows at the end; each is one sample.
func TestWindows(t *testing.T) {
	seqs := [][]int32{{1, 2, 3, 4, 5, 6, 7}, {8}, {}, {9, 10}, {11, 12, 13, 14, 15, 16}}
	windows, of := Windows(seqs, 3)
	if d := cmp.Diff([][]int32{{1, 2, 3}, {4, 5, 6}, {9, 10}, {11, 12, 13}, {14, 15, 16}}, windows); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff([]int32{0, 0, 3, 4, 4}, of); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff(Samples{User: []int32{0, 1, 2, 3, 4}, Length: []int32{2, 2, 1, 2, 2}}, Whole(windows)); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff(Samples{User: []int32{0, 3, 4}, Length: []int32{6, 1, 5}}, Whole(seqs)); d != "" {
		t.Error(d)
	}
	for size := 2; size < 9; size++ {
		windows, of = Windows(seqs, size)
		rows := map[int32]int32{}
		for i, w := range windows {
			if len(w) < 2 || len(w) > size || cap(w) != len(w) {
				t.Errorf("size %d: a window of %d rows", size, len(w))
			}
			for _, row := range w {
				rows[row]++
				if u := of[i]; seqs[u][0] > row || seqs[u][len(seqs[u])-1] < row {
					t.Errorf("size %d: row %d is given to sequence %d", size, row, u)
				}
			}
		}
		for row, n := range rows {
			if n != 1 {
				t.Errorf("size %d: row %d is in %d windows", size, row, n)
			}
		}
		if len(rows) < 15-4 { // the sequence of one row, and one row of three others
			t.Errorf("size %d: %d rows are in windows", size, len(rows))
		}
	}
}

func TestHoldOut(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var seqs [][]int32
		for range rapid.IntRange(1, 12).Draw(t, "users") {
			seqs = append(seqs, make([]int32, rapid.IntRange(0, 9).Draw(t, "length")))
		}
		all := Prefixes(seqs)
		share := rapid.Float64Range(0, 0.99).Draw(t, "share")
		s := rng.Seed(rapid.Uint64().Draw(t, "seed")).Stream("split")
		of := Owners{User: func(i int) string { return strconv.Itoa(int(all.User[i])) }, Item: func(i int) string { return strconv.Itoa(int(all.Length[i]) % 3) }}
		for _, byUser := range []bool{false, true} {
			split := Samples.HoldOutSamples
			if byUser {
				split = Samples.HoldOutUsers
			}
			train, valid, err := split(all, share, of, s)
			if err != nil {
				t.Fatal(err)
			}
			again, _, _ := split(all, share, of, s)
			if !cmp.Equal(train, again) {
				t.Fatal("the same stream gave another split")
			}
			if train.Len()+valid.Len() != all.Len() {
				t.Fatalf("%d + %d samples of %d", train.Len(), valid.Len(), all.Len())
			}
			inValid := map[[2]int32]bool{}
			validUser := map[int32]bool{}
			for i := range valid.Len() {
				inValid[[2]int32{valid.User[i], valid.Length[i]}] = true
				validUser[valid.User[i]] = true
			}
			for i := range train.Len() {
				if inValid[[2]int32{train.User[i], train.Length[i]}] || byUser && validUser[train.User[i]] {
					t.Fatalf("sample of user %d is on both sides", train.User[i])
				}
			}
			for u, seq := range seqs {
				n := 0
				for _, owner := range valid.User {
					if int(owner) == u {
						n++
					}
				}
				if want := floorShare(share, max(0, len(seq)-1)); !byUser && n != want && n != want+1 {
					t.Fatalf("%d of the %d samples of a user are for validation, want %d or one more", n, len(seq)-1, want)
				}
			}
		}
	})
	if _, _, err := (Samples{}).HoldOutSamples(1, Owners{}, rng.Stream{}); err == nil {
		t.Error("a share of 1 was accepted")
	}
}
