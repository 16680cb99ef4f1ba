// Package nearest keeps the nearest neighbours of users or items, for the models that score by
// them. Lists has every worker find those of a share of the rows; Common counts what two rows
// of a 0/1 matrix share; Keep takes the nearest; Options find them by the similarity of rows. Equal weights are
// ordered by number, so that results do not depend on the number of workers.
package nearest

import (
	"context"
	"slices"

	"privrec/internal/progress"
	"privrec/internal/tensor"
)

// Neighbour holds a user or item and its weight for another one.
type Neighbour struct {
	ID     int32
	Weight float64
}

// Lists returns the neighbours of rows 0..n-1. cost estimates the time for a row, for the progress that is shown under
// the name what. Each worker calls worker for a function of its own that finds them. Lists fails if ctx ends.
func Lists(ctx context.Context, what string, n int, cost func(j int) float64,
	worker func() func(j int) []Neighbour) ([][]Neighbour, error) {
	lists := make([][]Neighbour, n)
	s := progress.BeginShares(ctx, what)
	defer s.End()
	all, done := 0.0, 0.0
	for j := range n {
		all += cost(j)
	}
	const grain = 64           // rows of a unit
	const between = 64 * grain // and between two reports
	for from := 0; from < n; from += between {
		to := min(from+between, n)
		tensor.Parallel(to-from, grain, func(_, lo, hi int) {
			find := worker()
			for j := from + lo; j < from+hi && ctx.Err() == nil; j++ {
				lists[j] = find(j)
			}
		})
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		for j := from; j < to; j++ {
			done += cost(j)
		}
		s.Share(done / max(1, all))
	}
	return lists, nil
}

// Matrix describes a 0/1 matrix: columns lists the columns of a row, and rows the rows of a column.
type Matrix struct {
	Columns, Rows func(int) []int32
}

// Pairs returns the number of pairs of row j with others that Common looks at.
func (m Matrix) Pairs(j int) (n float64) {
	for _, c := range m.Columns(j) {
		n += float64(len(m.Rows(int(c))))
	}
	return n
}

// Common counts the columns that a row shares with other rows. One goroutine at a time may use it.
type Common struct {
	Matrix
	count []int32
	seen  []int32
	found []Neighbour
}

// NewCommon returns a counter for a matrix of n rows.
func NewCommon(m Matrix, n int) *Common { return &Common{Matrix: m, count: make([]int32, n)} }

// Neighbours returns a neighbour for every other row that shares a column with row j. weight returns its weight, given
// the number of shared columns. The list is valid until the next call.
func (c *Common) Neighbours(j int, weight func(i int32, common int32) float64) []Neighbour {
	c.seen, c.found = c.seen[:0], c.found[:0]
	for _, col := range c.Columns(j) {
		for _, i := range c.Rows(int(col)) {
			if c.count[i] == 0 {
				c.seen = append(c.seen, i)
			}
			c.count[i]++
		}
	}
	for _, i := range c.seen {
		if int(i) != j {
			c.found = append(c.found, Neighbour{i, weight(i, c.count[i])})
		}
		c.count[i] = 0
	}
	return c.found
}

// Keep returns the k neighbours with the largest weights, the largest first. If normalise is set, their weights are
// scaled to sum to 1. It changes the order of all.
func Keep(all []Neighbour, k int, normalise bool) []Neighbour {
	list := slices.Clone(best(all, k))
	if normalise {
		sum := 0.0
		for _, n := range list {
			sum += n.Weight
		}
		for k := range list {
			list[k].Weight /= sum
		}
	}
	return list
}

// Reversed returns for every row the rows that have it among their neighbours, with their weights, in the order of
// their numbers.
func Reversed(lists [][]Neighbour) [][]Neighbour {
	size := make([]int, len(lists))
	for _, list := range lists {
		for _, n := range list {
			size[n.ID]++
		}
	}
	out := make([][]Neighbour, len(lists))
	for j, n := range size {
		out[j] = make([]Neighbour, 0, n)
	}
	for j, list := range lists {
		for _, n := range list {
			out[n.ID] = append(out[n.ID], Neighbour{ID: int32(j), Weight: n.Weight})
		}
	}
	return out
}

// KeepColumns returns the lists of neighbours cut by column: among all rows that have the same neighbour, the k with
// its largest weights keep it. Weights stay as they are.
func KeepColumns(lists [][]Neighbour, k int) [][]Neighbour {
	columns := Reversed(lists)
	for j, of := range columns {
		columns[j] = Keep(of, k, false)
	}
	rows := Reversed(columns)
	for _, row := range rows {
		slices.SortFunc(row, order)
	}
	return rows
}

// order compares neighbours for a sort with the larger weight first, and among equal ones the lower number.
func order(a, b Neighbour) int {
	if a.Weight != b.Weight {
		if a.Weight > b.Weight {
			return -1
		}
		return 1
	}
	return int(a.ID) - int(b.ID)
}

// best returns the first k of all in sorted order. It changes the order of all.
func best(all []Neighbour, k int) []Neighbour {
	if len(all) > k {
		heap := all[:k] // its root is the last of those kept
		for i := k/2 - 1; i >= 0; i-- {
			sink(heap, i)
		}
		for _, n := range all[k:] {
			if order(n, heap[0]) < 0 {
				heap[0] = n
				sink(heap, 0)
			}
		}
		all = heap
	}
	slices.SortFunc(all, order)
	return all
}

// sink restores the heap below place i.
func sink(heap []Neighbour, i int) {
	for {
		c := 2*i + 1
		if c >= len(heap) {
			return
		}
		if c+1 < len(heap) && order(heap[c+1], heap[c]) > 0 {
			c++
		}
		if order(heap[c], heap[i]) <= 0 {
			return
		}
		heap[i], heap[c] = heap[c], heap[i]
		i = c
	}
}
