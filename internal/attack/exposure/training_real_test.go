//go:build slow

package exposure

import (
	"math"
	"testing"
)

// TestAttacksLearnZhihu: narrow attacks after a few steps on Zhihu's training pairs know more of the
// validation pairs than that all tokens are alike, and rank ten times better than chance. What attacks reach
// that were trained to the end is a run of its own.
func TestAttacksLearnZhihu(t *testing.T) {
	s := realSlates(t, "exposure-zhihu")
	valid := s.Valid.Select(rowsOf(1000))
	for _, of := range [][2]string{{"mean", "gru"}, {"attention", "point"}} {
		c := small(of[0], of[1], 16)
		c.Smoothing = Paper(of[0], of[1]).Smoothing
		m, err := New(c, s.Vocab, 10, 5, 1)
		if err != nil {
			t.Fatal(err)
		}
		before, err := m.ValidationLoss(t.Context(), valid, 256)
		if err != nil {
			t.Fatal(err)
		}
		trained(t, m, s.Train, 60, 256)
		after, err := m.ValidationLoss(t.Context(), valid, 256)
		if err != nil {
			t.Fatal(err)
		}
		again, err := m.ValidationLoss(t.Context(), valid, 100)
		if err != nil || math.Abs(again/after-1) > 1e-4 {
			t.Errorf("%v: loss %v in batches of 256, %v of 100, %v", of, after, again, err)
		}
		hits, n := 0.0, 0
		err = m.Rank(t.Context(), valid, nil, 50, nil, func(row int32, lists [][]int32) error {
			for _, y := range valid.Behaviour(int(row)) {
				if contains(lists[0], y) {
					hits++
				}
				n++
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		t.Logf("%v: loss %.3f, then %.3f; %.4f of the clicks in the first list of 50 (chance %.4f)", of, before, after, hits/float64(n), 50/float64(s.Vocab))
		if !(after < before-1) {
			t.Errorf("%v: loss %v, then %v", of, before, after)
		}
		if hits/float64(n) < 10*50/float64(s.Vocab) {
			t.Errorf("%v: %v of the clicks found in the first 50", of, hits/float64(n))
		}
	}
}
