package results

import (
	"fmt"
	"slices"
	"strings"

	"privrec/internal/reproduce/phrase"
)

// Standings counts printed numbers by their status.
type Standings struct {
	Printed         int            `json:"printed"` // with and without ours, each once
	Match           int            `json:"match"`
	WithinNoise     int            `json:"within_noise"`
	Differs         int            `json:"differs"`
	NoCause         int            `json:"differs_without_known_cause"`
	NotReproducible int            `json:"not_reproducible"`
	Silent          map[string]int `json:"nothing_said"` // by reason
}

// CountStatuses counts printed numbers by the status of their first cell: one that stands beside
// several results of ours counts once.
func CountStatuses(cells []Cell) Standings {
	out := Standings{Silent: map[string]int{}}
	for i := range cells {
		c := &cells[i]
		if c.Printed == nil || c.Again {
			continue
		}
		out.Printed++
		switch c.Status {
		case Match:
			out.Match++
		case WithinNoise:
			out.WithinNoise++
		case Differs:
			out.Differs++
			if c.Cause == "" {
				out.NoCause++
			}
		case NotReproducible:
			out.NotReproducible++
		default:
			reason, _, _ := strings.Cut(c.Why, ":")
			out.Silent[reason]++
		}
	}
	return out
}

// String writes the counts in a sentence.
func (n Standings) String() string {
	text := fmt.Sprintf("of %s, %d match, %d are within noise, %d differ", phrase.Plural(n.Printed, "printed number"),
		n.Match, n.WithinNoise, n.Differs)
	if n.NoCause > 0 {
		text += fmt.Sprintf(" (%d without a known cause)", n.NoCause)
	}
	text += fmt.Sprintf(", %d cannot be reproduced", n.NotReproducible)
	var reasons []string
	for reason := range n.Silent {
		reasons = append(reasons, reason)
	}
	slices.Sort(reasons)
	total := 0
	for i, r := range reasons {
		total += n.Silent[r]
		reasons[i] = fmt.Sprintf("%s %d", r, n.Silent[r])
	}
	if total > 0 {
		text += fmt.Sprintf("; nothing can be said of %d (%s)", total, strings.Join(reasons, ", "))
	}
	return text
}
