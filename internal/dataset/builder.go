package dataset

import "slices"

// logBuilder collects rows in file order and orders them once at the end.
type logBuilder struct {
	name   string
	users  interner
	items  interner
	userOf []int32
	itemOf []int32
	times  []int64
	values []float32
	parts  []Part
}

// interner numbers ids in order of first appearance.
type interner struct {
	index map[string]int32
	ids   []string
	known string // kept in place of the next new id when equal to it, so that a long id is not held twice
}

// id returns the number of b, allocating only when b is new.
func (n *interner) id(b []byte) int32 {
	if i, ok := n.index[string(b)]; ok { // no allocation: the compiler sees the conversion
		return i
	}
	if n.index == nil {
		n.index = map[string]int32{}
	}
	i, s := int32(len(n.ids)), n.known
	if s != string(b) {
		s = string(b)
	}
	n.index[s] = i
	n.ids = append(n.ids, s)
	return i
}

// add appends a row.
func (b *logBuilder) add(user, item int32) {
	b.userOf, b.itemOf = append(b.userOf, user), append(b.itemOf, item)
}

// log orders what was collected by user, then time, stable, and numbers users and
// items ascending. The builder must not be used afterwards.
func (b *logBuilder) log(hash string) *Log {
	b.users.index, b.items.index = nil, nil // the largest part of what is needed no more
	b.users.dropUnused(b.userOf)
	b.items.dropUnused(b.itemOf)
	rankU, userIDs := ascending(b.users.ids)
	rankI, itemIDs := ascending(b.items.ids)
	l := &Log{Name: b.name, Hash: hash, UserIDs: userIDs, ItemIDs: itemIDs}

	order := make([]int32, len(b.userOf)) // rows in final order; a counting sort is stable
	next := make([]int, len(userIDs)+1)
	for _, u := range b.userOf {
		next[rankU[u]+1]++
	}
	for u := range userIDs {
		next[u+1] += next[u]
	}
	off := slices.Clone(next)
	for row, u := range b.userOf {
		order[next[rankU[u]]] = int32(row)
		next[rankU[u]]++
	}
	if b.times != nil {
		byTime := func(x, y int32) int {
			switch {
			case b.times[x] < b.times[y]:
				return -1
			case b.times[x] > b.times[y]:
				return 1
			}
			return 0
		}
		for u := range userIDs {
			rows := order[off[u]:off[u+1]]
			if !slices.IsSortedFunc(rows, byTime) {
				slices.SortStableFunc(rows, byTime)
			}
		}
	}
	l.Users, l.Items = make([]int32, len(order)), make([]int32, len(order))
	for i, row := range order {
		l.Users[i], l.Items[i] = rankU[b.userOf[row]], rankI[b.itemOf[row]]
	}
	b.userOf, b.itemOf = nil, nil
	l.Times = permute(b.times, order)
	b.times = nil
	l.Values, l.Parts = permute(b.values, order), permute(b.parts, order)
	return l
}

// dropUnused renumbers col so that ids without a row are gone.
func (n *interner) dropUnused(col []int32) {
	used := make([]bool, len(n.ids))
	for _, i := range col {
		used[i] = true
	}
	if !slices.Contains(used, false) {
		return
	}
	to, ids := make([]int32, len(n.ids)), []string(nil)
	for i, u := range used {
		if u {
			to[i] = int32(len(ids))
			ids = append(ids, n.ids[i])
		}
	}
	for row, i := range col {
		col[row] = to[i]
	}
	n.ids = ids
}

// permute gathers a column; a nil column stays nil.
func permute[T any](col []T, order []int32) []T {
	if col == nil {
		return nil
	}
	out := make([]T, len(order))
	for i, row := range order {
		out[i] = col[row]
	}
	return out
}
