package dataset

import (
	"slices"
	"testing"
)

// A list of users that has an id which is no number puts all others in another order than they have among themselves:
// their rows come in the order of the list.
func TestRowsComeInTheOrderOfStatedUsers(t *testing.T) {
	l := &Log{Users: []int32{0, 0, 1, 2}, Items: []int32{0, 1, 1, 0}, Times: []int64{1, 2, 3, 4}, UserIDs: []string{"7", "9", "10"}, ItemIDs: []string{"a", "b"}}
	_, names := Ascending([]string{"7", "9", "10", "b"})
	out := l.Of(nil, &Stated{Names: names})
	if want := []string{"10", "7", "9", "b"}; !slices.Equal(out.UserIDs, want) {
		t.Fatalf("users %v, want %v", out.UserIDs, want)
	}
	if want := []int32{0, 1, 1, 2}; !slices.Equal(out.Users, want) {
		t.Errorf("rows of users %v, want %v", out.Users, want)
	}
	if want := []int64{4, 1, 2, 3}; !slices.Equal(out.Times, want) {
		t.Errorf("times %v, want %v", out.Times, want)
	}
}
