package definition

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// Definition describes how one program computes ranking metrics.
type Definition struct {
	Name    string // privrec, recbole, lenskit, elliot, ranx, trec_eval
	Program string // with its version
	Who     string // which users are averaged
	Order   string // how a list is ordered
	Repeats string // how an item counts that a list holds twice
	// RefusesRepeats is set if no list may hold an item twice.
	RefusesRepeats bool
	// Graded is set if gains above 1 count as such. Otherwise every relevant item counts 1.
	Graded bool
	// Without lists metrics that the program does not have.
	Without []string

	order   func(*Input, []Entry) []Entry
	counts  func(*sample) bool // whether a user is averaged
	targets func([]Target) []Target
	each    []measure // means over users
	whole   []overall // of all lists
}

// measure is the mean of a value over users.
type measure struct {
	name    string // as in "NDCG"
	uncut   bool   // looks at the whole list, whatever the cut-off
	train   bool   // needs the training rows
	formula string // of one user's value
	of      func(r *run, k int) func(*sample) float64
	fails   func(r *run) string // why the program fails on the input; "": it does not
}

// overall is a value computed from all lists together.
type overall struct {
	name    string
	train   bool // needs the training rows
	formula string
	of      func(r *run, k int) float64
	fails   func(r *run) string
}

// run holds an input in the form that a definition sees.
type run struct {
	in       *Input
	samples  []sample // of all users
	averaged []*sample
}

// Value holds one metric.
type Value struct {
	Name    string // as in "NDCG@10"
	Kind    string // as in "NDCG"
	Value   float64
	Formula string // of one user's value, or of all lists', in the notation of the package
}

// Absent names a metric without a value, and why.
type Absent struct {
	Kind string
	Why  string
}

// Result holds the metrics of an input under a definition.
type Result struct {
	Values []Value
	Absent []Absent
	// Averaged is the number of users in the means. Empty is how many of them have no list and count 0.
	Averaged, Empty int
}

// all returns the definitions, privrec's first.
func all() []Definition {
	return []Definition{ours(), recbole(), lenskit(), elliot(), ranx(), trecEval()}
}

// Names returns the names of the definitions.
func Names() (names []string) {
	for _, d := range all() {
		names = append(names, d.Name)
	}
	return names
}

// Of returns the definition with a name.
func Of(name string) (Definition, error) {
	for _, d := range all() {
		if d.Name == name {
			return d, nil
		}
	}
	return Definition{}, fmt.Errorf("no definition is called %q, want one of %s", name, strings.Join(Names(), ", "))
}

// Measure computes every metric of the definition at every cut-off. Sums are taken in the order of the users. Cut-offs
// are at least 1.
func (d Definition) Measure(in *Input, cutoffs []int) Result {
	r := d.run(in)
	res := Result{Averaged: len(r.averaged)}
	for _, s := range r.averaged {
		if !s.listed {
			res.Empty++
		}
	}
	for _, m := range d.each {
		if why := m.why(r); why != "" {
			res.Absent = append(res.Absent, Absent{m.name, why})
			continue
		}
		for _, k := range m.cuts(cutoffs) {
			of, sum := m.of(r, k), 0.0
			for _, s := range r.averaged {
				sum += of(s)
			}
			res.Values = append(res.Values, Value{at(m.name, k), m.name, share(sum, float64(len(r.averaged))),
				m.formula})
		}
	}
	for _, m := range d.whole {
		if why := m.why(r); why != "" {
			res.Absent = append(res.Absent, Absent{m.name, why})
			continue
		}
		for _, k := range cutoffs {
			res.Values = append(res.Values, Value{at(m.name, k), m.name, m.of(r, k), m.formula})
		}
	}
	for _, name := range d.Without {
		res.Absent = append(res.Absent, Absent{name, d.Program + " has no such metric"})
	}
	return res
}

// run returns the lists of an input in order, with their hits.
func (d Definition) run(in *Input) *run {
	r := &run{in: in, samples: make([]sample, len(in.Users))}
	gain := make([]float64, len(in.Items)) // of the user at hand
	for u := range in.Users {
		s := &r.samples[u]
		s.listed, s.judged = len(in.Users[u].List) > 0, len(in.Users[u].Truth) > 0
		truth := d.targets(in.Users[u].Truth)
		for _, t := range truth {
			if t.Gain >= 1 {
				g := 1.0
				if d.Graded {
					g = t.Gain
				}
				s.relevant++
				s.ideal = append(s.ideal, g)
				gain[t.Item] = g
			}
		}
		slices.SortFunc(s.ideal, func(a, b float64) int { return cmp.Compare(b, a) })
		for _, e := range d.order(in, in.Users[u].List) {
			s.list = append(s.list, e.Item)
			s.gain = append(s.gain, gain[e.Item])
		}
		for _, t := range truth {
			gain[t.Item] = 0
		}
		if d.counts(s) {
			r.averaged = append(r.averaged, s)
		}
	}
	return r
}

// once returns the targets with only the last of each item.
func once(truth []Target) []Target {
	at := make(map[int32]int, len(truth))
	var out []Target
	for _, t := range truth {
		if i, seen := at[t.Item]; seen {
			out[i] = t
			continue
		}
		at[t.Item] = len(out)
		out = append(out, t)
	}
	return out
}

// noTrain is the reason why a metric that needs training rows has no value.
const noTrain = "needs the training rows"

func (m measure) why(r *run) string { return why(m.train, m.fails, r) }
func (m overall) why(r *run) string { return why(m.train, m.fails, r) }

func why(train bool, fails func(*run) string, r *run) string {
	if train && r.in.Train == nil {
		return noTrain
	}
	if fails != nil {
		return fails(r)
	}
	return ""
}

// cuts returns the cut-offs of a measure, or 0 if it has none.
func (m measure) cuts(cutoffs []int) []int {
	if m.uncut {
		return []int{0}
	}
	return cutoffs
}

// at returns the name of a metric at a cut-off; 0 means that it has none.
func at(name string, k int) string {
	if k == 0 {
		return name
	}
	return fmt.Sprintf("%s@%d", name, k)
}
