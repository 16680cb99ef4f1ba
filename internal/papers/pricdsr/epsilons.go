package pricdsr

import (
	"fmt"

	"privrec/internal/epsilons"
	"privrec/internal/experiment"
	"privrec/internal/privacy/mechanism/sequence"
)

// EpsilonRows returns the settings that privrec epsilon lists of this paper.
func EpsilonRows() epsilons.Paper { return epsilons.Of[EpsilonReading]("pricdsr") }

// EpsilonReading is one reading of a setting: which mechanism perturbs rows, and how two of them
// differ.
type EpsilonReading struct {
	Mechanism string  `yaml:"mechanism"` // sdp-paper, sdp-fixed or rr
	Epsilon   float64 `yaml:"epsilon"`   // of a draw; 0: the claim
	Items     int     `yaml:"items"`     // m
	Length    int     `yaml:"length"`    // L
	// Differ is "value", the item of one cell; "order", that or two cells exchanged (definition
	// 2); "moved", an interaction left out, which moves those before it; or "row", all cells.
	Differ string `yaml:"differ"`
	Moved  int    `yaml:"moved"` // of moved: cells that change
	// Seen says that the items that can be drawn are those that the data have, as in the released
	// program.
	Seen bool `yaml:"seen"`
}

// openTarget is what nothing covers in the system of the paper.
var openTarget = experiment.NotCovered("target rows", "the model trains on the target domain in the clear")

// openSeen is what the released program leaves open.
var openSeen = experiment.NotCovered("catalogue", "items are drawn among those of the data: where the changed interaction is the only one with its item, some rows can be written on one side only")

// Releases implements epsilons.Source. Log-ratios of probabilities are attained: by two full rows
// without a common item, and by the smallest counterexample to theorem 1, which package
// audit/exact writes down whole.
func (r EpsilonReading) Releases(s epsilons.Setting) (of epsilons.Releases, err error) {
	m := sequence.Mechanism{Purpose: "auxiliary rows", Variant: sequence.Variant(r.Mechanism), Epsilon: r.Epsilon, Items: r.Items, Length: r.Length}
	if m.Epsilon == 0 {
		m.Epsilon = s.Claimed
	}
	if err := m.Validate(); err != nil {
		return of, err
	}
	of.Noise = fmt.Sprintf("a cell keeps its item with probability %.4g", m.Keep(0))
	of.Open = []experiment.Open{openTarget}
	if r.Seen {
		of.Open = append(of.Open, openSeen)
		return of, nil
	}
	order := m.Epsilon
	if m.Variant != sequence.SDPFixed {
		order *= 2
	}
	switch r.Differ {
	case "value":
		of.Pure = m.Epsilon
	case "order":
		of.Pure = order
	case "moved":
		if r.Moved < 1 || r.Moved > m.Length {
			return of, fmt.Errorf("moved is %d, want 1 to %d", r.Moved, m.Length)
		}
		of.Pure = m.Epsilon * float64(r.Moved)
	case "row":
		of.Pure = m.Epsilon * float64(m.Length)
	default:
		return of, fmt.Errorf("differ is %q, want value, order, moved or row", r.Differ)
	}
	return of, nil
}
