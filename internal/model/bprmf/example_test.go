package bprmf_test

import (
	"fmt"

	"privrec/internal/model/bpr"
	"privrec/internal/model/bprmf"
	"privrec/internal/model/modeltest"
	"privrec/internal/nn"
	"privrec/internal/tensor"
)

// The score of section 4.3.1, by a loop over the factors, beside the product of the tables.
func Example() {
	m := bprmf.New(2, 3, 4, nn.Uniform(1, 1)) // 2 users, 3 items, 4 factors
	w, h := modeltest.Rows(m.User.Value), modeltest.Rows(m.Item.Value)

	users, items := m.All()
	scores := tensor.New(2, 3)
	r := &bpr.Ranking{Users: users, Goods: items}
	if err := r.Score(nil, []int32{0, 1}, scores); err != nil {
		fmt.Println(err)
	}
	for u := range w {
		for i := range h {
			x := 0.0 // x_ui
			for f := range w[u] {
				x += w[u][f] * h[i][f]
			}
			fmt.Printf("user %d, item %d: formula %.4f, model %.4f\n", u, i, x, tensor.Row(scores, u)[i])
		}
	}
	// Output:
	// user 0, item 0: formula -0.2378, model -0.2378
	// user 0, item 1: formula -0.7946, model -0.7946
	// user 0, item 2: formula 0.2045, model 0.2045
	// user 1, item 0: formula 0.0402, model 0.0402
	// user 1, item 1: formula -0.1090, model -0.1090
	// user 1, item 2: formula 0.5023, model 0.5023
}
