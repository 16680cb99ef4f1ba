package dataset

import (
	"fmt"

	"privrec/internal/rng"
)

// HoldOut says which users and rows a model does not get, so that the difference between them and the others can be
// measured. Each is drawn independently, so neither a user's number of rows nor an item's popularity affects the draw.
// Users and items keep their numbers.
type HoldOut struct {
	Users float64 // chance of a user in [0,1): all of their rows are held out, of every part
	Rows  float64 // chance of a training row in [0,1)
	// Apart is the chance in [0,1) that a user is held out beforehand, by a draw that Draw and Swap do not change. A
	// model on which an attacker practises leaves out the attacked users.
	Apart float64
	Draw  uint64 // number of the draw
	Swap  bool   // exchanges the two groups: what the draw holds out is kept, and the rest is held out
	// Labels holds rows out of the training targets only: they stay in the data, and in a graph of them.
	// Interactions.Labels has the remaining targets.
	Labels bool
	// Seed decides the draws. It also replaces the run's seed for generated rows and random splits, so that models with
	// seeds of their own have the same rows.
	Seed rng.Seed
}

// Check returns an error for a chance out of its range, and if nothing is held out.
func (h HoldOut) Check() error {
	for _, c := range []struct {
		name  string
		value float64
	}{{"users", h.Users}, {"rows", h.Rows}, {"apart", h.Apart}} {
		if !(c.value >= 0 && c.value < 1) {
			return fmt.Errorf("dataset: chance of %s to be held out is %v, want at least 0 and below 1", c.name,
				c.value)
		}
	}
	if h.Labels && (h.Users != 0 || h.Apart != 0) {
		return fmt.Errorf("dataset: labels are held out of rows, and users are to be held out whole")
	}
	if h.Users == 0 && h.Rows == 0 && h.Apart == 0 {
		return fmt.Errorf("dataset: nothing is held out")
	}
	return nil
}

// UsersApart returns which users, given by their ids, h holds out before its draw.
func (h HoldOut) UsersApart(ids []string) []bool {
	lots, out := NewLots(h.Seed.Stream("hold out apart")), make([]bool, len(ids))
	for u, id := range ids {
		out[u] = lots.User(id) < h.Apart
	}
	return out
}

// UsersHeld returns which users, given by their ids, have all of their rows held out.
func (h HoldOut) UsersHeld(ids []string) []bool {
	out := h.UsersApart(ids)
	if h.Users == 0 {
		return out
	}
	lots := NewLots(h.Seed.Stream("hold out user", h.Draw))
	for u, id := range ids {
		out[u] = out[u] || lots.User(id) < h.Users != h.Swap
	}
	return out
}

// rows returns the draws about rows, and a function that reports for a drawn number whether the row is held out.
func (h HoldOut) rows() (lots *Lots, held func(number uint64) bool) {
	return NewLots(h.Seed.Stream("hold out rows", h.Draw)),
		func(number uint64) bool { return h.Rows > 0 && below(number, h.Rows) != h.Swap }
}

// Parts removes the held-out rows from the parts of a log. Training rows are drawn among a user's training rows, as
// Lots draws about rows.
func (h HoldOut) Parts(l *Log, parts []Part) {
	off, users := l.Offsets(), h.UsersHeld(l.UserIDs)
	lots, drawn := h.rows()
	var train []int
	for u, held := range users {
		train = trainRows(train[:0], parts, off[u], off[u+1])
		for k, number := range lots.Rows(l.UserIDs[u], len(train),
			func(k int) string { return l.ItemIDs[l.Items[train[k]]] }) {
			if drawn(number) {
				parts[train[k]] = dropped
			}
		}
		if held {
			for row := off[u]; row < off[u+1]; row++ {
				parts[row] = dropped
			}
		}
	}
}
