package dipsgnn

import (
	"math"
	"testing"

	"privrec/internal/dataset/registry"
)

// Every setting has a finite time of its own, the size is the paper's and the steps
// are those of the epochs: 10 on nine tenths of the samples, 10 on all.
func TestSpeeds(t *testing.T) {
	list, err := Speeds(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	first := list[0]
	if len(list) < 3 || first.Task != "dipsgnn" || first.Data != "ml-1m" || first.Items != 2810 || first.Samples != 284863 {
		t.Fatalf("first of %d: %+v", len(list), first)
	}
	if want := 19 * 2849.0; math.Abs(float64(first.Steps)-want) > 0.02*want {
		t.Errorf("%d steps, want about %v", first.Steps, want)
	}
	for i, s := range list {
		if i > 0 && s.StepSeconds == 0 && s.Seconds == 0 && s.Samples > 0 {
			continue // left out on a slow machine
		}
		if !(s.StepSeconds > 0 && s.Seconds > float64(s.Steps)*s.StepSeconds && s.Seconds < 1e9) {
			t.Errorf("%+v", s)
		}
	}
}

// A recipe that states users and rows but no samples gets nearly those it would have:
// ML-1M's are known.
func TestExtentFromRows(t *testing.T) {
	s, err := registry.Find("ml-1m")
	if err != nil {
		t.Fatal(err)
	}
	r, err := s.Recipe("dipsgnn")
	if err != nil {
		t.Fatal(err)
	}
	known := extentOf("ml-1m", r)
	for i := range r.Wants {
		r.Wants[i].Samples = 0
	}
	if e := extentOf("ml-1m", r); math.Abs(float64(e.samples-known.samples)) > 0.01*float64(known.samples) || e.longest < 50 || e.longest > 70 {
		t.Errorf("%+v, known %+v", e, known)
	}
}
