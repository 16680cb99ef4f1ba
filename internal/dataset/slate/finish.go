package slate

import (
	"cmp"
	"fmt"
	"slices"

	"privrec/internal/dataset"
	"privrec/internal/rng"
)

// raw holds the intermediate result of a builder: pairs of items, not yet tokens, in user order.
type raw struct {
	name, hash   string
	users, items []string
	pairs        *Pairs    // of indices into items
	logged       [][]int32 // per user, as in Set
	clicks       [][]int32 // per user, oldest first, repeats kept
	also         [][]int32 // per user, clicks that are in no behaviour; may be nil
	ladder       dataset.Ladder
	notes        []string
	level        dataset.Level
	lack, hint   string // why there may be no pair, and what to do; may be empty
}

// finish returns the set: pairs split, items numbered by their frequency in the training part, and all items replaced
// by tokens.
func (r raw) finish(o Options) (*Set, error) {
	if r.pairs.Len() == 0 {
		return nil, &dataset.Error{File: r.name,
			Msg:  fmt.Sprintf("no pair of %d clicks and %d items shown after them%s", o.L, o.T, r.lack),
			Hint: cmp.Or(r.hint, "choose shorter slates or behaviours")}
	}
	r.ladder = append(r.ladder, r.itemRung("pairs"))
	parts, err := r.split(o)
	if err != nil {
		return nil, err
	}
	token, vocab := r.vocabulary(parts[0])
	s := &Set{Name: r.name, Hash: r.hash, Vocab: vocab, Items: names(token, vocab, r.items), Users: r.users,
		Ladder: r.ladder, Notes: r.notes, Level: r.level}
	for i, rows := range parts {
		p := r.pairs.Select(rows)
		for _, col := range [][]int32{p.Slates, p.Behaviours} {
			for k, x := range col {
				col[k] = token[x]
			}
		}
		for k := range p.Complete {
			p.Complete[k] = !slices.Contains(p.Slate(k), OOV) && !slices.Contains(p.Behaviour(k), OOV)
		}
		*[...]**Pairs{&s.Train, &s.Valid, &s.Test}[i] = p
	}
	s.rungs()
	s.unknown(o)
	r.lists(s, token)
	return s, nil
}

// unknown drops pairs with unknown items if the options say so.
func (s *Set) unknown(o Options) {
	if o.Unknown == UnknownDrop {
		s.Valid, s.Test = s.Valid.complete(), s.Test.complete()
	}
}

// itemRung returns the counts of pairs that still hold indices.
func (r raw) itemRung(name string) dataset.Rung {
	return dataset.Rung{Name: name, Users: len(distinct(r.pairs.Users)), Rows: r.pairs.Len(),
		Items: len(distinct(slices.Concat(r.pairs.Slates, r.pairs.Behaviours)))}
}

// complete returns the pairs without unknown items.
func (p *Pairs) complete() *Pairs {
	var rows []int32
	for i, c := range p.Complete {
		if c {
			rows = append(rows, int32(i))
		}
	}
	return p.Select(rows)
}

// split returns the pairs of each part; inside a part they keep their order.
func (r raw) split(o Options) (parts [3][]int32, err error) {
	n := r.pairs.Len()
	part := make([]int, n)
	if o.Split == SplitReleased {
		train, valid, test := borders(n)
		for i := range part {
			switch {
			case i < train:
			case i < valid:
				part[i] = 1
			case i < test:
				part[i] = 2
			default:
				part[i] = -1 // lost to truncation, as in the published program
			}
		}
		if train == 0 || train == valid {
			return parts, &dataset.Error{File: r.name,
				Msg: fmt.Sprintf("%d pairs are too few for a released split of 80/10/10 %%", n)}
		}
	} else {
		of, err := dealUsers(r.name, r.users, distinct(r.pairs.Users), o.Seed)
		if err != nil {
			return parts, err
		}
		for i, u := range r.pairs.Users {
			part[i] = of[u]
		}
	}
	for i, p := range part {
		if p >= 0 {
			parts[p] = append(parts[p], int32(i))
		}
	}
	return parts, nil
}

// dealUsers returns the part of each user: 1 or 2 with a chance of a tenth each, else 0, by a draw about the user's id.
// A part that got none takes one user of the largest part: the one with the smallest number.
func dealUsers(name string, ids []string, users []int32, seed rng.Seed) (map[int32]int, error) {
	if len(users) < 3 {
		return nil, &dataset.Error{File: name, Msg: fmt.Sprintf("%d users have pairs, three parts need at least 3",
			len(users))}
	}
	lots := dataset.NewLots(seed.Stream("slate/users"))
	of, drawn, sizes := make(map[int32]int, len(users)), make(map[int32]float64, len(users)), [3]int{}
	for _, u := range users {
		drawn[u] = lots.User(ids[u])
		switch {
		case drawn[u] < 0.1:
			of[u] = 1
		case drawn[u] < 0.2:
			of[u] = 2
		}
		sizes[of[u]]++
	}
	for sizes[0] < 1 || sizes[1] < 1 || sizes[2] < 1 {
		lacks := slices.Index(sizes[:], 0)
		rich := slices.Index(sizes[:], slices.Max(sizes[:]))
		var takes int32 = -1
		for _, u := range users {
			if of[u] == rich && (takes < 0 || drawn[u] < drawn[takes]) {
				takes = u
			}
		}
		of[takes] = lacks
		sizes[rich]--
		sizes[lacks]++
	}
	return of, nil
}

// vocabulary returns the tokens of the items of the given pairs, numbered from FirstItem by falling number of places in
// slates and behaviours together; ties by id ascending ([dataset.LessIDs]). Other items are OOV.
func (r raw) vocabulary(rows []int32) (token []int32, vocab int) {
	counts := make([]int, len(r.items))
	for _, row := range rows {
		for _, list := range [][]int32{r.pairs.Slate(int(row)), r.pairs.Behaviour(int(row))} {
			for _, x := range list {
				counts[x]++
			}
		}
	}
	var order []int32
	for x, c := range counts {
		if c > 0 {
			order = append(order, int32(x))
		}
	}
	less := dataset.LessIDs(r.items)
	slices.SortFunc(order, func(a, b int32) int {
		return cmp.Or(cmp.Compare(counts[b], counts[a]), less(r.items[a], r.items[b]))
	})
	token = make([]int32, len(r.items))
	for i := range token {
		token[i] = OOV
	}
	for i, x := range order {
		token[x] = FirstItem + int32(i)
	}
	return token, int(FirstItem) + len(order)
}

// names returns the ids of tokens.
func names(token []int32, vocab int, items []string) []string {
	out := make([]string, vocab)
	copy(out, []string{"[PAD]", "[OOV]", "[SOS]", "[EOS]"})
	for x, t := range token {
		if t != OOV {
			out[t] = items[x]
		}
	}
	return out
}

// lists fills in the logged items, clicks and histories of users.
func (r raw) lists(s *Set, token []int32) {
	known := func(items []int32) []int32 {
		out := make([]int32, 0, len(items))
		for _, x := range items {
			if token[x] != OOV {
				out = append(out, token[x])
			}
		}
		return out
	}
	inSlate := make([]map[int32]bool, len(r.users))
	for i, u := range r.pairs.Users {
		if inSlate[u] == nil {
			inSlate[u] = map[int32]bool{}
		}
		for _, x := range r.pairs.Slate(i) {
			inSlate[u][x] = true
		}
	}
	trains := make([]bool, len(r.users))
	for _, u := range s.Train.Users {
		trains[u] = true
	}
	s.Logged, s.Clicked, s.Histories = make([][]int32, len(r.users)), make([][]int32, len(r.users)),
		make([][]int32, len(r.users))
	for u := range r.users {
		s.Logged[u] = known(r.logged[u])
		clicked := slices.Clone(r.clicks[u])
		if r.also != nil {
			clicked = append(clicked, r.also[u]...)
		}
		clicked = slices.DeleteFunc(clicked, func(x int32) bool { return !inSlate[u][x] })
		s.Clicked[u] = distinct(known(clicked))
		if trains[u] {
			s.Histories[u] = known(r.clicks[u])
		}
	}
}
