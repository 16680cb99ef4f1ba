package ggnntest

import (
	"math"
	"slices"
	"testing"

	"privrec/internal/autograd"
	"privrec/internal/model/ggnn"
)

// Session holds the graph of one prefix.
type Session struct {
	Items   []int32 // distinct items, ascending: another order than that of the packed graphs
	At      []int   // node of each position
	In, Out Dense   // counts: Out[i][j] transitions i -> j, In its transpose
}

// NewSession returns the graph of a prefix.
func NewSession(prefix []int32) Session {
	s := Session{Items: slices.Clone(prefix)}
	slices.Sort(s.Items)
	s.Items = slices.Compact(s.Items)
	s.In, s.Out = New(len(s.Items), len(s.Items)), New(len(s.Items), len(s.Items))
	for p, item := range prefix {
		s.At = append(s.At, slices.Index(s.Items, item))
		if p > 0 {
			i, j := s.At[p-1], s.At[p]
			s.Out[i][j]++
			s.In[j][i]++
		}
	}
	return s
}

// Binary returns the adjacency with every count cut to one.
func Binary(counts Dense) Dense {
	m := New(len(counts), len(counts))
	for i := range counts {
		for j, w := range counts[i] {
			m[i][j] = math.Min(w, 1)
		}
	}
	return m
}

// Normalised returns m with every row divided by its sum; a row of zeros stays.
func Normalised(m Dense) Dense {
	y := New(len(m), len(m))
	for i := range m {
		sum := 0.0
		for _, w := range m[i] {
			sum += w
		}
		for j, w := range m[i] {
			if sum > 0 {
				y[i][j] = w / sum
			}
		}
	}
	return y
}

// States returns the rows of an item table for the session's nodes.
func (s Session) States(table Dense) Dense {
	h := make(Dense, len(s.Items))
	for i, item := range s.Items {
		h[i] = slices.Clone(table[item])
	}
	return h
}

// Cell returns the next states of states g (n, d), given x (n, 2d), by the
// formulas of ggnn.Cell. The weights hold the rows of r, z and c in this order.
func Cell(c *ggnn.Cell, x, g Dense) Dense {
	gi, gh := Affine(c.GRU.Wih, c.GRU.Bih, x), Affine(c.GRU.Whh, c.GRU.Bhh, g)
	h := New(len(g), len(g[0]))
	for i := range h {
		d := len(h[i])
		for k := range h[i] {
			r := sigmoid(gi[i][k] + gh[i][k])
			z := sigmoid(gi[i][d+k] + gh[i][d+k])
			m := math.Tanh(gi[i][2*d+k] + r*gh[i][2*d+k])
			h[i][k] = g[i][k] + z*(m-g[i][k])
		}
	}
	return h
}

// Readout returns the session's vector from its node states, position by
// position, by the formulas of ggnn.Readout; user is nil for models without users.
func Readout(r *ggnn.Readout, s Session, h Dense, user []float64) []float64 {
	states := make(Dense, len(s.At))
	for p, i := range s.At {
		states[p] = h[i]
	}
	last := states[len(states)-1]
	ofLast, ofEach := Affine(r.Last.W, r.Last.B, Dense{last})[0], Affine(r.Each.W, r.Each.B, states)
	query := Values(r.Query)[0]
	pooled := make([]float64, len(last))
	for p := range states {
		alpha := 0.0
		for k, q := range query {
			alpha += q * sigmoid(ofLast[k]+ofEach[p][k])
		}
		for k := range pooled {
			pooled[k] += alpha * states[p][k]
		}
	}
	return Affine(r.Join.W, r.Join.B, Dense{slices.Concat(pooled, last, user)})[0]
}

// Tiny returns a batch for gradient checks that holds every shape a session graph
// takes: a repeated item, a repeated transition, a self loop, a prefix of one
// item, two users, and one prefix twice.
func Tiny() Batch {
	return Batch{
		Items:     4,
		Sequences: [][]int32{{1, 2, 1, 2, 2, 3}, {3, 4, 1}},
		User:      []int32{0, 0, 0, 1, 1}, Length: []int32{1, 3, 5, 1, 2}, Samples: []int32{2, 3, 1, 0, 4, 2},
	}
}

// SameTransitions returns two sessions with the same items, the same last item and the same distinct transitions, but
// different numbers of them.
func SameTransitions() Batch {
	return Batch{
		Items: 2, Sequences: [][]int32{{1, 1, 2, 2, 1, 2, 1}, {2, 1, 1, 1, 2, 2, 1}},
		User: []int32{0, 1}, Length: []int32{6, 6}, Samples: []int32{0, 1},
	}
}

// CheckParams fails the test unless there are want parameters, all with
// different names, and the first is named as given.
func CheckParams(t testing.TB, params []*autograd.Param, want int, first string) {
	t.Helper()
	if len(params) != want || params[0].Name != first {
		t.Errorf("%d parameters, the first %q; want %d and %q", len(params), params[0].Name, want, first)
	}
	seen := map[string]bool{}
	for _, p := range params {
		if seen[p.Name] {
			t.Errorf("two parameters are named %q", p.Name)
		}
		seen[p.Name] = true
	}
}
