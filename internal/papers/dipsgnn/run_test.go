package dipsgnn

import (
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"privrec/internal/experiment"
	"privrec/internal/privacy"
	"privrec/internal/privacy/accountant"
	"privrec/internal/protocol/nextitem"
	"privrec/internal/run/runtest"
)

// ledgerOf reads the ledger of a run.
func ledgerOf(t testing.TB, dir string) []privacy.Entry {
	t.Helper()
	l, err := privacy.Reading{}.File(filepath.Join(dir, "ledger.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	return l.Entries()
}

// variant is a run at the small setting with what the account must say of it.
type variant struct {
	name      string
	sets      []string
	unbounded string  // names in privacy.json
	claimed   float64 // 0: infinity
	std       float64 // of the noise over C
	features  string  // account of the features: total, and what is open; empty: no features
	noisy     string  // passes by part; R is how long the refit lasts
	channel   bool    // the ledger's noise is what the account of the channel counts
}

// variants are Figure 7's runs, the ablation and the switches of the noise.
var variants = []variant{
	{"Priv", nil, "labels,readout,backward,eval_noise_off,selection", 5, 1.18703, "20 []", "train 2, valid 2, refit R, test R+1", true},
	{"noise off first", []string{`eval.noise=["off","on"]`}, "labels,readout,backward,eval_noise_off,selection", 5, 1.18703, "20 []", "train 2, valid 0, refit R, test 1", true},
	{"Nonp", []string{"privacy.features.epsilon=.inf", "privacy.transitions.epsilon=.inf", `eval.noise=["off"]`},
		"labels,readout,backward,no_noise,selection", 0, 0, "infinity [no_perturbation]", "train 0, valid 0, refit 0, test 0", false},
	{"Nonp-U", []string{"model.user_input=id", "privacy.features.epsilon=.inf", "privacy.transitions.epsilon=.inf", `eval.noise=["off"]`},
		"labels,readout,backward,no_noise,selection", 0, 0, "", "train 0, valid 0, refit 0, test 0", false},
	{"Priv-U", []string{"model.user_input=id", "privacy.features.epsilon=.inf"},
		"labels,readout,backward,eval_noise_off,selection", 5, 1.18703, "", "train 2, valid 2, refit R, test R+1", true},
	{"adjacency zero", []string{"model.adjacency=zero"}, "labels,readout,eval_noise_off,selection", 5, 1.18703, "20 []", "train 2, valid 2, refit R, test R+1", false},
	{"sigma squared", []string{"privacy.transitions.noise_std=sigma_squared"},
		"labels,readout,backward,eval_noise_off,selection", 5, 1.18703 * 1.18703 * 0.2, "20 []", "train 2, valid 2, refit R, test R+1", true},
	{"unselected raw, some", []string{"privacy.features.unselected=raw", "privacy.features.epsilon=5"},
		"labels,readout,backward,eval_noise_off,selection", 5, 1.18703, "infinity [unselected]", "train 2, valid 2, refit R, test R+1", true},
	{"two steps", []string{"model.steps=2"}, "labels,readout,backward,eval_noise_off,selection", 5, 1.18703 * math.Sqrt2, "20 []", "train 2, valid 2, refit R, test R+1", true},
	{"no refit", []string{"train.refit=false"}, "labels,readout,backward,eval_noise_off,selection", 5, 1.18703, "20 []", "train 2, valid 2, refit 0, test 3", true},
	{"test, noise on", []string{"train.select=test", "train.refit=false", `eval.noise=["on"]`},
		"labels,readout,backward,selection", 5, 1.18703, "20 []", "train 2, valid 2, refit 0, test 3", true},
	{"nothing chosen", []string{"train.select=last", "train.refit=false", "train.patience=0"},
		"labels,readout,backward,eval_noise_off", 5, 1.18703, "20 []", "train 2, valid 2, refit 0, test 3", true},
	{"stopped early", []string{"train.select=last", "train.refit=false", "train.patience=3"},
		"labels,readout,backward,eval_noise_off,selection", 5, 1.18703, "20 []", "train 2, valid 2, refit 0, test 3", true},
	{"code", []string{"train.select=test", "train.validation=0", "train.refit=false", "train.misalign_users=true", "data.candidates=ten-core", `eval.noise=["off"]`,
		"privacy.features.unselected=raw", "privacy.transitions.noise_std=sigma_squared"},
		"labels,readout,backward,eval_noise_off,selection", 5, 1.18703 * 1.18703 * 0.2, "20 []", "train 2, valid 0, refit 0, test 0", true},
}

func TestVariants(t *testing.T) {
	for _, v := range variants {
		t.Run(v.name, v.test)
	}
}

func (v variant) test(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "run")
	start(t, Task(), dir, v.sets)
	p, o := readJSON[Privacy](t, dir, "privacy.json"), readJSON[nextitem.Outcome](t, dir, "metrics.json")
	if got := strings.Join(experiment.Names(p.Unbounded), ","); got != v.unbounded {
		t.Errorf("unbounded: %s, want %s", got, v.unbounded)
	}
	if claim := float64(p.Claimed.Eps); claim != v.claimed && !(v.claimed == 0 && math.IsInf(claim, 1)) {
		t.Errorf("claimed %v, want %v", claim, v.claimed)
	}
	if !math.IsInf(float64(p.Total), 1) {
		t.Errorf("a total of %v, though something has no bound", p.Total)
	}
	if math.Abs(p.NoiseStd-0.2*v.std) > 1e-5 {
		t.Errorf("noise of std %v, want %v", p.NoiseStd, 0.2*v.std)
	}
	features := ""
	if f := p.Features; f != nil {
		var open []string
		for _, u := range f.Unbounded {
			open = append(open, u.What)
		}
		features = fmt.Sprint(f.Total, " ", open)
	}
	if features != v.features {
		t.Errorf("features %q, want %q", features, v.features)
	}
	entries := ledgerOf(t, dir)
	checkFeatures(t, entries, p.Features)
	checkPasses(t, entries, o, p, v.noisy)
	checkReplay(t, entries, p, v.channel)
}

// checkFeatures: one release of the features, however the run went, and whatever of
// them has no bound declared before the run.
func checkFeatures(t *testing.T, entries []privacy.Entry, f *experiment.Features) {
	t.Helper()
	released, open := int64(0), 0
	for _, e := range entries {
		if u, ok := e.Event.(privacy.Unprotected); ok && e.Period == "before the run" && u.Unit == privacy.Feature {
			open++
		}
		if e.Purpose != purposeFeatures {
			continue
		}
		if e.Period != "before training" {
			t.Errorf("features in the period %q", e.Period)
		}
		if event, ok := e.Event.(privacy.PureLDP); ok {
			released += e.Count
			if event.Epsilon != float64(f.Eps1) {
				t.Errorf("features released at %v, claimed %v", event.Epsilon, f.Eps1)
			}
		}
	}
	want, wantOpen := int64(0), 0
	if f != nil {
		wantOpen = len(f.Unbounded)
		if !math.IsInf(float64(f.Eps1), 1) {
			want = 1
		}
	}
	if released != want || open != wantOpen {
		t.Errorf("%d releases of features and %d open events, want %d and %d", released, open, want, wantOpen)
	}
}

// checkPasses: every period of the ledger holds the samples of its passes, both
// directions alike, a release a step.
func checkPasses(t *testing.T, entries []privacy.Entry, o nextitem.Outcome, p Privacy, want string) {
	t.Helper()
	samples := map[string]int{"train": o.Data.TrainSamples, "valid": o.Data.ValidSamples, "test": o.Data.TestSamples}
	if len(o.Selection) > 0 {
		samples["refit"], samples["train"] = o.Data.TrainSamples, o.Data.TrainSamples-o.Data.ValidSamples
		if len(o.Epochs) != o.Selected {
			t.Errorf("refitted for %d epochs, %d selected", len(o.Epochs), o.Selected)
		}
	}
	passes := map[string]int{}
	for _, e := range entries {
		g, ok := e.Event.(privacy.Gaussian)
		if !ok {
			continue
		}
		if g.Sigma != p.NoiseStd || g.Sensitivity != p.C || g.Unit != privacy.Edge || g.Neighbouring != privacy.AddRemove {
			t.Errorf("%s, %s: %+v, want std %v and sensitivity %v", e.Period, e.Purpose, g, p.NoiseStd, p.C)
		}
		part := e.Purpose[strings.LastIndex(e.Purpose, " ")+1:]
		if e.Count != int64(samples[part]*p.T) {
			t.Errorf("%s, %s: %d releases, want %d samples times %d steps", e.Period, e.Purpose, e.Count, samples[part], p.T)
		}
		passes[e.Purpose]++
	}
	for _, purpose := range []string{purposeIncoming, purposeOutgoing} {
		got := fmt.Sprintf("train %d, valid %d, refit %d, test %d",
			passes[purpose+"train"], passes[purpose+"valid"], passes[purpose+"refit"], passes[purpose+"test"])
		if want := strings.NewReplacer("R+1", fmt.Sprint(o.Selected+1), "R", fmt.Sprint(o.Selected)).Replace(want); got != want {
			t.Errorf("%s%s, want %s", purpose, got, want)
		}
	}
}

// checkReplay: an accountant who reads nothing but the ledger comes to the
// account of the unit edge, and, with what is unprotected, to infinity for the
// same reasons.
func checkReplay(t *testing.T, entries []privacy.Entry, p Privacy, channel bool) {
	t.Helper()
	var noise []privacy.Entry
	for _, e := range entries {
		if _, open := e.Event.(privacy.Unprotected); !open {
			noise = append(noise, e)
		}
	}
	books := func(entries []privacy.Entry) accountant.Result {
		a, err := accountant.New(accountant.Analytic, privacy.Edge, privacy.AddRemove)
		if err != nil {
			t.Fatal(err)
		}
		if err := accountant.ChargeLedger(a, entries); err != nil {
			t.Fatal(err)
		}
		spent, err := a.Spent(p.Delta)
		if err != nil {
			t.Fatal(err)
		}
		return spent
	}
	spent := books(noise)
	var unit Accounted
	if len(p.Units) > 0 {
		unit = p.Units[0].Accounted
	}
	if channel {
		within(t, "epsilon of the ledger", spent.Epsilon, float64(unit.EpsExact), 1e-9)
	} else if float64(unit.EpsExact) != 0 && !math.IsInf(float64(unit.EpsExact), 1) {
		t.Errorf("the channel is accounted %v", unit.EpsExact)
	}
	spent = books(entries)
	var open []string
	for _, u := range spent.Unprotected {
		open = append(open, u.What)
	}
	slices.Sort(open)
	listed := experiment.Names(p.Unbounded)
	slices.Sort(listed)
	if diff := cmp.Diff(listed, open); diff != "" || !math.IsInf(spent.Epsilon, 1) {
		t.Errorf("the whole ledger comes to %v: %s", spent.Epsilon, diff)
	}
}

// Results do not depend on the number of workers, to the last byte.
func TestWorkers(t *testing.T) {
	var first map[string]string
	for _, workers := range []int{1, 2, 5} {
		dir := filepath.Join(t.TempDir(), "run")
		start(t, Task(), dir, []string{fmt.Sprint("run.workers=", workers)})
		got := runtest.Artefacts(t, dir)
		if first == nil {
			first = got
			for _, name := range []string{"metrics.json", "privacy.json", "ledger.jsonl", "scores-noise-on.tsv.gz", "scores-noise-off.tsv.gz", "checkpoint/checkpoint.safetensors", "result.json"} {
				if first[name] == "" {
					t.Errorf("no %s", name)
				}
			}
		}
		runtest.Same(t, fmt.Sprint(workers, " workers"), got, first)
	}
}

// Another seed gives other results; the same one the same.
func TestSeeds(t *testing.T) {
	run := func(seed int) map[string]string {
		dir := filepath.Join(t.TempDir(), "run")
		start(t, Task(), dir, []string{fmt.Sprint("run.seed=", seed), "train.epochs=1"})
		return runtest.Artefacts(t, dir)
	}
	a, again, b := run(1), run(1), run(2)
	runtest.Same(t, "the same seed", again, a)
	if a["metrics.json"] == b["metrics.json"] {
		t.Error("another seed gives the same metrics")
	}
}
