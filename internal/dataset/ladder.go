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

// Level says how strong the evidence of a run on some data is.
type Level byte

// The levels of evidence. Only A and B allow "paper minus ours".
const (
	LevelA Level = 'A' // real data and the authors' own split
	LevelB Level = 'B' // real data with counts equal to the paper's
	// real data with other counts or another split than the published one, or without printed counts to compare
	LevelC Level = 'C'
	LevelD Level = 'D' // synthetic stand-in
)

// String returns the letter.
func (v Level) String() string { return string(v) }

// MarshalText writes the level as a letter.
func (v Level) MarshalText() ([]byte, error) { return []byte{byte(v)}, nil }

// UnmarshalText reads what MarshalText wrote.
func (v *Level) UnmarshalText(b []byte) error {
	if len(b) != 1 || b[0] < 'A' || b[0] > 'D' {
		return fmt.Errorf("dataset: evidence level %q is none of A, B, C, D", b)
	}
	*v = Level(b[0])
	return nil
}

// Meaning returns a phrase that explains the level.
func (v Level) Meaning() string {
	switch v {
	case LevelA:
		return "real data and the authors' split"
	case LevelB:
		return "real data with counts equal to the paper's"
	case LevelC:
		return "real data with other rows or counts than the paper's, or none printed"
	}
	return "synthetic stand-in"
}

// grade returns the level of evidence of data. standIn and from describe the source, checks its counts, and random says
// whether the parts also depend on a seed. Level A needs the published rows in their parts, which counts alone cannot
// show.
func grade(standIn bool, from origin, random bool, checks []Check) Level {
	switch {
	case standIn:
		return LevelD
	case from == splitOther:
		return LevelC
	}
	compared := false
	for _, c := range checks {
		if !c.OK() {
			return LevelC
		}
		compared = compared || c.Paper
	}
	switch {
	case !compared:
		return LevelC
	case from == splitPublished && !random:
		return LevelA
	}
	return LevelB
}
