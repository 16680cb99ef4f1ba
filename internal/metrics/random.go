package metrics

import "fmt"

// Random returns the exact expectation of the metric for one sample with the given number of targets among
// items, when all orders of the items are equally likely. With one target, for K <= V items:
//
//	Recall = HR = K/V,  MRR = MAP = H_K/V,  NDCG = sum_{r<=K} 1/log2(1+r) / V,  Precision = 1/V.
//
// It panics unless 1 <= targets <= items.
func (m Metric) Random(items, targets int) float64 {
	if targets < 1 || targets > items {
		panic(fmt.Sprintf("metrics: %v of %d targets among %d items", m, targets, items))
	}
	k := min(m.K, items)
	v, n := float64(items), float64(targets)
	switch m.Kind {
	case Recall, SampledHit:
		return float64(k) / v
	case Precision: // every listed place holds a target with probability n/V
		return n / v * float64(k) / float64(m.K)
	case NDCG:
		return n / v * idealDCG(k) / idealDCG(min(targets, m.K))
	case SampledNDCG:
		return idealDCG(k) / v
	case HR:
		return 1 - missAll(items, targets, k)
	case MRR: // sum over r of P(first target at r)/r; P(none in the first r-1) * n/(V-r+1)
		sum, none := 0.0, 1.0
		for r := 1; r <= k; r++ {
			left := v - float64(r-1)
			sum += none * n / left / float64(r)
			none *= max(0, left-n) / left
		}
		return sum
	case MAP: // given a target at r, each of the r-1 places above holds one with probability (n-1)/(V-1)
		sum := 0.0
		for r := 1; r <= k; r++ {
			above := 0.0
			if items > 1 {
				above = float64(r-1) * (n - 1) / (v - 1)
			}
			sum += n / v * (1 + above) / float64(r)
		}
		return sum / float64(min(targets, m.K))
	}
	panic("metrics: unknown kind " + m.Kind.String())
}

// missAll returns the probability that k draws without replacement from items meet none of the targets.
func missAll(items, targets, k int) float64 {
	none := 1.0
	for r := range k {
		left := float64(items - r)
		none *= max(0, left-float64(targets)) / left
	}
	return none
}
