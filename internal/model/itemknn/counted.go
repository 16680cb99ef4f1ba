package itemknn

import (
	"context"
	"errors"
	"fmt"

	"privrec/internal/graph"
	"privrec/internal/graph/gram"
	"privrec/internal/model/nearest"
)

// FitGram returns the model of Fit, to the same bits, from a Gram matrix that was counted elsewhere. It fails as Fit
// does, and on a matrix that does not belong to g. It takes 16 bytes for each pair of items that share a user.
func FitGram(ctx context.Context, g *graph.Bipartite, o Options, counted *gram.Reader) (*Model, error) {
	if err := o.Validate(); err != nil {
		return nil, fmt.Errorf("itemknn: %w", err)
	}
	if g.Users == 0 || g.Items == 0 {
		return nil, errors.New("itemknn: no users or no items")
	}
	c, err := readPairs(ctx, g, counted)
	if err != nil {
		return nil, fmt.Errorf("itemknn: %w", err)
	}
	return fit(ctx, g, o.means(g), func(j int) float64 { return float64(c.ptr[j+1] - c.ptr[j]) },
		func() func(j int) []nearest.Neighbour {
			var all []nearest.Neighbour
			return func(j int) []nearest.Neighbour {
				all = all[:0]
				for k := c.ptr[j]; k < c.ptr[j+1]; k++ {
					all = append(all, nearest.Neighbour{ID: c.item[k], Weight: o.Weight(c.users[k], g.ItemDegree(j),
						g.ItemDegree(int(c.item[k])))})
				}
				return nearest.Keep(all, o.Neighbours, o.Normalise)
			}
		})
}

// pairs holds, for each item j, the items that share users with it, and how many: those at ptr[j] to ptr[j+1].
type pairs struct {
	ptr         []int64
	item, users []int32
}

// readPairs returns the pairs of a Gram matrix, in both directions.
func readPairs(ctx context.Context, g *graph.Bipartite, counted *gram.Reader) (*pairs, error) {
	var low pairs // of i with j below i, row after row
	first := make([]int64, g.Items+1)
	c := &pairs{ptr: make([]int64, g.Items+1)}
	err := counted.Of(ctx, g, func(i, j int, n int64) {
		if i == j {
			return
		}
		low.item, low.users = append(low.item, int32(j)), append(low.users, int32(n))
		first[i+1]++
		c.ptr[i+1]++
		c.ptr[j+1]++
	})
	if err != nil {
		return nil, err
	}
	for i := range g.Items {
		first[i+1] += first[i]
		c.ptr[i+1] += c.ptr[i]
	}
	c.item, c.users = make([]int32, c.ptr[g.Items]), make([]int32, c.ptr[g.Items])
	next := append([]int64(nil), c.ptr...)
	put := func(i, j int, n int32) {
		c.item[next[i]], c.users[next[i]] = int32(j), n
		next[i]++
	}
	for i := range g.Items {
		for k := first[i]; k < first[i+1]; k++ {
			put(i, int(low.item[k]), low.users[k])
			put(int(low.item[k]), i, low.users[k])
		}
	}
	return c, nil
}
