package review

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"privrec/internal/calculator"
	"privrec/internal/privacy"
)

// Review holds the content of a page.
type Review struct {
	Subject    string // what is reviewed, such as a title or a task
	Source     string // the file or the folder
	Kind       string // what the source is, in words
	Hash       string // SHA-256 of the source; empty: it has none
	Guarantees []Guarantee
	Claims     []Claim
	Open       []Open
	Public     []string // what the guarantee takes as public
	Released   []string // what leaves, where the source says it
	Noise      string   // how the noise was drawn, in words; empty: not known
	Records    int64    // how many of the unit there are; 0: not known
	Warnings   []Warning
	Rests      []string // what the account rests on
	Ask        []string // what to ask next
	Unsaid     int      // of these, what the source does not say and should
	Nothing    string   // why the source states nothing about privacy; empty: it does
	NotKnown   string   // why neither a guarantee nor the lack of one is known; empty: it is known
}

// Guarantee holds the guarantee of the releases for one unit.
type Guarantee struct {
	Unit       string // in the source's words
	Neighbours privacy.Neighbouring
	Delta      float64 // 0: pure
	Epsilon    float64 // of everything; infinite where something is open
	Covered    float64 // of what noise covers; infinite where nothing is
	Lower      float64 // certified lower bound of Covered; 0: none
	Stated     float64 // as the source states, where its log shows otherwise; 0: it does not
	AtLeast    bool    // the source does not have all releases
	Risk       *calculator.Risk
	Otherwise  []calculator.Otherwise // what it costs where something that Epsilon takes to be so is not
}

// Claim holds an epsilon that is stated elsewhere.
type Claim struct {
	Epsilon float64
	Delta   float64
	Unit    string
	By      string
}

// Open names something that no noise covers.
type Open struct{ What, Why string }

// Warning names a contradiction.
type Warning struct{ Name, Message string }

// main returns the guarantee that the page is about: that of a user if there is one, else the worst. ok is false if
// there is none.
func (r *Review) main() (g Guarantee, ok bool) {
	if len(r.Guarantees) == 0 {
		return g, false
	}
	for _, g := range r.Guarantees {
		if g.Unit == string(privacy.User) {
			return g, true
		}
	}
	return slices.MaxFunc(r.Guarantees, func(a, b Guarantee) int {
		return cmp.Or(cmp.Compare(a.Epsilon, b.Epsilon), cmp.Compare(a.Covered, b.Covered))
	}), true
}

// Epsilon returns the epsilon that the page is about, for one unit. ok is false if none is known.
func (r *Review) Epsilon() (unit string, epsilon float64, ok bool) {
	g, ok := r.main()
	return g.Unit, g.Epsilon, ok
}

// Doubts returns sentences on what makes the epsilon doubtful: unknown, open or assumed facts, and contradictions.
func (r *Review) Doubts() (out []string) {
	for _, why := range []string{r.NotKnown, r.Nothing} {
		if why != "" {
			out = append(out, why)
		}
	}
	for _, o := range r.Open {
		out = append(out, "open: "+o.What)
	}
	if g, ok := r.main(); ok {
		for _, o := range g.Otherwise {
			out = append(out, fmt.Sprintf("epsilon is %s if %s, which is not said", up(o.Epsilon, 4), o.If))
		}
	}
	for _, w := range r.Warnings {
		out = append(out, w.Name+": "+w.Message)
	}
	return out
}

// bounded reports whether the release has a finite epsilon.
func (r *Review) bounded() bool {
	g, ok := r.main()
	return ok && !math.IsInf(g.Epsilon, 1)
}

// addOpen adds an open thing, once.
func (r *Review) addOpen(what, why string) {
	o := Open{what, why}
	if !slices.Contains(r.Open, o) {
		r.Open = append(r.Open, o)
	}
}
