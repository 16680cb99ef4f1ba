package bench

import (
	"context"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"privrec/internal/optim"
)

// fewItems is a model of a few microseconds.
func fewItems() daslSizes {
	return daslSizes{users: 9, items: [2]int{30, 20}, dim: 8, window: 3, batch: 4}
}

func TestDASL(t *testing.T) {
	got, err := daslOf(context.Background(), Options{Time: time.Microsecond}, fewItems())
	if err != nil || len(got) != 4 {
		t.Fatalf("%d results, %v", len(got), err)
	}
	for i, name := range []string{"dasl_step", "dasl_uniform", "dasl_dense", "dasl_single"} {
		if r := got[i]; r.Name != name || !strings.Contains(r.Shape, "items=30+20 dim=8 window=3 batch=4 loss=") || !(r.MinS > 0) {
			t.Errorf("%+v, want %s", r, name)
		}
	}
	if got[0].Shape != got[2].Shape || got[0].Shape == got[3].Shape {
		t.Errorf("shapes %q, %q, %q: trainings of DASL have one loss, DASL-single another", got[0].Shape, got[2].Shape, got[3].Shape)
	}
}

// Both trainings see the same batches and end with the same weights.
func TestDASLStepTrains(t *testing.T) {
	lazy, dense := newDASLStep(fewItems(), daslKind{law: true, lazy: true}), newDASLStep(fewItems(), daslKind{law: true})
	before := slices.Clone(lazy.params[0].Value.Data)
	for _, s := range []*daslStep{lazy, dense} {
		if _, err := s.warm(); err != nil {
			t.Fatal(err)
		}
	}
	lazy.adam.(*optim.AdamLazy).Flush(lazy.params)
	if slices.Equal(before, lazy.params[0].Value.Data) {
		t.Error("steps left the items as they were")
	}
	for i, p := range dense.params {
		for k, v := range p.Value.Data {
			if d := math.Abs(float64(v - lazy.params[i].Value.Data[k])); !(d <= 1e-3) {
				t.Fatalf("%s[%d]: dense %v, lazy %v", p.Name, k, v, lazy.params[i].Value.Data[k])
			}
		}
	}
}

// The fixed batch has the loss that follows from its weights: another model, another loss.
func TestDASLCheck(t *testing.T) {
	s := fewItems()
	a, err := daslCheck(s, false)
	if err != nil || !(a > 1 && a < 2) { // 2 log 2 at weights of 0
		t.Fatalf("loss %v, %v", a, err)
	}
	again, err := daslCheck(s, false)
	if err != nil || again != a {
		t.Errorf("loss %v and again %v, %v", a, again, err)
	}
	s.window++
	if b, err := daslCheck(s, false); err != nil || b == a {
		t.Errorf("loss %v with another window, %v", b, err)
	}
}
