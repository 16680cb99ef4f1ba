package dataset

import (
	"cmp"
	"slices"
)

// Builder collects rows in file order and sorts them once, at the end. The reader of a source appends one value per row
// to each further column (Times, Values, Parts) that the source has, and leaves the others nil. A column of a source
// without rows must begin as an empty slice.
type Builder struct {
	name   string
	Users  Interner
	Items  Interner
	UserOf []int32 // number of each row's user in Users
	ItemOf []int32 // number of each row's item in Items
	Times  []int64
	Values []float32
	Parts  []Part
}

// Interner numbers ids in order of first appearance.
type Interner struct {
	index map[string]int32
	IDs   []string // by number
	Known string   // an id that replaces the next new id if equal, so that a long id is not stored twice
}

// ID returns the number of b. It allocates only if b is new.
func (n *Interner) ID(b []byte) int32 {
	if i, ok := n.index[string(b)]; ok { // no allocation: the compiler sees the conversion
		return i
	}
	if n.index == nil {
		n.index = map[string]int32{}
	}
	i, s := int32(len(n.IDs)), n.Known
	if s != string(b) {
		s = string(b)
	}
	n.index[s] = i
	n.IDs = append(n.IDs, s)
	return i
}

// Add appends a row.
func (b *Builder) Add(user, item int32) {
	b.UserOf, b.ItemOf = append(b.UserOf, user), append(b.ItemOf, item)
}

// Log returns the collected rows ordered by user, then time, stable, with users and items numbered in ascending order
// of their ids. The builder must not be used afterwards.
func (b *Builder) Log(hash string) *Log {
	b.Users.index, b.Items.index = nil, nil // the largest part of what is no longer needed
	b.Users.dropUnused(b.UserOf)
	b.Items.dropUnused(b.ItemOf)
	rankU, userIDs := Ascending(b.Users.IDs)
	rankI, itemIDs := Ascending(b.Items.IDs)
	l := &Log{Name: b.name, Hash: hash, UserIDs: userIDs, ItemIDs: itemIDs}

	order := make([]int32, len(b.UserOf)) // rows in final order; a counting sort is stable
	next := make([]int, len(userIDs)+1)
	for _, u := range b.UserOf {
		next[rankU[u]+1]++
	}
	for u := range userIDs {
		next[u+1] += next[u]
	}
	off := slices.Clone(next)
	for row, u := range b.UserOf {
		order[next[rankU[u]]] = int32(row)
		next[rankU[u]]++
	}
	if b.Times != nil {
		byTime := func(x, y int32) int { return cmp.Compare(b.Times[x], b.Times[y]) }
		for u := range userIDs {
			rows := order[off[u]:off[u+1]]
			if !slices.IsSortedFunc(rows, byTime) {
				slices.SortStableFunc(rows, byTime)
			}
		}
	}
	l.Users, l.Items = make([]int32, len(order)), make([]int32, len(order))
	for i, row := range order {
		l.Users[i], l.Items[i] = rankU[b.UserOf[row]], rankI[b.ItemOf[row]]
	}
	b.UserOf, b.ItemOf = nil, nil
	l.Times = permute(b.Times, order)
	b.Times = nil
	l.Values, l.Parts = permute(b.Values, order), permute(b.Parts, order)
	return l
}

// dropUnused removes the ids that no row of col has and renumbers col.
func (n *Interner) dropUnused(col []int32) {
	used := make([]bool, len(n.IDs))
	for _, i := range col {
		used[i] = true
	}
	if !slices.Contains(used, false) {
		return
	}
	to, ids := make([]int32, len(n.IDs)), []string(nil)
	for i, u := range used {
		if u {
			to[i] = int32(len(ids))
			ids = append(ids, n.IDs[i])
		}
	}
	for row, i := range col {
		col[row] = to[i]
	}
	n.IDs = ids
}
