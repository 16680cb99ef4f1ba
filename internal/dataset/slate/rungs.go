package slate

import "privrec/internal/dataset"

// rung returns the counts of the pairs for which keep is true, with their users and items; nil takes all pairs.
func (p *Pairs) rung(name string, keep func(i int) bool) dataset.Rung {
	users, items := map[int32]bool{}, map[int32]bool{}
	n := 0
	for i := range p.Users {
		if keep != nil && !keep(i) {
			continue
		}
		n++
		users[p.Users[i]] = true
		for _, list := range [][]int32{p.Slate(i), p.Behaviour(i)} {
			for _, x := range list {
				if x >= FirstItem {
					items[x] = true
				}
			}
		}
	}
	return dataset.Rung{Name: name, Users: len(users), Items: len(items), Rows: n}
}

// Distinct reports whether the L clicks of pair i are all different, as the sequence metric of the published program
// requires.
func (p *Pairs) Distinct(i int) bool {
	b := p.Behaviour(i)
	for k, x := range b {
		for _, y := range b[:k] {
			if x == y {
				return false
			}
		}
	}
	return true
}

// rungs appends the counts of the three parts to the ladder.
func (s *Set) rungs() {
	for _, part := range []struct {
		name string
		p    *Pairs
	}{{dataset.RungTrain, s.Train}, {dataset.RungValid, s.Valid}, {dataset.RungTest, s.Test}} {
		p := part.p
		s.Ladder = append(s.Ladder, p.rung(part.name, nil))
		if part.name == dataset.RungTrain || p.Len() == 0 {
			continue
		}
		s.Ladder = append(s.Ladder,
			p.rung(part.name+", complete", func(i int) bool { return p.Complete[i] }),
			p.rung(part.name+", complete, distinct clicks", func(i int) bool { return p.Complete[i] && p.Distinct(i) }))
	}
}
