//go:build slow

package demo

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"privrec/internal/protocol/nextitem"
	"privrec/internal/run"
)

// The demo as it is, with models that learned something.
func TestWholeDemo(t *testing.T) {
	out := t.TempDir()
	var stdout bytes.Buffer
	if err := Run(t.Context(), Options{Out: out, Seed: 1, Stdout: &stdout, Progress: run.Silent{}}); err != nil {
		t.Fatal(err)
	}
	if html := page(t, out); !strings.Contains(html, "claimed epsilon") {
		t.Error("the page does not show the claim")
	}
	for _, name := range []string{private, nonPrivate} {
		b, err := os.ReadFile(filepath.Join(out, name, "metrics.json"))
		if err != nil {
			t.Fatal(err)
		}
		var o nextitem.Outcome
		if err := json.Unmarshal(b, &o); err != nil {
			t.Fatal(err)
		}
		if n := len(o.Epochs) * o.Data.TrainSamples; n > 150_000 { // ten seconds of a processor of 2.5 GHz
			t.Errorf("%s: trains on %d samples, want at most 150,000", name, n)
		}
		popularity, ours := o.Floors[1].Values["Recall@20"], o.Evaluations[0].Values["Recall@20"]
		if !(ours > 1.5*popularity) {
			t.Errorf("%s: Recall@20 %.3f, popularity %.3f", name, ours, popularity)
		}
	}
}
