package dipsgnn

import (
	"os"
	"path/filepath"
	"testing"

	"privrec/internal/dataset/registry"

	"privrec/internal/dataset"
	"privrec/internal/run"
)

// A forecast counts the steps that the run then makes when nothing stops it
// early, and writes nothing; with users of other samples too.
func TestForecast(t *testing.T) {
	for _, misaligned := range []string{"false", "true"} {
		f, err := Task().Forecast(t.Context(), run.Options{Sets: []string{"data.name=standin-tiny", "model.dim=8", "train.epochs=2", "train.patience=0", "train.batch=50",
			"train.misalign_users=" + misaligned, "run.out=" + filepath.Join(t.TempDir(), "r")}})
		if err != nil {
			t.Fatal(err)
		}
		d, err := registry.Load(t.Context(), "standin-tiny", "dipsgnn", dataset.View{Seed: 1}, registry.Options{})
		if err != nil {
			t.Fatal(err)
		}
		all := dataset.Prefixes(d.Train).Len()
		held := all / 10 // a tenth, as dataset rounds it
		want := 2*((all-held+49)/50) + 2*((all+49)/50)
		if f.Steps < want-2 || f.Steps > want+2 { // the split may round the other way
			t.Errorf("%d steps for %d samples, want about %d", f.Steps, all, want)
		}
	}
	if _, err := os.Stat("runs"); err == nil {
		t.Error("a forecast wrote runs")
	}
}
