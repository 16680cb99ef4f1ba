package rdpgcf

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"privrec/internal/config"
	"privrec/internal/protocol/topn/topntest"
	"privrec/internal/run"
)

func TestBadSettings(t *testing.T) {
	for _, c := range []struct{ task, set, want string }{
		{"rdpgcf", "model.layers=0", "model.layers"},
		{"rdpgcf", "model.layers=33", "model.layers"},
		{"rdpgcf", "model.dim=0", "model.dim"},
		{"rdpgcf", "model.dim=-3", "model.dim"},
		{"rdpgcf", "model.scale=0", "model.scale"},
		{"rdpgcf", "model.norm=row", "model.norm"},
		{"rdpgcf", "model.norm=sym-clamp:0", "model.norm"},
		{"rdpgcf", "model.init={law: zero, std: 0}", "model.init.law"},
		{"rdpgcf", "model.init={law: normal, std: 0}", "model.init.std"},
		{"rdpgcf", "model.init={law: xavier, std: 1}", "model.init.std"},
		{"rdpgcf", "release.kinds=[]", "release.kinds"},
		{"rdpgcf", "release.kinds=[raw]", "release.kinds"},
		{"rdpgcf", "release.kinds=[noisy, noisy]", "release.kinds"},
		{"rdpgcf", "release.average=0", "release.average"},
		{"rdpgcf", "privacy.epsilon=0", "privacy.epsilon"},
		{"rdpgcf", "privacy.delta=1", "privacy.delta"},
	} {
		err := task(t, c.task).Check("", []string{c.set})
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s %s: %v, want an error about %s", c.task, c.set, err, c.want)
		} else if !config.Is(err) {
			t.Errorf("%s %s: %T is no error of the configuration", c.task, c.set, err)
		}
	}
}

// An epsilon that no noise reaches is refused before anything is trained.
func TestEpsilonOutOfReach(t *testing.T) {
	err := try(t.Context(), task(t, "rdpgcf"), filepath.Join(t.TempDir(), "run"), []string{"privacy.epsilon=1e-9", "train.epochs=100000"}, run.Options{})
	if err == nil || !strings.Contains(err.Error(), "epsilon") {
		t.Errorf("%v", err)
	}
}

// A user whom the released graph gives every item is not one of the data. A graph has
// one with probability 0.13 at epsilon 0.1, where cells flip with 0.475; the seeds are
// fixed, the fourth has one.
func TestReleasedGraphWithoutNegative(t *testing.T) {
	const train = "0 0 1 2 3\n1 1 3 0 2\n2 0 4\n3 2 3 4\n"
	topntest.Published(t, train, "0 4\n2 1\n")
	base := filepath.Join(t.TempDir(), "run")
	for seed := 1; seed <= 60; seed++ {
		err := try(t.Context(), task(t, "edgerand"), fmt.Sprint(base, seed), []string{"data.name=gowalla", "data.recipe=lightgcn", "train.select=last",
			"train.patience=0", "eval.k=[2]", "train.epochs=1", "perturb.epsilon=0.1", fmt.Sprint("run.seed=", seed)}, run.Options{})
		if err == nil {
			continue
		}
		usage := (*run.UsageError)(nil)
		if !errors.As(err, &usage) || !strings.Contains(err.Error(), "EdgeRand released gives user") || strings.Contains(err.Error(), "in train") || usage.Fix == "" {
			t.Errorf("seed %d: %v", seed, err)
		}
		return
	}
	t.Error("no graph gives a user every item")
}
