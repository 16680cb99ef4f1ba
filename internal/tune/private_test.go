package tune

import (
	"context"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"privrec/internal/dataset"
	"privrec/internal/experiment"
	"privrec/internal/papers"
	"privrec/internal/privacy/accountant/rdp"
	"privrec/internal/rng"
	"privrec/internal/run"
)

// private makes the rows of a study private.
func private(seed uint64) func(*Study) {
	return func(s *Study) {
		s.Seed, s.Trials, s.Rows, s.Cut = seed, 6, Private, 0.2
		s.Selection = Selection{Eta: 0, Sigma: 5, Delta: 1e-6}
		s.Set = []string{"sigma=4"}
	}
}

// The number of trials follows the law of the study: the mean over seeds is that of the law, to
// six standard errors (a false alarm below 1e-8).
func TestNumberOfTrialsIsRandom(t *testing.T) {
	law, err := rdp.SelectionFor(0, 6)
	if err != nil {
		t.Fatal(err)
	}
	const n = 4000
	sum, square, ones := 0.0, 0.0, 0
	for seed := range uint64(n) {
		s := Study{Seed: seed, Trials: 6, Rows: Private}
		r, err := s.rungs(&Task{Name: "x"})
		if err != nil {
			t.Fatal(err)
		}
		k := float64(r[0].size)
		sum, square = sum+k, square+k*k
		if k == 1 {
			ones++
		}
	}
	mean := sum / n
	if se := math.Sqrt((square/n - mean*mean) / n); math.Abs(mean-6) > 6*se {
		t.Errorf("mean %v, want 6, standard error %v", mean, se)
	}
	p := (1 - law.Gamma) / -math.Log(law.Gamma)
	if math.Abs(float64(ones)/n-p) > 6*math.Sqrt(p*(1-p)/n) {
		t.Errorf("%d of %d searches have one trial, want a share of %v", ones, n, p)
	}
}

// A choice by private rows: scores are noisy sums over users, nothing without noise is in the log,
// every trial has a seed of its own, and the price is theorem 2's on what a trial releases, its
// score included.
func TestPrivateChoice(t *testing.T) {
	var seeds []string
	s := study(t, &fake{}, private(4))
	r, log := search(t, s, Options{Jobs: 2})
	_, again := search(t, study(t, &fake{}, private(4)), Options{})
	if again != log {
		t.Error("another log of the same study")
	}
	lines := r.tasks[0].lines
	if len(lines) < 2 {
		t.Fatalf("%d trials: take another seed", len(lines))
	}
	for _, l := range lines {
		if l.Metrics != nil || l.Settings["width"] == "" || strings.Contains(log, "NDCG") {
			t.Errorf("%+v", l)
		}
		dir := trial{task: &s.Tasks[0], candidate: candidate{number: l.Candidate}}.dir(r.out)
		o, err := experiment.ReadOutcome(dir)
		if err != nil {
			t.Fatal(err)
		}
		exact := 200 * o.Evaluations[0].Values["NDCG@20"]
		if d := math.Abs(l.Score - exact); d == 0 || d > 5*7 { // 7 standard deviations: 2.6e-12
			t.Errorf("score %v of %v", l.Score, exact)
		}
		m, err := run.ReadManifest(dir)
		if err != nil {
			t.Fatal(err)
		}
		seeds = append(seeds, fmt.Sprint(m.Seed))
	}
	if len(set32(seeds)) != len(lines) {
		t.Errorf("seeds %v", seeds)
	}
	law, err := rdp.SelectionFor(0, 6)
	if err != nil {
		t.Fatal(err)
	}
	single, err := rdp.Gaussian(4, 1)
	if err != nil {
		t.Fatal(err)
	}
	scored, err := rdp.Gaussian(1/math.Sqrt(1./16+1./25), 1)
	if err != nil {
		t.Fatal(err)
	}
	chosen, err := law.Curve(context.Background(), scored)
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		curve rdp.Curve
		got   float64
	}{
		"selected": {chosen, r.tasks[0].price.Selected.Epsilon},
		"again":    {rdp.Sum(chosen, single), r.tasks[0].price.Again.Epsilon},
	} {
		want, err := rdp.Epsilon(context.Background(), c.curve, 1e-6, rdp.Options{})
		if err != nil || math.Abs(c.got/want.Epsilon-1) > 1e-9 {
			t.Errorf("%s: epsilon %v, want %v, %v", name, c.got, want.Epsilon, err)
		}
	}
	if p := r.tasks[0].price; !(p.Single.Epsilon < p.Selected.Epsilon && p.Selected.Epsilon < p.Again.Epsilon) {
		t.Errorf("%+v", p)
	}
	text, err := os.ReadFile(r.Files()[0])
	if said := regexp.MustCompile(`(of|trial) \d+`).FindString(strings.Split(string(text), "\nrun:")[0]); err != nil || said != "" || strings.Contains(string(text), "seed 4") {
		t.Errorf("the winner says %q of the other trials: %.300s, %v", said, text, err)
	}
	var b strings.Builder
	if err := r.Text(&b); err != nil || !strings.Contains(b.String(), "of a single run; ") || !strings.Contains(b.String(), "only the best trial of each task may be released") {
		t.Errorf("%s, %v", b.String(), err)
	}
}

// Two studies that score one trial in two ways add noise of their own: with the same normals the difference of
// two scores would be that of the users' sums.
func TestScoresHaveNoiseOfTheirOwn(t *testing.T) {
	s := study(t, &fake{}, private(4))
	data := []run.Data{{Name: "rows", SHA256: "ab"}}
	draw := func(change func(*Study, *Task)) float64 {
		c, task := *s, s.Tasks[0]
		change(&c, &task)
		stream := c.scoreStream(&task, "trial", data)
		return stream.NormFloat64()
	}
	was := draw(func(*Study, *Task) {})
	for name, change := range map[string]func(*Study, *Task){
		"objective": func(s *Study, _ *Task) { s.Objective = "Recall@20" },
		"sigma":     func(s *Study, _ *Task) { s.Selection.Sigma *= 2 },
		"release":   func(_ *Study, t *Task) { t.Release = "noisy" },
	} {
		if draw(change) == was {
			t.Errorf("another %s has the same noise", name)
		}
	}
	if draw(func(*Study, *Task) {}) != was {
		t.Error("one study draws two times")
	}
	data[0].SHA256 = "cd"
	if draw(func(*Study, *Task) {}) == was {
		t.Error("other rows have the same noise")
	}
}

// The epsilons of several winners are not one.
func TestPrivateChoicesAddUp(t *testing.T) {
	s := study(t, &fake{}, private(4))
	s.Tasks = append(s.Tasks, s.Tasks[0])
	s.Tasks[1].Name = "again"
	r, _ := search(t, s, Options{})
	if !strings.Contains(strings.Join(r.doc.Notes, "\n"), "add up") {
		t.Errorf("%v", r.doc.Notes)
	}
}

func set32(words []string) map[string]bool {
	m := map[string]bool{}
	for _, w := range words {
		m[w] = true
	}
	return m
}

// What is open stays without bound, and the result says what it is.
func TestPrivateChoiceOfOpenMethods(t *testing.T) {
	s := Default()
	s.Name, s.Trials, s.Rows, s.Selection = "open", 2, Private, Selection{Sigma: 5, Delta: 1e-6}
	s.Set = []string{"data.name=standin-tiny", "data.recipe=gerai"}
	s.Tasks = []Task{{Task: "train ease", Space: map[string]Space{"model.lambda": {Log: []float64{1, 1000}}}}}
	if err := s.Form(nil, papers.All()); err != nil {
		t.Fatal(err)
	}
	r, _ := search(t, &s, Options{})
	if !math.IsInf(r.tasks[0].price.Selected.Epsilon, 1) || !strings.Contains(strings.Join(r.doc.Notes, "\n"), "no epsilon bounds it for one user") {
		t.Errorf("%+v\n%v", r.tasks[0].price, r.doc.Notes)
	}
}

// The price is that of the most expensive setting that can be drawn. So epsilon is no key to search: a study that happens to
// draw the small ones alone would be charged for these.
func TestPrivateChoiceOfEpsilon(t *testing.T) {
	for _, key := range []string{"privacy.epsilon", "privacy.delta"} {
		s := Default()
		s.Name, s.Rows, s.Selection = "epsilon", Private, Selection{Sigma: 5, Delta: 1e-6}
		s.Tasks = []Task{{Task: "train dp-ease", Space: map[string]Space{key: {Choice: []Word{"1e-7", "0.1"}}}}}
		if err := s.Form(nil, papers.All()); err == nil ||
			!strings.Contains(err.Error(), key+": cannot be searched where rows are private") {
			t.Errorf("%s: %v", key, err)
		}
		if s.Rows = Public; s.Form(nil, papers.All()) != nil {
			t.Errorf("%s, by public rows: %v", key, s.Form(nil, papers.All()))
		}
	}
}

// Real tasks: of several settings, tune takes the one that is best when each is tried alone, and
// what it measures is not what a run on test rows measures.
func TestTakesTheBestOfRealSettings(t *testing.T) {
	values := []Word{"1e-4", "10", "1e5"}
	s := Default()
	s.Name, s.Trials, s.Rows, s.Objective = "real", 12, Public, "Recall@20"
	s.Set = []string{"data.name=standin-tiny", "data.recipe=gerai"}
	s.Tasks = []Task{{Task: "train ease", Space: map[string]Space{"model.lambda": {Choice: values}}}}
	if err := s.Form(nil, papers.All()); err != nil {
		t.Fatal(err)
	}
	r, _ := search(t, &s, Options{Jobs: 2})
	best, word := -1.0, ""
	for _, v := range values {
		out := filepath.Join(t.TempDir(), "run")
		o := run.Options{Sets: append([]string{"model.lambda=" + string(v), "run.out=" + out}, s.Set...), Progress: run.Silent{}, Log: discard,
			Stdout: discardWriter{}, Withhold: &dataset.Withholding{Seed: rng.Seed(s.Seed), Share: s.Cut}}
		if _, err := s.Tasks[0].task.Start(t.Context(), o); err != nil {
			t.Fatal(err)
		}
		res, err := experiment.ReadOutcome(out)
		if err != nil {
			t.Fatal(err)
		}
		if x := res.Evaluations[0].Values["Recall@20"]; x > best {
			best, word = x, string(v)
		}
	}
	got, ok := r.Best("ease")
	if !ok || got.Score < best || got.Settings["model.lambda"] != word && len(got.Settings) > 0 {
		t.Errorf("%+v; tried alone %s gives %v", got, word, best)
	}
}

type discardWriter struct{}

func (discardWriter) Write(p []byte) (int, error) { return len(p), nil }

// Next items: the held-out samples are measured, and a second training would learn them.
func TestNextItems(t *testing.T) {
	s := Default()
	s.Name, s.Trials, s.Rows, s.Objective = "next", 2, Public, "Recall@20"
	s.Set = []string{"data.name=standin-tiny", "train.epochs=1", "model.dim=4"}
	s.Tasks = []Task{{Task: "train gru4rec", Space: map[string]Space{"train.rate": {Log: []float64{1e-3, 1e-2}}}}}
	if err := s.Form(nil, papers.All()); err != nil {
		t.Fatal(err)
	}
	out := t.TempDir()
	search(t, &s, Options{Out: out})
	var o struct {
		Data struct {
			InPlace      string `json:"measured_rows"`
			ValidSamples int    `json:"valid_samples"`
			TestSamples  int    `json:"test_samples"`
		} `json:"data"`
		Selection []struct{} `json:"selection"`
	}
	if err := run.ReadMetrics(filepath.Join(out, "trials", "gru4rec-0001"), &o); err != nil {
		t.Fatal(err)
	}
	if d := o.Data; d.InPlace != experiment.Validation || d.ValidSamples == 0 || d.TestSamples != d.ValidSamples || o.Selection != nil {
		t.Errorf("%+v", o)
	}
	s.Set = append(s.Set, "train.select=last", "train.patience=0", "train.validation=0", "train.refit=false")
	if _, err := Run(t.Context(), &s, Options{Out: t.TempDir(), Progress: run.Silent{}}); err == nil || !strings.Contains(err.Error(), "train.validation: settings are chosen by held-out samples") {
		t.Errorf("without held-out samples: %v", err)
	}
}
