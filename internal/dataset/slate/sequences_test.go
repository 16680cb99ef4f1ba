package slate_test

import (
	"fmt"
	"strings"
	"testing"

	"privrec/internal/dataset"
	"privrec/internal/dataset/slate"
)

// Histories become rows in the order of time, by the names of items, without users who
// have none and without tokens that are no items.
func TestSequences(t *testing.T) {
	set := &slate.Set{
		Name: "hand", Hash: "00", Vocab: 9, Level: dataset.LevelC, Users: []string{"10", "9", "11", "2"},
		Items:     []string{"[PAD]", "[OOV]", "[SOS]", "[EOS]", "d", "5", "x", "y", "a"},
		Histories: [][]int32{{8, 4, slate.OOV, 5, 4, 8}, nil, {slate.OOV}, {5, 8}},
	}
	s, err := set.Sequences()
	if err != nil {
		t.Fatal(err)
	}
	if got := fmt.Sprint(s.UserIDs, s.ItemIDs, s.Train, s.Valid, s.Test, s.Source.Level); got != "[2 10] [ 5 a d] [[1 2] [2 3 1]] [[] [3]] [[] [2]] C" {
		t.Error(got)
	}
	was := s.Source.Hash
	for name, change := range map[string]func(){
		"order":      func() { set.Histories[3] = []int32{8, 5} },
		"vocabulary": func() { set.Vocab, set.Items = 10, append(set.Items, "z") },
		"files":      func() { set.Hash = "01" },
	} {
		change()
		s, err := set.Sequences()
		if err != nil || s.Source.Hash == was {
			t.Errorf("another %s has the same hash (%v)", name, err)
		}
		was = s.Source.Hash
	}
	set.Items[4] = "5"
	if _, err := set.Sequences(); err == nil || !strings.Contains(err.Error(), `4 and 5 are both "5"`) {
		t.Errorf("two tokens of one name: %v", err)
	}
}
