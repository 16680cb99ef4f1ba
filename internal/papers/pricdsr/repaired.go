package pricdsr

import (
	"fmt"
	"strings"

	"privrec/internal/experiment"
	"privrec/internal/privacy"
	"privrec/internal/privacy/mechanism/sequence"
)

// promise holds the guarantee of a mechanism for the rows it releases.
type promise struct {
	claim  experiment.Claim
	units  []experiment.Unit
	public []privacy.Assumption
}

const paperTheorem = "theorem 1"

// promiseOf returns the guarantee of a mechanism at a finite epsilon. Its classes of neighbours and their largest costs
// are those of sequence.Variant; package audit/exact verifies them for all rows of small sizes.
//
//	sdp-paper   epsilon for one cell; theorem 1 is false, two cells exchanged cost 2 epsilon
//	rr          the same, since two cells are two responses
//	sdp-fixed   epsilon for one cell and for two cells exchanged: definition 2 of the paper
//	sdp-lengths the same for cells with items, given how many items each user has
//	set         epsilon for one interaction added, removed, replaced or moved; order is hidden
//	sdp-user    epsilon for a user's whole row, and so for everything in it
//
// Removing an interaction moves the cells before it, so that under the first four mechanisms it costs as many epsilons
// as cells change, up to the length of a row.
func promiseOf(m sequence.Mechanism) promise {
	unit := func(name, neighbouring string, epsilon float64) experiment.Unit {
		return experiment.Unit{Unit: name, Neighbouring: neighbouring,
			Accounted: experiment.Accounted{Eps: privacy.Number(epsilon)}, Total: privacy.Number(epsilon),
			Unbounded: []string{}}
	}
	claim := func(unit, theorem string) experiment.Claim {
		return experiment.Claim{Eps: privacy.Number(m.Epsilon), Unit: unit, Theorem: theorem}
	}
	row := m.Epsilon * float64(m.Length)
	const replaced, anyRow = "the item of one cell of an auxiliary row, or padding, replaced",
		"an auxiliary row replaced"
	const ownRow = "a user's row replaced"
	users := []privacy.Assumption{{What: "which users there are", Why: "each of them has a row"}}
	switch m.Variant {
	case sequence.SDPUser:
		d := m.Draw()
		return promise{claim(unitUser, "composition over the cells of a row"), []experiment.Unit{
			unit(unitUser, ownRow, m.Epsilon),
			unit(unitCell, "the item of one cell of a row, or padding, replaced", d),
			unit(unitOrder, "that, or two cells of a row exchanged (definition 2)", d),
		}, users}
	case sequence.Set:
		return promise{claim(unitInteraction, "a response for every item of the catalogue"), []experiment.Unit{
			unit(unitInteraction, "an interaction of a user added, removed, replaced or moved", m.Epsilon),
			unit(unitUser, ownRow, row),
		}, users}
	case sequence.SDPLengths:
		return promise{claim(unitOrder, paperTheorem+" without padding"), []experiment.Unit{
			unit(unitCell, "the item of one cell replaced by another", m.Epsilon),
			unit(unitOrder, "that, or two items of a row exchanged", m.Epsilon),
			unit(unitUser, "a user's row replaced by one of as many items", row),
		}, []privacy.Assumption{{What: "how many items each user has", Why: "padding stays where it is"}}}
	}
	order := m.Epsilon
	if m.Variant != sequence.SDPFixed {
		order = 2 * m.Epsilon // theorem 1 is false for the paper's mechanism; independent cells change twice
	}
	return promise{claim(unitOrder, paperTheorem), []experiment.Unit{
		unit(unitCell, replaced, m.Epsilon),
		unit(unitOrder, "that, or two cells of a row exchanged (definition 2)", order),
		unit(unitUser, anyRow, row),
	}, nil}
}

// whose returns words for whether a theorem is the paper's.
func whose(theorem string) string {
	if theorem == paperTheorem {
		return "the paper's " + theorem
	}
	return theorem
}

// expectation returns a sentence on how much of rows remains at an epsilon, for mechanisms whose epsilon is not of one
// draw; "" for others.
func expectation(m sequence.Mechanism) string {
	var s strings.Builder
	switch m.Variant {
	case sequence.Set:
		fmt.Fprintf(&s, "half of a row's items are in its set, beside %.3g other items on average; order is not "+
			"released", float64(m.Items)*setNoise(m))
	case sequence.SDPUser:
		fmt.Fprintf(&s, "the last %d cells of a row have %.3g of its epsilon each, and a share %.3g of them is kept",
			m.Length, m.Draw(), m.Keep(0))
	}
	return s.String()
}
