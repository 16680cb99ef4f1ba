package bench

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"privrec/internal/attack/exposure"
)

// TestExposure: the cases run, are named as the comparison with PyTorch asks for them, and say their sizes.
func TestExposure(t *testing.T) {
	s := attackSizes{vocab: 60, slate: 4, behaviour: 3, dim: 8, batch: 6, pairs: 9}
	got, err := Run(t.Context(), Options{Time: time.Microsecond}, attackCases(t.Context(), s))
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, r := range got {
		names = append(names, r.Name)
		if !strings.Contains(r.Shape, "vocab=60 slate=4 behaviour=3 dim=8 batch=6") || !(r.MinS > 0 && r.MedianS >= r.MinS) {
			t.Errorf("%+v", r)
		}
	}
	want := []string{"mean_gru_step", "mean_gru_rank", "attention_point_step", "attention_point_rank", "attention_transformer_step", "attention_transformer_rank"}
	if !slices.Equal(names, want) {
		t.Errorf("%q, want %q", names, want)
	}
	ctx, stop := context.WithCancel(t.Context())
	stop()
	if _, err := Run(t.Context(), Options{Time: time.Microsecond}, attackCases(ctx, s)); err == nil {
		t.Error("ranking goes on without its context")
	}
}

// TestExposureTrains: what is measured moves every parameter.
func TestExposureTrains(t *testing.T) {
	s := attackSizes{vocab: 60, slate: 4, behaviour: 3, dim: 8, batch: 6, pairs: 9}
	c := exposure.Paper("mean", "gru")
	c.Dim = s.dim
	m, err := newTrainer(c, s)
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range m.params {
		before := slices.Clone(p.Value.Data)
		if err := m.run(); err != nil || slices.Equal(before, p.Value.Data) {
			t.Errorf("a step left %s as it was: %v", p.Name, err)
		}
	}
	c.Heads = 0
	if _, err := newTrainer(c, s); err == nil {
		t.Error("a model without heads has a step")
	}
}
