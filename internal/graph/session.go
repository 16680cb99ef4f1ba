package graph

import "fmt"

// Sessions holds one item sequence for each user, flat, with the nodes of each sequence's graph numbered in order of
// first appearance. NewSessions makes it; it is read-only and safe for concurrent use.
type Sessions struct {
	items    []int32 // item of every position, users one after another
	local    []int32 // node number of every position, counted within its user
	distinct []int32 // number of distinct items among the user's positions up to and including this one
	nodes    []int32 // distinct items in order of first appearance, users one after another
	start    []int   // user u owns positions start[u] .. start[u+1]
	nodeAt   []int   // user u owns nodes nodeAt[u] .. nodeAt[u+1]
	numItems int
}

// NewSessions returns an index of sequences of item ids 1..numItems, one for each user. It fails on an id outside that
// range.
func NewSessions(sequences [][]int32, numItems int) (*Sessions, error) {
	total := 0
	for _, seq := range sequences {
		total += len(seq)
	}
	s := &Sessions{
		items:    make([]int32, 0, total),
		local:    make([]int32, 0, total),
		distinct: make([]int32, 0, total),
		start:    make([]int, 1, len(sequences)+1),
		nodeAt:   make([]int, 1, len(sequences)+1),
		numItems: numItems,
	}
	number := make([]int32, numItems+1) // node number + 1 of an item in the current sequence
	for u, seq := range sequences {
		first := len(s.nodes)
		for p, item := range seq {
			if item < 1 || int(item) > numItems {
				return nil, fmt.Errorf("graph: user %d, position %d: item %d is outside 1..%d", u, p, item, numItems)
			}
			if number[item] == 0 {
				s.nodes = append(s.nodes, item)
				number[item] = int32(len(s.nodes) - first)
			}
			s.items = append(s.items, item)
			s.local = append(s.local, number[item]-1)
			s.distinct = append(s.distinct, int32(len(s.nodes)-first))
		}
		for _, item := range s.nodes[first:] {
			number[item] = 0
		}
		s.start = append(s.start, len(s.items))
		s.nodeAt = append(s.nodeAt, len(s.nodes))
	}
	return s, nil
}

// Users returns the number of sequences.
func (s *Sessions) Users() int { return len(s.start) - 1 }

// NumItems returns the size of the catalogue; item ids run from 1 to NumItems.
func (s *Sessions) NumItems() int { return s.numItems }

// Len returns the number of positions of user u.
func (s *Sessions) Len(u int) int { return s.start[u+1] - s.start[u] }

// Sequence returns the item sequence of user u. Do not change it.
func (s *Sessions) Sequence(u int) []int32 { return s.items[s.start[u]:s.start[u+1]] }
