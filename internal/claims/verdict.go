package claims

import (
	"math"
	"slices"

	"privrec/internal/privacy"
)

// Verdict says how a claim stands.
type Verdict string

// The verdicts, the best first.
const (
	Holds     Verdict = "holds"
	Undecided Verdict = "undecided"
	Untested  Verdict = "not tested"
	Fails     Verdict = "does not hold"
)

// Result is the verdicts on a paper's claims.
type Result struct {
	Paper  string   `json:"paper"`
	Claims []Judged `json:"claims"`
	// Family is how many differences all claims state, and Tested how many of them were tested.
	// The correction is for Family.
	Family int   `json:"comparisons"`
	Tested int   `json:"tested"`
	Count  Count `json:"count"`
}

// Count is how many claims of a paper have each verdict.
type Count struct {
	Claims    int `json:"claims"`
	Hold      int `json:"hold"`
	Fail      int `json:"do_not_hold"`
	Undecided int `json:"undecided"`
	Untested  int `json:"not_tested"`
}

// Judged is a claim with its verdict.
type Judged struct {
	ID      string   `json:"id"`
	Text    string   `json:"text"`
	Where   string   `json:"where,omitempty"`
	Grids   []string `json:"grids,omitempty"`
	Verdict Verdict  `json:"verdict"`
	Why     string   `json:"why"` // the evidence, or what is missing, in a sentence
	Level   string   `json:"level,omitempty"`
	Parts   []On     `json:"parts,omitempty"`
	Runs    []string `json:"runs,omitempty"` // names of the directories behind it
}

// On is a part on one data set.
type On struct {
	Says        string       `json:"says"`
	Data        string       `json:"data"`
	Verdict     Verdict      `json:"verdict"`
	Why         string       `json:"why,omitempty"`
	Level       string       `json:"level,omitempty"`
	Comparisons []Comparison `json:"comparisons,omitempty"`
	Privacy     []Privacy    `json:"privacy,omitempty"`
	decides     int          // index of the comparison that decides; -1: none
}

// Comparison is one difference, in percentage points (of a gain: in percent).
type Comparison struct {
	Name       string      `json:"name"`
	Difference *float64    `json:"difference"`
	Users      *[2]float64 `json:"users95,omitempty"`   // interval over users
	Seeds      *[2]float64 `json:"seeds95,omitempty"`   // interval over seeds
	Trainings  int         `json:"trainings,omitempty"` // seeds that all results have
	P          *float64    `json:"p,omitempty"`         // two-sided
	Holm       *float64    `json:"p_holm,omitempty"`    // of the direction of the difference, corrected for the paper
	Basis      string      `json:"test,omitempty"`
	Verdict    Verdict     `json:"verdict"`
	Why        string      `json:"why,omitempty"`
}

// Privacy is an accounted epsilon against a claimed one.
type Privacy struct {
	Line      string          `json:"line"`
	Unit      string          `json:"unit"`
	Delta     *float64        `json:"delta,omitempty"`
	Claimed   *privacy.Number `json:"claimed"`
	Accounted *privacy.Number `json:"accounted"`
	Noise     *privacy.Number `json:"of_the_noise_alone,omitempty"`
	Open      []string        `json:"open,omitempty"`
	Verdict   Verdict         `json:"verdict"`
	Why       string          `json:"why"`
}

// rank orders verdicts of one part: what speaks against it counts most.
func rank(v Verdict) int { return slices.Index([]Verdict{Holds, Undecided, Untested, Fails}, v) }

func number(x float64) *float64 {
	if math.IsNaN(x) {
		return nil
	}
	return &x
}

func appendNew(list []string, s string) []string {
	if slices.Contains(list, s) {
		return list
	}
	return append(list, s)
}
