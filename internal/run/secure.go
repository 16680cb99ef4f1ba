package run

import (
	"fmt"
	"strings"
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
