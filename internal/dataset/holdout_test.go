package dataset

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
)

// wide is a log of users with rows rows each, the last of which is in test.
func wide(users, rows int) (*Log, []Part) {
	l := &Log{Name: "wide"}
	for i := range rows {
		l.ItemIDs = append(l.ItemIDs, fmt.Sprint(i))
	}
	for u := range users {
		l.UserIDs = append(l.UserIDs, fmt.Sprintf("%04d", u))
		for i := range rows {
			l.Users, l.Items = append(l.Users, int32(u)), append(l.Items, int32(i))
		}
	}
	parts := make([]Part, len(l.Items))
	for u := range users {
		parts[(u+1)*rows-1] = Test
	}
	return l, parts
}

// kept applies h to a clone of parts.
func kept(h HoldOut, l *Log, parts []Part) []Part {
	out := slices.Clone(parts)
	h.Parts(l, out)
	return out
}

// A draw and its swap share out the training rows, and leave test rows alone. The share is the
// chance, with false alarms once in 1e9.
func TestRowsHeldOut(t *testing.T) {
	l, parts := wide(300, 40)
	h := HoldOut{Rows: 0.3, Seed: 7}
	swapped := h
	swapped.Swap = true
	a, b := kept(h, l, parts), kept(swapped, l, parts)
	n, held := 0, 0
	for row, p := range parts {
		switch {
		case p == Test:
			if a[row] != Test || b[row] != Test {
				t.Fatalf("row %d: a test row was held out", row)
			}
		case (a[row] == dropped) == (b[row] == dropped):
			t.Fatalf("row %d is in both halves or in none", row)
		default:
			n++
			if a[row] == dropped {
				held++
			}
		}
	}
	if x := float64(held) / float64(n); math.Abs(x-0.3) > 6.2*math.Sqrt(0.3*0.7/float64(n)) {
		t.Errorf("%.4f of the rows are held out, want 0.3", x)
	}
	h.Draw = 1
	if slices.Equal(a, kept(h, l, parts)) {
		t.Error("two draws are the same")
	}
}

// A user who is held out has no rows at all. Users who are apart are so in every draw.
func TestUsersHeldOut(t *testing.T) {
	l, parts := wide(400, 5)
	h := HoldOut{Users: 0.5, Apart: 0.25, Seed: 3}
	apart := h.UsersApart(l.UserIDs)
	other := HoldOut{Users: 0.5, Apart: 0.25, Seed: 3, Draw: 4, Swap: true}
	swap := other
	swap.Swap = false
	for _, h := range []HoldOut{h, other} {
		held, left := h.UsersHeld(l.UserIDs), kept(h, l, parts)
		n := 0
		for u, is := range held {
			if apart[u] && !is {
				t.Fatalf("user %d is apart, and not held out", u)
			}
			if is {
				n++
			}
			for row := u * 5; row < u*5+5; row++ {
				if (left[row] == dropped) != is {
					t.Fatalf("user %d held out is %v, row %d is %v", u, is, row, left[row])
				}
			}
		}
		if x := float64(n) / 400; math.Abs(x-0.625) > 6.2*math.Sqrt(0.625*0.375/400) {
			t.Errorf("%.3f of the users are held out, want 0.625", x)
		}
	}
	for u, is := range other.UsersHeld(l.UserIDs) {
		if !apart[u] && is == swap.UsersHeld(l.UserIDs)[u] {
			t.Fatalf("user %d is in both halves or in none", u)
		}
	}
}

// A view refuses what cannot be held out, and data that are always whole where it holds something out.
func TestHoldOutInView(t *testing.T) {
	for _, h := range []HoldOut{{}, {Rows: 1}, {Users: -0.1}, {Apart: math.NaN()}} {
		if (View{HoldOut: &h}).Check() == nil {
			t.Errorf("%+v is no error", h)
		}
	}
	whole, held := View{Seed: 5}, View{Seed: 5, HoldOut: &HoldOut{Rows: 0.5, Seed: 9}}
	if whole.Check() != nil || whole.Refuse("x") != nil || whole.RowsSeed() != 5 {
		t.Error("something is held out without a hold-out")
	}
	for _, err := range []error{held.RefuseHoldOut("ml-1m"), held.Refuse("ml-1m")} {
		if err == nil || !strings.HasPrefix(err.Error(), "ml-1m: users and rows of these data") {
			t.Errorf("data that cannot be held out: %v", err)
		}
	}
	if held.Check() != nil || held.RowsSeed() != 9 {
		t.Errorf("the seed of the rows is %d", held.RowsSeed())
	}
}
