package bench

import (
	"context"
	"errors"
	"testing"
	"time"
)

func TestMeasure(t *testing.T) {
	median, least, err := Measure(context.Background(), 5*time.Millisecond, func() { time.Sleep(200 * time.Microsecond) })
	if err != nil || least < 200e-6 || median < least {
		t.Fatalf("median %g, least %g, %v", median, least, err)
	}
}

func TestMeasureStops(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, _, err := Measure(ctx, time.Hour, func() {}); !errors.Is(err, context.Canceled) {
		t.Fatalf("error %v, want canceled", err)
	}
}

func TestRefusesNegativeTime(t *testing.T) {
	if _, err := Run(context.Background(), Options{Time: -1}, nil); err == nil {
		t.Error("cases")
	}
	if _, err := GEMM(context.Background(), Options{Time: -1}); err == nil {
		t.Error("products")
	}
}

func TestGEMM(t *testing.T) {
	got, err := GEMM(context.Background(), Options{Time: time.Millisecond, Only: "tiny"})
	if err != nil || len(got) != 2 {
		t.Fatalf("%d results, %v", len(got), err)
	}
	for _, r := range got {
		if r.MinS <= 0 || r.MedianS < r.MinS || r.GFLOPS <= 0 || r.Threads < 1 {
			t.Errorf("implausible result %+v", r)
		}
	}
	if got[0].Shape != "NN 64x60x60" {
		t.Errorf("shape %q", got[0].Shape)
	}
}

// TestForms checks that the gradients have the shapes of the chain rule.
func TestForms(t *testing.T) {
	for _, c := range []struct {
		tB   bool
		want [3]string
	}{
		{true, [3]string{"NT 5x7x3", "NN 5x3x7", "TN 7x3x5"}},
		{false, [3]string{"NN 5x7x3", "NT 5x3x7", "TN 3x7x5"}},
	} {
		for i, p := range forms("x", c.tB, 5, 7, 3) {
			if p.Shape() != c.want[i] {
				t.Errorf("form %d: %s, want %s", i, p.Shape(), c.want[i])
			}
		}
	}
}
