package standin

import (
	"cmp"
	"math"
	"slices"

	"privrec/internal/rng"
)

// paired draws one value for each entry of whole from a curve, total in sum. Entry i gets at
// most whole[i]. The ranks of the two correlate by about rank, in (0,1]: they are those of a
// normal copula, except for entries too small for their value.
func paired(q []Quantile, whole []int, total int, rank float64, s rng.Stream) ([]int, error) {
	n := len(whole)
	values, err := spread(q, n, total, 0, slices.Max(whole))
	if err != nil {
		return nil, err
	}
	order := make([]int, n) // smallest first
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(whole[a], whole[b]) })
	for k, i := range order { // an entry always has room for the value of its own rank
		values[k] = min(values[k], whole[i])
	}
	for k, short := n-1, total-sum(values); short > 0; k-- { // what that took goes to the largest
		if k < 0 {
			k = n - 1
		}
		more := min(short, whole[order[k]]-values[k])
		values[k] += more
		short -= more
	}
	slices.Sort(values)

	r := 2 * math.Sin(math.Pi*rank/6) // correlation of normal variables with that rank correlation
	noise := math.Sqrt(max(0, 1/(r*r)-1))
	key := make([]float64, n)
	for k, i := range order {
		p := (float64(k) + 0.5) / float64(n)
		key[i] = math.Sqrt2*math.Erfinv(2*p-1) + noise*s.NormFloat64()
	}
	byKey := slices.Clone(order)
	slices.SortStableFunc(byKey, func(a, b int) int { return cmp.Compare(key[a], key[b]) })
	wish := make([]int, n)
	for k, i := range byKey {
		wish[i] = values[k]
	}
	// Smallest first, each entry takes the nearest value to its wish among those left that fit.
	// One always fits, because the k-th smallest value fits the k-th smallest entry.
	out := make([]int, n)
	for _, i := range order {
		at, _ := slices.BinarySearch(values, min(wish[i], whole[i])+1) // values before at fit
		if at == 0 {
			at, _ = slices.BinarySearch(values, whole[i]+1)
		}
		out[i] = values[at-1]
		values = slices.Delete(values, at-1, at)
	}
	return out, nil
}

func sum(values []int) int {
	total := 0
	for _, v := range values {
		total += v
	}
	return total
}
