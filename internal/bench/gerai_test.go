package bench

import (
	"context"
	"math"
	"slices"
	"strings"
	"testing"
	"time"
)

// fewMovies is a model of a few microseconds.
func fewMovies() geraiSizes {
	return geraiSizes{Sizes{Users: 30, Items: 40, Edges: 100, Dim: 8, Layers: 1, Batch: 4}, 5, []int{4, 8}}
}

func TestGERAI(t *testing.T) {
	got, err := geraiOf(context.Background(), Options{Time: time.Microsecond}, fewMovies())
	if err != nil || len(got) != 4 {
		t.Fatalf("%d results, %v", len(got), err)
	}
	for i, name := range []string{"gerai_step_4", "gcn_step_4", "gerai_step_8", "gcn_step_8"} {
		if r := got[i]; r.Name != name || !strings.Contains(r.Shape, "edges=100 dim=8") || !(r.MinS > 0) {
			t.Errorf("%+v, want %s", r, name)
		}
	}
}

// Both steps learn, and only GERAI's has noise.
func TestGERAIStepTrains(t *testing.T) {
	for _, exact := range []bool{false, true} {
		s, err := newGERAIStep(fewMovies(), 4, exact)
		if err != nil {
			t.Fatal(err)
		}
		if (s.objective.Coefficients == nil) != exact {
			t.Errorf("exact %v: noise %v", exact, s.objective.Coefficients != nil)
		}
		before := slices.Clone(s.params[1].Value.Data)
		for range 3 {
			if err := s.run(); err != nil {
				t.Fatal(err)
			}
		}
		if slices.Equal(before, s.params[1].Value.Data) {
			t.Error("steps left the items as they were")
		}
	}
}

// The fixed batch has scores far enough from 0 to tell the two losses apart.
func TestGERAICheck(t *testing.T) {
	exact, err := geraiCheck(true)
	if err != nil {
		t.Fatal(err)
	}
	taylor, err := geraiCheck(false)
	if err != nil || exact == taylor || math.Abs(exact-0.686013) > 1e-5 || math.Abs(taylor-0.686017) > 1e-5 {
		t.Errorf("losses %v and %v (%v), want those of scripts/bench/gerai.py, 0.686013 and 0.686017", exact, taylor, err)
	}
}
