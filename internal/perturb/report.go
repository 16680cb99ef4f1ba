package perturb

import (
	"fmt"

	"privrec/internal/privacy"
	"privrec/internal/report"
)

// Document returns the beginning of a report. size describes the sizes of catalogue and records. The noise stands
// between the facts before and those after, the ledger at the end.
func (f Facts) Document(title, size string, before, after []report.Fact) *report.Document {
	facts := append(before, report.Fact{Label: "noise", Value: string(f.Noise)})
	if f.Noise == privacy.Research {
		facts = append(facts, report.Fact{Label: "seed", Value: fmt.Sprint(f.Seed)})
	}
	if f.Shard.Of > 0 {
		facts = append(facts, report.Fact{Label: "part", Value: f.Shard.String(),
			Note: "what was read is counted whole, what was perturbed only in this part"})
	}
	facts = append(append(facts, after...), report.Fact{Label: "ledger", Value: f.Ledger.String()})
	return &report.Document{Title: title, Subtitle: fmt.Sprintf("%s, sha256 %.12s; %s", f.In, f.Digest, size),
		Facts: facts}
}

// GuaranteeTable returns an empty table of neighbours with their epsilons.
func GuaranteeTable() *report.Table {
	return &report.Table{Name: "guarantee", Title: "Guarantee, pure and local: epsilon for",
		Columns: []report.Column{{Name: "neighbours that differ in"}, {Name: "epsilon", Format: "%g"}}}
}

// CountsTable returns an empty table of counts. Counts describe true data outside any guarantee, so they stay with the
// input.
func CountsTable() *report.Table {
	return &report.Table{Name: "counts", Title: "Counts (true data: not for release)",
		Columns: report.Columns("", "what", "number")}
}

// CountsNote returns a note that counts stay with the input. what names the true data, such as rows.
func CountsNote(what string) string {
	return "The counts above were taken from true " + what + ": keep this report with the input, not with the output."
}

// SecondNote returns a note on the cost of a second release.
func SecondNote(what string) string {
	return "A second release of these " + what + ", under whatever settings, adds its epsilon to that of this one."
}

// ResearchNote warns of noise from a seed.
const ResearchNote = "research noise: the seed undoes it, and where it is used again, whose rows changed in between " +
	"shows; --secure takes cryptographic bits"
