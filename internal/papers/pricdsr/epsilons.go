package pricdsr

import (
	"fmt"

	"privrec/internal/epsilons"
	"privrec/internal/experiment"
	"privrec/internal/privacy/mechanism/sequence"
)

// EpsilonRows returns the settings of this paper for privrec account epsilon.
func EpsilonRows() epsilons.Paper { return epsilons.Of[EpsilonReading]("pricdsr") }

// EpsilonReading holds one reading of a setting: which mechanism perturbs rows, and how two of them differ.
type EpsilonReading struct {
	Mechanism string  `yaml:"mechanism"` // mechanism: sdp-fixed, sdp-lengths, sdp-user, set, sdp-paper or rr
	Epsilon   float64 `yaml:"epsilon"`   // epsilon of the mechanism; 0: the claim
	Items     int     `yaml:"items"`     // m, number of items
	Length    int     `yaml:"length"`    // L, number of cells of a row
	// Differ says how two rows differ: "value", in the item of one cell; "order", in that or by two exchanged cells
	// (definition 2); "moved", by an interaction left out, which moves those before it; "row", in all cells.
	Differ string `yaml:"differ"`
	Moved  int    `yaml:"moved"` // for differ: moved. Number of cells that change
	// Seen draws only items that the data have, as the released program does.
	Seen bool `yaml:"seen"`
}

// openTarget names what nothing covers in the paper's system.
var openTarget = experiment.NotCovered("target rows", "the model trains on the target domain in the clear")

// openSeen names what the released program leaves open.
var openSeen = experiment.NotCovered("catalogue",
	"items are drawn among those of the data: where the changed interaction is the only one with its item, some rows "+
		"can be written on one side only")

// Releases implements epsilons.Source. The log-ratios of probabilities are attained: by two full rows without a common
// item, and by the smallest counterexample to theorem 1, which package audit/exact computes in full.
func (r EpsilonReading) Releases(s epsilons.Setting) (of epsilons.Releases, err error) {
	m := sequence.Mechanism{Purpose: "auxiliary rows", Variant: sequence.Variant(r.Mechanism), Epsilon: r.Epsilon,
		Items: r.Items, Length: r.Length}
	if m.Epsilon == 0 {
		m.Epsilon = s.Claimed
	}
	if err := m.Validate(); err != nil {
		return of, err
	}
	of.Noise = fmt.Sprintf("a cell keeps its item with probability %.4g", m.Keep(0))
	if m.Variant == sequence.Set {
		of.Noise = fmt.Sprintf("an item of a row is drawn with probability 1/2, each of the others with %.4g",
			setNoise(m))
	}
	of.Open = []experiment.Open{openTarget}
	if r.Seen {
		of.Open = append(of.Open, openSeen)
		return of, nil
	}
	if r.Differ == "moved" && (r.Moved < 1 || r.Moved > m.Length) {
		return of, fmt.Errorf("moved is %d, want 1 to %d", r.Moved, m.Length)
	}
	of.Pure, err = worst(m, r.Differ, r.Moved)
	return of, err
}

// worst returns the epsilon for rows that differ in a given way, from promiseOf. It fails if the mechanism guarantees
// nothing for them.
func worst(m sequence.Mechanism, differ string, moved int) (float64, error) {
	draw, n := m.Draw(), float64(m.Length)
	switch m.Variant {
	case sequence.Set:
		// One interaction, wherever it stands; a row of other items.
		return map[string]float64{"value": m.Epsilon, "moved": m.Epsilon, "order": m.Epsilon,
			"row": n * m.Epsilon}[differ], known(differ)
	case sequence.SDPUser:
		return map[string]float64{"value": draw, "moved": draw * float64(moved), "order": draw,
			"row": m.Epsilon}[differ], known(differ)
	case sequence.SDPLengths:
		if differ == "moved" {
			return 0, fmt.Errorf("%s shows how many items a row has, so that an interaction left out has no epsilon",
				m.Variant)
		}
	}
	order := 2 * draw
	if m.Variant == sequence.SDPFixed || m.Variant == sequence.SDPLengths {
		order = draw
	}
	return map[string]float64{"value": draw, "moved": draw * float64(moved), "order": order, "row": n * draw}[differ],
		known(differ)
}

// known refuses an unknown kind of difference.
func known(differ string) error {
	switch differ {
	case "value", "order", "moved", "row":
		return nil
	}
	return fmt.Errorf("differ is %q, want value, order, moved or row", differ)
}
