package rdp_test

import (
	"context"
	"errors"
	"math"
	"testing"

	"privrec/internal/privacy/accountant/rdp"
)

// A fixed grid keeps to its orders: the largest log-ratio, which is the order
// infinity, is not one of them, even where it gives the better result.
func TestFixedGridHasNoInfiniteOrder(t *testing.T) {
	c, err := rdp.BoundedRange(0.2)
	if err != nil {
		t.Fatal(err)
	}
	o := rdp.Options{Orders: rdp.DPAccounting(), Fixed: true, Conversion: rdp.Tight}
	p, err := rdp.Epsilon(context.Background(), c, 1e-5, o)
	if err != nil {
		t.Fatal(err)
	}
	// The minimum over the grid in 50 digits.
	if want := 0.2035014096770715; math.Abs(p.Epsilon-want) > 1e-9*want || math.IsInf(p.Order, 1) {
		t.Errorf("epsilon %v at order %v, want %v at an order of the grid", p.Epsilon, p.Order, want)
	}
	if p, err = rdp.Epsilon(context.Background(), c, 1e-5, rdp.Options{}); err != nil || p.Epsilon > 0.2*(1+1e-11) {
		t.Errorf("without the grid %+v, %v, want at most the largest log-ratio", p, err)
	}
	if p, err = rdp.Delta(context.Background(), c, 0.21, o); err != nil || p.Delta == 0 {
		t.Errorf("delta %+v, %v, want what the grid gives", p, err)
	}
	if p, err = rdp.Delta(context.Background(), c, 0.21, rdp.Options{}); err != nil || p.Delta != 0 {
		t.Errorf("without the grid %+v, %v, want 0", p, err)
	}
	if _, err = rdp.Epsilon(context.Background(), c, 0, o); !errors.Is(err, rdp.ErrNoOrder) {
		t.Errorf("at delta 0: error %v, want ErrNoOrder", err)
	}
}
