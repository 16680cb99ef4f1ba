package dpsgd

import (
	"bytes"
	"context"
	"log/slog"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"privrec/internal/dataset"
	"privrec/internal/dataset/registry"
	"privrec/internal/experiment"
	"privrec/internal/privacy"
	"privrec/internal/protocol/nextitem"
	"privrec/internal/run"
	"privrec/internal/run/runtest"
)

const smoke = "../../../../configs/dipsgnn/smoke-dpsgd.yaml"

// units makes the smoke setting small, for samples, for users and for interactions.
var units = map[string][]string{
	"sample": {"model.dim=4", "model.user_dim=2", "train.batch=300"},
	"user":   {"model.dim=4", "model.user_dim=2", "privacy.unit=user", "train.batch=20"},

	"interaction": {"model.dim=4", "model.user_dim=2", "privacy.unit=interaction", "privacy.inputs=0.5", "train.batch=300"},
}

func try(ctx context.Context, dir string, sets []string, o run.Options) (string, error) {
	var out bytes.Buffer
	o.Config, o.Sets = smoke, slices.Concat([]string{"run.out=" + dir, "run.workers=1"}, sets)
	o.Log, o.Progress, o.Stdout = slog.New(slog.DiscardHandler), run.Silent{}, &out
	o.NoiseSeed = 1 // so that runs can be compared
	_, err := Task().Start(ctx, o)
	return out.String(), err
}

func start(t *testing.T, sets ...string) (dir, text string) {
	t.Helper()
	dir = filepath.Join(t.TempDir(), "run")
	text, err := try(t.Context(), dir, sets, run.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return dir, text
}

// The account is what the ledger composes to, and says what a user or an interaction costs beside the unit that was
// calibrated.
func TestRun(t *testing.T) {
	for unit, sets := range units {
		t.Run(unit, func(t *testing.T) {
			dir, text := start(t, sets...)
			a := runtest.ReadJSON[Privacy](t, dir, "privacy.json", true)
			if unit == "interaction" {
				if a.Items == nil || len(a.Units) != 3 || a.Units[0].Neighbouring != "replace" || a.Units[1].Unit != unit || !(a.Units[1].Accounted.Eps < a.Units[0].Accounted.Eps) {
					t.Fatalf("%+v, %+v", a.Items, a.Units)
				}
				a.Units = slices.Delete(a.Units, 1, 2)
			}
			if len(a.Units) != 2 || len(a.Unbounded) != 0 || a.Units[0].Unit != unit || a.Claimed.Unit != unit || a.Features == nil {
				t.Fatalf("%+v", a)
			}
			own, other := float64(a.Units[0].Accounted.Eps), float64(a.Units[1].Accounted.Eps)
			if own > 5 || own < 5*(1-1e-6) || other <= own || float64(a.Total) != other {
				t.Errorf("epsilon %v for one %s and %v for one %s, in all %v", own, unit, other, a.Units[1].Unit, a.Total)
			}
			l, err := privacy.Reading{}.File(filepath.Join(dir, "ledger.jsonl"))
			if err != nil {
				t.Fatal(err)
			}
			steps := int64(0)
			for _, e := range l.Entries() {
				if e.Purpose == purpose {
					steps += e.Count
				}
			}
			d, err := registry.Load(t.Context(), "standin-tiny", "dipsgnn", dataset.View{Seed: 1}, registry.Options{})
			if err != nil {
				t.Fatal(err)
			}
			samples := dataset.Prefixes(d.Train)
			want := int64(samples.Len())
			if unit == "user" {
				want = int64(len(slices.Compact(slices.Clone(samples.User))))
			}
			if o := runtest.ReadJSON[nextitem.Outcome](t, dir, "metrics.json", true); steps != a.Steps.Count || steps != int64(o.Steps) || a.Steps.Examples != want {
				t.Errorf("%d steps in the ledger, %d in the account, %d made; %d examples, want %d", steps, a.Steps.Count, o.Steps, a.Steps.Examples, want)
			}
			if joint := strings.Contains(text, "joint differential privacy"); joint == (unit == "interaction") {
				t.Errorf("what is printed does not say that own lists are of own items:\n%s", text)
			}
		})
	}
}

// The bytes of a run do not depend on workers, nor on where it was interrupted; another seed gives others.
func TestRepeatAndResume(t *testing.T) {
	for unit, sets := range units {
		t.Run(unit, func(t *testing.T) {
			dir, _ := start(t, sets...)
			want := runtest.Artefacts(t, dir)
			more, _ := start(t, append(slices.Clone(sets), "run.workers=3")...)
			runtest.Same(t, "three workers", runtest.Artefacts(t, more), want)
			for _, at := range []int{5, 14} {
				dir := filepath.Join(t.TempDir(), "run")
				saving := append(slices.Clone(sets), "run.save_steps=1")
				if _, err := try(runtest.NewFuse(t, at, nil), dir, saving, run.Options{}); !run.WasInterrupted(err) {
					t.Fatalf("interrupted at look %d: %v", at, err)
				}
				if _, err := try(t.Context(), dir, saving, run.Options{Resume: true}); err != nil {
					t.Fatal(err)
				}
				runtest.Same(t, "interrupted", runtest.Artefacts(t, dir), want)
			}
			other, _ := start(t, append(slices.Clone(sets), "run.seed=2")...)
			a, b := runtest.ReadJSON[nextitem.Outcome](t, dir, "metrics.json", true), runtest.ReadJSON[nextitem.Outcome](t, other, "metrics.json", true)
			if a.Epochs[0].Loss == b.Epochs[0].Loss {
				t.Error("another seed, the same loss")
			}
		})
	}
}

// Every position is released once, before training and before any gradient; the ledger has no other release of items.
func TestItemsAreReleasedOnce(t *testing.T) {
	dir, _ := start(t, units["interaction"]...)
	l, err := privacy.Reading{}.File(filepath.Join(dir, "ledger.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	a, found, sequences := runtest.ReadJSON[Privacy](t, dir, "privacy.json", true), 0, int64(0)
	d, err := registry.Load(t.Context(), "standin-tiny", "dipsgnn", dataset.View{Seed: 1}, registry.Options{})
	if err != nil {
		t.Fatal(err)
	}
	positions := 0
	for _, s := range slices.Concat(d.Train, d.Test) {
		positions += len(s)
		if len(s) > 0 {
			sequences++
		}
	}
	gradients := false
	for _, e := range l.Entries() {
		gradients = gradients || e.Purpose == purpose
		if e.Purpose != purposeItems {
			continue
		}
		found++
		g, ok := e.Event.(privacy.Gaussian)
		if !ok || gradients || e.Period != "before training" || e.Count != sequences || e.PerUnit != 1 || g.Sigma != a.Items.Sigma || g.Unit != privacy.Interaction {
			t.Errorf("%+v", e)
		}
	}
	if found != 1 || a.Items.Positions != positions {
		t.Errorf("%d releases of %d positions, want one of %d", found, a.Items.Positions, positions)
	}
}

// A finished run answers, and its evaluation repeats to the last bit.
func TestAnswers(t *testing.T) {
	for _, unit := range []string{"user", "interaction"} {
		answers(t, unit)
	}
}

func answers(t *testing.T, unit string) {
	t.Helper()
	dir, _ := start(t, units[unit]...)
	a, err := experiment.Ask(t.Context(), []run.Task{Task()}, dir)
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	e, err := a.Evaluate(t.Context())
	if err != nil || e.Differs != 0 {
		t.Errorf("%s: evaluated again: differs by %v, %v", unit, e.Differs, err)
	}
}

// Almost without noise the network learns.
func TestLearns(t *testing.T) {
	dir, _ := start(t, "model.dim=8", "privacy.epsilon=60", "train.epochs=6", "train.rate=0.02", "train.decay_by=1")
	o := runtest.ReadJSON[nextitem.Outcome](t, dir, "metrics.json", true)
	if first, last := o.Epochs[0].Loss, o.Epochs[5].Loss; !(last < first-0.05) {
		t.Errorf("loss %v after %v", last, first)
	}
	if floor, got := o.Floors[1].Values["Recall@20"], o.Evaluations[0].Values["Recall@20"]; math.IsNaN(got) || got < floor/2 {
		t.Errorf("Recall@20 %v, popularity has %v", got, floor)
	}
}

// A forecast counts the run's steps.
func TestForecast(t *testing.T) {
	f, err := Task().Forecast(t.Context(), run.Options{Config: smoke, Sets: append(slices.Clone(units["user"]), "run.out="+filepath.Join(t.TempDir(), "r"))})
	if err != nil {
		t.Fatal(err)
	}
	if f.Steps < 10 || f.Steps > 20 {
		t.Errorf("%d steps for 200 users, 20 a step, two epochs", f.Steps)
	}
}
