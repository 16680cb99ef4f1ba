package experiment

import (
	"fmt"
	"slices"
	"strings"

	"privrec/internal/config"
	"privrec/internal/run"
	"privrec/internal/train"
)

// Standing says how a run's setting differs from the profile that it names.
type Standing struct {
	Text string // for results: the profile, and the keys that differ from it
	// Printed reports whether a paper's numbers for the profile apply to this method: only free keys differ.
	Printed bool
	Stated  train.Length // how long the profile trains; empty for a setting of no profile
}

// Stand compares a setting with the profile that it names, which is a key of named. Keys that begin with a word of free
// may differ without making it another method: the data, a swept width, the length of training. length returns how long
// a setting trains; nil if it does not train by epochs.
func Stand[C any](setting C, profile string, named map[string]C, length func(C) train.Length,
	free ...string) (Standing, error) {
	base, ok := named[profile]
	if !ok {
		return Standing{Text: fmt.Sprintf("own setting %q", profile)}, nil
	}
	changed, err := config.Diff(base, setting)
	if err != nil {
		return Standing{}, err
	}
	s := Standing{Text: "profile " + profile, Printed: true}
	if length != nil {
		s.Stated = length(base)
	}
	if len(changed) > 0 {
		s.Text += ", changed: " + strings.Join(changed, ", ")
	}
	for _, key := range changed {
		if key == run.ParentKey { // the budget that a run spends from changes nothing of the method
			continue
		}
		s.Printed = s.Printed &&
			slices.ContainsFunc(free, func(prefix string) bool { return strings.HasPrefix(key, prefix) })
	}
	return s, nil
}
