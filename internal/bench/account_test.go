package bench

import (
	"context"
	"math"
	"testing"
	"time"
)

// Every case runs, and the names that scripts read are there.
func TestAccount(t *testing.T) {
	got, err := Account(context.Background(), Options{Time: time.Microsecond})
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		"account_rdp_grid", "account_rdp_calibrate", "account_exact_234k_s1.1", "account_exact_234k_s4", "account_checked_234k_s1.1",
		"account_pld_2p19", "account_analytic", "noise_normals", "noise_discrete_gaussian", "noise_discrete_gaussian_system",
	}
	if len(got) != len(want) {
		t.Fatalf("%d results, want %d", len(got), len(want))
	}
	for i, r := range got {
		if r.Name != want[i] || r.Shape == "" || !(r.MinS > 0 && r.MedianS >= r.MinS) || r.Threads < 1 {
			t.Errorf("%+v, want %s", r, want[i])
		}
		rate := 0.0
		if r.Name == "noise_normals" {
			rate = normalsACall / r.MinS / 1e9
		}
		if r.GFLOPS != rate {
			t.Errorf("%s: %v, want %v", r.Name, r.GFLOPS, rate)
		}
	}
}

func TestAccountOnly(t *testing.T) {
	got, err := Account(context.Background(), Options{Time: time.Microsecond, Only: "analytic"})
	if err != nil || len(got) != 1 {
		t.Fatalf("%v, %v", got, err)
	}
	if _, err := Account(context.Background(), Options{Time: -1}); err == nil {
		t.Error("negative time")
	}
}

func TestFinite(t *testing.T) {
	for v, ok := range map[float64]bool{0: true, -1: true, math.Inf(1): false, math.NaN(): false} {
		if err := finite("x", v); (err == nil) != ok {
			t.Errorf("%v: %v", v, err)
		}
	}
}
