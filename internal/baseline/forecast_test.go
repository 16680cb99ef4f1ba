package baseline

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"privrec/internal/autograd"
	"privrec/internal/dataset"
	"privrec/internal/dataset/registry"
	"privrec/internal/graph"
	"privrec/internal/model/gru4rec"
	"privrec/internal/nn"
	"privrec/internal/protocol/nextitem"
	"privrec/internal/run"
	"privrec/internal/tensor"
)

// A forecast counts the steps that the run then makes when nothing stops it
// early, and writes nothing.
func TestSessionForecast(t *testing.T) {
	for _, task := range Sessions(nextitem.Table{}) {
		t.Run(task.Name, func(t *testing.T) {
			sets := []string{"data.name=standin-tiny", "model.dim=8", "train.epochs=2", "train.patience=0", "train.batch=50", "run.out=" + filepath.Join(t.TempDir(), "r")}
			f, err := task.Forecast(context.Background(), run.Options{Sets: sets})
			if err != nil {
				t.Fatal(err)
			}
			d, err := registry.Load(context.Background(), "standin-tiny", "dipsgnn", dataset.View{Seed: 1},
				registry.Options{})
			if err != nil {
				t.Fatal(err)
			}
			all := dataset.Prefixes(d.Train).Len()
			held := all / 10 // a tenth, as dataset rounds it
			want := 2*((all-held+49)/50) + 2*((all+49)/50)
			if f.Steps < want-2 || f.Steps > want+2 { // the split may round the other way
				t.Errorf("%d steps for %d samples, want about %d", f.Steps, all, want)
			}
			if !(f.StepSeconds > 0 && f.Seconds > float64(f.Steps)*f.StepSeconds && f.Fastest > 0 && f.Fastest <= f.Seconds) || f.Bytes < 1<<20 || f.Basis == "" {
				t.Errorf("%+v", f)
			}
		})
	}
	if _, err := os.Stat("runs"); err == nil {
		t.Error("a forecast wrote runs")
	}
}

// Data that are not there are the data's error, and an interruption is one.
func TestSessionForecastErrors(t *testing.T) {
	t.Setenv("PRIVREC_DATA", t.TempDir())
	task := Sessions(nextitem.Table{})[0]
	if _, err := task.Forecast(context.Background(), run.Options{}); !errors.Is(err, dataset.ErrNotFound) {
		t.Errorf("without data: %v", err)
	}
	ctx, stop := context.WithCancel(context.Background())
	stop()
	if _, err := task.Forecast(ctx, run.Options{Sets: []string{"data.name=standin-tiny"}}); !run.WasInterrupted(err) {
		t.Errorf("interrupted: %v", err)
	}
}

// misshapen gives sessions other vectors than items have.
type misshapen struct{ *gru4rec.Model }

func (m misshapen) Forward(t *autograd.Tape, g *graph.Packed) *autograd.Node {
	return t.Const(tensor.New(m.Model.Forward(t, g).Rows(), m.Items().Value.Cols+1))
}

// A mistake in the shapes of a network is an error that names the operation, not a panic.
func TestForecastOfWrongShapes(t *testing.T) {
	task := session("Misshapen", "", "", gru4rec.Default, func(items int, c gru4rec.Config, init nn.Init) misshapen {
		return misshapen{gru4rec.New(items, c, init)}
	}).task(nextitem.Table{})
	_, err := task.Forecast(t.Context(), run.Options{Sets: []string{"data.name=standin-tiny", "model.dim=4"}})
	var shape *autograd.Error
	if !errors.As(err, &shape) {
		t.Errorf("error %v", err)
	}
}
