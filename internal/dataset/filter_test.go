package dataset

import (
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// logOf builds a log from rows "user item time value".
func logOf(rows ...[4]int) *Log {
	b := Builder{name: "hand-made", Times: []int64{}, Values: []float32{}}
	for _, r := range rows {
		b.UserOf = append(b.UserOf, b.Users.ID([]byte(strconv.Itoa(r[0]))))
		b.ItemOf = append(b.ItemOf, b.Items.ID([]byte(strconv.Itoa(r[1]))))
		b.Times = append(b.Times, int64(r[2]))
		b.Values = append(b.Values, float32(r[3]))
	}
	return b.Log("hash")
}

// rowsOf is the inverse of logOf.
func rowsOf(l *Log) []string {
	var out []string
	for r := range l.Users {
		s := l.UserIDs[l.Users[r]] + ":" + l.ItemIDs[l.Items[r]]
		if l.Times != nil {
			s += "@" + strconv.Itoa(int(l.Times[r]))
		}
		out = append(out, s)
	}
	return out
}

// anyLog draws a small log with repeated pairs and tied times.
func anyLog(t *rapid.T) *Log {
	row := rapid.Custom(func(t *rapid.T) [4]int {
		return [4]int{rapid.IntRange(0, 7).Draw(t, "user"), rapid.IntRange(0, 9).Draw(t, "item"),
			rapid.IntRange(0, 4).Draw(t, "time"), rapid.IntRange(1, 5).Draw(t, "value")}
	})
	return logOf(rapid.SliceOfN(row, 1, 80).Draw(t, "rows")...)
}

func TestLogInvariants(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		l := anyLog(t)
		if err := l.Valid(); err != nil {
			t.Fatal(err)
		}
		for r := 1; r < l.Len(); r++ {
			if l.Users[r] == l.Users[r-1] && l.Times[r] < l.Times[r-1] {
				t.Fatalf("row %d goes back in time", r)
			}
		}
		keep := rapid.SliceOfN(rapid.Bool(), l.Len(), l.Len()).Draw(t, "keep")
		before := rowsOf(l)
		var want []string
		for r, k := range keep {
			if k {
				want = append(want, before[r])
			}
		}
		if got := rowsOf(l.Keep(keep)); !slices.Equal(got, want) {
			t.Fatalf("kept %v, want %v", got, want)
		}
		if !slices.Equal(before, rowsOf(l)) {
			t.Fatal("Keep changed its receiver")
		}
	})
}

// TestCoreAgainstDefinition compares with the slow definition: remove one user or item
// with too few rows at a time. The k-core is unique, so the order must not matter.
func TestCoreAgainstDefinition(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		l := anyLog(t)
		k := rapid.IntRange(1, 6).Draw(t, "k")
		rows := rowsOf(l)
		for again := true; again; {
			again = false
			users, items := map[string]int{}, map[string]int{}
			for _, r := range rows {
				u, i, _ := strings.Cut(r, ":")
				i, _, _ = strings.Cut(i, "@")
				users[u]++
				items[i]++
			}
			for side, counts := range []map[string]int{users, items} {
				for id, n := range counts {
					if n < k && !again {
						again = true
						rows = slices.DeleteFunc(rows, func(r string) bool {
							u, i, _ := strings.Cut(r, ":")
							i, _, _ = strings.Cut(i, "@")
							return side == 0 && u == id || side == 1 && i == id
						})
					}
				}
			}
		}
		got, ladder, err := l.Core(k)
		if len(rows) == 0 {
			if err == nil || !strings.Contains(err.Error(), "-core") {
				t.Fatalf("empty core gives %v", err)
			}
			return
		}
		if err != nil || !slices.Equal(rowsOf(got), rows) {
			t.Fatalf("core is %v (%v), want %v", rowsOf(got), err, rows)
		}
		for i := 1; i < len(ladder); i++ {
			if ladder[i].Rows > ladder[i-1].Rows {
				t.Fatalf("ladder grows: %v", ladder)
			}
		}
		if last := ladder[len(ladder)-1]; last.Rows != got.Len() || last.Name != strconv.Itoa(k)+"-core" {
			t.Fatalf("last rung %v", last)
		}
	})
}

func TestCoreDropsUsersFirst(t *testing.T) {
	// User 3 has one row. Dropped first, it takes item 9 below 2; then user 2 has one
	// row left. Counting users and items at once would need the same rounds but show
	// other rungs.
	l := logOf([4]int{1, 7, 1, 1}, [4]int{1, 8, 2, 1}, [4]int{2, 7, 1, 1}, [4]int{2, 9, 2, 1}, [4]int{3, 9, 1, 1}, [4]int{1, 7, 3, 1}, [4]int{1, 8, 4, 1})
	got, ladder, err := l.Core(2)
	if err != nil {
		t.Fatal(err)
	}
	want := Ladder{{Name: "2-core round 1", Users: 2, Items: 2, Rows: 5}, {Name: "2-core round 2", Users: 1, Items: 2, Rows: 4}, {Name: "2-core", Users: 1, Items: 2, Rows: 4}}
	if d := cmp.Diff(want, ladder); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff([]string{"1:7@1", "1:8@2", "1:7@3", "1:8@4"}, rowsOf(got)); d != "" {
		t.Error(d)
	}
}

func TestSmallFilters(t *testing.T) {
	l := logOf([4]int{1, 7, 1, 5}, [4]int{1, 8, 2, 3}, [4]int{1, 7, 3, 4}, [4]int{2, 9, 5, 1}, [4]int{2, 9, 4, 4})
	rated, err := l.MinRating(4)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name string
		got  *Log
		want []string
	}{
		{"rating >= 4", rated, []string{"1:7@1", "1:7@3", "2:9@4"}},
		{"last 1", l.LastN(1), []string{"1:7@3", "2:9@5"}},
		{"last 9", l.LastN(9), []string{"1:7@1", "1:8@2", "1:7@3", "2:9@4", "2:9@5"}},
		{"first of a pair", l.Dedupe(KeepFirst), []string{"1:7@1", "1:8@2", "2:9@4"}},
		{"last of a pair", l.Dedupe(KeepLast), []string{"1:8@2", "1:7@3", "2:9@5"}},
		{"repeats", l.Dedupe(KeepRepeats), rowsOf(l)},
	} {
		if d := cmp.Diff(c.want, rowsOf(c.got)); d != "" {
			t.Errorf("%s: %s", c.name, d)
		}
	}
	// One pass each: item 9 goes, then user 2 has one row left and goes; the rows of item
	// 7 fall below the bound after that and stay.
	l3 := logOf([4]int{1, 7, 1, 1}, [4]int{1, 8, 2, 1}, [4]int{2, 7, 3, 1}, [4]int{2, 9, 4, 1}, [4]int{3, 8, 5, 1}, [4]int{3, 8, 6, 1})
	s, ladder, err := Recipe{MinItem: 2, MinUser: 2}.Filter(l3)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff([]string{"1:7@1", "1:8@2", "3:8@5", "3:8@6"}, rowsOf(s)); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff(Ladder{{Name: RungRaw, Users: 3, Items: 3, Rows: 6}, {Name: "items >= 2 rows", Users: 3, Items: 2, Rows: 5}, {Name: "users >= 2 rows", Users: 2, Items: 2, Rows: 4}}, ladder); d != "" {
		t.Error(d)
	}
	if _, _, err := (Recipe{MinUser: 9}).Filter(l3); err == nil || err.Error() != `hand-made: no rows left after filter "users >= 9 rows" (6 rows of 3 users before it)` {
		t.Errorf("empty data: %v", err)
	}
	l3.Ladder = Ladder{{Name: RungRaw, Rows: 99}, {Name: "clicks", Rows: 6}}
	if _, ladder, _ := (Recipe{MinItem: 2}).Filter(l3); len(ladder) != 3 || ladder[0].Rows != 99 || len(l3.Ladder) != 2 {
		t.Errorf("the reader's rungs are not the first: %v", ladder)
	}
	if _, err := l.MinRating(6); err == nil || err.Error() != `hand-made: no rows left after filter "rating >= 6" (5 rows of 2 users before it)` {
		t.Errorf("empty data: %v", err)
	}
	l.Values = nil
	if _, err := l.MinRating(1); err == nil {
		t.Error("a rating filter ran without ratings")
	}
}
