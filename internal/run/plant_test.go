package run

import (
	"context"
	"io"
	"log/slog"
	"path/filepath"
	"strings"
	"testing"

	"privrec/internal/config"
)

// planting is work that notes which canaries are in when it is opened. It answers nothing.
type planting struct{}

func (planting) Run(context.Context) error               { return nil }
func (planting) Answer(context.Context) (Answers, error) { return planting{}, nil }
func (planting) Close()                                  {}

// plants is a task of planting, which loads data unless blind.
func plants(in *[]int, blind bool) Task {
	return Spec[openedConfig]{Verb: "train", Name: "planting", Summary: "plants", Cite: "none", Answers: true,
		Default: func() openedConfig { return openedConfig{} }, Check: func(*config.Checker, openedConfig) {},
		Open: func(_ context.Context, env *Env, _ openedConfig) (Work, error) {
			if blind {
				return planting{}, nil
			}
			n := 0
			if p := env.View().Planted; p != nil {
				for k := range p.Canaries {
					if p.In(k) {
						n++
					}
				}
			}
			*in = append(*in, n)
			return planting{}, nil
		},
	}.Task()
}

// A run is opened with canaries as their coins say, its manifest says so, and its hash is another.
// It is asked with the coins that its reader names.
func TestPlant(t *testing.T) {
	var in []int
	start := func(task Task, sets ...string) (string, error) {
		dir := filepath.Join(t.TempDir(), "run")
		return task.Start(t.Context(), Options{Sets: append(sets, "run.out="+dir), Stdout: io.Discard, Log: slog.New(slog.DiscardHandler), Progress: Silent{}})
	}
	hash := func(sets ...string) string {
		p, err := plants(&in, false).Plan(Options{Sets: append(sets, "run.out="+t.TempDir())})
		if err != nil {
			t.Fatal(err)
		}
		return p.Hash
	}
	edges := []string{"run.plant.unit=edge", "run.plant.canaries=1000", "run.seed=4"}
	dir, err := start(plants(&in, false), edges...)
	if err != nil {
		t.Fatal(err)
	}
	coins, err := Plant{Canaries: 1000}.Flips(4)
	if err != nil {
		t.Fatal(err)
	}
	want := 0
	for k := range 1000 {
		if coins.In(k) {
			want++
		}
	}
	if len(in) != 1 || in[0] != want || want < 402 || want > 598 { // 6.2 deviations
		t.Errorf("%v canaries are in, the coins put %d in", in, want)
	}
	m, err := ReadManifest(dir)
	if err != nil || m.Plant == nil || *m.Plant != (Plant{Unit: "edge", Canaries: 1000}) {
		t.Errorf("the manifest has %+v, %v", m.Plant, err)
	}
	for _, coins := range []string{"", CoinsIn, CoinsOut} {
		a, err := Serve(t.Context(), []Task{plants(&in, false)}, dir, coins)
		if err != nil {
			t.Fatal(err)
		}
		a.Close()
		if got, want := in[len(in)-1], map[string]int{"": want, CoinsIn: 1000}[coins]; got != want {
			t.Errorf("asked with %q: %d canaries are in, want %d", coins, got, want)
		}
	}
	if hash() == hash(edges...) || hash(edges...) == hash(append(edges, "run.plant.coins=out")...) {
		t.Error("what is planted does not change the hash")
	}
	for want, sets := range map[string][]string{
		"run.plant.unit":     {"run.plant.canaries=3"},
		"run.plant.canaries": {"run.plant.unit=edge"},
		"run.plant.rows":     {"run.plant.unit=user", "run.plant.canaries=3"},
		"no effect on":       {"run.plant.unit=edge", "run.plant.canaries=3", "run.plant.rows=2"},
		"run.plant.coins":    append(edges, "run.plant.coins=sideways"),
	} {
		if _, err := start(plants(&in, false), sets...); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v: %v, want %q", sets, err, want)
		}
	}
	if _, err := start(plants(&in, true), edges...); err == nil || !strings.Contains(err.Error(), "loads no data that canaries") {
		t.Errorf("a task without data: %v", err)
	}
}
