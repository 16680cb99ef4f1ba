package dipsgnn

import (
	"testing"

	"privrec/internal/protocol/nextitem"
	"privrec/internal/train"
)

// A result names its profile only with what was changed in it, and the paper's
// numbers stand beside nothing but a profile as it is.
func TestStanding(t *testing.T) {
	change := func(c Config, f func(c *Config)) Config {
		f(&c)
		return c
	}
	for _, c := range []struct {
		setting Config
		text    string
		printed bool
	}{
		{Default(), "profile paper", true},
		{Code(), "profile code", true},
		{change(Default(), func(c *Config) { c.Model.Norm = 0.4 }), "profile paper, changed: model.norm=0.4", false},
		{change(Default(), func(c *Config) { c.Train.Epochs, c.Data.Name = 3, "standin-tiny" }), "profile paper, changed: data.name=standin-tiny, train.epochs=3", false},
		{change(Code(), func(c *Config) { c.Eval.Noise = []string{nextitem.NoiseOn} }), "profile code, changed: eval.noise=on", false},
		{change(Default(), func(c *Config) { c.Profile = "mine" }), `own setting "mine"`, false},
		{change(Default(), func(c *Config) { c.Profile = "code" }), "", false},
		{configOf[Config](t, "ml-1m"), "profile paper", true},
		{configOf[Config](t, "ml-1m-code"), "profile code", true},
		{configOf[Config](t, "ml-1m-adjacency-zero"), "profile paper, changed: model.adjacency=zero", false},
	} {
		s, err := c.setting.setting()
		if got := s.Standing; err != nil || c.text != "" && got.Text != c.text || got.Printed != c.printed {
			t.Errorf("%q, beside the paper's numbers: %v (%v), want %q, %v", got.Text, got.Printed, err, c.text, c.printed)
		}
	}
}

// Every profile states how long it trains.
func TestStatedTraining(t *testing.T) {
	for name, c := range map[string]Config{"DIPSGNN": Default(), "its program": Code()} {
		if s, err := c.setting(); err != nil || s.Standing.Stated.Epochs < 10 {
			t.Errorf("%s states %+v (%v)", name, s.Standing.Stated, err)
		}
	}
	own := Default()
	own.Profile = "mine"
	if s, err := own.setting(); err != nil || s.Standing.Stated != (train.Length{}) {
		t.Errorf("a setting of no profile states %+v (%v)", s.Standing.Stated, err)
	}
}
