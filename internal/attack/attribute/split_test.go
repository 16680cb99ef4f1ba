package attribute

import (
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"privrec/internal/rng"
)

func TestStratified(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		classes := rapid.IntRange(2, 5).Draw(rt, "classes")
		class := rapid.SliceOfN(rapid.Int32Range(0, int32(classes-1)), 5, 80).Draw(rt, "class")
		class[0], class[1] = 0, 1
		percent := rapid.IntRange(20, 80).Draw(rt, "percent")
		share := float64(percent) / 100
		s, err := Stratified(class, classes, share, rng.Seed(rapid.Uint64().Draw(rt, "seed")).Stream("split"))
		if err != nil {
			rt.Fatal(err)
		}
		if want := len(class) * percent / 100; len(s.Train) != want || !slices.IsSorted(s.Train) || !slices.IsSorted(s.Test) {
			rt.Fatalf("%d in train, want %d", len(s.Train), want)
		}
		all := slices.Concat(s.Train, s.Test)
		slices.Sort(all)
		for i, u := range all {
			if u != int32(i) || len(all) != len(class) {
				rt.Fatalf("the parts hold %v", all)
			}
		}
		count, train := make([]int, classes), make([]int, classes)
		for _, c := range class {
			count[c]++
		}
		for _, u := range s.Train {
			train[class[u]]++
		}
		for c, n := range count {
			if d := float64(train[c]) - share*float64(n); math.Abs(d) >= 1 {
				rt.Fatalf("class %d has %d of %d in train", c, train[c], n)
			}
			for b, m := range count { // no place helps another class more
				if n > 0 && train[c] > n*percent/100 && train[b] == m*percent/100 && n*percent%100 < m*percent%100 {
					rt.Fatalf("class %d has a place that class %d needs more", c, b)
				}
			}
		}
	})
}

// TestStratifiedDraws: the paper's 943 users are cut into 754 and 189, and another stream cuts otherwise.
func TestStratifiedDraws(t *testing.T) {
	class := make([]int32, 943)
	for i := range class {
		class[i] = int32(i % 21)
	}
	a, err := Stratified(class, 21, 0.8, rng.Seed(1).Stream("split"))
	if err != nil || len(a.Train) != 754 || len(a.Test) != 189 {
		t.Fatalf("%d and %d users, %v", len(a.Train), len(a.Test), err)
	}
	b, _ := Stratified(class, 21, 0.8, rng.Seed(1).Stream("split"))
	c, _ := Stratified(class, 21, 0.8, rng.Seed(2).Stream("split"))
	if !reflect.DeepEqual(a, b) || reflect.DeepEqual(a, c) {
		t.Error("the cut does not follow its stream")
	}
	of := func(c int32) (rank []int32) { // which of a class's users are in train
		for _, u := range a.Train {
			if class[u] == c {
				rank = append(rank, u/21)
			}
		}
		return rank
	}
	if reflect.DeepEqual(of(0), of(1)) {
		t.Error("two classes are cut alike")
	}
	d, err := Stratified(class[:100], 21, 0.29, rng.Seed(1).Stream("split"))
	if err != nil || len(d.Train) != 29 { // 0.29 * 100 is below 29 in floating point
		t.Errorf("%d of 100 users, %v", len(d.Train), err)
	}
}

func TestStratifiedRefuses(t *testing.T) {
	two := []int32{0, 1, 0, 1}
	for _, c := range []struct {
		class []int32
		share float64
		want  string
	}{
		{[]int32{0, 0, 0}, 0.5, "fewer than two values"},
		{[]int32{0, 3, 0}, 0.5, "user 1 has class 3 of 2"},
		{[]int32{0, -1, 0}, 0.5, "user 1 has class -1 of 2"},
		{nil, 0.5, "0 users"},
		{two, 0, "share 0"}, {two, 1, "share 1"}, {two, math.NaN(), "share NaN"},
		{two, 0.1, "leaves a part empty"},
	} {
		if _, err := Stratified(c.class, 2, c.share, rng.Stream{}); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v, %v: error %v, want %q", c.class, c.share, err, c.want)
		}
	}
}
