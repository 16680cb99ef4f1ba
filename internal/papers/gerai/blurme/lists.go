package blurme

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"sort"

	"privrec/internal/dataset"
	"privrec/internal/rng"
)

// Regression fits a logistic regression of positive on rating rows, one row for each user, items ascending. It returns
// a weight for each of items.
type Regression func(ctx context.Context, rows [][]int32, ratings [][]float32, items int,
	positive []bool) ([]float64, error)

// typical returns L_c for every class, the most typical item first. Items without a training row are in no list, since
// they tell nothing about a class and have no mean rating. length cuts the lists; 0 means half of the rated items. One
// fold means one fit on all users.
func typical(ctx context.Context, d *dataset.Interactions, class *dataset.Column, folds, length int, seed rng.Seed,
	fit Regression) ([][]int32, error) {
	rated := ratedItems(d)
	if length == 0 {
		length = len(rated) / 2
	}
	lists := make([][]int32, len(class.Levels))
	fits := len(lists)
	if fits == 2 {
		fits = 1 // the weights of the other class are the same with the opposite sign
	}
	fold := assign(class, folds, seed)
	for c := range fits {
		positive := make([]bool, d.Users)
		for u, code := range class.Codes {
			positive[u] = code == int32(c)
		}
		score := make([]float64, d.Items)
		for f := range folds {
			w, err := leaveOut(ctx, d, fold, int32(f), folds, positive, fit)
			if err != nil {
				return nil, fmt.Errorf("class %q of %s, fold %d of %d: %w", class.Levels[c], class.Name, f+1, folds,
					err)
			}
			addRanks(score, w, rated)
		}
		order := slices.Clone(rated)
		slices.SortStableFunc(order, func(a, b int32) int { return cmp.Compare(score[b], score[a]) })
		lists[c] = slices.Clone(order[:min(length, len(order))])
		if fits == 1 && len(lists) == 2 {
			slices.SortStableFunc(order, func(a, b int32) int { return cmp.Compare(score[a], score[b]) })
			lists[1] = slices.Clone(order[:min(length, len(order))])
		}
	}
	return lists, nil
}

// ratedItems lists the items with a training row, ascending.
func ratedItems(d *dataset.Interactions) (rated []int32) {
	has := make([]bool, d.Items)
	for _, items := range d.Train {
		for _, i := range items {
			has[i] = true
		}
	}
	for i, ok := range has {
		if ok {
			rated = append(rated, int32(i))
		}
	}
	return rated
}

// assign distributes the users of every class over the folds, in a random order.
func assign(class *dataset.Column, folds int, seed rng.Seed) []int32 {
	fold, draw := make([]int32, len(class.Codes)), seed.Stream("blurme.folds")
	dealt := make([]int, len(class.Levels))
	for _, u := range draw.Perm(len(fold)) {
		c := class.Codes[u]
		fold[u] = int32(dealt[c] % folds)
		dealt[c]++
	}
	return fold
}

// leaveOut fits the users outside fold f, or all users if there is one fold. It fails if all of them are positive, or
// none.
func leaveOut(ctx context.Context, d *dataset.Interactions, fold []int32, f int32, folds int, positive []bool,
	fit Regression) ([]float64, error) {
	var rows [][]int32
	var ratings [][]float32
	var y []bool
	for u, items := range d.Train {
		if fold[u] != f || folds == 1 {
			rows, ratings, y = append(rows, items), append(ratings, d.Ratings[u]), append(y, positive[u])
		}
	}
	if !slices.Contains(y, true) || !slices.Contains(y, false) {
		return nil, &dataset.Error{File: d.Name, Msg: fmt.Sprintf("the %d users outside the fold are of one class",
			len(y)), Hint: "take blur.folds=1 for one fit on all users"}
	}
	return fit(ctx, rows, ratings, d.Items, y)
}

// addRanks adds the ranks of the weights of some items to their scores; the lowest weight has rank 1. Equal weights
// share the mean of their ranks.
func addRanks(score, w []float64, items []int32) {
	order := slices.Clone(items)
	slices.SortStableFunc(order, func(a, b int32) int { return cmp.Compare(w[a], w[b]) })
	for lo := 0; lo < len(order); {
		hi := lo + sort.Search(len(order)-lo, func(k int) bool { return w[order[lo+k]] > w[order[lo]] })
		for _, i := range order[lo:hi] {
			score[i] += float64(lo+1+hi) / 2
		}
		lo = hi
	}
}
