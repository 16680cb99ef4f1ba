package dataset

import (
	"fmt"
	"slices"

	"privrec/internal/rng"
)

// Canaries are units that no user made, which a privacy audit plants into training data. Each is in or out by a coin,
// so that a model's behaviour on them can be compared with the coins. For some kinds both sides of the coin are in the
// data, with a difference named by the unit.
const (
	CanaryEdge   = "edge"   // a user of the data and an item that the user has in no part; in a sequence it comes last
	CanaryRating = "rating" // a row of the data, which has the highest rating or the lowest
	CanaryUser   = "user"   // a user who is not in the data, with random items
)

// CanaryUnits returns the kinds of canaries under their names in settings.
func CanaryUnits() []string {
	return []string{CanaryEdge, CanaryRating, CanaryUser, CanarySequence, CanaryInteraction, CanaryOrder}
}

// LeastRows returns the least number of rows of a canary of a unit. It is 0 for units of one row, which have no number
// of rows.
func LeastRows(unit string) int {
	switch unit {
	case CanaryEdge, CanaryRating:
		return 0
	case CanaryInteraction:
		return 2
	case CanaryOrder:
		return leastOrder
	}
	return 1
}

// Planting says which canaries are planted. Users, items and other rows stay unchanged, and a canary is only in train.
type Planting struct {
	Unit     string
	Canaries int
	Rows     int // items of a canary with rows of its own; 0 for an edge or a rating
	// Seed decides which canaries there are. It also replaces the run's seed for generated rows and random splits, so
	// that models with seeds of their own have the same rows.
	Seed rng.Seed
	In   func(canary int) bool // the coins; a canary user who is out has no rows
	// Asked is set if trained models are asked about canaries. Sequences are then the inputs for the question about the
	// last item: canary sequences lack it, and canary edges are out.
	Asked bool
}

// Canary describes a unit that may be planted.
type Canary struct {
	User  int32
	Items []int32 // ascending
}

// Check returns an error for a planting that cannot be carried out on any data.
func (p Planting) Check() error {
	switch {
	case !slices.Contains(CanaryUnits(), p.Unit):
		return fmt.Errorf("dataset: canaries are %q, want one of %v", p.Unit, CanaryUnits())
	case p.Canaries < 1:
		return fmt.Errorf("dataset: %d canaries, want at least 1", p.Canaries)
	case p.Rows < LeastRows(p.Unit), LeastRows(p.Unit) == 0 && p.Rows != 0:
		return fmt.Errorf("dataset: %d rows of a canary %s, want at least %d; 0 of a unit that is one row", p.Rows,
			p.Unit, LeastRows(p.Unit))
	case p.In == nil:
		return fmt.Errorf("dataset: canaries have no coins")
	}
	return nil
}

// Into returns a copy of the data with the canaries whose coins say in, and all canaries, in or out. It fails if the
// data have no room for as many.
func (p Planting) Into(d *Interactions) (*Interactions, []Canary, error) {
	draw := p.edges
	switch p.Unit {
	case CanaryUser:
		draw = p.users
	case CanaryRating:
		draw = p.ratings
	case CanarySequence, CanaryInteraction, CanaryOrder:
		return nil, nil, &Error{File: d.Name,
			Msg:  fmt.Sprintf("a canary %s has an order, and these data are pairs without one", p.Unit),
			Hint: "plant an " + CanaryEdge + " or a " + CanaryUser}
	}
	all, err := draw(d)
	if err != nil {
		return nil, nil, err
	}
	out := *d
	out.Train = slices.Clone(d.Train)
	if d.Ratings != nil {
		out.Ratings = slices.Clone(d.Ratings)
	}
	if p.Unit == CanaryUser {
		if err := out.addUsers(p.Canaries, p.Seed.Stream("canary users' features")); err != nil {
			return nil, nil, err
		}
	}
	best := highest(d.Ratings)
	for k, c := range all {
		u := c.User
		if p.Unit == CanaryRating {
			at, _ := slices.BinarySearch(d.Train[u], c.Items[0])
			out.Ratings[u] = p.rated(k, d.Ratings, u, at)
			continue
		}
		if !p.In(k) {
			continue
		}
		for _, i := range c.Items {
			at, _ := slices.BinarySearch(out.Train[u], i)
			out.Train[u] = slices.Insert(slices.Clone(out.Train[u]), at, i)
			if d.Ratings != nil {
				out.Ratings[u] = slices.Insert(slices.Clone(out.Ratings[u]), at, best)
			}
		}
	}
	return &out, all, out.distinct()
}

// highest returns the largest value of rows. Canaries get it too.
func highest(rows [][]float32) (best float32) {
	for _, values := range rows {
		for _, v := range values {
			best = max(best, v)
		}
	}
	return best
}

// edges returns drawn pairs of a user with rows and an item that the user has in no part. Users and items take turns in
// random orders, so canaries stay far from each other as long as there are fewer of them than of users and items.
func (p Planting) edges(d *Interactions) ([]Canary, error) {
	var users []int32
	for u, items := range d.Train {
		if len(items) > 0 {
			users = append(users, int32(u))
		}
	}
	s := p.Seed.Stream("canary edges")
	order, items := s.Perm(len(users)), s.Perm(d.Items)
	taken := map[int32][]int32{} // by user, of canaries before
	var all []Canary
	for next, turn, idle := 0, 0, 0; len(all) < p.Canaries; turn++ {
		if idle == len(users) { // a whole round found no room
			return nil, &Error{File: d.Name, Msg: fmt.Sprintf("there is room for %d canary edges, not for %d", len(all),
				p.Canaries), Hint: "plant fewer"}
		}
		u := users[order[turn%len(users)]]
		idle++
		for range d.Items {
			i := items[next%d.Items]
			next++
			if d.has(u, i) || slices.Contains(taken[u], i) {
				continue
			}
			taken[u] = append(taken[u], i)
			all, idle = append(all, Canary{User: u, Items: []int32{i}}), 0
			break
		}
	}
	return all, nil
}

// has reports whether a user has an item in any part.
func (x *Interactions) has(u, item int32) bool {
	for _, part := range [][][]int32{x.Train, x.Valid, x.Test} {
		if part == nil {
			continue
		}
		if _, is := slices.BinarySearch(part[u], item); is {
			return true
		}
	}
	return false
}

// users returns canaries with drawn items, for users who are not in the data.
func (p Planting) users(d *Interactions) ([]Canary, error) {
	if p.Rows > d.Items {
		return nil, &Error{File: d.Name, Msg: fmt.Sprintf("canary users are to have %d of the %d items", p.Rows,
			d.Items), Hint: "give them fewer"}
	}
	all := make([]Canary, p.Canaries)
	for k := range all {
		s := p.Seed.Stream("canary user", uint64(k))
		items := slices.Clone(s.Perm(d.Items)[:p.Rows])
		slices.Sort(items)
		all[k] = Canary{User: int32(d.Users + k), Items: items}
	}
	return all, nil
}

// addUsers adds users without rows, each with the features of a random user of the data.
func (x *Interactions) addUsers(n int, s rng.Stream) error {
	ids, err := canaryIDs(x.Name, x.UserIDs, n)
	if err != nil {
		return err
	}
	x.UserIDs = slices.Concat(x.UserIDs, ids)
	for _, part := range []*[][]int32{&x.Train, &x.Valid, &x.Test} {
		if *part != nil {
			*part = append(slices.Clone(*part), make([][]int32, n)...)
		}
	}
	if x.Ratings != nil {
		x.Ratings = append(slices.Clone(x.Ratings), make([][]float32, n)...)
	}
	x.Users += n
	x.Features = x.Features.like(x.UserIDs, s)
	return nil
}
