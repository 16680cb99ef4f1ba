package correlated

import (
	"cmp"
	"fmt"
	"math"
	"slices"
)

// MaxBuffers is the largest number of buffers of a strategy.
const MaxBuffers = 8

// Buffer is a term of the first column of a buffered strategy: Weight Decay^(k-1) at step k, from step 1 on.
type Buffer struct {
	Weight float64 // at least 0; all of a strategy add up to at most 1
	Decay  float64 // 0 to 1
}

// Buffered returns the buffered linear Toeplitz matrix of n steps (BLT): the first column is 1 and then the sum of its
// buffers. Its noise takes the memory of one row for each buffer, whatever the number of steps, and a few buffers are
// near the best error (Dvijotham, McMahan, Pillutla, Steinke, Thakurta, "Efficient and near-optimal noise generation
// for streaming differential privacy", FOCS 2024, whose theta are the decays and omega the weights). With weights of at
// least 0 that add up to at most 1 the column does not increase, so that Sensitivity is exact for any participation
// (McMahan, Xu, Zhang, "A hassle-free algorithm for private learning in practice: don't use tree aggregation, use
// BLTs", EMNLP 2024). Fit finds the buffers.
func Buffered(n int, buffers []Buffer) (Strategy, error) {
	if err := checkSteps(n); err != nil {
		return Strategy{}, err
	}
	if len(buffers) < 1 || len(buffers) > MaxBuffers {
		return Strategy{}, fmt.Errorf("%d buffers, want 1 to %d", len(buffers), MaxBuffers)
	}
	sum := 0.0
	for i, b := range buffers {
		if !(b.Decay >= 0 && b.Decay <= 1) {
			return Strategy{}, fmt.Errorf("the decay of buffer %d is %v, want 0 to 1", i+1, b.Decay)
		}
		if !(b.Weight >= 0) {
			return Strategy{}, fmt.Errorf("the weight of buffer %d is %v, want at least 0", i+1, b.Weight)
		}
		sum += b.Weight
	}
	if !(sum <= 1) {
		return Strategy{}, fmt.Errorf("the weights of the buffers add up to %v, want at most 1", sum)
	}
	return buffered(n, buffers), nil
}

// buffered returns the strategy of buffers that are valid.
func buffered(n int, buffers []Buffer) Strategy {
	s := Strategy{column: make([]float64, n), steps: n, buffers: append([]Buffer(nil), buffers...)}
	s.column[0] = 1
	terms := make([]float64, len(buffers))
	for i, b := range buffers {
		terms[i] = b.Weight
	}
	for k := 1; k < n; k++ {
		for i, b := range buffers {
			s.column[k] += terms[i]
			terms[i] *= b.Decay
		}
	}
	return s
}

// Fit returns the buffers of the strategy of n steps whose product of sensitivity and mean error is least for a
// participation, as far as a search finds it, those that fade slowest first. They are at most a number of buffers, and
// fewer where one more gains less than a part in a million. The search has fixed starts and no chance in it. It adds
// buffer after buffer: one that fades at once, one that hardly fades, or one between two that are there.
func Fit(n, most int, p Participation) ([]Buffer, error) {
	if err := checkSteps(n); err != nil {
		return nil, err
	}
	if most < 1 || most > MaxBuffers {
		return nil, fmt.Errorf("%d buffers, want 1 to %d", most, MaxBuffers)
	}
	if p.Times < 1 || p.Apart < 1 {
		return nil, ErrParticipation
	}
	p.Apart = min(p.Apart, n)
	var x []float64
	least := math.Inf(1)
	for len(x) < 2*most {
		decays := []float64{}
		for i := 1; i < len(x); i += 2 {
			decays = append(decays, x[i])
		}
		slices.Sort(decays)
		starts := []float64{-2, math.Log(float64(n))}
		for i := 1; i < len(decays); i++ {
			starts = append(starts, (decays[i-1]+decays[i])/2)
		}
		var better []float64
		lower := least * (1 - 1e-6)
		for _, start := range starts {
			y, loss := descend(append(slices.Clone(x), -2, start), func(x []float64) float64 {
				return buffered(n, shared(x)).loss(p)
			})
			if better == nil && x == nil || loss < lower {
				better, lower = y, loss
			}
		}
		if better == nil {
			break
		}
		x, least = better, lower
	}
	buffers := shared(x)
	slices.SortFunc(buffers, func(a, b Buffer) int { return cmp.Compare(b.Decay, a.Decay) })
	return buffers, nil
}

// shared returns the buffers of any numbers, two for each buffer. The exponentials of the first ones, and 1 for what no
// buffer has, are the shares of the weights; the second one is the logit of the decay.
func shared(x []float64) []Buffer {
	buffers := make([]Buffer, len(x)/2)
	sum := 1.0
	for j := range buffers {
		buffers[j] = Buffer{math.Exp(x[2*j]), 1 / (1 + math.Exp(-x[2*j+1]))}
		sum += buffers[j].Weight
	}
	for j := range buffers {
		buffers[j].Weight /= sum * (1 + 1e-15) // so that they never add up to more than 1, rounded
	}
	return buffers
}
