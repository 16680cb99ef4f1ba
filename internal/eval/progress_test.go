package eval

import (
	"slices"
	"testing"

	"privrec/internal/progress"
	"privrec/internal/progress/progresstest"
)

// Ranking is reported by the chunk, whichever way samples are ranked.
func TestRankingReports(t *testing.T) {
	samples, targets := cases(90, 40)
	s := &table{items: 40, levels: 9}
	silent, err := Ranks(t.Context(), s, samples, targets, Options{Chunk: 7})
	if err != nil {
		t.Fatal(err)
	}
	var r progresstest.Recorder
	shown, err := Ranks(progress.With(t.Context(), &r), s, samples, targets, Options{Chunk: 7})
	if err != nil || !slices.Equal(silent, shown) {
		t.Fatalf("%v; %v and %v", err, silent, shown)
	}
	r.Whole(t, "rank", (len(samples)+6)/7)
	r = progresstest.Recorder{}
	if _, err := Top(progress.With(t.Context(), &r), s, samples, 5, Options{Chunk: 7}); err != nil {
		t.Fatal(err)
	}
	r.Whole(t, "rank", (len(samples)+6)/7)
}
