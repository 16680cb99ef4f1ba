package config

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

type probed struct {
	Kind  string  `yaml:"kind"`
	Width int     `yaml:"width"`
	Rate  float64 `yaml:"rate"`
	Twice bool    `yaml:"twice"`
}

// Probe finds limits that hold always, those that depend on a word and on a switch, and rules. What
// needs two changes of the defaults it does not find.
func TestProbe(t *testing.T) {
	got := Probe(probed{Kind: "plain", Width: 1, Rate: 0.5, Twice: true}, func(v *Checker, c probed) {
		v.OneOf("kind", c.Kind, "plain", "wide", "deep")
		v.Within("rate", c.Rate, 0, 1)
		if c.Kind == "deep" && !c.Twice {
			v.Between("width", c.Width, 9, 9)
		}
		if c.Kind == "wide" && c.Twice {
			v.Between("width", c.Width, 2, 8)
		}
		v.Check(!c.Twice || c.Kind != "plain", "twice", "is for %s, got %v", "wide", c.Twice)
	})
	want := []Conditional{
		{Finding: Finding{Path: "kind", Limit: OneOfLimit("plain", "wide", "deep")}},
		{Finding: Finding{Path: "rate", Limit: RangeLimit(0, 1)}},
		{Finding: Finding{Path: "width", Limit: RangeLimit(2, 8)}, When: []Condition{{Path: "kind", In: []any{"wide"}}, {Path: "twice", In: []any{true}}}},
	}
	if d := cmp.Diff(want, got.Limits, cmpopts.IgnoreUnexported(Finding{}), cmpopts.EquateNaNs(), cmpopts.EquateEmpty()); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff([]Rule{{Path: "twice", Format: "is for %s, got %v", Words: "is for wide"}}, got.Rules); d != "" {
		t.Error(d)
	}
}
