package rdp

import (
	"errors"
	"fmt"
	"math"
)

// GraphAggregation is one training step of a one-layer graph network with node-level privacy on a batch of sub-graphs,
// one for each of the sampled nodes. A node is in up to MaxDegree+1 of all sub-graphs. So it is in a hypergeometric
// number rho of the sampled ones, and moves the sum by 2 rho C (Daigavane et al. 2021, theorem 2). Noise is the
// standard deviation divided by 2 (MaxDegree+1) C.
type GraphAggregation struct {
	Nodes     int64   // in the training graph
	Batch     int64   // nodes sampled without replacement in a step
	MaxDegree int64   // after neighbours were sampled
	Noise     float64 // noise multiplier
}

// Curve returns log E[e^(alpha (alpha-1) rho²/(2 Noise² (MaxDegree+1)²))]/(alpha-1).
func (g GraphAggregation) Curve() (Curve, error) {
	if err := errors.Join(atLeast("nodes", g.Nodes, 1), atLeast("batch", g.Batch, 1),
		atLeast("maximum degree", g.MaxDegree, 0), positive("noise multiplier", g.Noise)); err != nil {
		return nil, err
	}
	if g.Batch > g.Nodes || g.MaxDegree >= g.Nodes {
		return nil, fmt.Errorf("batch %d and maximum degree %d of %d nodes, want at most the nodes and below them",
			g.Batch, g.MaxDegree, g.Nodes)
	}
	share := hypergeometric(g.Nodes, g.MaxDegree+1, g.Batch)
	k := float64(g.MaxDegree + 1)
	scale := 1 / (2 * g.Noise * g.Noise * k * k)
	mean := 0.0
	for i, p := range share {
		mean += p * float64(i) * float64(i) * scale
	}
	return bounded(func(alpha float64) float64 {
		if math.IsInf(alpha, 1) {
			return alpha
		}
		if alpha == 1 {
			return mean
		}
		c := alpha * (alpha - 1) * scale
		far := float64(len(share)-1) * float64(len(share)-1) * c
		if far < 600 {
			s := 0.0
			for i, p := range share {
				s += p * math.Expm1(float64(i)*float64(i)*c)
			}
			return math.Log1p(s) / (alpha - 1)
		}
		s := newLogSum()
		for i, p := range share {
			s.add(math.Log(p) + float64(i)*float64(i)*c)
		}
		return s.log() / (alpha - 1)
	}), nil
}

// hypergeometric returns the law of the number of marked items among drawn of all items, from 0 to
// the smaller of marked and drawn. Ratios of neighbouring weights are exact and their sum is 1, so
// that no binomial coefficient is needed.
func hypergeometric(all, marked, drawn int64) []float64 {
	most := min(marked, drawn)
	least := max(0, drawn-(all-marked))
	law := make([]float64, most+1)
	// From the mode in both directions, where the weight is 1, the largest.
	mode := min(max(int64(float64(drawn+1)*float64(marked+1)/float64(all+2)), least), most)
	law[mode] = 1
	sum := 1.0
	ratio := func(i int64) float64 { // weight of i+1 over that of i
		return float64(marked-i) * float64(drawn-i) / (float64(i+1) * float64(all-marked-drawn+i+1))
	}
	for i := mode; i < most; i++ {
		law[i+1] = law[i] * ratio(i)
		sum += law[i+1]
	}
	for i := mode; i > least; i-- {
		law[i-1] = law[i] / ratio(i-1)
		sum += law[i-1]
	}
	for i := range law {
		law[i] /= sum
	}
	return law
}
