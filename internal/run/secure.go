package run

import (
	"fmt"
	"slices"
	"strings"

	"privrec/internal/privacy"
)

// SecureKey is the key of Settings.Secure.
const SecureKey = "run.secure"

// secureTasks names the tasks whose runs can have secure noise. A test compares it with Spec.Secure of all tasks.
var secureTasks = []string{"train dp-popularity", "train dp-ease", "train dp-itemknn", "train dp-sgd-mf", "train dpsgd",
	"train dipsgnn", "train rdpgcf"}

// NoSecure returns the error that refuses secure noise for a task or one of its settings. It names the tasks that have
// it.
func NoSecure(what, why string) error {
	return &UsageError{
		Message: fmt.Sprintf("%s: %s has no secure noise: %s", SecureKey, what, why),
		Fix:     "leave it out for research, or take one of: " + strings.Join(secureTasks, ", "),
	}
}

// secureNote returns the manifest's note about a run with secure noise.
func secureNote(seed uint64) string {
	return fmt.Sprintf("secure noise: samples and noise are from cryptographic bits, have no seed and cannot be "+
		"drawn again; run.seed %d is used only for what is public or needs no secret (initial values, splits of the "+
		"data, which of their items users contribute)", seed)
}

// continued adds an assumption to the declaration of a resumed run with secure noise: no other copy of its directory
// was resumed. Each copy would draw noise of its own and list it in its own ledger, unknown to the others. A shared
// budget knows of all copies (package budget), so a run that spends from one needs no such assumption.
func (e *Env) continued(d privacy.Declaration) privacy.Declaration {
	if e.Resume && e.spends.from == "" {
		d.Public = append(slices.Clone(d.Public), onlyOne)
	}
	return d
}

// onlyOne holds the assumption of a resumed run with secure noise.
var onlyOne = privacy.Assumption{What: "that only one copy of the run's folder went on after a stop",
	Why: "every copy that goes on draws noise of its own, which the ledgers of the others do not have; a run that " +
		"spends from a budget is held to one"}

// Secure reports whether the run promises secure noise: samples and noise from cryptographic bits, discrete
// distributions sampled exactly, and exact sums. Its ledger must be marked as secure, and mechanisms that draw other
// noise refuse that ledger.
func (e *Env) Secure() bool { return e.secure }
