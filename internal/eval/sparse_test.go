package eval

import (
	"context"
	"errors"
	"math"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"privrec/internal/autograd"
	"privrec/internal/progress"
	"privrec/internal/progress/progresstest"
	"privrec/internal/tensor"
)

// fewScores is a Sparse scorer of given changes.
type fewScores struct {
	rest    []float64
	changes []map[int32]float64 // by sample
	bad     error
}

func (s fewScores) Items() int      { return len(s.rest) }
func (s fewScores) Rest() []float64 { return s.rest }
func (s fewScores) Changed([]int32) (func() func(int32) ([]int32, []tensor.Float), error) {
	return func() func(int32) ([]int32, []tensor.Float) {
		return func(sample int32) (items []int32, scores []tensor.Float) {
			for j, v := range s.changes[sample] {
				items, scores = append(items, j), append(scores, tensor.Float(v))
			}
			return items, scores
		}
	}, s.bad
}

func (s fewScores) Score(_ *autograd.Tape, samples []int32, scores tensor.Matrix) error {
	for b, u := range samples {
		row := tensor.Row(scores, b)
		for j, v := range s.rest {
			row[j] = tensor.Float(v)
		}
		for j, v := range s.changes[u] {
			row[j] = tensor.Float(v)
		}
	}
	return s.bad
}

// whole hides that a scorer is Sparse.
type whole struct{ Scorer }

// Lists of few changes are those of all scores: with ties, exclusions, and scores below those of the rest.
func TestTopSparse(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		items, n := rapid.IntRange(1, 12).Draw(rt, "items"), rapid.IntRange(1, 5).Draw(rt, "samples")
		value := rapid.SampledFrom([]float64{-1, 0, 0, 0.5, 2})
		s := fewScores{rest: rapid.SliceOfN(value, items, items).Draw(rt, "rest")}
		exclude, samples := make([][]int32, n), make([]int32, n)
		item := rapid.Int32Range(0, int32(items)-1)
		for u := range n {
			samples[u] = int32(u)
			s.changes = append(s.changes, rapid.MapOf(item, value).Draw(rt, "changes"))
			exclude[u] = rapid.SliceOf(item).Draw(rt, "excluded")
		}
		o := Options{Exclude: func(u int32) []int32 { return exclude[u] }}
		k := rapid.IntRange(1, 14).Draw(rt, "k")
		want, err := Top(t.Context(), whole{s}, samples, k, o)
		if err != nil {
			rt.Fatal(err)
		}
		got, err := Top(t.Context(), s, samples, k, o)
		if err != nil {
			rt.Fatal(err)
		}
		for u := range want {
			same := len(got[u]) == len(want[u])
			for i := 0; same && i < len(want[u]); i++ {
				same = got[u][i] == want[u][i]
			}
			if !same {
				rt.Fatalf("sample %d: %v, want %v", u, got[u], want[u])
			}
		}
	})
}

// Errors are those of all scores, and none hides behind another.
func TestTopSparseRefuses(t *testing.T) {
	ok := fewScores{rest: make([]float64, 5), changes: []map[int32]float64{{1: 1}, {2: 1}}}
	nan, inf := math.NaN(), math.Inf(1)
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	for _, c := range []struct {
		ctx  context.Context
		set  func(s *fewScores, o *Options)
		want string
	}{
		{t.Context(), func(s *fewScores, _ *Options) { s.changes = []map[int32]float64{{}, {4: nan, 1: inf}} },
			"score of item 1 is +Inf"},
		{t.Context(), func(s *fewScores, _ *Options) { s.rest = []float64{0, 0, nan, 0, 0} }, "score of item 2 is NaN"},
		{t.Context(), func(s *fewScores, _ *Options) { s.bad = errors.New("no such sample") }, "no such sample"},
		{t.Context(), func(_ *fewScores, o *Options) { o.Exclude = func(int32) []int32 { return []int32{9} } },
			"excluded item 9 is outside"},
		{t.Context(), func(_ *fewScores, o *Options) { o.Exclude = func(int32) []int32 { panic("lost") } },
			"panic: lost"},
		{t.Context(), func(_ *fewScores, o *Options) { o.Chunk = -1 }, "Chunk is -1"},
		{cancelled, func(*fewScores, *Options) {}, "after 0 of 2 samples"},
	} {
		s, o := ok, Options{}
		c.set(&s, &o)
		_, err := Top(c.ctx, s, []int32{0, 1}, 2, o)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v, want %q", err, c.want)
		}
	}
}

func TestTopSparseReports(t *testing.T) {
	var r progresstest.Recorder
	done := 0
	s := fewScores{rest: make([]float64, 5), changes: []map[int32]float64{{1: 1}, {2: 1}}}
	o := Options{Chunk: 1, OnChunk: func(n, _ int) { done = n }}
	if _, err := Top(progress.With(t.Context(), &r), s, []int32{0, 1, 0}, 2, o); err != nil {
		t.Fatal(err)
	}
	if r.Whole(t, "rank", 3); done != 3 {
		t.Errorf("%d samples done, want 3", done)
	}
}
