package dipsgnn

import (
	"bytes"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"privrec/internal/run"
	"privrec/internal/run/runtest"
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

// Every profile states how long it trains; a run of fewer epochs says so, whatever its data.
func TestShortTraining(t *testing.T) {
	for name, s := range map[string]interface{ stated() train.Length }{"DIPSGNN": Default(), "its program": Code(), "SRGNN": DefaultSRGNN(), "APGNN": DefaultAPGNN()} {
		if s.stated().Epochs < 10 {
			t.Errorf("%s states %+v", name, s.stated())
		}
	}
	own := Default()
	if own.Profile = "mine"; own.stated() != (train.Length{}) {
		t.Errorf("a setting of no profile states %+v", own.stated())
	}
	dir := filepath.Join(t.TempDir(), "run")
	var out bytes.Buffer
	if err := try(t.Context(), task(t, "srgnn"), dir, []string{"profile=paper", "train.epochs=1"}, run.Options{Stdout: &out}); err != nil {
		t.Fatal(err)
	}
	o := runtest.ReadJSON[Outcome](t, dir, "metrics.json", true)
	if want := fmt.Sprintf("trained for 1 of the %d epochs stated", DefaultSRGNN().Train.Epochs); !strings.Contains(o.Short, want) || !strings.Contains(out.String(), want) {
		t.Errorf("short %q, want %q:\n%s", o.Short, want, out.String())
	}
}
