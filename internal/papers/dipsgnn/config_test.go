package dipsgnn

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"privrec/internal/config"
	"privrec/internal/model/userinput"
	"privrec/internal/protocol/nextitem"
	"privrec/internal/protocol/nextitem/nextitemtest"
	"privrec/internal/run"
)

// file is a configuration file: the run's settings and the task's.
type file[C any] struct {
	Of   string       `yaml:"task"`
	Run  run.Settings `yaml:"run"`
	Task C            `yaml:",inline"`
}

func configOf[C any](t *testing.T, name string) C {
	t.Helper()
	c, _, err := config.Load("../../../configs/dipsgnn/"+name+".yaml", nil, file[C]{})
	if err != nil {
		t.Fatal(err)
	}
	return c.Task
}

// The files differ from the paper's setting in what their names say and in
// nothing else. They are read over empty defaults, so each is complete.
func TestConfigFiles(t *testing.T) {
	inf := math.Inf(1)
	off := func(c *Config) {
		c.Privacy.Features.Epsilon, c.Privacy.Transitions.Epsilon, c.Eval.Noise = inf, inf, []string{nextitem.NoiseOff}
	}
	counted := func(c *Config, profile, unit string) {
		c.Profile, c.Privacy.Transitions.Count, c.Privacy.Transitions.StopGradient = profile, unit, true
		c.Train.Select, c.Train.Patience, c.Train.PatienceTotal, c.Train.Validation, c.Train.Refit = nextitem.SelectLast, 0, false, 0, false
		c.Eval.Noise, c.Eval.Every = []string{nextitem.NoiseOn}, false
	}
	for name, change := range map[string]func(c *Config){
		"ml-1m":      func(*Config) {},
		"ml-1m-nonp": off,
		"ml-1m-nonp-u": func(c *Config) {
			off(c)
			c.Model.UserInput = userinput.ID
		},
		"ml-1m-priv-u":         func(c *Config) { c.Model.UserInput, c.Privacy.Features.Epsilon = userinput.ID, inf },
		"ml-1m-adjacency-zero": func(c *Config) { c.Model.Adjacency = AdjacencyZero },
		"ml-1m-code": func(c *Config) {
			c.Profile, c.Data.Candidates = "code", nextitem.CandidatesTenCore
			c.Privacy.Features.Unselected, c.Privacy.Transitions.NoiseStd = UnselectedRaw, StdSigmaSquared
			c.Train.Select, c.Train.Validation, c.Train.Refit, c.Train.MisalignUsers = nextitem.SelectTest, 0, false, true
			c.Eval.Noise = []string{nextitem.NoiseOff}
		},
		"ml-1m-v2": func(c *Config) {
			counted(c, "v2", CountSwap)
			c.Privacy.Transitions.Window = 10
		},
		"ml-1m-v2-prefixes": func(c *Config) { counted(c, "v2-prefixes", CountEdge) },
		"smoke-v2": func(c *Config) {
			counted(c, "smoke", CountSwap)
			c.Data.Name, c.Model.Dim, c.Model.UserDim, c.Train.Epochs, c.Privacy.Transitions.Window = "standin-tiny", 16, 8, 3, 6
		},
		"smoke": func(c *Config) {
			c.Profile, c.Data.Name, c.Model.Dim, c.Model.UserDim, c.Train.Epochs = "smoke", "standin-tiny", 16, 8, 3
		},
	} {
		want := Default()
		change(&want)
		if diff := cmp.Diff(want, configOf[Config](t, name)); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
	if diff := cmp.Diff(Code(), configOf[Config](t, "ml-1m-code")); diff != "" {
		t.Error("the profile: ", diff)
	}
}

// Every field refuses what cannot be run, and says which field, what it wants
// and what it got.
func TestValidation(t *testing.T) {
	dipsgnn := []struct{ Set, Message string }{
		{"privacy.features.epsilon=1e-300", "must lie in [1e-06,1000] or be .inf, got 1e-300"},
		{"privacy.features.epsilon=0", "must lie in [1e-06,1000] or be .inf, got 0"},
		{"privacy.features.epsilon=-1", "must lie in [1e-06,1000] or be .inf, got -1"},
		{"privacy.features.epsilon=1e9", "must lie in [1e-06,1000] or be .inf, got 1e+09"},
		{"privacy.features.epsilon=-.inf", ""},
		{"privacy.features.epsilon=.nan", ""},
		{"privacy.features.unselected=keep", `must be one of zero, raw, got "keep"`},
		{"privacy.transitions.epsilon=0", "must lie in [1e-06,1000] or be .inf, got 0"},
		{"privacy.transitions.epsilon=-5", "must lie in [1e-06,1000] or be .inf, got -5"},
		{"privacy.transitions.epsilon=1001", "must lie in [1e-06,1000] or be .inf, got 1001"},
		{"privacy.transitions.epsilon=.nan", ""},
		{"privacy.transitions.epsilon=-.inf", ""},
		{"privacy.transitions.epsilon=.inf", `eval.noise: "on" needs a finite privacy.transitions.epsilon`},
		{"privacy.transitions.delta=0", "must lie in (0,1), got 0"},
		{"privacy.transitions.delta=1", "must lie in (0,1), got 1"},
		{"privacy.transitions.delta=-1e-7", "must lie in (0,1), got -1e-07"},
		{"privacy.transitions.delta=.nan", ""},
		{"privacy.transitions.delta=.inf", ""},
		{"privacy.transitions.noise_std=variance", `must be one of sigma, sigma_squared, got "variance"`},
		{"model.norm=1e300", "must lie in [1e-06,1e+06], got 1e+300"},
		{"model.norm=0", "must lie in [1e-06,1e+06], got 0"},
		{"model.norm=-0.2", "must lie in [1e-06,1e+06], got -0.2"},
		{"model.norm=.inf", ""},
		{"model.normalise=layer", `must be one of rescale, clip, none, got "layer"`},
		{"model.adjacency=binary", `must be one of counts, zero, got "binary"`},
		{"eval.noise=[]", "must name at least one of on, off"},
		{`eval.noise=["maybe"]`, `must be one of on, off, got "maybe"`},
		{`eval.noise=["on","on"]`, `names "on" twice`},
	}
	users := []struct{ Set, Message string }{
		{"model.user_dim=0", "must lie in 1..4096, got 0"},
		{"model.user_dim=5000", "must lie in 1..4096, got 5000"},
		{"model.user_input=age", `must be one of features, id, got "age"`},
	}
	shared := nextitemtest.Refused()
	check := func(rows []struct{ Set, Message string }) {
		for _, r := range rows {
			err := Task().Check("", []string{r.Set})
			path, _, _ := strings.Cut(r.Set, "=")
			if err == nil {
				t.Errorf("%s is accepted", r.Set)
			} else if !strings.Contains(err.Error(), r.Message) || !strings.Contains(err.Error(), path) {
				t.Errorf("%s: %v, want %q", r.Set, err, r.Message)
			}
		}
	}
	check(dipsgnn)
	check(users)
	check(shared)
}

// Settings that are fine alone and not together.
func TestValidationTogether(t *testing.T) {
	for _, c := range []struct {
		sets    []string
		message string // empty: fine
	}{
		{[]string{"train.select=last"}, "train.refit: needs train.select: validation"},
		{[]string{"train.select=test", "train.refit=false", "eval.every=false"}, "eval.every: must be true to select on test"},
		{[]string{"train.select=last", "train.refit=false", "train.validation=0", "eval.every=false"}, "train.patience: needs train.validation or eval.every to watch"},
		{[]string{"train.select=last", "train.refit=false", "train.validation=0", "eval.every=false", "train.patience=0"}, ""},
		{[]string{"train.select=last", "train.refit=false", "train.validation=0"}, ""},
		{[]string{"privacy.transitions.epsilon=.inf", `eval.noise=["off"]`}, ""},
		{[]string{"privacy.features.epsilon=.inf"}, ""},
		{[]string{"train.select=test", "train.refit=false"}, ""},
		{[]string{"train.select=test", "train.refit=false", `eval.noise=["on"]`}, ""},
		{[]string{"model.norm=1e6", "privacy.transitions.epsilon=1e-6", "privacy.transitions.noise_std=sigma_squared"}, "privacy.transitions.epsilon: gives noise of standard deviation"},
		{[]string{"model.norm=1e6", "privacy.transitions.epsilon=1e-6"}, ""},
		{[]string{"privacy.transitions.count=edge"}, "privacy.transitions.count: is for a known number of releases"},
		{[]string{"privacy.transitions.count=user"}, `privacy.transitions.count: must be one of , edge, swap, got "user"`},
		{append(slices.Clone(swapped), "privacy.transitions.window=3"), "privacy.transitions.window: must lie in 4..1000000, got 3"},
		{append(slices.Clone(swapped), "privacy.transitions.window=0"), "privacy.transitions.count: swap needs privacy.transitions.window"},
		{append(slices.Clone(swapped), "privacy.transitions.noise_std=sigma_squared"), "privacy.transitions.count: needs noise on messages"},
		{append(slices.Clone(swapped), "train.misalign_users=true"), "privacy.transitions.window: needs train.validation=0"},
		{append(slices.Clone(swapped), "train.validation=0.1"), "privacy.transitions.window: needs train.validation=0"},
		{append(slices.Clone(swapped), "model.adjacency=zero"), "privacy.transitions.count: needs model.adjacency=counts"},
		{swapped, ""},
		{[]string{"model.dim=0", "train.epochs=0", "privacy.transitions.delta=2"}, "train.epochs: must lie"},
		{[]string{"model.dim=0", "train.epochs=0", "privacy.transitions.delta=2"}, "privacy.transitions.delta: must lie"},
	} {
		err := Task().Check("", c.sets)
		if c.message == "" && err != nil || c.message != "" && (err == nil || !strings.Contains(fmt.Sprint(err), strings.SplitN(c.message, ": ", 2)[1])) {
			t.Errorf("%v: %v, want %q", c.sets, err, c.message)
		}
	}
}
