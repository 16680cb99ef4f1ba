package blurme

import (
	"context"
	"fmt"
	"math"
	"slices"

	"privrec/internal/dataset"
)

// Equations 1 to 3 by plain loops, beside the package's own. Four users of two classes rate six
// items; each fit leaves out two of them.
func Example() {
	d := &dataset.Interactions{Users: 4, Items: 6,
		Train:   [][]int32{{0, 1, 2}, {0, 2, 4}, {3, 4}, {1, 3, 5}},
		Ratings: [][]float32{{5, 3, 4}, {4, 4, 2}, {5, 4}, {2, 4, 3}},
		Test:    [][]int32{{5}, {3}, {1}, {4}},
	}
	class := &dataset.Column{Name: "gender", Codes: []int32{0, 0, 1, 1}, Levels: []string{"F", "M"}}
	ctx, fold := context.Background(), assign(class, 2, 1)

	score := make([]float64, d.Items)
	for f := range int32(2) {
		var rows [][]int32
		var ratings [][]float32
		var female []bool
		for u := range d.Users {
			if fold[u] != f {
				rows, ratings, female = append(rows, d.Train[u]), append(ratings, d.Ratings[u]), append(female, class.Codes[u] == 0)
			}
		}
		w, _ := byMeans(ctx, rows, ratings, d.Items, female)
		for i := range w {
			rank := 0.5
			for j := range w {
				switch {
				case w[j] < w[i]:
					rank++
				case w[j] == w[i]:
					rank += 0.5
				}
			}
			score[i] += rank / 2 // eq. 1
		}
	}
	list := []int32{0, 1, 2, 3, 4, 5} // of M: eq. 2, the items that tell least of F first
	slices.SortStableFunc(list, func(a, b int32) int {
		switch {
		case score[a] < score[b]:
			return -1
		case score[a] > score[b]:
			return 1
		}
		return 0
	})
	list = list[:3]
	var more []int32 // of user 0, who is F: eq. 3
	for _, i := range list {
		if len(more) < int(math.Ceil(0.5*3)) && !slices.Contains(d.Train[0], i) {
			more = append(more, i)
		}
	}

	lists, err := typical(ctx, d, class, 2, 3, 1, byMeans)
	if err != nil {
		fmt.Println(err)
		return
	}
	added := add(d, class, lists, 0.5, Greedy, 1)
	x, n := blur(d, added)
	fmt.Println("the list of M: loop", list, "package", lists[1])
	fmt.Println("user 0 adds: loop", more, "package", added.items[0])
	fmt.Println("user 0 then has", x.Train[0], "rated", x.Ratings[0], "and is tested on", x.Test[0])
	fmt.Printf("%+v\n", n)
	// Output:
	// the list of M: loop [3 4 5] package [3 4 5]
	// user 0 adds: loop [3 4] package [3 4]
	// user 0 then has [0 1 2 3 4] rated [5 3 4 4.5 3] and is tested on [5]
	// {Rows:7 Users:4 Short:0 Test:1 Valid:0}
}
