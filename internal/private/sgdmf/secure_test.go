package sgdmf

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"privrec/internal/privacy"
	"privrec/internal/private/release"
	"privrec/internal/protocol/topn"
	"privrec/internal/rng"
	"privrec/internal/run"
	"privrec/internal/run/runtest"
)

// A run with secure noise has the account of the same run with seeded noise, and needs hardly more of it; its
// ledger and manifest say so; and what may leave the house is in one file, without any user's vector.
func TestSecureRun(t *testing.T) {
	for _, sets := range [][]string{nil, {"train.sample=1", "privacy.epsilon=0.7"}} {
		dir, other := filepath.Join(t.TempDir(), "run"), filepath.Join(t.TempDir(), "run")
		text := suite.Start(t, suite.Tasks[0], dir, append(sets, "run.secure=true")...)
		suite.Start(t, suite.Tasks[0], other, sets...)
		a, b := runtest.ReadJSON[release.Account](t, dir, "privacy.json", true), runtest.ReadJSON[release.Account](t, other, "privacy.json", true)
		total, claimed := float64(a.Total), float64(a.Claimed.Eps)
		if total > claimed || total < claimed*(1-1e-6) || a.Noise != string(privacy.Secure) || len(a.Beside) != 1 || a.Beside[0].Eps < a.Total || !slices.Equal(a.Published, []string{ReleasedFile, run.LedgerName}) {
			t.Errorf("%+v", a)
		}
		if x, y := float64(a.Beside[0].Eps), float64(b.Beside[1].Eps); x > y*(1+1e-5) || x < y*(1-1e-5) {
			t.Errorf("Rényi bound %v with secure noise, %v with seeded", x, y)
		}
		l, err := privacy.Reading{}.File(filepath.Join(dir, run.LedgerName))
		if err != nil || l.Noise() != privacy.Secure {
			t.Fatal(err)
		}
		steps := map[string]int64{}
		for _, e := range l.Entries() {
			steps[e.Purpose] += e.Count
			if s, ok := e.Event.(privacy.Sampled); !ok || s.Event.Kind() != (privacy.DiscreteGaussian{}).Kind() {
				t.Errorf("the ledger has %+v", e)
			}
		}
		if steps[purposeGradients] != 5 || steps[release.CountsPurpose] != 1 || len(steps) != 2 {
			t.Errorf("the ledger has %v", steps)
		}
		m, err := run.ReadManifest(dir)
		if err != nil || !m.Secure || !slices.ContainsFunc(m.Notes, func(n string) bool { return strings.Contains(n, "have no seed") }) {
			t.Errorf("%+v, %v", m, err)
		}
		if !strings.Contains(text, "what may leave the house: ["+ReleasedFile) {
			t.Errorf("the result does not say what may leave the house:\n%s", text)
		}
		tensors, _, err := run.ReadSafetensors(filepath.Join(dir, ReleasedFile))
		names := []string{}
		for _, x := range tensors {
			names = append(names, x.Name)
		}
		if err != nil || !slices.Equal(names, []string{"counts", "items", "vectors"}) {
			t.Errorf("%v, %v", names, err)
		}
	}
}

// Two runs of one configuration and seed release other numbers.
func TestSecureRunsDiffer(t *testing.T) {
	var files []string
	for range 2 {
		dir := filepath.Join(t.TempDir(), "run")
		suite.Start(t, suite.Tasks[0], dir, "run.secure=true")
		b, err := os.ReadFile(filepath.Join(dir, ReleasedFile))
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, string(b))
	}
	if files[0] == files[1] {
		t.Error("two runs released the same")
	}
}

// No stream of the seed is asked for noise, nor for who is in a step: of all streams, a training takes those of
// first vectors, negatives and users' own contributions. The mechanism itself has no stream.
func TestSecureTakesNoNoiseFromTheSeed(t *testing.T) {
	c := Default()
	c.Train.Steps, c.Model.Items, c.Privacy.Secure = 3, 6, true
	b, err := newBudget(c, 3, 6)
	if err != nil {
		t.Fatal(err)
	}
	l, err := privacy.NewLedger(privacy.Secure)
	if err != nil {
		t.Fatal(err)
	}
	public := []string{"first vectors", "negatives", "contributions to steps"}
	tr, err := newTraining(c, b, []string{"a", "b", "c"}, [][]int32{{0, 1}, {2}, {3, 5}}, []float64{5, 4, 3, 2, 1, 0}, l, func(purpose string) rng.Stream {
		if !slices.Contains(public, purpose) {
			t.Fatalf("the stream %q was asked for", purpose)
		}
		return rng.Seed(2).Stream(purpose)
	}, func(purpose string) (rng.Stream, error) {
		t.Fatalf("noise of %q was asked for", purpose)
		return rng.Stream{}, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := tr.run(t.Context(), nil, func(int) {}); err != nil {
		t.Fatal(err)
	}
	if st := tr.steps.State(); st.Noise.Values != 0 || st.Batches.Batches == 0 {
		t.Errorf("%+v is not the state of steps that cannot be drawn again", st)
	}
	r := release.Releaser{Ledger: l, Secure: true, Releases: 2, Noise: func(string) (rng.Stream, error) {
		t.Fatal("counts asked for a stream")
		return rng.Stream{}, nil
	}}
	if _, err := r.Counts(b.counts, [][]int32{{0, 1}, {2}}, 6); err != nil {
		t.Fatal(err)
	}
}

// A run is stopped after some steps, of which its last checkpoint knows fewer, and goes on. Its ledger never has more
// releases than were planned: what was drawn since the checkpoint stays in it, and is passed over.
func TestSecureResumes(t *testing.T) {
	sets := []string{"run.secure=true", "train.steps=8"}
	lost := 0
	for _, at := range []int{2, 4, 5} {
		dir := filepath.Join(t.TempDir(), "run")
		checkpoint := filepath.Join(dir, "checkpoint", "checkpoint.safetensors")
		if err := suite.Try(runtest.NewFuse(t, 2, nil), suite.Tasks[0], dir, sets, run.Options{}); !run.WasInterrupted(err) {
			t.Fatal(err)
		}
		early, err := os.ReadFile(checkpoint)
		if err != nil {
			t.Fatal(err)
		}
		if err := suite.Try(runtest.NewFuse(t, at, nil), suite.Tasks[0], dir, sets, run.Options{Resume: true}); !run.WasInterrupted(err) {
			t.Fatalf("interrupted at look %d: %v", at, err)
		}
		before, err := privacy.Reading{Unfinished: true}.File(filepath.Join(dir, run.LedgerName))
		if err != nil {
			t.Fatal(err)
		}
		lost += int(releases(before) - 1)
		if err := os.WriteFile(checkpoint, early, 0o600); err != nil { // as a kill leaves it
			t.Fatal(err)
		}
		if err := suite.Try(t.Context(), suite.Tasks[0], dir, sets, run.Options{Resume: true}); err != nil {
			t.Fatal(err)
		}
		l, err := privacy.Reading{}.File(filepath.Join(dir, run.LedgerName))
		if err != nil {
			t.Fatal(err)
		}
		kept := slices.ContainsFunc(l.Entries(), func(e privacy.Entry) bool { return strings.Contains(e.Period, "stopped") })
		if o := runtest.ReadJSON[topn.Outcome](t, dir, "metrics.json", true); releases(l) != 9 || o.Steps != 8 || kept != (releases(before) > 1) {
			t.Errorf("interrupted at look %d: the ledger has %d releases after %d, want 9; %d steps", at, releases(l), releases(before), o.Steps)
		}
	}
	if lost == 0 {
		t.Error("no step was lost")
	}
}

func releases(l *privacy.Ledger) (n int64) {
	for _, e := range l.Entries() {
		n += e.Count
	}
	return n
}

// A run that was stopped between its first release and its first checkpoint does not begin anew: its counts would
// be released twice.
func TestSecureDoesNotReleaseTwice(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "run")
	sets := []string{"run.secure=true"}
	if err := suite.Try(runtest.NewFuse(t, 2, nil), suite.Tasks[0], dir, sets, run.Options{}); !run.WasInterrupted(err) {
		t.Fatal(err)
	}
	if err := os.RemoveAll(filepath.Join(dir, "checkpoint")); err != nil {
		t.Fatal(err)
	}
	err := suite.Try(t.Context(), suite.Tasks[0], dir, sets, run.Options{Resume: true})
	if err == nil || !strings.Contains(err.Error(), "second release") {
		t.Errorf("begun anew: %v", err)
	}
}
