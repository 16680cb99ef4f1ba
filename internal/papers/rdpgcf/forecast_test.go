package rdpgcf

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"privrec/internal/autograd"
	"privrec/internal/dataset"
	"privrec/internal/dataset/registry"
	"privrec/internal/model/bpr"
	"privrec/internal/run"
	"privrec/internal/tensor"
)

// A forecast counts the steps that the run then makes when nothing stops it early,
// and writes nothing.
func TestForecast(t *testing.T) {
	for _, task := range Tasks() {
		t.Run(task.Name, func(t *testing.T) {
			sets := append(tiny(task.Name), "run.out="+filepath.Join(t.TempDir(), "r"))
			f, err := task.Forecast(t.Context(), run.Options{Sets: sets})
			if errors.Is(err, run.ErrNoForecast) && (task.Name == "ease" || task.Name == "itemknn") {
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			d, err := registry.LoadInteractions(t.Context(), "standin-tiny", "rdpgcf", registry.Options{Seed: 1})
			if err != nil {
				t.Fatal(err)
			}
			rung, _ := d.Ladder.Get(dataset.RungTrain)
			want := 2 * ((rung.Rows + 511) / 512)
			if task.Name != "edgerand" && task.Name != "lapgraph" && f.Steps != want { // those two train on as many edges as were released
				t.Errorf("%d steps, want %d", f.Steps, want)
			}
			if !(f.StepSeconds > 0 && f.Seconds > float64(f.Steps)*f.StepSeconds && f.Fastest > 0 && f.Fastest <= f.Seconds) || f.Basis == "" {
				t.Errorf("%+v", f)
			}
			if _, err := os.Stat(filepath.Join(t.TempDir(), "r")); err == nil {
				t.Error("a forecast wrote a run directory")
			}
		})
	}
}

func TestForecastErrors(t *testing.T) {
	t.Setenv("PRIVREC_DATA", t.TempDir())
	if _, err := task(t, "bprmf").Forecast(t.Context(), run.Options{}); !errors.Is(err, dataset.ErrNotFound) {
		t.Errorf("without data: %v", err)
	}
	ctx, stop := context.WithCancel(context.Background())
	stop()
	if _, err := task(t, "bprmf").Forecast(ctx, run.Options{Sets: tiny("bprmf")}); !run.WasInterrupted(err) {
		t.Errorf("interrupted: %v", err)
	}
}

// misshapen gives items longer vectors than users.
type misshapen struct{ model }

func (misshapen) Encode(t *autograd.Tape, _ int, users, items []int32) (bpr.Encoded, error) {
	return bpr.Encoded{Users: t.Const(tensor.New(len(users), 3)), Items: t.Const(tensor.New(len(items), 4))}, nil
}

// A mistake in the shapes of a model is an error that names the operation, not a panic.
func TestForecastOfWrongShapes(t *testing.T) {
	s := DefaultMF()
	s.Data.Name, s.Data.Recipe = "standin-tiny", "rdpgcf"
	_, err := rehearse(t.Context(), 1, s, func(x *experiment) (model, error) {
		m, err := s.Model.build(x)
		return misshapen{m}, err
	})
	var shape *autograd.Error
	if !errors.As(err, &shape) {
		t.Errorf("error %v", err)
	}
}
