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
}

// id returns the number of b, allocating only when b is new.
func (n *interner) id(b []byte) int32 {
	if i, ok := n.index[string(b)]; ok { // no allocation: the compiler sees the conversion
		return i
	}
	if n.index == nil {
		n.index = map[string]int32{}
	}
	i, s := int32(len(n.ids)), string(b)
	n.index[s] = i
	n.ids = append(n.ids, s)
	return i
}

// log orders what was collected by user, then time, stable, and numbers users and
// items ascending. The builder must not be used afterwards.
func (b *logBuilder) log(hash string) *Log {
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
	l.Times, l.Values, l.Parts = permute(b.times, order), permute(b.values, order), permute(b.parts, order)
	return l
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
