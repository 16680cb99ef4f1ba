package tune

import (
	"context"
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"privrec/internal/dataset"
	"privrec/internal/dataset/registry"
	"privrec/internal/dataset/slate"
	"privrec/internal/papers"
	"privrec/internal/run"
)

// A task that tries to read test rows is refused, however it tries: by a view of its own, by
// the log before its split, or by claiming that it measured something else.
func TestPeekingFails(t *testing.T) {
	for peek, want := range map[string]string{"whole": "measured other rows than validation rows", "log": "withheld",
		"lie": "measured other rows than validation rows"} {
		s := study(t, &fake{}, func(s *Study) { s.Set = []string{"peek=" + peek} })
		_, err := Run(context.Background(), s, Options{Out: t.TempDir(), Progress: run.Silent{}})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", peek, err)
		}
	}
	// Without a search the same tries succeed: what fails above is the peek.
	for _, peek := range []string{"", "whole", "log", "lie"} {
		out := filepath.Join(t.TempDir(), "run")
		if _, err := (&fake{}).task().Start(context.Background(), run.Options{Sets: []string{"peek=" + peek, "run.out=" + out}, Progress: run.Silent{}, Log: discard}); err != nil {
			t.Errorf("%q without a search: %v", peek, err)
		}
	}
}

// No row that a trial gets is a test row, and those that it measures are the validation rows, or
// rows cut from train where the recipe has none.
func TestTrialsGetNoTestRow(t *testing.T) {
	for _, recipe := range []string{"rdpgcf", "gerai", "gerai-valid"} {
		whole, err := registry.LoadInteractions(context.Background(), "standin-tiny", recipe, dataset.View{Seed: 3},
			registry.Options{})
		if err != nil {
			t.Fatal(err)
		}
		f, n := &fake{}, 0
		f.seen = func(d *dataset.Interactions) {
			n++
			if d.Valid != nil {
				t.Errorf("%s: validation rows beside those that are measured", recipe)
			}
			rows, measured := 0, 0
			for u := range d.Users {
				rows, measured = rows+len(d.Train[u])+len(d.Test[u]), measured+len(d.Test[u])
				test := set(whole.Test[u])
				known := set(whole.Train[u])
				for _, i := range d.Test[u] {
					if test[i] || whole.Valid != nil && !set(whole.Valid[u])[i] || whole.Valid == nil && !known[i] {
						t.Fatalf("%s: user %d: item %d is measured", recipe, u, i)
					}
				}
				for _, i := range d.Train[u] {
					if !known[i] {
						t.Fatalf("%s: user %d: item %d is learned", recipe, u, i)
					}
				}
			}
			want := count(whole.Train) + count(whole.Valid)
			if rows != want || measured == 0 || whole.Valid == nil && (measured > want/10 || measured < want/20) {
				t.Errorf("%s: %d rows, %d measured; train and validation have %d", recipe, rows, measured, want)
			}
		}
		search(t, study(t, f, func(s *Study) { s.Seed, s.Trials, s.Set = 3, 2, []string{"data.recipe=" + recipe} }), Options{})
		if n != 2 {
			t.Errorf("%d trials", n)
		}
	}
}

func set(items []int32) map[int32]bool {
	m := map[int32]bool{}
	for _, i := range items {
		m[i] = true
	}
	return m
}

func count(lists [][]int32) (n int) {
	for _, l := range lists {
		n += len(l)
	}
	return n
}

// Sequences come without test rows; logs and other protocols' data are refused.
func TestWithheldData(t *testing.T) {
	v := dataset.View{Seed: 9, Withheld: &dataset.Withholding{Seed: 1, Share: 0.1}}
	s, err := registry.Load(t.Context(), "standin-tiny", "dipsgnn", v, registry.Options{})
	if err != nil || s.Test != nil || s.InPlace != dataset.CutRows {
		t.Errorf("%v, %v", s, err)
	}
	_, _, err = registry.LoadLog(t.Context(), "standin-tiny", v, registry.Options{})
	for name, err := range map[string]error{
		"log":     err,
		"domains": second(registry.LoadCross(t.Context(), "standin-cross", "a", "b", v, registry.Options{})),
		"slates":  second(slate.Load(t.Context(), slate.StandIn, v, slate.Options{})),
	} {
		if !errors.Is(err, dataset.ErrWithheld) {
			t.Errorf("%s: %v", name, err)
		}
	}
	v.Withheld.Share = 0
	if _, err := registry.Load(t.Context(), "standin-tiny", "dipsgnn", v, registry.Options{}); err == nil {
		t.Error("a share of 0 was taken")
	}
}

func second[T any](_ T, err error) error { return err }

// A trial's directory is not that of a run: nothing goes on from it, and it answers nothing.
func TestTrialsAreNoRuns(t *testing.T) {
	out := t.TempDir()
	s := &Study{}
	*s = Default()
	s.Name, s.Rows, s.Trials = "ease", Public, 1
	s.Set = []string{"data.name=standin-tiny", "data.recipe=gerai"}
	s.Tasks = []Task{{Task: "train ease"}}
	if err := s.Form(nil, papers.All()); err != nil {
		t.Fatal(err)
	}
	search(t, s, Options{Out: out})
	dir := filepath.Join(out, "trials", "ease-0001")
	if _, err := run.Serve(context.Background(), papers.All(), dir, ""); err == nil ||
		!strings.Contains(err.Error(), "is not the configuration of the run") {
		t.Errorf("a trial answers: %v", err)
	}
	p, err := s.Tasks[0].task.Plan(run.Options{Config: filepath.Join(dir, "config.yaml")})
	if err != nil || p.Dir != dir || p.State != run.StateForeign {
		t.Errorf("%+v, %v", p, err)
	}
}
