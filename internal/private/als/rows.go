package als

import (
	"fmt"
	"math"
	"slices"

	"privrec/internal/dataset"
	"privrec/internal/private/release"
	"privrec/internal/tensor"
)

// cell is an item of a user's row that has a vector.
type cell struct {
	item   int32   // row of the items' vectors
	weight float64 // w_uj
	value  float64 // r_uj
}

// prior holds what the released counts alone tell about the items.
type prior struct {
	items   []int32   // the m items with vectors, the largest count first
	place   []int32   // of each item of the data: its row, or -1
	weight  []float64 // of each of the m items, within a user's row
	popular []float64 // direction of length 1 of what a user has of each by popularity (m)
	counts  []float64 // of all items of the data
}

// newPrior keeps the m items of the largest counts. Counts below floor, the deviation of their
// noise, count as floor.
func newPrior(counts []float64, m int, power, floor float64) *prior {
	p := &prior{items: release.Top(counts, m), place: make([]int32, len(counts)), counts: counts}
	for i := range p.place {
		p.place[i] = -1
	}
	sum := 0.0
	for r, i := range p.items {
		c := math.Max(counts[i], floor)
		p.place[i] = int32(r)
		p.weight = append(p.weight, math.Pow(c, -power))
		p.popular = append(p.popular, c*p.weight[r])
		sum += p.popular[r] * p.popular[r]
	}
	for r := range p.popular {
		p.popular[r] /= math.Sqrt(sum)
	}
	return p
}

// below scales a norm so that it stays within its bound after rounding: 1 - 2^-40.
const below = 1 - 0x1p-40

// row returns the cells of a list of items. value gives the values by their places in the list. The norm of the weights
// is at most 1, and the values are at most most, for any list.
func (p *prior) row(list []int32, value func(at int) float64, most float64) []cell {
	var out []cell
	sum := 0.0
	for at, i := range list {
		r := p.place[i]
		if r < 0 {
			continue
		}
		out = append(out, cell{item: r, weight: p.weight[r], value: math.Max(-most, math.Min(most, value(at)))})
		sum += p.weight[r] * p.weight[r]
	}
	for k := range out {
		out[k].weight *= below / math.Sqrt(sum)
	}
	return out
}

// rows holds users' rows twice: all cells, for the user's own vector, and the cells that the user contributes to sums.
type rows struct {
	whole, given [][]cell
	of           [][]entry // by item, the contributed cells; users ascend
}

// entry holds a contributed cell in the list of its item.
type entry struct {
	user   int32
	weight float64
	value  float64
}

// newRows returns the rows of d. draw chooses the contributed items.
func newRows(d *dataset.Interactions, p *prior, m ModelConfig, draw release.Draw) (*rows, error) {
	ratings := m.Values == ValuesRatings
	if ratings {
		if err := checkRatings(d); err != nil {
			return nil, err
		}
	}
	x := &rows{whole: make([][]cell, len(d.Train)), given: make([][]cell, len(d.Train)),
		of: make([][]entry, len(p.items))}
	tensor.Parallel(len(d.Train), 64, func(_, lo, hi int) {
		for u := lo; u < hi; u++ {
			all := d.Train[u]
			value := func(at int) float64 {
				if ratings {
					return float64(d.Ratings[u][at]) - middle
				}
				return 1
			}
			some := draw.Of(d.UserIDs[u], all)
			x.whole[u] = p.row(all, value, m.most())
			x.given[u] = p.row(some, func(at int) float64 {
				k, _ := slices.BinarySearch(all, some[at])
				return value(k)
			}, m.most())
		}
	})
	for u, cells := range x.given {
		for _, c := range cells {
			x.of[c.item] = append(x.of[c.item], entry{int32(u), c.weight, c.value})
		}
	}
	return x, nil
}

// checkRatings refuses data without ratings, and ratings outside the public range.
func checkRatings(d *dataset.Interactions) error {
	if d.Ratings == nil {
		return &dataset.Error{File: d.Name, Field: "rating", Msg: fmt.Sprintf("recipe %q keeps no ratings", d.Recipe)}
	}
	for u, list := range d.Ratings {
		for k, r := range list {
			if !(r >= lowestRating && r <= highestRating) {
				return &dataset.Error{File: d.Name, Field: "rating",
					Msg: fmt.Sprintf("user %q rates item %q with %v, want %d to %d: the noise is for that range",
						d.UserIDs[u], d.ItemIDs[d.Train[u][k]], r, lowestRating, highestRating)}
			}
		}
	}
	return nil
}
