package slate

import "privrec/internal/dataset"

// Rows returns the digest of all private input: the pairs of every user in their parts and order, and everything else
// known about users.
func (s *Set) Rows() dataset.RowDigest {
	rows := make([][]int32, len(s.Users))
	for part, p := range []*Pairs{s.Train, s.Valid, s.Test} {
		for i, u := range p.Users {
			slate, behaviour := p.Slate(i), p.Behaviour(i)
			rows[u] = append(rows[u], int32(part), int32(len(slate)), int32(len(behaviour)))
			rows[u] = append(append(rows[u], slate...), behaviour...)
		}
	}
	for kind, lists := range [][][]int32{s.Logged, s.Clicked, s.Histories} {
		for u, list := range lists {
			if u < len(rows) && list != nil {
				rows[u] = append(append(rows[u], -1-int32(kind), int32(len(list))), list...)
			}
		}
	}
	var h dataset.RowHash
	for u, list := range rows {
		h.Add(s.Users[u], list)
	}
	return h.Digest(s.Items)
}
