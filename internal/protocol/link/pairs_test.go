package link

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"privrec/internal/dataset"
	"privrec/internal/protocol/target"
	"privrec/internal/run"
)

// some rows of 30 users with 40 items, a part of them held out.
func planted(hold float64) *target.Run {
	whole := &dataset.Interactions{Users: 30, Items: 40}
	given := &dataset.Interactions{Users: 30, Items: 40}
	for u := range 30 {
		var train, test, kept []int32
		for i := range int32(40) {
			switch (int(i)*7 + u*3) % 10 {
			case 0, 1:
				train = append(train, i)
				if hold == 0 || i%3 > 0 {
					kept = append(kept, i)
				}
			case 2:
				test = append(test, i)
			}
		}
		whole.Train, whole.Test, given.Train = append(whole.Train, train), append(whole.Test, test), append(given.Train, kept)
	}
	for u := range whole.Train {
		whole.UserIDs = append(whole.UserIDs, fmt.Sprint(u))
	}
	t := &target.Run{Whole: whole, Given: given, Hold: run.HoldOut{Rows: hold}}
	t.Held = t.Hold.Of(7)
	return t
}

// Positives are edges of the training graph and others are not; two questions have as many of
// both, of every user; the third stands for all pairs, at the rate that is asked for.
func TestPairs(t *testing.T) {
	for _, hold := range []float64{0, 0.3} {
		r := planted(hold)
		c := Default()
		c.Attack.Users, c.Attack.Others = 20, 10
		p, err := c.pairs(r)
		if err != nil {
			t.Fatal(err)
		}
		if again, err := c.pairs(r); err != nil || !slices.Equal(again.questions[1].pair, p.questions[1].pair) {
			t.Errorf("another draw (%v)", err)
		}
		for n, q := range p.questions {
			var edges, rest float64
			for i, k := range q.Cluster {
				u := q.users[k]
				at := slices.Index(p.users, u)
				item := p.items[at][int(q.pair[i])-p.at[at]]
				_, in := slices.BinarySearch(r.Given.Train[u], item)
				if in != q.Positive[i] {
					t.Fatalf("%s: user %d, item %d: positive %v, in training %v", q.of, u, item, q.Positive[i], in)
				}
				_, isTrue := slices.BinarySearch(known(r.Whole, u), item)
				if !in && n < 2 && isTrue != (n == 1) {
					t.Fatalf("%s: user %d, item %d is a true interaction: %v", q.of, u, item, isTrue)
				}
				if in {
					edges += q.Weight[i]
				} else {
					rest += q.Weight[i]
				}
			}
			if want := p.density; n < 2 && edges != rest || n == 2 && math.Abs(edges/(edges+rest)-want) > 1e-12 {
				t.Errorf("%s: %v edges, %v others", q.of, edges, rest)
			}
			if n == 2 && math.Abs(edges+rest-20*40) > 1e-9 {
				t.Errorf("%s stands for %v pairs, want %d", q.of, edges+rest, 20*40)
			}
		}
		c.Attack.BaseRate = 0.01
		if p, err = c.pairs(r); err != nil {
			t.Fatal(err)
		}
		q := p.questions[2]
		var edges, rest float64
		for i, w := range q.Weight {
			if q.Positive[i] {
				edges += w
			} else {
				rest += w
			}
		}
		if math.Abs(edges/(edges+rest)-0.01) > 1e-12 {
			t.Errorf("base rate %v", edges/(edges+rest))
		}
	}
	c, r := Default(), planted(0)
	r.Whole.Test = make([][]int32, 30)
	if _, err := c.pairs(r); err == nil {
		t.Error("nothing is held out, and no error")
	}
}
