package dataset

import (
	"strings"
	"testing"
)

func TestUserWithoutFeatures(t *testing.T) {
	l := logOf([4]int{1, 1, 1, 5}, [4]int{2, 1, 1, 5})
	f := &Features{UserIDs: []string{"1"}, Columns: []Column{{Name: "city", Codes: []int32{0}, Levels: []string{"Rome"}}}}
	r := Recipe{Name: "x", Split: Split{Kind: SplitLeaveOneOut}, Features: []string{"city"}}
	_, err := r.Apply(l, f)
	if err == nil || err.Error() != `hand-made: field "user": user "2" has interactions but no line of user features` {
		t.Errorf("error %v", err)
	}
	if _, err := r.Apply(l, nil); err == nil {
		t.Error("a recipe with features ran without any")
	}
	r.Features = []string{"age"}
	if _, err := r.Apply(logOf([4]int{1, 1, 1, 5}), f); err == nil || !strings.Contains(err.Error(), `no user feature "age" (have [city])`) {
		t.Errorf("error %v", err)
	}
}

// A set without a recipe is named without the word.
func TestNamed(t *testing.T) {
	for _, c := range [][3]string{{"ml-1m", "gerai", "ml-1m, recipe gerai"}, {"own", "", "own"}} {
		if got := Named(c[0], c[1]); got != c[2] {
			t.Errorf("%q, want %q", got, c[2])
		}
	}
}
