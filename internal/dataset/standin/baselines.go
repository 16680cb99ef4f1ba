package standin

import (
	"context"
	"fmt"
	"math"

	"privrec/internal/dataset"
	"privrec/internal/metrics"
	"privrec/internal/rng"
)

// Baseline names a method without training, which counts rows of train.
type Baseline string

// The baselines, weakest expected first.
const (
	BaselineRandom     Baseline = "random"          // the exact expectation
	BaselinePopularity Baseline = "popularity"      // rows in train
	BaselineShuffled   Baseline = "markov-shuffled" // Markov on training sequences in random order
	BaselineNeighbours Baseline = "item-knn"        // sum of the cosines with the last ten items of the prefix
	BaselineMarkov     Baseline = "markov"          // how often train has the item right after the last one; ties by popularity
)

// Baselines lists all baselines.
func Baselines() []Baseline {
	return []Baseline{BaselineRandom, BaselinePopularity, BaselineShuffled, BaselineNeighbours, BaselineMarkov}
}

// scorer writes the score of item j into scores[j], j from 1.
type scorer func(prefix []int32, scores []float32)

// maxBaselineItems bounds the tables from item to item, 4 bytes a pair.
const maxBaselineItems = 12000

// Measure returns the metrics of a baseline on the test samples (see dataset.Prefixes). Every
// item is a candidate, and ties favour the lower id. Only BaselineShuffled uses the stream.
func (b Baseline) Measure(ctx context.Context, s *dataset.Sequential, ms []metrics.Metric, stream rng.Stream) ([]metrics.Value, error) {
	if s.Items > maxBaselineItems {
		return nil, fmt.Errorf("dataset: %s has %d items, baselines take at most %d", s.Name, s.Items, maxBaselineItems)
	}
	samples := dataset.Prefixes(s.Test)
	var score scorer
	switch b {
	case BaselineRandom:
		values := metrics.RandomFloor(ms, s.Items)
		for i := range values {
			values[i].Count = samples.Len()
		}
		return values, nil
	case BaselinePopularity:
		pop := popularity(s)
		score = func(_ []int32, scores []float32) { copy(scores, pop) }
	case BaselineMarkov:
		score = transitions(s, s.Train)
	case BaselineShuffled:
		score = transitions(s, shuffledOrder(s.Train, stream))
	case BaselineNeighbours:
		score = neighbours(s)
	default:
		return nil, fmt.Errorf("dataset: unknown baseline %q", b)
	}
	ranks := make([]int32, samples.Len())
	scores := make([]float32, s.Items+1)
	for i := range ranks {
		if i&1023 == 0 && ctx.Err() != nil {
			return nil, ctx.Err()
		}
		prefix, target := samples.At(s.Test, i)
		score(prefix, scores)
		ranks[i] = metrics.Rank(scores[1:], int(target)-1)
	}
	return metrics.Summary(ms, ranks), nil
}

// popularity counts the rows of every item in train.
func popularity(s *dataset.Sequential) []float32 {
	pop := make([]float32, s.Items+1)
	for _, seq := range s.Train {
		for _, i := range seq {
			pop[i]++
		}
	}
	return pop
}

// transitions returns a scorer that counts how often an item comes right after the last one of
// the prefix.
func transitions(s *dataset.Sequential, train [][]int32) scorer {
	n := s.Items + 1
	follows, pop := make([]float32, n*n), popularity(s)
	for i := range n {
		for j, p := range pop { // counts are whole numbers, so this only decides ties
			follows[i*n+j] = p / float32(2*(len(train)+1))
		}
	}
	for _, seq := range train {
		for k := 1; k < len(seq); k++ {
			follows[int(seq[k-1])*n+int(seq[k])]++
		}
	}
	return func(prefix []int32, scores []float32) {
		last := int(prefix[len(prefix)-1])
		copy(scores, follows[last*n:last*n+n])
	}
}

// neighbours returns a scorer by the cosine, over users of train, with the last ten items.
func neighbours(s *dataset.Sequential) scorer {
	n := s.Items + 1
	both, pop := make([]float32, n*n), popularity(s)
	for _, seq := range s.Train {
		for _, i := range seq {
			row := both[int(i)*n : int(i)*n+n]
			for _, j := range seq {
				row[j]++
			}
		}
	}
	for i := range n {
		for j := range n {
			if c := &both[i*n+j]; i == j {
				*c = 0 // an item says nothing about itself
			} else if *c > 0 {
				*c /= float32(math.Sqrt(float64(pop[i]) * float64(pop[j])))
			}
		}
	}
	return func(prefix []int32, scores []float32) {
		clear(scores)
		for _, i := range prefix[max(0, len(prefix)-10):] {
			for j, c := range both[int(i)*n : int(i)*n+n] {
				scores[j] += c
			}
		}
	}
}

// shuffledOrder returns the sequences, each in random order.
func shuffledOrder(seqs [][]int32, stream rng.Stream) [][]int32 {
	out := make([][]int32, len(seqs))
	for u, seq := range seqs {
		s := stream.Sub(uint64(u))
		out[u] = make([]int32, len(seq))
		for i, from := range s.Perm(len(seq)) {
			out[u][i] = seq[from]
		}
	}
	return out
}
