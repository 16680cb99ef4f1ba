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
	if o.Candidates != nil && o.Exclude != nil {
		return nil, fmt.Errorf("eval: Candidates and Exclude do not go together")
	}
	items := s.Items()
	for i, y := range targets {
		if y < 0 || int(y) >= items {
			return nil, fmt.Errorf("eval: sample %d: target %d is outside the %d items", samples[i], y, items)
		}
	}
	ranks := make([]int32, len(samples))
	err := chunks(ctx, s, samples, o, func(i int, scores []tensor.Float) (fault string) {
		y := targets[i]
		switch {
		case o.Candidates != nil:
			ranks[i], fault = rankAmong(scores, o.Candidates(samples[i]), y)
		case excluded(scores[y]):
			fault = fmt.Sprintf("target %d is excluded from the ranking", y)
		default:
			ranks[i] = rank(scores, int(y))
		}
		return fault
	})
	if err != nil {
		return nil, err
	}
	return ranks, nil
}

// rank returns the rank of item y by its definition, for scores that are finite or masked below all others. It is
// faster: two passes with one comparison each, in four independent counts.
func rank(scores []tensor.Float, y int) int32 {
	s := scores[y]
	return 1 + countGE(scores[:y], s) + countGT(scores[y+1:], s)
}

// rankAmong returns the rank of item y among the distinct candidates that are not itself.
func rankAmong(scores []tensor.Float, candidates []int32, y int32) (rank int32, fault string) {
	seen := make(map[int32]bool, len(candidates))
	rank = 1
	for _, j := range candidates {
		if j < 0 || int(j) >= len(scores) {
			return 0, fmt.Sprintf("candidate %d is outside the %d items", j, len(scores))
		}
		if !seen[j] && j != y && (scores[j] > scores[y] || scores[j] == scores[y] && j < y) {
			rank++
		}
		seen[j] = true
	}
	return rank, ""
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
