package reference

import "math"

// Graph is one training step of a one-layer graph network with node-level privacy on a batch of sub-graphs, one for
// each of the sampled nodes. A node is in up to MaxDegree+1 of all sub-graphs. So it is in a hypergeometric number
// rho of the sampled ones, and moves the sum by 2 rho C (Daigavane et al., "Node-level differentially private graph
// neural networks", 2021, theorem 2). Noise is the standard deviation divided by 2 (MaxDegree+1) C.
type Graph struct {
	Nodes     int64   // in the training graph
	Batch     int64   // nodes sampled without replacement in a step
	MaxDegree int64   // after neighbours were sampled
	Noise     float64 // noise multiplier
}

// Divergence returns log E[e^(alpha (alpha-1) rho²/(2 Noise² (MaxDegree+1)²))]/(alpha-1), for alpha above 1.
func (g Graph) Divergence(alpha float64) float64 {
	k := g.Noise * float64(g.MaxDegree+1)
	c := alpha * (alpha - 1) / (2 * k * k)
	share := hypergeometric(g.Nodes, g.MaxDegree+1, g.Batch)
	far := float64(len(share)-1) * float64(len(share)-1) * c
	if far < 600 {
		s := 0.0
		for i, p := range share {
			s += p * math.Expm1(float64(i)*float64(i)*c)
		}
		return math.Log1p(s) / (alpha - 1)
	}
	s := 0.0
	for i, p := range share {
		s += p * math.Exp(float64(i)*float64(i)*c-far)
	}
	return (far + math.Log(s)) / (alpha - 1)
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
