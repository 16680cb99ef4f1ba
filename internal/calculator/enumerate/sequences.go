package enumerate

import (
	"fmt"
	"math"
	"slices"

	"privrec/internal/privacy"
	"privrec/internal/privacy/audit/exact"
	"privrec/internal/privacy/mechanism"
	"privrec/internal/privacy/mechanism/sequence"
	"privrec/internal/run"
)

// Sequences asks for the output distribution of a mechanism on users' sequences.
type Sequences struct {
	Variant       string // one of SequenceVariants
	Items, Length int
	Odds          Odds
}

// SequenceVariants lists the mechanisms on sequences.
func SequenceVariants() (names []string) {
	for _, v := range sequence.Variants() {
		names = append(names, string(v))
	}
	return names
}

// maxPaths is the largest number of runs of a mechanism for one answer: about a minute.
const maxPaths = 1 << 22

// tooLarge returns the error for a domain that takes too many runs, with their number.
func tooLarge(flags string, paths float64) error {
	if paths <= maxPaths {
		return nil
	}
	return run.Usagef("take "+flags+" smaller",
		"the whole law takes up to %.3g runs of the mechanism, and an answer may take %d", paths, maxPaths)
}

// Answer computes the distribution.
func (q *Sequences) Answer() (*Answer, error) {
	if !slices.Contains(SequenceVariants(), q.Variant) {
		return nil, run.Usagef("", "--mechanism is %q, want one of %v", q.Variant, SequenceVariants())
	}
	if q.Items < 1 || q.Items > 200 || q.Length < 1 || q.Length > 200 {
		return nil, run.Usagef("", "--items is %d and --length %d, want 1 to 200", q.Items, q.Length)
	}
	if err := q.Odds.fill(); err != nil {
		return nil, err
	}
	if err := tooLarge("--items or --length", q.rows()*q.paths()); err != nil {
		return nil, err
	}
	mech, err := q.law()
	if err != nil {
		return nil, err
	}
	a := &Answer{Title: "Exact audit of the sequence mechanism " + q.Variant, Epsilon: q.Odds.Epsilon,
		At:   q.Odds.String() + ", of one draw",
		Size: fmt.Sprintf("%d items, rows of %d cells, %.0f rows", q.Items, q.Length, q.rows()), Law: q.Odds.law()}
	var (
		classes []exact.Class[exact.Row]
		claims  []claim
		all     []promise
	)
	a.Claim, all = q.promises()
	for _, x := range all {
		classes = append(classes, exact.Class[exact.Row]{Name: string(x.class),
			Pairs: exact.SequencePairs(x.class, q.Items, q.Length)})
		claims = append(claims, claim{string(x.class), x.claimed, x.recorded})
	}
	return a, enumerate(a, &q.Odds, mech, classes, claims)
}

// promise holds the claimed epsilon of a class of neighbours, as recorded in ledgers, in multiples of the epsilon of
// one draw.
type promise struct {
	class             exact.SequenceClass
	claimed, recorded float64
}

// promises returns the claims of the mechanism, in words and by class. Classes without a claim are left out.
func (q *Sequences) promises() (claim string, all []promise) {
	row := float64(q.Length)
	switch sequence.Variant(q.Variant) {
	case sequence.SDPUser:
		return "as many epsilons of a draw as a row has cells, for a user's whole row; the epsilon of the mechanism " +
				"is that of the row",
			[]promise{{exact.ItemItem, 1, row}, {exact.ZeroItem, 1, row}, {exact.SwapZero, 1, row},
				{exact.AnyRow, row, row}}
	case sequence.SDPLengths:
		for _, c := range []exact.SequenceClass{exact.ItemItem, exact.SwapFull, exact.SwapClear, exact.SwapFront,
			exact.SwapAfter} {
			all = append(all, promise{c, 1, 1})
		}
		return "epsilon for another item in a cell, or an exchange of two items; how many items a row has, and " +
				"where, is public",
			append(all, promise{exact.SameCells, row, row})
	case sequence.Set:
		return "epsilon for one interaction that is added, removed, replaced or moved, and nothing for an order",
			[]promise{{exact.SameItems, 0, 1}, {exact.MoreItem, 1, 1}, {exact.OtherItem, 1, 1},
				{exact.AnyRow, row, row}}
	}
	claim = "PriCDSR paper, theorem 1: epsilon for every two neighbours of its definition 2, one cell or an exchange " +
		"of two"
	if q.Variant == string(sequence.RR) {
		claim = "randomised response: epsilon for one cell, twice that for an exchange of two"
	}
	for _, c := range exact.SequenceClasses() {
		x := promise{c, 1, 1}
		switch swap := c != exact.ItemItem && c != exact.ZeroItem; {
		case q.Variant == string(sequence.SDPPaper):
			x.recorded = 2
		case q.Variant == string(sequence.RR):
			x.recorded = 2
			if swap {
				x.claimed = 2
			}
		}
		all = append(all, x)
	}
	return claim, all
}

// rows returns the number of rows: items in k of the cells, in any order, for every k.
func (q *Sequences) rows() (n float64) {
	for k, term := 0, 1.0; k <= min(q.Items, q.Length); k++ {
		n += term
		term *= float64(q.Items-k) * float64(q.Length-k) / float64(k+1)
	}
	return n
}

// paths returns an upper bound on the number of runs for one row's distribution.
func (q *Sequences) paths() float64 {
	outcomes := q.Items + 1
	switch sequence.Variant(q.Variant) {
	case sequence.SDPFixed, sequence.SDPUser:
		outcomes = q.Items + q.Length
	case sequence.Set: // which are drawn, and in which order the last of them stand
		n := math.Pow(2, float64(q.Items))
		for i := range min(q.Items, q.Length) {
			n *= float64(q.Items - i)
		}
		return n
	}
	return math.Pow(float64(outcomes), float64(q.Length))
}

// law returns the sampler as a function of its choices. The sampler records in a ledger in memory, which is thrown
// away, since nothing is released.
func (q *Sequences) law() (exact.Mechanism[exact.Row, exact.Row], error) {
	forced := &choices{x: q.Odds.x}
	l, err := privacy.NewLedger(privacy.Research)
	if err != nil {
		return nil, err
	}
	m := sequence.Mechanism{Purpose: "audit", Variant: sequence.Variant(q.Variant), Epsilon: q.Odds.Epsilon,
		Items: q.Items, Length: q.Length}
	if m.Variant == sequence.SDPUser {
		m.Epsilon *= float64(q.Length)
	}
	r, err := m.Open(l, mechanism.Chosen(forced))
	if err != nil {
		return nil, err
	}
	s, err := r.Sampler(0, math.MaxUint64)
	if err != nil {
		return nil, err
	}
	user, row := uint64(0), make([]int32, q.Length)
	return func(in exact.Row, c *exact.Choices) exact.Row {
		for i := range row {
			row[i] = int32(in[i])
		}
		forced.c = c
		if err := s.Row(user, row); err != nil {
			panic(fmt.Errorf("audit: a row of the mechanism's domain was refused: %w", err))
		}
		user++
		out := make([]byte, len(row))
		for i, id := range row {
			out[i] = byte(id)
		}
		return exact.Row(out)
	}, nil
}
