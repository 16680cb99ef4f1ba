package attribute

import (
	"fmt"
	"math"
	"testing"

	"gonum.org/v1/gonum/stat/distuv"

	"privrec/internal/rng"
	"privrec/internal/tensor"
)

// planted returns users whose classes are uniform and independent, and rows of 0 and 1 in which four columns of the
// user's own class are likely and others are not. Without leak the rows follow classes that are drawn anew.
func planted(users, classes int, leak bool, s rng.Stream) (tensor.Matrix, []int32) {
	x, class := tensor.New(users, 4*classes), make([]int32, users)
	for u := range class {
		class[u] = int32(s.IntN(classes))
		shown := class[u]
		if !leak {
			shown = int32(s.IntN(classes))
		}
		row := tensor.Row(x, u)
		for j := range row {
			p := 0.05
			if j/4 == int(shown) {
				p = 0.9
			}
			if s.Float64() < p {
				row[j] = 1
			}
		}
	}
	return x, class
}

// bounds returns the largest and the smallest number of hits of n that a guess which knows nothing of uniform classes
// stays at or below, and reaches or exceeds, with probability at most tail each.
func bounds(n, classes int, tail float64) (low, high int) {
	law := distuv.Binomial{N: float64(n), P: 1 / float64(classes)}
	low, high = n/classes, n/classes
	for law.CDF(float64(low)) > tail {
		low--
	}
	for 1-law.CDF(float64(high-1)) > tail {
		high++
	}
	return low, high
}

// TestPlanted: every attacker infers a planted attribute more often than a guess that knows nothing would with
// probability 1e-9, and the floor itself does not.
//
// TestPlanted also hides the attribute: the rows then follow classes that have nothing to do with the user's. Whatever
// an attacker does, each of n test users is a hit with probability 1/classes, independently of the others. So the hits
// are binomial, for weak and strong attackers alike, and leave the bounds on either side with probability 1e-9.
func TestPlanted(t *testing.T) {
	const train, test, tail = 300, 600, 1e-9
	for _, a := range Attackers() {
		for _, classes := range []int{2, 3} {
			for _, leak := range []bool{true, false} {
				t.Run(fmt.Sprintf("%s/%d classes, leak %v", a.Name(), classes, leak), func(t *testing.T) {
					s := rng.Seed(5).Stream("planted", uint64(classes))
					x, class := planted(train, classes, leak, s.Sub(0))
					y, truth := planted(test, classes, leak, s.Sub(1))
					scores, err := Measure(guess(t, a.Name(), x, class, classes, y, s.Sub(2)), truth, classes)
					if err != nil {
						t.Fatal(err)
					}
					hits := int(math.Round(scores.Micro * test))
					low, high := bounds(test, classes, tail/2)
					above := leak && a.Name() != "majority"
					if above && hits < high {
						t.Errorf("%d of %d hits, a guess that knows nothing has %d with probability 1e-9", hits, test, high)
					}
					if !above && (hits >= high || hits <= low) {
						t.Errorf("%d of %d hits of an attribute that does not leak, bounds %d and %d", hits, test, low, high)
					}
				})
			}
		}
	}
}
