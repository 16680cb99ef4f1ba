package slate

import (
	"reflect"
	"slices"
	"testing"

	"privrec/internal/dataset"
)

// TestStandIn: the generated set is well formed, the same for the same seed, and its
// slates depend on the clicks before them: counts of items together in the training
// pairs find at least twice as many clicks of the test pairs as popularity does.
func TestStandIn(t *testing.T) {
	s, err := Load(t.Context(), StandIn, dataset.View{Seed: 7}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.valid(); err != nil {
		t.Fatal(err)
	}
	if err := s.disjoint(); err != nil {
		t.Fatal(err)
	}
	if !s.StandIn || s.Level != dataset.LevelD || len(s.Users) != 300 || s.Vocab > 404 {
		t.Errorf("stand-in %v at level %v with %d users and %d tokens", s.StandIn, s.Level, len(s.Users), s.Vocab)
	}
	again, err := Load(t.Context(), StandIn, dataset.View{Seed: 7}, Options{})
	if err != nil || !reflect.DeepEqual(s, again) {
		t.Errorf("a second load differs: %v", err)
	}
	other, err := Load(t.Context(), StandIn, dataset.View{Seed: 8}, Options{})
	if err != nil || other.Hash == s.Hash || slices.Equal(other.Train.Slates, s.Train.Slates) {
		t.Errorf("another seed gives the same set: %v", err)
	}
	const k = 10
	hits, popular := together(s, k), 0.0
	for _, x := range s.Test.Behaviours {
		if x >= FirstItem && x < FirstItem+k {
			popular++
		}
	}
	popular /= float64(len(s.Test.Behaviours))
	if popular < 0.02 || hits < 2*popular {
		t.Errorf("recall@%d is %.3f by counts and %.3f by popularity", k, hits, popular)
	}
}

// together is recall@k of ranking by how often a click and a shown item stand in one
// training pair.
func together(s *Set, k int) float64 {
	count := make([]float64, s.Vocab*s.Vocab)
	for i := range s.Train.Len() {
		for _, x := range s.Train.Slate(i) {
			for _, y := range s.Train.Behaviour(i) {
				count[int(x)*s.Vocab+int(y)]++
			}
		}
	}
	hits := 0
	score := make([]float64, s.Vocab)
	for i := range s.Test.Len() {
		clear(score)
		for _, x := range s.Test.Slate(i) {
			for y := range score {
				score[y] += count[int(x)*s.Vocab+y]
			}
		}
		for _, y := range s.Test.Behaviour(i) {
			better := 0
			for _, v := range score {
				if v > score[y] {
					better++
				}
			}
			if y != OOV && better < k {
				hits++
			}
		}
	}
	return float64(hits) / float64(len(s.Test.Behaviours))
}
