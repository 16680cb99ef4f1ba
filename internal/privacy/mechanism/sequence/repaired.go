package sequence

import (
	"math"

	"privrec/internal/privacy"
	"privrec/internal/privacy/mechanism"
)

// Draw returns the epsilon of one draw: Epsilon, or for SDPUser Epsilon/Length, rounded so that Length draws spend at
// most Epsilon.
//
// SDPUser is Epsilon-private in a user's row. Proof: SDPFixed writes a cell with probability w/Z, where Z depends only
// on the number of cells written and w is e^draw for the token that stands in the cell and 1 for any other. So a cell
// costs a factor of at most e^draw whatever the row is, and Length cells cost e^(Length draw). The names of zeros are
// part of the row in this argument. Whether a cell holds an item is hidden with the rest.
func (m Mechanism) Draw() float64 {
	if m.Variant != SDPUser || math.IsInf(m.Epsilon, 1) {
		return m.Epsilon
	}
	n := float64(m.Length)
	e := m.Epsilon / n
	if math.FMA(e, n, -m.Epsilon) > 0 {
		e = math.Nextafter(e, 0)
	}
	return e
}

// unit returns the unit that Epsilon protects.
func (m Mechanism) unit() privacy.Unit {
	switch m.Variant {
	case SDPUser:
		return privacy.User
	case Set:
		return privacy.Interaction
	}
	return privacy.Cell
}

// setOdds returns the odds of Set for an item of the row to be in the output, and for another item not to be. The
// second is rounded down to a multiple of 2^-128, which favours privacy.
func (m Mechanism) setOdds() []mechanism.Odds {
	const half = 1 << 63
	return []mechanism.Odds{{Hi: half, Others: 1, P: 0.5}, mechanism.NewOdds(m.Epsilon, 1)[0]}
}

// list writes to row the output of Set for the row that was loaded last.
//
// Proof of its guarantee. Let S be the items of the row, and b_i whether item i is drawn. All b_i are independent, with
// P(b_i = 1) = 1/2 for i in S and q = 1/(e^eps+1) for all others. An item that S loses changes one factor, from 1/2 to
// q or to 1-q: by at most 1/(2q) where b_i = 1, which is below e^eps, and by at most 2(1-q) where it is 0. If S loses
// one item and gains another, the ratio is at most
//
//	1/(2q) * 2(1-q) = (1-q)/q = e^eps
//
// A row is made of the last Length items of a history, each at its first occurrence. One interaction that is added,
// removed, replaced or moved changes S by at most one item that it loses and one that it gains, however long the
// history is. The order of the output and the choice of Length items, where more were drawn, depend only on which items
// were drawn. Rows with the same items have the same law, whatever their order is. A catalogue of Items ids takes Items
// choices.
func (s *Sampler) list(row []int32) {
	there, others := &s.odds[0], &s.odds[1]
	n := int64(len(s.work))
	s.drawn = s.drawn[:0]
	for id := range int32(s.size) {
		if s.marks[id] > s.base {
			if s.d.Keep(there) {
				s.drawn = append(s.drawn, id)
				s.watch.kept++
			}
		} else if !s.d.Keep(others) {
			s.drawn = append(s.drawn, id)
			s.watch.moved++
		}
	}
	s.watch.cells[0] += n
	s.watch.cells[1] += int64(s.size) - n
	clear(row)
	for c, left := len(row)-1, s.drawn; c >= 0 && len(left) > 0; c-- {
		i := s.d.Below(uint64(len(left)))
		row[c] = left[i] + 1
		left[i] = left[len(left)-1]
		left = left[:len(left)-1]
	}
}

// fill writes the output of SDPLengths into the cells that hold items.
func (s *Sampler) fill(row []int32) {
	next := 0
	for c, id := range row {
		if id != 0 {
			row[c] = s.work[next] + 1
			next++
		}
	}
}

// checkSets returns an error if the numbers of drawn items do not fit the law of Set. The bounds of their variances
// depend only on the number of rows.
func (w *watch) checkSets(m Mechanism, table []mechanism.Odds) error {
	rows, q := float64(w.rows), mechanism.ReplaceProbability(m.Epsilon, 1)
	kept := mechanism.Drift{What: "number of items drawn that rows have, about its mean,", B: 1,
		Sum: float64(w.kept) - float64(w.cells[0])*table[0].P, N: w.cells[0], V: rows * float64(m.Length) / 4}
	others := mechanism.Drift{What: "number of other items drawn, about its mean,", B: 1,
		Sum: float64(w.moved) - float64(w.cells[1])*q, N: w.cells[1], V: rows * float64(m.Items) * q * (1 - q)}
	return mechanism.CheckAll(m.Purpose, m.Share, &kept, &others)
}
