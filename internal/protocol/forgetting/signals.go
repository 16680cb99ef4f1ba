package forgetting

import (
	"math"
	"slices"

	"privrec/internal/dataset"
	"privrec/internal/tensor"
)

// evidence holds what a model shows of each asked user, higher for those it was trained on.
type evidence struct {
	fit   []float64 // how far the user's own items stand out, of a vector that is fitted to all of them
	place []float64 // mean share of foreign items below one half of the user's items, of a vector fitted to the other
}

// signals returns what the vectors of items show of the asked users: of several models, the mean.
func (s *study) signals(models []tensor.Matrix) (*evidence, error) {
	users := s.asked()
	lots := dataset.NewLots(s.env.Seed.Stream("forgetting halves"))
	first, second := make([][]int32, len(users)), make([][]int32, len(users))
	for k, u := range users {
		first[k], second[k] = halves(lots, s.data.UserIDs[u], s.data.Train[u], s.data.ItemIDs)
	}
	e := &evidence{fit: make([]float64, len(users)), place: make([]float64, len(users))}
	for _, items := range models {
		f, err := newFolder(items, s.Attack)
		if err != nil {
			return nil, err
		}
		err = f.each(len(users), func(k int, m *memory) error {
			own := s.data.Train[users[k]]
			if err := f.score(own, m); err != nil {
				return err
			}
			e.fit[k] += standing(m.scores, own) / float64(len(models))
			for _, half := range [2][2][]int32{{first[k], second[k]}, {second[k], first[k]}} {
				if err := f.score(half[0], m); err != nil {
					return err
				}
				e.place[k] += placed(m.scores, half[1], own) / 2 / float64(len(models))
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	return e, nil
}

// standing returns how many deviations of all scores the mean of some items is above the mean of all; 0 where all
// scores are equal.
func standing(scores []tensor.Float, items []int32) float64 {
	var sum, squares, own float64
	for _, v := range scores {
		sum, squares = sum+float64(v), squares+float64(v)*float64(v)
	}
	for _, i := range items {
		own += float64(scores[i])
	}
	n := float64(len(scores))
	spread := math.Sqrt(max(0, squares/n-sum/n*sum/n))
	if spread == 0 {
		return 0
	}
	return (own/float64(len(items)) - sum/n) / spread
}

// placed returns the mean share of the items outside own that score below some items, equal scores one half; one half
// where there is nothing to compare.
func placed(scores []tensor.Float, items, own []int32) float64 {
	var others []tensor.Float
	for i, v := range scores {
		if _, is := slices.BinarySearch(own, int32(i)); !is {
			others = append(others, v)
		}
	}
	if len(items) == 0 || len(others) == 0 {
		return 0.5
	}
	slices.Sort(others)
	sum := 0.0
	for _, i := range items {
		low, _ := slices.BinarySearch(others, scores[i])
		high := low
		for high < len(others) && others[high] == scores[i] {
			high++
		}
		sum += (float64(low) + float64(high-low)/2) / float64(len(others))
	}
	return sum / float64(len(items))
}

// attack is one way to tell the forgotten from strangers by what a model shows of them.
type attack struct {
	name, how string
	score     []float64 // by asked user, higher for the forgotten
}

// mainAttack is the place among the attacks of the one that tables show first.
const mainAttack = 0

// attacks returns the scores of each attack on what a model shows.
func (x *compared) attacks(e *evidence) []attack {
	var fits, places [][]float64
	for _, r := range x.references {
		fits, places = append(fits, r.fit), append(places, r.place)
	}
	beyond := above(e.fit, fits)
	either := make([]float64, len(beyond))
	for k, v := range beyond {
		either[k] = math.Abs(v)
	}
	return []attack{
		{"fit beyond references", "fit, less its mean in models that the attacker trained without the user", beyond},
		{"either way", "the same without its sign: users who fit worse than strangers stand out too", either},
		{"place beyond references", "place, less its mean in the attacker's models", above(e.place, places)},
		{"fit", "how far the user's items stand out, of a vector that is fitted to them", e.fit},
		{"place", "place of one half of the user's items, of a vector that is fitted to the other", e.place},
	}
}

// above returns x less the mean of others, element by element.
func above(x []float64, others [][]float64) []float64 {
	out := slices.Clone(x)
	for _, y := range others {
		for k, v := range y {
			out[k] -= v / float64(len(others))
		}
	}
	return out
}

// outside returns what tells users apart without a model: nothing, how popular their items are among the remaining
// users, and how many rows they have.
func (s *study) outside() []attack {
	users := s.asked()
	length, popular := make([]float64, len(users)), make([]float64, len(users))
	for k, u := range users {
		rows := s.data.Train[u]
		length[k] = float64(len(rows))
		for _, i := range rows {
			popular[k] += float64(s.rest.ItemDegree(int(i))) / float64(len(rows))
		}
	}
	return []attack{{name: "nothing", score: make([]float64, len(users))},
		{name: "popularity of the items", score: popular}, {name: "length of the history", score: length}}
}

// positive tells which of the asked users are forgotten ones.
func (s *study) positive() []bool {
	out := make([]bool, len(s.forgotten)+len(s.strangers))
	for k := range s.forgotten {
		out[k] = true
	}
	return out
}
