package dataset

// Sequential is a data set ready for a model: each user's items in time order, split and renumbered. Do not change it
// once it is made.
type Sequential struct {
	Name   string // of the data set
	Recipe string // that made the data
	Items  int    // V: items with a row in train; ids are 1..V
	// items left by the filters, before truncation and split; programs that fix their items early rank over these
	CandidatesCore int
	Users          int         // U
	Train          [][]int32   // per user, item ids 1..V in time order; may be empty
	Valid          [][]int32   // nil unless the split has a validation part; items unseen in train removed
	Test           [][]int32   // items unseen in train removed; nil where test rows are withheld
	InPlace        InPlace     // what is to take the place of test rows
	Ratings        [][]float32 // of Train, one a row; nil unless the recipe keeps them
	Times          *Times      // of all rows; nil unless the recipe keeps them and the source has them
	UserIDs        []string    // U original ids, ascending
	ItemIDs        []string    // V+1 original ids, ItemIDs[0] is ""
	Features       *Features   // a row a user, in the order of UserIDs; nil when the recipe takes none
	Ladder         Ladder
	Source         Source
}

// sequence returns a filtered log split and renumbered. It numbers items 1..V in order of first appearance in train,
// users ascending. It removes rows of valid and test whose item never occurs in train. Items of a complete log keep
// their order, and none is removed.
func sequence(l *Log, parts []Part) *Sequential {
	s := &Sequential{Name: l.Name, Users: len(l.UserIDs), UserIDs: l.UserIDs, ItemIDs: []string{""}}
	newID := make([]int32, len(l.ItemIDs))
	if l.Complete {
		for i := range newID {
			newID[i] = int32(i) + 1
		}
		s.ItemIDs = append(s.ItemIDs, l.ItemIDs...)
	}
	var count [3]Rung
	for row, p := range parts {
		item := l.Items[row]
		if p == Train && newID[item] == 0 {
			newID[item] = int32(len(s.ItemIDs))
			s.ItemIDs = append(s.ItemIDs, l.ItemIDs[item])
		}
		count[p].Rows++
	}
	s.Items = len(s.ItemIDs) - 1
	s.Train = gather(l, parts, newID, Train)
	s.Ladder = append(s.Ladder, s.rung(RungTrain, s.Train))
	for _, v := range []struct {
		p    Part
		name string
		to   *[][]int32
	}{{Valid, RungValid, &s.Valid}, {Test, RungTest, &s.Test}} {
		if count[v.p].Rows == 0 && v.p == Valid {
			continue
		}
		before := partRung(l, parts, v.p)
		*v.to = gather(l, parts, newID, v.p)
		s.Ladder = append(s.Ladder, before, s.rung(v.name+", known items", *v.to))
	}
	return s
}

// ratings returns the values of the training rows in the order in which gather lists their items.
func ratings(l *Log, parts []Part) [][]float32 {
	var all []float32
	for row, p := range parts {
		if p == Train {
			all = append(all, l.Values[row])
		}
	}
	out := make([][]float32, len(l.UserIDs))
	off, from := l.Offsets(), 0
	for u := range out {
		to := from
		for _, p := range parts[off[u]:off[u+1]] {
			if p == Train {
				to++
			}
		}
		out[u] = all[from:to:to]
		from = to
	}
	return out
}

// gather returns the sequences of one part in one backing array, without unknown items.
func gather(l *Log, parts []Part, newID []int32, p Part) [][]int32 {
	return along(l, parts, newID, p, func(row int) int32 { return newID[l.Items[row]] })
}

// times returns the times of all rows in the order in which gather lists their items.
func (s *Sequential) times(l *Log, parts []Part) *Times {
	known := make([]int32, len(l.ItemIDs)) // not 0: an item with a row in train
	for row, p := range parts {
		if p == Train || l.Complete {
			known[l.Items[row]] = 1
		}
	}
	of := func(p Part) [][]int64 {
		return along(l, parts, known, p, func(row int) int64 { return l.Times[row] })
	}
	t := &Times{Train: of(Train), Test: of(Test)}
	if s.Valid != nil {
		t.Valid = of(Valid)
	}
	return t
}

// along returns a value of every row of one part, by user in one backing array, without the rows of items whose known
// is 0.
func along[T any](l *Log, parts []Part, known []int32, p Part, value func(row int) T) [][]T {
	n := 0
	for row, q := range parts {
		if q == p && known[l.Items[row]] != 0 {
			n++
		}
	}
	all := make([]T, 0, n)
	seqs := make([][]T, len(l.UserIDs))
	off := l.Offsets()
	for u := range seqs {
		from := len(all)
		for row := off[u]; row < off[u+1]; row++ {
			if parts[row] == p && known[l.Items[row]] != 0 {
				all = append(all, value(row))
			}
		}
		seqs[u] = all[from:len(all):len(all)]
	}
	return seqs
}

// rung returns the counts of users, items and rows of sequences.
func (s *Sequential) rung(name string, seqs [][]int32) Rung {
	r := Rung{Name: name}
	seen := make([]bool, s.Items+1)
	for _, seq := range seqs {
		if len(seq) > 0 {
			r.Users++
			r.Samples += len(seq) - 1
		}
		r.Rows += len(seq)
		for _, item := range seq {
			if !seen[item] {
				seen[item] = true
				r.Items++
			}
		}
	}
	return r
}
