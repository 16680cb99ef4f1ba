package eval

import (
	"context"
	"fmt"

	"privrec/internal/autograd"
	"privrec/internal/tensor"
)

// Scorer is a model that scores items.
type Scorer interface {
	// Items returns the number of items.
	Items() int
	// Score fills all of scores (len(samples), Items()) with the scores of all items for each sample, an
	// index into the model's own table. The tape is reset, in evaluation mode and without gradients. The
	// scores of a sample must not depend on the other samples of the call, except by rounding.
	Score(t *autograd.Tape, samples []int32, scores tensor.Matrix) error
}

// Options sets how samples are ranked. The zero value ranks all items. Exclude and Candidates are called from several
// goroutines, and must not depend on the order of calls. A panic in them is the sample's error.
type Options struct {
	// Exclude lists items that a sample's ranking leaves out, such as those the user has seen, in any order,
	// repeats allowed. nil: none. A target among them is an error.
	Exclude func(sample int32) []int32
	// Candidates lists the items that a sample's targets are ranked against, besides each other, for sampled
	// ranking. Targets among them, and repeats, count once. nil: all items. Candidates and Exclude together
	// are an error.
	Candidates func(sample int32) []int32
	// Chunk is the number of samples scored at once; default 0: [ChunkSize] of the scorer's items.
	Chunk int
	// Tape to score on, for its BeforeRead hook; default nil: a new one.
	Tape *autograd.Tape
	// OnChunk, if set, is called with the number of samples done after each chunk.
	OnChunk func(done, total int)
}

// chunkBytes is the largest size of the scores held at once, and maxChunk the largest number of samples: more samples
// do not make products faster.
const (
	chunkBytes = 64 << 20
	maxChunk   = 256
)

// ChunkSize returns the number of samples scored at once: at most 256, and at most 64 MiB of scores.
func ChunkSize(items int) int {
	return max(1, min(maxChunk, chunkBytes/(max(1, items)*tensorFloatBytes)))
}

// Ranks returns the rank of targets[i], an item index from 0, for samples[i].
func Ranks(ctx context.Context, s Scorer, samples, targets []int32, o Options) ([]int32, error) {
	if len(samples) != len(targets) {
		return nil, fmt.Errorf("eval: %d samples for %d targets", len(samples), len(targets))
	}
	ranks := make([]int32, len(samples))
	err := rankAll(ctx, s, samples, o, func(i int) ([]int32, []int32) { return targets[i : i+1], ranks[i : i+1] })
	if err != nil {
		return nil, err
	}
	return ranks, nil
}

// RanksSet returns the ranks of all targets[i] for samples[i], in the order of the targets. Other targets
// of the sample count among the items above.
func RanksSet(ctx context.Context, s Scorer, samples []int32, targets [][]int32, o Options) ([][]int32, error) {
	if len(samples) != len(targets) {
		return nil, fmt.Errorf("eval: %d samples for %d target sets", len(samples), len(targets))
	}
	ranks := make([][]int32, len(samples))
	for i, t := range targets {
		ranks[i] = make([]int32, len(t))
	}
	err := rankAll(ctx, s, samples, o, func(i int) ([]int32, []int32) { return targets[i], ranks[i] })
	if err != nil {
		return nil, err
	}
	return ranks, nil
}

// rankAll fills in the ranks of every sample's targets; of(i) returns the targets of sample i and the slice for their
// ranks.
func rankAll(ctx context.Context, s Scorer, samples []int32, o Options, of func(i int) (targets, ranks []int32)) error {
	if o.Candidates != nil && o.Exclude != nil {
		return fmt.Errorf("eval: Candidates and Exclude do not go together")
	}
	items := s.Items()
	for i, sample := range samples {
		targets, _ := of(i)
		for _, y := range targets {
			if y < 0 || int(y) >= items {
				return fmt.Errorf("eval: sample %d: target %d is outside the %d items", sample, y, items)
			}
		}
	}
	return chunks(ctx, s, samples, o, func(i int, scores []tensor.Float) string {
		targets, ranks := of(i)
		if o.Candidates != nil {
			return rankAmong(scores, o.Candidates(samples[i]), targets, ranks)
		}
		for k, y := range targets {
			if excluded(scores[y]) {
				return fmt.Sprintf("target %d is excluded from the ranking", y)
			}
			ranks[k] = rank(scores, int(y))
		}
		return ""
	})
}

// rank returns the rank of metrics.Rank, for scores that are finite or masked below all others. It is faster: two
// passes with one comparison each, in four independent counts.
func rank(scores []tensor.Float, y int) int32 {
	s := scores[y]
	return 1 + countGE(scores[:y], s) + countGT(scores[y+1:], s)
}

// rankAmong ranks each target against the distinct candidates and targets that are not itself.
func rankAmong(scores []tensor.Float, candidates, targets, ranks []int32) string {
	seen := make(map[int32]bool, len(candidates)+len(targets))
	for k := range ranks {
		ranks[k] = 1
	}
	count := func(j int32) {
		if seen[j] {
			return
		}
		seen[j] = true
		for k, y := range targets {
			if j != y && (scores[j] > scores[y] || (scores[j] == scores[y] && j < y)) {
				ranks[k]++
			}
		}
	}
	for _, j := range candidates {
		if j < 0 || int(j) >= len(scores) {
			return fmt.Sprintf("candidate %d is outside the %d items", j, len(scores))
		}
		count(j)
	}
	for _, j := range targets {
		count(j)
	}
	return ""
}

// countGE counts elements >= s.
func countGE(x []tensor.Float, s tensor.Float) int32 {
	var a, b, c, d int32
	for len(x) >= 4 {
		if x[0] >= s {
			a++
		}
		if x[1] >= s {
			b++
		}
		if x[2] >= s {
			c++
		}
		if x[3] >= s {
			d++
		}
		x = x[4:]
	}
	for _, v := range x {
		if v >= s {
			a++
		}
	}
	return a + b + c + d
}

// countGT counts elements > s.
func countGT(x []tensor.Float, s tensor.Float) int32 {
	var a, b, c, d int32
	for len(x) >= 4 {
		if x[0] > s {
			a++
		}
		if x[1] > s {
			b++
		}
		if x[2] > s {
			c++
		}
		if x[3] > s {
			d++
		}
		x = x[4:]
	}
	for _, v := range x {
		if v > s {
			a++
		}
	}
	return a + b + c + d
}
