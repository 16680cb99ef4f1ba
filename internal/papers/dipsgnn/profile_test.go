package dipsgnn

import "testing"

// A result names its profile only with what was changed in it, and the paper's
// numbers stand beside nothing but a profile as it is.
func TestStanding(t *testing.T) {
	change := func(c Config, f func(c *Config)) Config {
		f(&c)
		return c
	}
	for _, c := range []struct {
		setting interface{ standing() (string, bool, error) }
		text    string
		printed bool
	}{
		{Default(), "profile paper", true},
		{Code(), "profile code", true},
		{change(Default(), func(c *Config) { c.Model.Norm = 0.4 }), "profile paper, changed: model.norm=0.4", false},
		{change(Default(), func(c *Config) { c.Train.Epochs, c.Data.Name = 3, "standin-tiny" }), "profile paper, changed: data.name=standin-tiny, train.epochs=3", false},
		{change(Code(), func(c *Config) { c.Eval.Noise = []string{NoiseOn} }), "profile code, changed: eval.noise=on", false},
		{change(Default(), func(c *Config) { c.Profile = "mine" }), `own setting "mine"`, false},
		{change(Default(), func(c *Config) { c.Profile = "code" }), "", false},
		{configOf[Config](t, "ml-1m"), "profile paper", true},
		{configOf[Config](t, "ml-1m-code"), "profile code", true},
		{configOf[Config](t, "ml-1m-adjacency-zero"), "profile paper, changed: model.adjacency=zero", false},
		{configOf[SRGNNConfig](t, "ml-1m-srgnn"), "profile paper", true},
		{configOf[APGNNConfig](t, "ml-1m-apgnn"), "profile paper", true},
	} {
		text, printed, err := c.setting.standing()
		if err != nil || c.text != "" && text != c.text || printed != c.printed {
			t.Errorf("%q, beside the paper's numbers: %v (%v), want %q, %v", text, printed, err, c.text, c.printed)
		}
	}
}
