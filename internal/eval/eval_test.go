package eval

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"privrec/internal/autograd"
	"privrec/internal/metrics"
	"privrec/internal/rng"
	"privrec/internal/tensor"
)

// table is a scorer over a fixed function of sample and item; levels below items make ties.
type table struct {
	items, levels int
	spoil         func(sample int32, row []tensor.Float)
	calls         [][]int32
}

func (s *table) Items() int { return s.items }

func (s *table) row(sample int32) []tensor.Float {
	stream := rng.Seed(7).Stream("scores", uint64(sample))
	row := make([]tensor.Float, s.items)
	for j := range row {
		row[j] = tensor.Float(stream.IntN(s.levels)) / 8
	}
	return row
}

func (s *table) Score(t *autograd.Tape, samples []int32, scores tensor.Matrix) error {
	if !t.NoGrad || t.Training() || t.Len() != 0 {
		return errors.New("the tape is not clean and in evaluation mode")
	}
	if scores.Rows != len(samples) || scores.Cols != s.items {
		return errors.New("wrong shape")
	}
	s.calls = append(s.calls, slices.Clone(samples))
	for i, sample := range samples {
		row := tensor.Row(scores, i)
		copy(row, s.row(sample))
		if s.spoil != nil {
			s.spoil(sample, row)
		}
	}
	return nil
}

// cases makes n samples (numbers unlike positions) with a target each.
func cases(n, items int) (samples, targets []int32) {
	stream := rng.Seed(1).Stream("cases")
	for i := range n {
		samples = append(samples, int32(3*i+5))
		targets = append(targets, int32(stream.IntN(items)))
	}
	return samples, targets
}

// rankOf is the definition of a rank: 1 + #{j : s_j > s_y} + #{j < y : s_j = s_y}.
func rankOf(scores []tensor.Float, y int) int32 {
	r := int32(1)
	for j, v := range scores {
		if v > scores[y] || v == scores[y] && j < y {
			r++
		}
	}
	return r
}

func TestRanksAgainstDefinition(t *testing.T) {
	for _, items := range []int{1, 2, 5, 37, 1000, 40_000} {
		for _, n := range []int{0, 1, 3, 41} {
			for _, o := range []Options{{}, {Chunk: 1}, {Chunk: 7}} {
				s := &table{items: items, levels: 5}
				samples, targets := cases(n, items)
				got, err := Ranks(t.Context(), s, samples, targets, o)
				if err != nil {
					t.Fatal(err)
				}
				for i, y := range targets {
					if want := rankOf(s.row(samples[i]), int(y)); got[i] != want {
						t.Fatalf("%d items, sample %d: rank %d, want %d", items, i, got[i], want)
					}
				}
			}
		}
	}
}

func TestExcludeTakesItemsOut(t *testing.T) {
	s := &table{items: 50, levels: 4}
	samples, targets := cases(30, 50)
	seen := func(sample int32) []int32 {
		i := slices.Index(samples, sample)
		var out []int32
		for j := range int32(50) {
			if j != targets[i] && (j+sample)%3 == 0 {
				out = append(out, j, j) // repeats are allowed
			}
		}
		return out
	}
	got, err := Ranks(t.Context(), s, samples, targets, Options{Exclude: seen})
	if err != nil {
		t.Fatal(err)
	}
	lists, err := Top(t.Context(), s, samples, 50, Options{Exclude: seen})
	if err != nil {
		t.Fatal(err)
	}
	for i, y := range targets {
		out, row, want := seen(samples[i]), s.row(samples[i]), int32(1)
		for j, v := range row {
			if !slices.Contains(out, int32(j)) && (v > row[y] || (v == row[y] && int32(j) < y)) {
				want++
			}
		}
		if got[i] != want {
			t.Errorf("sample %d: rank %d, want %d", i, got[i], want)
		}
		at := slices.IndexFunc(lists[i], func(it Item) bool { return it.Index == y })
		if at+1 != int(want) {
			t.Errorf("sample %d: target at %d of its list, want %d", i, at+1, want)
		}
		for _, it := range lists[i] {
			if slices.Contains(out, it.Index) {
				t.Errorf("sample %d recommends the excluded %d", i, it.Index)
			}
		}
	}
}

func TestCandidates(t *testing.T) {
	s := &table{items: 50, levels: 4}
	samples, targets := cases(30, 50)
	among := func(sample int32) []int32 {
		return []int32{targets[slices.Index(samples, sample)], 3, 9, 9, 30, 31, 48} // the target and repeats do not count
	}
	got, err := Ranks(t.Context(), s, samples, targets, Options{Candidates: among})
	if err != nil {
		t.Fatal(err)
	}
	for i, y := range targets {
		row, want := s.row(samples[i]), int32(1)
		for _, j := range []int32{3, 9, 30, 31, 48} {
			if j != y && (row[j] > row[y] || (row[j] == row[y] && j < y)) {
				want++
			}
		}
		if got[i] != want {
			t.Errorf("sample %d: rank %d, want %d", i, got[i], want)
		}
	}
}

func TestTopAgainstSort(t *testing.T) {
	for _, k := range []int{1, 2, 10, 99, 100, 130} {
		s := &table{items: 100, levels: 12}
		samples, _ := cases(25, 100)
		lists, err := Top(t.Context(), s, samples, k, Options{Chunk: 4})
		if err != nil {
			t.Fatal(err)
		}
		for i, list := range lists {
			row := s.row(samples[i])
			if len(list) != min(k, 100) {
				t.Fatalf("%d items, want %d", len(list), min(k, 100))
			}
			for place, it := range list {
				if int(rankOf(row, int(it.Index))) != place+1 || it.Score != float64(row[it.Index]) {
					t.Fatalf("k %d, sample %d, place %d: %v", k, i, place+1, it)
				}
			}
		}
	}
}

func TestSameForAnyWorkers(t *testing.T) {
	defer tensor.SetWorkers(tensor.Workers())
	samples, targets := cases(300, 700)
	var first []byte
	for _, workers := range []int{1, 2, 5} {
		tensor.SetWorkers(workers)
		s := &table{items: 700, levels: 50}
		ranks, err := Ranks(t.Context(), s, samples, targets, Options{})
		if err != nil {
			t.Fatal(err)
		}
		lists, err := Top(t.Context(), s, samples, 10, Options{})
		if err != nil {
			t.Fatal(err)
		}
		got := fmt.Appendf(nil, "%v %v %v", ranks, lists, s.calls)
		if first == nil {
			first = got
		} else if !bytes.Equal(first, got) {
			t.Errorf("%d workers differ from one", workers)
		}
	}
}

func TestChunksAreBoundedByShape(t *testing.T) {
	for _, items := range []int{1, 2810, 98_226, 5_000_000, 1 << 30} {
		n := ChunkSize(items)
		if n < 1 || n > maxChunk || (n > 1 && n*items*tensorFloatBytes > chunkBytes) {
			t.Errorf("%d items: chunks of %d", items, n)
		}
	}
	s := &table{items: 10, levels: 3}
	samples, targets := cases(2*maxChunk+9, 10)
	var told []int
	_, err := Ranks(t.Context(), s, samples, targets, Options{OnChunk: func(done, total int) { told = append(told, done, total) }})
	if err != nil || len(s.calls) != 3 || len(s.calls[2]) != 9 {
		t.Errorf("%v, %d calls", err, len(s.calls))
	}
	if want := []int{256, 521, 512, 521, 521, 521}; !slices.Equal(told, want) {
		t.Errorf("progress %v", told)
	}
}

func TestBadScoresNameTheSample(t *testing.T) {
	defer tensor.SetWorkers(tensor.Workers())
	samples, targets := cases(60, 5000)
	for _, workers := range []int{1, 4} {
		tensor.SetWorkers(workers)
		for name, bad := range map[string]float64{"NaN": math.NaN(), "+Inf": math.Inf(1), "-Inf": math.Inf(-1)} {
			s := &table{items: 5000, levels: 5, spoil: func(sample int32, row []tensor.Float) {
				if sample >= samples[33] { // many, of which the first is named
					row[4321] = tensor.Float(bad)
				}
			}}
			_, err := Ranks(t.Context(), s, samples, targets, Options{})
			if !errors.Is(err, ErrNotFinite) || !strings.Contains(err.Error(), "sample 104 (position 33): score of item 4321 is "+name) {
				t.Error(err)
			}
		}
	}
}

type scorerFunc func(t *autograd.Tape, samples []int32, scores tensor.Matrix) error

func (scorerFunc) Items() int { return 10 }
func (f scorerFunc) Score(t *autograd.Tape, samples []int32, scores tensor.Matrix) error {
	return f(t, samples, scores)
}

func TestErrors(t *testing.T) {
	samples, targets := cases(4, 10)
	good := &table{items: 10, levels: 3}
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	item := func(j int32) func(int32) []int32 { return func(int32) []int32 { return []int32{j} } }
	for _, c := range []struct {
		name, want string
		ctx        context.Context
		s          Scorer
		targets    []int32
		o          Options
	}{
		{"lengths", "4 samples for 3 targets", t.Context(), good, targets[:3], Options{}},
		{"target", "sample 5: target 10 is outside the 10 items", t.Context(), good, []int32{10, 0, 0, 0}, Options{}},
		{"negative target", "target -1", t.Context(), good, []int32{0, -1, 0, 0}, Options{}},
		{"no items", "has 0 items", t.Context(), &table{}, nil, Options{}},
		{"chunk", "Chunk is -1", t.Context(), good, targets, Options{Chunk: -1}},
		{"both", "do not go together", t.Context(), good, targets, Options{Exclude: item(0), Candidates: item(0)}},
		{"candidate", "candidate 10 is outside", t.Context(), good, targets, Options{Candidates: item(10)}},
		{"excluded", "excluded item -1 is outside", t.Context(), good, targets, Options{Exclude: item(-1)}},
		{"target excluded", "sample 8 (position 1): target 3 is excluded", t.Context(), good, []int32{0, 3, 3, 0}, Options{Exclude: item(3)}},
		{"cancelled", "after 0 of 4 samples: context canceled", cancelled, good, targets, Options{}},
		{"scorer", "samples 5-8 (0-1 of 4): no luck", t.Context(), scorerFunc(func(*autograd.Tape, []int32, tensor.Matrix) error { return errors.New("no luck") }), targets, Options{Chunk: 2}},
		{"left out", "score of item 0 is NaN", t.Context(), scorerFunc(func(*autograd.Tape, []int32, tensor.Matrix) error { return nil }), targets, Options{}},
		{"panic", "panic: oh", t.Context(), scorerFunc(func(*autograd.Tape, []int32, tensor.Matrix) error { panic("oh") }), targets, Options{}},
		{"runtime panic", "index out of range", t.Context(), scorerFunc(func(_ *autograd.Tape, s []int32, _ tensor.Matrix) error { s[len(s)]++; return nil }), targets, Options{}},
	} {
		list := samples
		if c.targets == nil {
			list = nil
		}
		if _, err := Ranks(c.ctx, c.s, list, c.targets, c.o); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", c.name, err)
		}
	}
	tapePanic := scorerFunc(func(t *autograd.Tape, _ []int32, s tensor.Matrix) error {
		t.Const(tensor.New(2, 3)).Add(t.Const(tensor.New(3, 3)))
		return nil
	})
	var e *autograd.Error
	if _, err := Ranks(t.Context(), tapePanic, samples, targets, Options{}); !errors.As(err, &e) || strings.Contains(err.Error(), "goroutine") {
		t.Error(err)
	}
	if _, err := Top(t.Context(), good, samples, 0, Options{}); err == nil {
		t.Error("top 0 was accepted")
	}
	if _, err := Top(t.Context(), good, samples, 3, Options{Candidates: item(0)}); err == nil {
		t.Error("candidates for the top were accepted")
	}
}

func TestTapeIsHandedBackAsItWas(t *testing.T) {
	tape := autograd.NewTape()
	samples, targets := cases(4, 10)
	if _, err := Ranks(t.Context(), &table{items: 10, levels: 3}, samples, targets, Options{Tape: tape}); err != nil {
		t.Fatal(err)
	}
	if tape.NoGrad || !tape.Training() {
		t.Error("the tape was left in evaluation mode")
	}
}

func TestPerUser(t *testing.T) {
	s := &table{items: 40, levels: 7}
	samples, targets := cases(12, 40)
	ms := metrics.Grid([]metrics.Kind{metrics.Recall, metrics.MRR}, []int{5, 10})
	ranks, err := Ranks(t.Context(), s, samples, targets, Options{})
	if err != nil {
		t.Fatal(err)
	}
	users := []int32{2, 2, 0, 0, 0, 4, 4, 4, 4, 4, 4, 2}
	each := ms[2].Each(ranks)
	got, err := PerUser(each, users, 6)
	if err != nil || len(got) != 3 {
		t.Fatal(got, err)
	}
	if want := (UserScore{2, 3, (each[0] + each[1] + each[11]) / 3}); got[1] != want {
		t.Errorf("%v, want %v", got[1], want)
	}
	if got[0].User != 0 || got[2].User != 4 || got[2].Samples != 6 {
		t.Errorf("%v", got)
	}
	if _, err := PerUser(each, users[1:], 6); err == nil {
		t.Error("lengths were accepted")
	}
	if _, err := PerUser(each, users, 4); err == nil || !strings.Contains(err.Error(), "sample 5 belongs to user 4") {
		t.Error(err)
	}
}

func BenchmarkRank(b *testing.B) {
	row := make([]tensor.Float, 98_226)
	stream := rng.Seed(1).Stream("bench")
	for j := range row {
		row[j] = tensor.Float(stream.NormFloat64())
	}
	for b.Loop() {
		rank(row, 40_000)
	}
}

// TestPanicInOptions checks that a panic in the caller's functions names the sample.
func TestPanicInOptions(t *testing.T) {
	bad := func(sample int32) []int32 {
		if sample == 8 {
			panic("no such sample")
		}
		return nil
	}
	samples, targets := cases(5, 12)
	for _, o := range []Options{{Exclude: bad}, {Candidates: bad}} {
		_, err := Ranks(t.Context(), &table{items: 12, levels: 4}, samples, targets, o)
		if err == nil || !strings.Contains(err.Error(), "sample 8 (position 1): panic: no such sample") {
			t.Errorf("error %v", err)
		}
	}
}
