package sequence

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"privrec/internal/privacy"
	"privrec/internal/privacy/mechanism"
)

// Variant names a way to perturb sequences.
type Variant string

const (
	// SDPPaper is exactly the mechanism of the PriCDSR paper (figure 2, equation 1). Its theorem 1 is
	// false for rows with zeros: the exchange is left out when a 0 is drawn, and the probabilities of
	// an output for rows with two swapped cells can then differ by a factor e^(2 eps). It is
	// 2 eps-private in its cells and their order, and the ledger records that.
	SDPPaper Variant = "sdp-paper"
	// SDPFixed is SDPPaper with named zeros: padding becomes Length distinct tokens, no case is special, and tokens are
	// written as 0 again. It is eps-private in its cells and their order, since for rows of distinct tokens the paper's
	// proof is right. It does not matter which token a zero becomes: the mechanism treats tokens alike, and all are
	// written as 0. The law is that of randomly named tokens, where neighbours stay neighbours.
	SDPFixed Variant = "sdp-fixed"
	// RR perturbs every cell separately by randomised response over the items and 0. It is
	// eps-private in a cell, and 2 eps-private in the order of two cells. An item may be in the
	// output more than once.
	RR Variant = "rr"
	// SDPUser is SDPFixed with an Epsilon for a user's whole row: each draw has Epsilon/Length.
	SDPUser Variant = "sdp-user"
	// SDPLengths perturbs the cells that hold items and leaves padding where it is. It is eps-private in the value of
	// such a cell and the order of two of them. It reveals how many items a row has and where its padding is.
	SDPLengths Variant = "sdp-lengths"
	// Set releases only the set of a row's items: every item of the row with probability 1/2, and every other item of
	// the catalogue with probability 1/(e^eps+1). It is eps-private in one interaction that is added, removed, replaced
	// or moved.
	Set Variant = "set"
)

// Variants returns all variants, first those whose guarantee is their Epsilon.
func Variants() []Variant { return []Variant{SDPFixed, SDPLengths, SDPUser, Set, SDPPaper, RR} }

// Mechanism perturbs users' sequences: rows of Length ids, 1 to Items, each at most once, and 0
// for padding, anywhere ("Privacy-preserving cross-domain sequential recommendation", the
// PriCDSR paper, section III). Neighbours differ in the value of one cell, or by an exchange of
// two cells of one row (definition 2). For each cell in turn an id is drawn: the one in the cell
// with weight e^eps, and each other that was not written yet with weight 1. If the drawn id is
// in a later cell, the two change places.
//
// Items must be the size of a public catalogue. A catalogue taken from the data reveals with
// certainty which user is the only one with an item.
type Mechanism struct {
	Purpose string
	Variant Variant
	Epsilon float64         // of one draw; of a row for SDPUser, of an interaction for Set; see Event for what it costs
	Items   int             // m
	Length  int             // L
	Share   mechanism.Share // of the run's false-alarm probability
	// Limits allows the two extreme values of Epsilon. With 0 the output does not depend on the input. With +Inf it is
	// the input, and the ledger records that nothing is protected.
	Limits bool
}

// Limits of the row and the catalogue. They keep every id and every mark of a sampler, four bytes an id, within 32
// bits, and every sum of ids within 64.
const (
	maxLength = 1 << 20
	maxItems  = 1 << 28
)

// Event returns the perturbation of every row, once, as an accountant sees it. Rows of several
// users are disjoint parts of the data, so they are one release.
func (m Mechanism) Event() privacy.Event {
	switch {
	case m.Limits && m.Epsilon == 0:
		return privacy.PureLDP{Epsilon: mechanism.FlatBelow, Unit: m.unit()}
	case m.Limits && math.IsInf(m.Epsilon, 1):
		return privacy.Unprotected{What: m.Purpose, Why: "epsilon is infinite: every sequence is released as it is"}
	case m.Variant == SDPPaper:
		return privacy.PureLDP{Epsilon: 2 * m.Epsilon, Unit: privacy.Cell}
	case m.Variant == RR: // an exchange changes two cells
		return privacy.SelfComposed{Count: 2, Event: privacy.RandomizedResponse{Epsilon: m.Epsilon,
			Categories: int64(m.Items) + 1, Unit: privacy.Cell}}
	}
	return privacy.PureLDP{Epsilon: m.Epsilon, Unit: m.unit()}
}

// record records the release, and that a user has Length cells. That number is a setting and reveals nothing of the
// data: all rows have that length, with padding if there is no item, and all cells are perturbed. The longest history
// would be data, and an account based on it would hold only among users with no longer one.
func (m Mechanism) record(l *privacy.Ledger) error {
	e := m.Event()
	if _, ok := e.(privacy.Unprotected); !ok && m.Variant != SDPUser {
		if err := l.Hold(privacy.Holding{Unit: privacy.User, Of: m.unit(), Most: int64(m.Length)}); err != nil {
			return err
		}
	}
	return l.Record(m.Purpose, e, 1)
}

// UserEvent returns the release for neighbours that differ in a whole row. It costs a factor e^eps of a draw for each
// cell, which two full rows without a common item reach. For SDPLengths both rows have their padding in the same
// places.
func (m Mechanism) UserEvent() privacy.Event {
	e := m.Epsilon * float64(m.Length)
	if m.Variant == SDPUser {
		e = m.Epsilon
	}
	switch {
	case m.Limits && m.Epsilon == 0:
		e = mechanism.FlatBelow
	case math.IsInf(m.Epsilon, 1):
		return m.Event()
	}
	return privacy.PureLDP{Epsilon: e, Unit: privacy.User}
}

// others returns how many other ids can be drawn for a cell, after k ids other than 0 were written to the row.
func (m Mechanism) others(k int) uint64 {
	n := m.Items
	switch m.Variant {
	case SDPPaper:
		n -= k
	case SDPFixed, SDPUser:
		n += m.Length - 1 - k
	case SDPLengths:
		n -= 1 + k
	}
	return uint64(max(n, 0))
}

// Keep returns the probability that a cell keeps its id, 1/(1 + N e^-eps). N is Items for RR.
// For SDPPaper, after k ids other than 0 were written, it is Items-k. For SDPFixed and SDPUser,
// after k cells, it is Items + Length - 1 - k, and for SDPLengths Items - 1 - k. For Set it is the
// probability of an item of the row, 1/2.
func (m Mechanism) Keep(k int) float64 {
	if m.Variant == Set {
		return 0.5
	}
	return mechanism.KeepProbability(m.Draw(), float64(m.others(k)))
}

// Replace returns 1 - Keep, to full precision even if it is tiny.
func (m Mechanism) Replace(k int) float64 {
	if m.Variant == Set {
		return 0.5
	}
	return mechanism.ReplaceProbability(m.Draw(), float64(m.others(k)))
}

// Validate returns an error for an unknown variant and for sizes that no sampler can hold.
func (m Mechanism) Validate() error { return m.validate() }

func (m Mechanism) validate() error {
	var errs []error
	if !slices.Contains(Variants(), m.Variant) {
		errs = append(errs, fmt.Errorf("%s: unknown variant %q", m.Purpose, string(m.Variant)))
	}
	if m.Items < 1 || m.Items > maxItems {
		errs = append(errs, fmt.Errorf("%s: items is %d, want 1 to %d", m.Purpose, m.Items, maxItems))
	}
	if m.Length < 1 || m.Length > maxLength {
		errs = append(errs, fmt.Errorf("%s: length is %d, want 1 to %d", m.Purpose, m.Length, maxLength))
	}
	return errors.Join(errs...)
}

// table returns the odds for every number of ids written.
func (m Mechanism) table() []mechanism.Odds {
	if math.IsInf(m.Epsilon, 1) {
		return nil
	}
	if m.Variant == Set {
		return m.setOdds()
	}
	others := make([]uint64, m.Length)
	for k := range others {
		others[k] = m.others(k)
	}
	if m.Variant == RR {
		others = others[:1]
	}
	return mechanism.NewOdds(m.Draw(), others...)
}
