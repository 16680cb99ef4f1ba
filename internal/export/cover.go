package export

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"

	"privrec/internal/experiment"
	"privrec/internal/privacy"
	"privrec/internal/run"
)

// Cover says how far the account of a run covers what is exported from it.
type Cover struct {
	Noise      string               `json:"noise"` // as the account says; empty: there is no account
	Claimed    *experiment.Claim    `json:"claimed,omitempty"`
	Total      *privacy.Number      `json:"eps_total,omitempty"` // accounted, of the whole run and its worst unit
	Units      []experiment.Unit    `json:"units,omitempty"`
	NotCovered []experiment.Open    `json:"not_covered,omitempty"`
	Public     []privacy.Assumption `json:"public,omitempty"`
	// against whom the guarantee holds, where the account says it
	Threat     string   `json:"threat,omitempty"`
	Conclusion string   `json:"conclusion"`
	Warnings   []string `json:"warnings,omitempty"` // why the files should not be given away
}

// covered returns the coverage of vectors, lists and scores by the account of a run.
func covered(dir string, m run.Manifest) (Cover, error) {
	c, err := Covered(dir, m)
	if c.Threat != "" {
		c.Warnings = append([]string{fmt.Sprintf("the guarantee is %s: vectors, lists and scores of users are "+
			"computed from their own rows in the clear and are not covered", c.Threat)}, c.Warnings...)
	}
	return c, err
}

// Covered returns the coverage of what a run released by the account of the run.
func Covered(dir string, m run.Manifest) (Cover, error) {
	a, err := experiment.ReadAccount(dir)
	if err != nil {
		return Cover{}, err
	}
	if a == nil {
		text := "the run has no account of privacy: what its files tell about users is not known"
		return Cover{Conclusion: text, Warnings: []string{text}}, nil
	}
	c := Cover{Noise: a.Noise, Claimed: a.Claimed, Total: &a.Total, Units: a.Units, NotCovered: a.Unbounded,
		Public: a.Public, Conclusion: a.Conclusion()}
	if a.Noise == "none" || a.Noise == "" || a.Noise == experiment.Unknown {
		// no noise is in the files that could be overrated
		return c, nil
	}
	var own struct {
		Threat string `json:"threat"`
	}
	b, err := os.ReadFile(filepath.Join(dir, "privacy.json"))
	if err == nil {
		err = json.Unmarshal(b, &own)
	}
	if err != nil {
		return Cover{}, fmt.Errorf("read the account: %w", err)
	}
	c.Threat = own.Threat
	for _, o := range a.Unbounded {
		c.Warnings = append(c.Warnings, fmt.Sprintf("the guarantee does not cover %s: %s", experiment.Thing(o.What),
			o.Why))
	}
	switch m.Noise {
	case run.NoiseOfSystem:
	case run.NoiseOfSeed:
		c.Warnings = append(c.Warnings, a.Repeatable)
	case run.NoiseOfKey:
		c.Warnings = append(c.Warnings,
			"the noise is research noise, in floating point, whose last digits tell the value beneath; who has "+
				run.NoiseFile+" of the run directory takes it off again")
	default: // of an older program
		if !m.Secure {
			c.Warnings = append(c.Warnings,
				fmt.Sprintf("the noise is research noise of seed %d: who knows or guesses the seed takes it off again",
					m.Seed))
		}
	}
	return c, nil
}
