package link_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"privrec/internal/run"
)

// short is a training of seconds.
var short = []string{"model.dim=8", "train.epochs=2", "train.select=last", "train.patience=0"}

// A propagation of one step moves the items of a user and no others, so that influence reads the
// edges off. No similarity does.
func TestOneStepIsReadOff(t *testing.T) {
	dir := trained(t, "lightgcn", append(short, "model.layers=1", "run.hold_out.rows=0.3")...)
	for _, change := range []string{"direction", "scaled"} {
		o := measured(t, dir, "attack.change="+change)
		for _, name := range []string{"influence on scores", "influence on vectors"} {
			for _, metric := range []string{fromRandom, fromHeld, right, "AP edges among all pairs"} {
				if v, in := value(t, o, name, metric); v < 1-1e-9 || in[0] < 1-1e-9 {
					t.Errorf("%s, %s, %s: %.6f, %v", change, name, metric, v, in)
				}
			}
		}
		if v, _ := value(t, o, "score", fromHeld); v > 0.9 {
			t.Errorf("score: %.3f", v)
		}
		if o.Threat.Answers != 61 || o.Threat.Noise != "" || o.Threat.HeldOut != "rows of run.hold_out" || len(o.Threat.Missing) != 0 {
			t.Errorf("%+v", o.Threat)
		}
		gain, ok := o.Gain("influence on scores", fromHeld)
		if !ok || gain.Interval[0] < 0.2 || gain.Over == "" {
			t.Errorf("what is left: %+v", gain)
		}
	}
}

// What does not depend on the graph does not tell it: the influence in a factorisation, which is
// none at all, and the vectors of one that learned nothing. Candidates of a user are as many of
// both kinds; the AUC of random scores misses 1/2 by 6.2 deviations once in 1e9.
func TestNoGraphNoEdges(t *testing.T) {
	dir := trained(t, "bprmf", "model.dim=16", "train.epochs=1", "train.rate=1e-12", "train.select=last", "train.patience=0", "run.hold_out.rows=0.5")
	o := measured(t, dir, "attack.users=0")
	for _, name := range []string{"influence on scores", "influence on vectors", "influence on scores, beyond the item's"} {
		for _, metric := range []string{fromRandom, fromHeld} {
			if v, in := value(t, o, name, metric); v != 0.5 || in[0] > 0.5 || in[1] < 0.5 {
				t.Errorf("%s: %v, %v", name, v, in)
			}
		}
	}
	for _, q := range o.Data.Questions {
		if q.Of != "from held-out interactions" { // held out by a coin for each row, alike in all else
			continue
		}
		n, m := float64(q.Edges+q.Others), float64(q.Edges)
		for _, name := range []string{"score", "cosine distance", "city block distance", "popularity of the item"} {
			if v, _ := value(t, o, name, fromHeld); (v-0.5)*(v-0.5) > 6.2*6.2*(n+1)/(12*m*(n-m)) {
				t.Errorf("untrained, %s: AUC %.4f", name, v)
			}
		}
	}
}

// Noise in every answer hides what a clean release of the same model gives away, and a graph that
// was released with noise tells of itself and not of the edges.
func TestNoise(t *testing.T) {
	dir := trained(t, "rdpgcf", append(short, "privacy.epsilon=1", "release.kinds=[noisy, clean]")...)
	clean := measured(t, dir, "on.release=clean")
	noisy := measured(t, dir)
	was, _ := value(t, clean, "influence on vectors", fromRandom)
	now, in := value(t, noisy, "influence on vectors", fromRandom)
	if was < 0.95 || now > 0.6 || in[1] < now {
		t.Errorf("clean %.3f, noisy %.3f %v", was, now, in)
	}
	if noisy.Target.Release != "noisy" || !strings.Contains(noisy.Threat.Noise, "every answer") || clean.Threat.Noise != "" {
		t.Errorf("%+v, %+v", noisy.Threat, clean.Threat)
	}
	graph := append(short, "perturb.epsilon=1")
	for _, name := range []string{"edgerand", "lapgraph"} {
		o := measured(t, trained(t, name, append(graph, "model.layers=1")...))
		if v, _ := value(t, o, "influence on scores", fromRandom); v > 0.85 {
			t.Errorf("%s: %.3f", name, v)
		}
	}
}

// Inputs of users are the features where a model has them, and the graph shows through those too.
func TestFeatures(t *testing.T) {
	dir := trained(t, "gcn", "data.recipe=gerai", "model.dim=6", "train.epochs=1", "train.batch=64", "eval.candidates=40", "eval.k=[5]")
	o := measured(t, dir, "attack.users=30", "attack.sees=[influence, vectors]")
	if v, _ := value(t, o, "influence on vectors", fromRandom); v < 0.99 || !strings.Contains(o.Threat.Inputs, "features") {
		t.Errorf("%.3f, %+v", v, o.Threat)
	}
}

// A run that gives no answers from inputs says which evidence it gives; without a setting the
// attack takes that, and the result says what is missing.
func TestNoInfluence(t *testing.T) {
	for name, c := range map[string]struct {
		sets         []string
		give, missed string
	}{
		"ease":   {nil, "this run gives scores", "influence vectors"},
		"rdpgcf": {[]string{"profile=repaired", "model.norm=right-clamp:10", "privacy.method=repaired", "privacy.epsilon=4", "privacy.planned_epochs=0", "privacy.accounting=poisson", "privacy.count=joint", "privacy.conversion=tight", "train.sampler=poisson", "train.negatives=all", "train.epochs=1", "train.select=last", "train.patience=0", "train.l2=0", "release.kinds=[noisy]", "release.average=1"}, "this run gives scores, vectors", "influence"},
	} {
		dir := trained(t, name, c.sets...)
		_, _, err := attack(t, "on.run="+dir, "attack.sees=[influence]")
		var usage *run.UsageError
		if !errors.As(err, &usage) || !strings.HasPrefix(usage.Message, "attack.sees: influence: ") || usage.Fix != c.give {
			t.Errorf("%s: %v", name, err)
		}
		o, text, err := attack(t, "on.run="+dir)
		if err != nil {
			t.Fatal(err)
		}
		var missing []string
		for _, m := range o.Threat.Missing {
			missing = append(missing, m.Kind)
		}
		if strings.Join(missing, " ") != c.missed || !strings.Contains(text, "not given: influence") || !strings.Contains(text, "guess budget") {
			t.Errorf("%s: %v\n%s", name, missing, text)
		}
	}
}

// A checkpoint of another model is found out.
func TestChangedCheckpoint(t *testing.T) {
	dir := trained(t, "lightgcn", short...)
	other := trained(t, "lightgcn", append(short, "train.rate=0.1")...)
	const file = "checkpoint/checkpoint.safetensors"
	b, err := os.ReadFile(filepath.Join(other, file))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, file), b, 0o644); err != nil {
		t.Fatal(err)
	}
	if _, _, err := attack(t, "on.run="+dir, "attack.sees=[influence]"); err == nil || !strings.Contains(err.Error(), "does not give the vectors that the run released") {
		t.Errorf("%v", err)
	}
}

// Settings that mean nothing are refused by name.
func TestRefused(t *testing.T) {
	for set, want := range map[string]string{
		"attack.sees=[weights]":     "attack.sees",
		"attack.watched=-1":         "attack.watched",
		"attack.budgets=[]":         "attack.budgets",
		"attack.budgets=[1, 1]":     "attack.budgets",
		"attack.budgets=[0]":        "attack.budgets[0]",
		"attack.base_rate=1":        "attack.base_rate",
		"attack.change=none":        "attack.change",
		"attack.delta=0":            "attack.delta",
		"target.set=[a=b]":          "target.task",
		"eval.resamples=5":          "eval.resamples",
		"on.run=" + os.TempDir():    "there is no run",
		"profile=own":               "nothing to attack is named",
		"target.task=train nothing": "there is no task",
	} {
		if _, _, err := attack(t, set); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", set, err, want)
		}
	}
}
