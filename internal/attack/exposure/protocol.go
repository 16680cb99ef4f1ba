package exposure

import (
	"fmt"
	"slices"

	"privrec/internal/dataset/slate"
)

// Values of [Protocol].Vocabulary: the candidates for guesses.
const (
	VocabularyFull   = "full"   // every item
	VocabularyLogged = "logged" // the items of the user's own log, among which the clicks are
)

// Values of [Protocol].Budget: the number of guesses for a pair at cutoff k, with L clicks to infer.
const (
	// BudgetKL gives k*L: of L lists the first k, of a single list the first k*L, dealt out (see [Deal]). The
	// text gives the point-wise attack as many guesses as the sequence-wise one.
	BudgetKL = "k*L"
	// BudgetK gives k: of a single list the first k, of L lists the first k distinct items, by rank, then by
	// list.
	BudgetK = "k"
	// BudgetList gives k of every list: k for a single list, up to k*L for L lists. The released program does
	// so. Point-wise and sequence-wise scores cannot be compared under it.
	BudgetList = "list"
)

// Protocol says how guesses are scored. The paper's text, its program and a fair comparison differ here: the defaults
// are fair, and the three booleans are those of the program.
type Protocol struct {
	// Vocabulary is VocabularyFull or VocabularyLogged; "" is full. The program ranks only the user's own
	// logged items, about 130 with the clicks among them, which the paper does not say. Random guesses find
	// most of these clicks, so scores under it must be labelled and serve only to compare with the printed
	// tables.
	Vocabulary string `yaml:"vocabulary"`
	Budget     string `yaml:"budget"`  // BudgetKL, BudgetK or BudgetList; "" is k*L
	Cutoffs    []int  `yaml:"cutoffs"` // k, ascending; none is 5, 10, 20

	// leave out pairs with an item that no training pair holds; otherwise unknown clicks are misses
	CompleteOnly bool `yaml:"complete_only"`
	// leave out pairs whose clicks repeat an item; otherwise a repeated click is a miss
	DistinctTargets bool `yaml:"distinct_targets"`
	// leave out pairs for which one of several lists is empty, because decoding ended; otherwise its guesses are misses
	DropEnded bool `yaml:"drop_ended"`

	// Logged holds the items shown to each user of the pairs, possibly repeated: [slate.Set].Logged. Only
	// VocabularyLogged reads it.
	Logged [][]int32 `yaml:"-" json:"-"`
}

// Check returns the first wrong field, by its name in files, and the problem. Both are empty if no field is wrong, as
// in the zero value.
func (q Protocol) Check() (field, problem string) {
	q = q.withDefaults()
	switch {
	case q.Vocabulary != VocabularyFull && q.Vocabulary != VocabularyLogged:
		return "vocabulary", fmt.Sprintf("%q is none of %q", q.Vocabulary, []string{VocabularyFull, VocabularyLogged})
	case q.Budget != BudgetKL && q.Budget != BudgetK && q.Budget != BudgetList:
		return "budget", fmt.Sprintf("%q is none of %q", q.Budget, []string{BudgetKL, BudgetK, BudgetList})
	}
	for i, k := range q.Cutoffs {
		if k < 1 || k > 1000 {
			return "cutoffs", fmt.Sprintf("%d is outside 1..1000", k)
		}
		if i > 0 && k <= q.Cutoffs[i-1] {
			return "cutoffs", fmt.Sprintf("%d after %d: they must ascend", k, q.Cutoffs[i-1])
		}
	}
	return "", ""
}

func (q Protocol) withDefaults() Protocol {
	if q.Vocabulary == "" {
		q.Vocabulary = VocabularyFull
	}
	if q.Budget == "" {
		q.Budget = BudgetKL
	}
	if len(q.Cutoffs) == 0 {
		q.Cutoffs = []int{5, 10, 20}
	}
	return q
}

// same reports whether two protocols are equal with their defaults filled in.
func (q Protocol) same(o Protocol) bool {
	return q.Vocabulary == o.Vocabulary && q.Budget == o.Budget && slices.Equal(q.Cutoffs, o.Cutoffs) &&
		q.CompleteOnly == o.CompleteOnly && q.DistinctTargets == o.DistinctTargets && q.DropEnded == o.DropEnded &&
		(q.Vocabulary != VocabularyLogged || slices.EqualFunc(q.Logged, o.Logged, slices.Equal[[]int32]))
}

// String returns the words that a table under this protocol must carry.
func (q Protocol) String() string {
	q = q.withDefaults()
	s := "full vocabulary"
	if q.Vocabulary == VocabularyLogged {
		s = "logged candidates (the clicks are among them)"
	}
	switch q.Budget {
	case BudgetKL:
		s += ", k*L guesses"
	case BudgetK:
		s += ", k guesses"
	case BudgetList:
		s += ", k guesses of every list"
	}
	for _, b := range []struct {
		on   bool
		what string
	}{{q.CompleteOnly, "with unknown items"}, {q.DistinctTargets, "with repeated clicks"},
		{q.DropEnded, "whose decoding ended early"}} {
		if b.on {
			s += ", without pairs " + b.what
		}
	}
	return s
}

// Dropped counts the pairs that a protocol leaves out, each under the first reason that applies.
type Dropped struct {
	Incomplete int `json:"incomplete"`
	Repeated   int `json:"repeated"`
	Ended      int `json:"ended"`
}

// rows returns the pairs to answer, and the number of those left out.
func (q Protocol) rows(p *slate.Pairs) (rows []int32, dropped Dropped) {
	rows = make([]int32, 0, p.Len())
	for i := range p.Len() {
		switch {
		case q.CompleteOnly && !p.Complete[i]:
			dropped.Incomplete++
		case q.DistinctTargets && repeats(p.Behaviour(i)):
			dropped.Repeated++
		default:
			rows = append(rows, int32(i))
		}
	}
	return rows, dropped
}

// repeats reports whether an item is clicked twice. Unknown items are not known to be the same.
func repeats(b []int32) bool {
	for i, v := range b {
		if v >= slate.FirstItem && slices.Contains(b[:i], v) {
			return true
		}
	}
	return false
}

// candidates returns the candidates of each row, nil for all items: each item of a user's log once, in the order in
// which it was first shown. The program has this order too, and floors break ties by it.
func (q Protocol) candidates(p *slate.Pairs, rows []int32) (func(row int32) []int32, error) {
	if q.Vocabulary != VocabularyLogged {
		return nil, nil
	}
	of := make([][]int32, len(q.Logged))
	seen := map[int32]bool{}
	for _, row := range rows {
		u := p.Users[row]
		if int(u) >= len(of) || u < 0 || q.Logged[u] == nil {
			return nil, fmt.Errorf("logged candidates: pair %d: what user %d was shown is not known", row, u)
		}
		if of[u] != nil {
			continue
		}
		clear(seen)
		own := make([]int32, 0, len(q.Logged[u]))
		for _, v := range q.Logged[u] {
			if v >= slate.FirstItem && !seen[v] {
				seen[v] = true
				own = append(own, v)
			}
		}
		of[u] = slices.Clip(own)
	}
	return func(row int32) []int32 { return of[p.Users[row]] }, nil
}
