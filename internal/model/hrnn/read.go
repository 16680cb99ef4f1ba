package hrnn

import (
	"slices"

	"privrec/internal/autograd"
	"privrec/internal/tensor"
)

// Sequence holds the items of one user to read.
type Sequence struct {
	Items  []int32
	Begins []bool // the item begins a session; the first one always does
}

// Memory holds the states of n users between two readings.
type Memory struct {
	State
	Known []bool // of a user something has been read
}

// NewMemory returns the memory of n users who have not been read yet.
func NewMemory(n, d int) Memory { return Memory{NewState(n, d), make([]bool, n)} }

// Read reads one sequence for each user of the memory, all side by side, and updates the memory for later sessions.
// visit gets the states after the item at a place: row k of states (len(users), d) belongs to users[k]. They are valid
// during the call. The states of a session's last item predict what comes next, but nothing continues from them, as in
// training. Read resets the tape.
func (m *Model) Read(t *autograd.Tape, mem Memory, sequences []Sequence,
	visit func(place int, users []int32, states tensor.Matrix)) {
	order := make([]int32, len(sequences)) // longest first
	for u := range order {
		order[u] = int32(u)
	}
	length := func(u int32) int { return len(sequences[u].Items) }
	slices.SortStableFunc(order, func(a, b int32) int { return length(b) - length(a) })
	now := NewState(len(sequences), m.Config.Dim) // in that order
	for k, u := range order {
		copy(tensor.Row(now.Session, k), tensor.Row(mem.Session, int(u)))
		copy(tensor.Row(now.User, k), tensor.Row(mem.User, int(u)))
	}
	items, begins := make([]int32, len(order)), make([]Begin, len(order))
	for place := 0; ; place++ {
		n := 0
		for n < len(order) && length(order[n]) > place {
			u := order[n]
			items[n], begins[n] = sequences[u].Items[place], Nothing
			if place == 0 || sequences[u].Begins[place] {
				if begins[n] = User; mem.Known[u] {
					begins[n] = Session
				}
			}
			n++
		}
		if n == 0 {
			break
		}
		t.Reset()
		session, user := m.Step(t, State{tensor.RowsView(now.Session, 0, n), tensor.RowsView(now.User, 0, n)},
			items[:n], begins[:n], 0)
		visit(place, order[:n], session.V)
		for k, u := range order[:n] {
			if next := place + 1; next < length(u) && !sequences[u].Begins[next] {
				copy(tensor.Row(now.Session, k), tensor.Row(session.V, k))
				copy(tensor.Row(now.User, k), tensor.Row(user.V, k))
				mem.Known[u] = true
			}
		}
	}
	for k, u := range order {
		copy(tensor.Row(mem.Session, int(u)), tensor.Row(now.Session, k))
		copy(tensor.Row(mem.User, int(u)), tensor.Row(now.User, k))
	}
}
