package exposure

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// What cannot be run is refused before anything is read, by the key that says it.
func TestBadConfigs(t *testing.T) {
	for _, c := range []struct{ set, key, want string }{
		{"profile=", "profile", "must not be empty"},
		{"data.name=", "data.name", "must name a set"},
		{"data.split=random", "data.split", "must be one of users, released"},
		{"data.slate=0", "data.slate", "1..1000"},
		{"data.behaviour=-1", "data.behaviour", "1..100"},
		{"data.unknown=guess", "data.unknown", "must be one of oov, drop"},
		{"data.clicks=never", "data.clicks", "must be one of"},
		{"data.stride=0", "data.stride", "1..1000"},
		{"data.early=maybe", "data.early", "must be one of"},
		{"data.logs=none", "data.logs", "must be one of"},
		{"data.pairing=none", "data.pairing", "must be one of"},
		{"data.most=-1", "data.most", "0..1000000"},
		{"on.release=noisy", "on.release", "belongs to on.run"},
		{"attack.encoder=median", "attack.encoder", "median"},
		{"attack.decoder=pointwise", "attack.decoder", "pointwise"},
		{"attack.dim=0", "attack.dim", "at least 1"},
		{"attack.dropout=1", "attack.dropout", "[0, 1)"},
		{"attack.smoothing=-0.1", "attack.smoothing", "[0, 1)"},
		{"attack.tie=none", "attack.tie", "none"},
		{"attack.context_decode=none", "attack.context_decode", "none"},
		{"train.rate=0", "train.rate", "must be positive"},
		{"train.beta2=1", "train.beta2", "[0, 1)"},
		{"train.warm_up=-1", "train.warm_up", "must not be negative"},
		{"train.batch=0", "train.batch", "at least 1"},
		{"train.epochs=-1", "train.epochs", "0..100000"},
		{"train.batches=never", "train.batches", "must be one of each, once"},
		{"train.sample=0", "train.sample", "(0,1]"},
		{"train.sample=1.5", "train.sample", "(0,1]"},
		{"train.patience=-1", "train.patience", "0..100000"},
		{"train.select=test", "train.select", "must be one of validation, last"},
		{"eval.k=[]", "eval.k", "at least one cutoff"},
		{"eval.k=[5,5]", "eval.k", "must ascend"},
		{"eval.k=[0]", "eval.k", "1..1000"},
		{"eval.vocabulary=[]", "eval.vocabulary", "at least one"},
		{"eval.vocabulary=[some]", "eval.vocabulary", "must be one of full, logged"},
		{"eval.budget=[k,k]", "eval.budget", `names "k" twice`},
		{"eval.repeated=often", "eval.repeated", "must be one of keep, drop"},
		{"eval.early=often", "eval.early", "must be one of keep, drop"},
		{"eval.confidence=1", "eval.confidence", "(0,1)"},
		{"eval.resamples=10", "eval.resamples", "100..1000000"},
		{"protect.select=random", "protect.replace", "must say by what"},
		{"protect.ratio=0.2", "protect.ratio", "must be 0"},
		{"protect.attacker=adaptive", "protect.attacker", "must be clean"},
		{"protect.epsilon=1", "protect.epsilon", "must be 0"},
		{"protect.replace=blank", "protect.replace", "must be one of"},
		{"protect.replace=uniform", "protect.select", "must be one of random"},
		{"protect.replace=rr", "protect.epsilon", "must lie in"},
		{"protect.tau=0", "protect.tau", "must lie in"},
		{"protect.batch=1", "protect.batch", "2..1000000"},
		{"protect.vectors=somewhere", "protect.vectors", "belongs to select"},
		{"protect.weighted=true", "protect.weighted", "belongs to select"},
		{"protect.reference=none", "protect.reference", "must be one of past, slate"},
		{"sweep.ratios=[0.2]", "sweep", "go together"},
		{"sweep.ratios=[1]", "sweep.ratios", "(0,1)"},
		{"sweep.epsilons=[0]", "sweep.epsilons", "must lie in"},
		{"sweep.attackers=[]", "sweep.attackers", "at least one"},
		{"sweep.slates=[11]", "sweep.slates", "1..10"},
		{"sweep.slates=[5,5]", "sweep.slates", "names 5 twice"},
	} {
		err := attackTask().Check("", []string{c.set})
		if err == nil || !strings.Contains(err.Error(), c.key) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want an error of %s that says %q", c.set, err, c.key, c.want)
		}
	}
	for _, c := range []struct {
		sets []string
		want string
	}{
		{[]string{"on.run=there", "data.name=standin-slates"}, "--set data.name: is not read with on.run"},
		{[]string{"on.run=there", "eval.vocabulary=[full,logged]"}, "it has no log"},
		{[]string{"on.run=there", "data.split=released"}, "must be users"},
		{[]string{"protect.select=random", "protect.replace=uniform", "protect.ratio=1"}, "[0,1)"},
		{[]string{"protect.select=random", "protect.replace=uniform", "protect.ratio=0.2", "protect.epsilon=1"}, "no guarantee"},
		{[]string{"protect.select=similar", "protect.replace=uniform", "protect.ratio=0.2"}, "protect.vectors"},
		{[]string{"protect.select=random", "protect.replace=rr", "protect.epsilon=1"}, "answers every position"},
		{[]string{"protect.replace=rr", "protect.epsilon=1", "sweep.epsilons=[1]"}, "as they are"},
		{[]string{"sweep.select=[similar]", "sweep.replace=[uniform]", "sweep.ratios=[0.2]"}, "sweep.select needs"},
	} {
		if err := attackTask().Check("", c.sets); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v: %v, want %q", c.sets, err, c.want)
		}
	}
}

// A profile is recognised, and what differs from it is named.
func TestStanding(t *testing.T) {
	for _, c := range []struct {
		change func(c *Config)
		code   bool
		text   string
	}{
		{func(*Config) {}, false, "profile paper"},
		{func(*Config) {}, true, "profile code"},
		{func(c *Config) { c.Attack.Encoder, c.Attack.Decoder = "attention", "point" }, false, "profile paper"},
		{func(c *Config) { c.Train.Sample, c.Train.Epochs = 0.1, 3 }, false, "profile paper, changed: train.epochs=3, train.sample=0.1"},
		{func(c *Config) { c.Attack.Dim = 64 }, true, "profile code, changed: attack.dim=64"},
		{func(c *Config) { c.Attack.Decoder = "point" }, true, "profile code"},
		{func(c *Config) { c.Profile = "mine" }, false, `own setting "mine"`},
	} {
		got := Default()
		if c.code {
			got = Code("attention", "lstm")
		}
		c.change(&got)
		if s, err := got.standing(); err != nil || s.Text != c.text {
			t.Errorf("%q, %v; want %q", s.Text, err, c.text)
		}
	}
}

// With on.run a file may name a set all the same: a complete one always does.
func TestOnRunLeavesTheFilesName(t *testing.T) {
	path := filepath.Join(t.TempDir(), "on.yaml")
	if err := os.WriteFile(path, []byte("data: {name: standin-slates}\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := attackTask().Check(path, []string{"on.run=there"}); err != nil {
		t.Error(err)
	}
}

// Every bad field of a file is named with its line, all at once.
func TestBadFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "bad.yaml")
	text := "data:\n  slate: 0\nattack:\n  encoder: median\ntrain:\n  rate: -1\n  sample: 2\neval:\n  k: [10, 5]\nsweep:\n  ratios: [1.5]\n"
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	err := attackTask().Check(path, nil)
	if err == nil {
		t.Fatal("no error")
	}
	for _, want := range []string{"bad.yaml:2", "bad.yaml:4", "bad.yaml:6", "bad.yaml:7", "bad.yaml:9", "bad.yaml:11"} {
		if !strings.Contains(err.Error(), want+":") {
			t.Errorf("no complaint of %s:\n%v", want, err)
		}
	}
}
