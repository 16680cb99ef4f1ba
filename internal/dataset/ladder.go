package dataset

import "fmt"

// Rung holds the counts of a data set after one step.
type Rung struct {
	Name    string `json:"name"`
	Users   int    `json:"users"`
	Items   int    `json:"items"`
	Rows    int    `json:"rows"`
	Samples int    `json:"samples,omitempty"` // prefixes with a next item; only after a split
}

// Ladder holds the rungs in the order of the steps.
type Ladder []Rung

// Get returns the last rung with a name.
func (l Ladder) Get(name string) (Rung, bool) {
	for i := len(l) - 1; i >= 0; i-- {
		if l[i].Name == name {
			return l[i], true
		}
	}
	return Rung{}, false
}

// Want is a rung that a recipe must reach. A count of 0 is not stated, so it is not compared.
type Want struct {
	Rung
	Paper bool   // printed in the paper or fixed in its code; otherwise known from another source
	From  string // where the numbers come from, a sentence
}

// Check compares one count with its expectation.
type Check struct {
	Rung  string `json:"rung"`
	Count string `json:"count"` // "users", "items", "rows" or "samples"
	Want  int    `json:"want"`
	Got   int    `json:"got"`
	Paper bool   `json:"paper"`
	From  string `json:"from"`
}

// OK reports whether the count is equal to the expected one.
func (c Check) OK() bool { return c.Want == c.Got }

// String returns one line for display.
func (c Check) String() string {
	verdict := "equal"
	if !c.OK() {
		verdict = fmt.Sprintf("differs from %d", c.Want)
	}
	return fmt.Sprintf("%s: %d %s, %s (%s)", c.Rung, c.Got, c.Count, verdict, c.From)
}

// Compare returns a check of every stated count; a missing rung counts as 0.
func (l Ladder) Compare(wants []Want) []Check {
	var out []Check
	for _, w := range wants {
		got, _ := l.Get(w.Name)
		for _, c := range []struct {
			count     string
			want, got int
		}{
			{"users", w.Users, got.Users}, {"items", w.Items, got.Items},
			{"rows", w.Rows, got.Rows}, {"samples", w.Samples, got.Samples},
		} {
			if c.want != 0 {
				out = append(out, Check{Rung: w.Name, Count: c.count, Want: c.want, Got: c.got, Paper: w.Paper,
					From: w.From})
			}
		}
	}
	return out
}
