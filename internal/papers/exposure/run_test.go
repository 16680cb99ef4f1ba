package exposure

import (
	"context"
	"errors"
	"maps"
	"math"
	"slices"
	"strings"
	"testing"

	"privrec/internal/dataset"
	"privrec/internal/dataset/slate"
	"privrec/internal/experiment"
	"privrec/internal/protocol/slates"
	"privrec/internal/run"
	"privrec/internal/run/runtest"
	"privrec/internal/train"
)

// A run under both protocols and both budgets: the attack beside its floors, the gain at
// as many guesses, and an account that says that nothing is protected.
func TestRun(t *testing.T) {
	dir := t.TempDir()
	text := start(t, dir, "attack.encoder=attention", "train.sample=0.5")
	o, a := result[Outcome](t, dir, "metrics.json"), result[Account](t, dir, "privacy.json")
	if o.Method != "attention encoder, gru decoder" || o.Data.Level != dataset.LevelD || o.Cap != 2 || len(o.Epochs) != 2 || len(o.Evaluations) != 4 {
		t.Errorf("%+v", o)
	}
	if 2*o.Data.Trained < o.Data.TrainPairs-1 || 2*o.Data.Trained > o.Data.TrainPairs+1 {
		t.Errorf("%d of %d pairs trained on, want half", o.Data.Trained, o.Data.TrainPairs)
	}
	for i, p := range o.Protocols {
		want := [][2]string{{"full", "k*L"}, {"full", "k"}, {"logged", "k*L"}, {"logged", "k"}}[i]
		if p.Vocabulary != want[0] || p.Budget != want[1] || p.Pairs != o.Data.TestPairs || p.Left != 0 {
			t.Errorf("protocol %d: %+v", i, p)
		}
		for _, name := range []string{"random", "popularity", "co-occurrence"} {
			if !slices.ContainsFunc(p.Floors, func(s experiment.Scores) bool { return s.Name == name }) {
				t.Errorf("%s: no floor %s", p.Name, name)
			}
		}
		most := map[string]float64{"k*L": 25, "k": 5}[p.Budget]
		for _, s := range append(slices.Clone(p.Floors), p.Attack) {
			if n := s.Guesses["k=5"]; n < 1 || n > most {
				t.Errorf("%s: %s names %v items, want at most %v", p.Name, s.Name, n, most)
			}
			if s.Values["Recall@5"] > s.Values["Recall@10"] || s.Values["Recall@10"] > 1 {
				t.Errorf("%s: %s: %v", p.Name, s.Name, s.Values)
			}
		}
		if len(p.Gains) == 0 {
			t.Errorf("%s: no gains", p.Name)
		}
		for _, g := range p.Gains {
			if g.Interval[0] > g.Value || g.Interval[1] < g.Value || math.Abs(g.Floor+g.Value-p.Attack.Values[g.Metric]) > 1e-12 {
				t.Errorf("%s: %+v, the attack has %v", p.Name, g, p.Attack.Values[g.Metric])
			}
		}
	}
	if full, logged := o.Protocols[0].Attack.Values["Recall@10"], o.Protocols[2].Attack.Values["Recall@10"]; logged < full {
		t.Errorf("among the victim's own log the attack finds %v, among all items %v", logged, full)
	}
	if !math.IsInf(float64(a.Total), 1) || len(a.Units) != 0 || len(a.Unbounded) != 3 || a.Unbounded[2].What != "selection" {
		t.Errorf("account %+v", a)
	}
	for _, want := range []string{"evidence level D", "leak", "popularity (floor)", "co-occurrence (floor)", "nothing is protected", "holds the answers", "a sample of 50 %"} {
		if !strings.Contains(text, want) {
			t.Errorf("does not say %q:\n%s", want, text)
		}
	}
}

// The released program's setting runs, says so, and leaves pairs out of its average.
func TestCodeProfile(t *testing.T) {
	dir := t.TempDir()
	c := Code("mean", "gru")
	text := start(t, dir, "profile=code", "data.split=released", "data.unknown=drop", "attack.heads=1", "attack.tie=code", "attack.pool_start=true",
		"attack.context_decode=state", "attack.feed_all=true", "train.rate=1e-4", "train.beta2=0.98", "train.eps=1e-9", "train.warm_up=4000",
		"train.batches=once", "train.patience=0", "eval.vocabulary=[logged]", "eval.budget=[list]", "eval.repeated=drop", "eval.early=drop",
		"protect.reference=slate", "protect.own_rows=true")
	o := result[Outcome](t, dir, "metrics.json")
	if !strings.HasPrefix(o.Setting, "profile code, changed: ") || strings.Contains(o.Setting, "eval.budget") || c.Eval.Budget[0] != "list" {
		t.Errorf("setting %q", o.Setting)
	}
	if o.Data.Complete != o.Data.TestPairs || o.Protocols[0].Pairs+o.Protocols[0].Left != o.Data.TestPairs {
		t.Errorf("%+v, %d pairs counted, %d left out", o.Data, o.Protocols[0].Pairs, o.Protocols[0].Left)
	}
	if !strings.Contains(text, "to 1.58e-06") || !strings.Contains(text, "easier pairs") {
		t.Errorf("a rate that hardly moves and pairs left out are not mentioned:\n%s", text)
	}
}

// Pairs with a repeated click leave the average under sequence-wise decoders only: the
// released program counts them under its point-wise one.
func TestRepeatedClicks(t *testing.T) {
	repeated := func(decoder string) int {
		o := startOutcome(t, "attack.decoder="+decoder, "train.epochs=1", "eval.repeated=drop", "eval.vocabulary=[full]", "eval.budget=[k*L]", "eval.k=[5]")
		return o.Protocols[0].Left
	}
	if n := repeated("gru"); n == 0 {
		t.Error("gru: no pair is left out, the stand-in has some with a repeated click")
	}
	if n := repeated("point"); n != 0 {
		t.Errorf("point: %d pairs are left out", n)
	}
}

// startOutcome is what a run measured.
func startOutcome(t *testing.T, sets ...string) Outcome {
	t.Helper()
	dir := t.TempDir()
	start(t, dir, sets...)
	return result[Outcome](t, dir, "metrics.json")
}

// Runs are the same bytes for any number of workers, and so is one that was stopped in
// training, in the sweep or in the evaluation, and resumed.
func TestRunsRepeat(t *testing.T) {
	sets := []string{"train.sample=0.2", "eval.k=[5]", "eval.vocabulary=[full]", "eval.budget=[k*L]", "sweep.select=[random]", "sweep.replace=[uniform]", "sweep.ratios=[0.5]", "sweep.epsilons=[4]",
		"sweep.attackers=[clean,adaptive]", "sweep.slates=[4]"}
	want := t.TempDir()
	start(t, want, sets...)
	all := runtest.Artefacts(t, want)
	for _, workers := range []string{"2", "5"} {
		again := t.TempDir()
		start(t, again, append([]string{"run.workers=" + workers}, sets...)...)
		runtest.Same(t, workers+" workers", runtest.Artefacts(t, again), all)
	}
	for _, stop := range []stopping{{phase: "train", after: 2}, {phase: "sweep 2", after: 1}, {phase: "slates of 4", after: 1}} {
		dir := t.TempDir()
		ctx, cancel := context.WithCancelCause(t.Context())
		stop.cancel = cancel
		err := try(ctx, dir, sets, run.Options{Progress: &stop})
		if !run.WasInterrupted(err) && !errors.Is(err, train.ErrInterrupted) {
			t.Fatalf("stopped in %q: %v", stop.phase, err)
		}
		if err := try(t.Context(), dir, sets, run.Options{Resume: true}); err != nil {
			t.Fatal(err)
		}
		got := runtest.Artefacts(t, dir)
		for name := range all {
			if !strings.HasPrefix(name, "checkpoint") && got[name] != all[name] { // its pace is another one
				t.Errorf("stopped in %q: %s differs", stop.phase, name)
			}
		}
	}
}

// stopping cancels after some reports of progress of a phase.
type stopping struct {
	phase  string
	within bool
	after  int
	cancel context.CancelCauseFunc
}

func (s *stopping) Phase(name string) { s.within = strings.HasPrefix(name, s.phase); s.tick() }
func (s *stopping) Begin(string, int) { s.tick() }
func (s *stopping) Add(int)           { s.tick() }
func (s *stopping) End(string)        { s.tick() }

func (s *stopping) tick() {
	if s.within {
		if s.after--; s.after == 0 {
			s.cancel(errors.New("enough"))
		}
	}
}

// Protected slates: what is replaced is counted, accuracy falls, and only randomized
// response is accounted.
func TestProtectedRun(t *testing.T) {
	set, err := slate.Load(t.Context(), "standin-slates", dataset.View{Seed: 1}, slate.Options{})
	if err != nil {
		t.Fatal(err)
	}
	most := map[int32]float64{}
	for _, u := range set.Test.Users {
		most[u]++
	}
	user := 30 * slices.Max(slices.Collect(maps.Values(most)))
	for _, c := range []struct {
		sets  []string
		units []float64 // epsilons, but for the last, an item of a user
		says  string
	}{
		{[]string{"protect.select=random", "protect.replace=uniform", "protect.ratio=0.4"}, nil, "trained on slates as they were"},
		{[]string{"protect.select=random", "protect.replace=in-batch", "protect.ratio=0.4", "protect.attacker=adaptive"}, nil, "the attacker is adaptive"},
		{[]string{"protect.replace=rr", "protect.epsilon=3"}, []float64{3, 30, user}, "randomized response over the catalogue"},
	} {
		dir := t.TempDir()
		text := start(t, dir, append(c.sets, "train.epochs=1", "eval.vocabulary=[full]")...)
		o, a := result[Outcome](t, dir, "metrics.json"), result[Account](t, dir, "privacy.json")
		if o.Protection == nil || o.Protection.Replaced <= 0.3 || o.Protection.Accuracy >= o.Protection.Before || !strings.Contains(text, c.says) {
			t.Errorf("%v: %+v\n%s", c.sets, o.Protection, text)
		}
		var got []float64
		for _, u := range a.Units {
			if u.Unit != unitItem {
				got = append(got, float64(u.Total))
			}
		}
		if !slices.Equal(got, c.units) || !math.IsInf(float64(a.Total), 1) {
			t.Errorf("%v: units %v, want %v", c.sets, got, c.units)
		}
	}
}

// What data cannot do is an error that says so.
func TestRefusals(t *testing.T) {
	t.Setenv("PRIVREC_DATA", t.TempDir())
	for _, c := range []struct{ set, want string }{
		{"data.name=exposure-zhihu", "vocab.tsv"},
		{"data.name=ml-1m", "no set of slates"},
		{"eval.k=[5,1000]", "cutoff 1000"},
		{"data.behaviour=100", "no pair of 100 clicks"},
		{"on.run=nowhere", "it has no log"},
	} {
		err := try(t.Context(), t.TempDir(), []string{c.set}, run.Options{})
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want an error that says %q", c.set, err, c.want)
		}
	}
	err := begin(t.Context(), attackTask(), run.Options{Sets: []string{"run.out=" + t.TempDir(), "on.run=nowhere"}})
	if err == nil || !strings.Contains(err.Error(), "there is no run in nowhere") {
		t.Errorf("%v", err)
	}
}

// Without epochs the attack has its random weights, which find no more than popularity does with as many guesses.
func TestUntrained(t *testing.T) {
	dir := t.TempDir()
	text := start(t, dir, "train.epochs=0")
	o := result[Outcome](t, dir, "metrics.json")
	if o.Cap != 0 || o.Selected != 0 || o.Steps != 0 || len(o.Epochs) != 0 {
		t.Errorf("%+v", o)
	}
	for _, want := range []string{"random weights, never trained", "the floors count", "none shown"} {
		if !strings.Contains(text, want) {
			t.Errorf("does not say %q:\n%s", want, text)
		}
	}
	f, err := attackTask().Forecast(t.Context(), run.Options{Sets: slices.Concat([]string{"run.out=" + t.TempDir() + "/run"}, tiny, []string{"train.epochs=0"})})
	if err != nil || f.Steps != 0 || f.Seconds <= 0 {
		t.Errorf("%+v, %v", f, err)
	}
}

// A forecast counts the steps and writes nothing.
func TestForecast(t *testing.T) {
	f, err := attackTask().Forecast(t.Context(), run.Options{Sets: slices.Concat([]string{"run.out=" + t.TempDir() + "/run"}, tiny)})
	if err != nil || f.Seconds <= 0 || f.Fastest > f.Seconds || f.Steps == 0 || f.Steps%2 != 0 {
		t.Errorf("%+v, %v", f, err)
	}
}

// With eval.sample some users are measured, whole and the same ones each time, and the training
// pairs stay as they are.
func TestSampleOfUsers(t *testing.T) {
	set, err := slate.Load(t.Context(), "standin-slates", dataset.View{Seed: 1}, slate.Options{})
	if err != nil {
		t.Fatal(err)
	}
	some, err := slates.Eval{Sample: 0.4}.Sampled(set, 1)
	if err != nil {
		t.Fatal(err)
	}
	again, _ := slates.Eval{Sample: 0.4}.Sampled(set, 1)
	of := func(p *slate.Pairs) map[int32]int {
		out := map[int32]int{}
		for _, u := range p.Users {
			out[u]++
		}
		return out
	}
	all, kept := of(set.Test), of(some.Test)
	if len(kept) == 0 || len(kept) == len(all) || !maps.Equal(kept, of(again.Test)) || some.Train != set.Train {
		t.Errorf("%d of %d users are measured, %d when asked again", len(kept), len(all), len(of(again.Test)))
	}
	for u, n := range kept {
		if n != all[u] {
			t.Errorf("user %d is measured on %d of %d pairs", u, n, all[u])
		}
	}
	if _, err := (slates.Eval{Sample: 1e-12}).Sampled(set, 1); err == nil {
		t.Error("a sample without users is taken")
	}
	dir := t.TempDir()
	if text := start(t, dir, "train.epochs=1", "eval.sample=0.4"); !strings.Contains(text, "of a sample of 40 % of the users") {
		t.Errorf("does not say that it measured a sample:\n%s", text)
	}
	if o := result[Outcome](t, dir, "metrics.json"); o.Data.TestPairs != some.Test.Len() || o.Data.ValidPairs != some.Valid.Len() {
		t.Errorf("%d test pairs are measured, want %d", o.Data.TestPairs, some.Test.Len())
	}
}
