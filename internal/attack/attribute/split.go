package attribute

import (
	"fmt"
	"math"
	"slices"

	"privrec/internal/rng"
)

// Split is one stratified cut of users.
type Split struct{ Train, Test []int32 } // numbers of users, ascending

// Stratified returns a random cut of users with floor(share * users) in train and as nearly the same share of each
// class as whole numbers allow: a class of n users gets floor(share * n) places, and the remaining places go one each
// to the classes with the largest remainders, the lower class first. Users of a class are shuffled by a stream of their
// own. It fails if fewer than two classes occur or a part would be empty.
func Stratified(class []int32, classes int, share float64, s rng.Stream) (Split, error) {
	count, present, err := countClasses(class, classes)
	if err != nil {
		return Split{}, fmt.Errorf("attribute: cut of users: %w", err)
	}
	if !(share > 0 && share < 1) {
		return Split{}, fmt.Errorf("attribute: cut of users: share %v is not between 0 and 1", share)
	}
	left := whole(share * float64(len(class)))
	if left == 0 || left == len(class) {
		return Split{}, fmt.Errorf("attribute: cut of users: a share of %v of %d users leaves a part empty", share,
			len(class))
	}
	places := make([]int, classes)
	for c, n := range count {
		places[c] = whole(share * float64(n))
		left -= places[c]
	}
	rest := func(c int32) float64 { return share*float64(count[c]) - float64(places[c]) }
	slices.SortStableFunc(present, func(a, b int32) int {
		if d := rest(a) - rest(b); math.Abs(d) > rounding {
			return map[bool]int{true: -1, false: 1}[d > 0]
		}
		return int(a - b)
	})
	for _, c := range present[:left] {
		places[c]++
	}
	users := make([][]int32, classes)
	for i, c := range class {
		users[c] = append(users[c], int32(i))
	}
	var out Split
	for c, u := range users {
		stream := s.Sub(uint64(c))
		stream.Shuffle(len(u), func(i, j int) { u[i], u[j] = u[j], u[i] })
		out.Train, out.Test = append(out.Train, u[:places[c]]...), append(out.Test, u[places[c]:]...)
	}
	slices.Sort(out.Train)
	slices.Sort(out.Test)
	return out, nil
}

// rounding is the tolerance in a product of a share and a number of users, so that 0.29 of 100 users are 29.
const rounding = 1e-9

func whole(x float64) int { return int(math.Floor(x + rounding)) }
