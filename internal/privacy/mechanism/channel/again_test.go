package channel

import (
	"slices"
	"strings"
	"testing"

	"privrec/internal/privacy"
	"privrec/internal/rng"
)

// The noise of a release comes again to the bit, as often as wanted, without an event; what was not released does not.
func TestAgain(t *testing.T) {
	l, err := privacy.NewLedger(privacy.Research)
	if err != nil {
		t.Fatal(err)
	}
	c, err := Open[float32](Gaussian{Purpose: "graphs", Sigma: 2, Sensitivity: 1, Unit: privacy.Edge, Neighbouring: privacy.AddRemove}, l, rng.Seed(1).Stream("noise"))
	if err != nil {
		t.Fatal(err)
	}
	const cols = 8
	data := make([]float32, 3*cols)
	r, err := c.Start([]int32{4, 9}, 3, cols, 0)
	if err != nil {
		t.Fatal(err)
	}
	r.RowAt(0, data[:cols], 0, 0)
	r.RowAt(1, data[cols:2*cols], 1, 0)
	r.RowAt(2, data[2*cols:], 1, 5)
	if err := r.Finish(); err != nil {
		t.Fatal(err)
	}
	before := c.State()
	for range 2 {
		a, err := c.Again([]int32{9}, 0)
		if err != nil {
			t.Fatal(err)
		}
		for i, key := range []uint64{0, 5} {
			again := make([]float32, cols)
			a.RowAt(again, 0, key)
			if !slices.Equal(again, data[(1+i)*cols:(2+i)*cols]) {
				t.Errorf("row %d: %v, released %v", key, again, data[(1+i)*cols:])
			}
		}
	}
	if after := c.State(); after.Values != before.Values || after.Sum != before.Sum || len(l.Entries()) != 1 || l.Entries()[0].Count != 2 {
		t.Errorf("it counts as a release: %+v, %+v", after, l.Entries())
	}
	for _, bad := range []struct {
		part int32
		key  uint64
	}{{5, 0}, {4, 1}, {-1, 0}} {
		if _, err := c.Again([]int32{9, bad.part}, bad.key); err == nil || !strings.Contains(err.Error(), "was not released") {
			t.Errorf("part %d under key %d: %v", bad.part, bad.key, err)
		}
	}
	if _, err := c.Again([]int32{4}); err == nil {
		t.Error("without a key")
	}
	if err := c.Check(); err != nil {
		t.Error(err)
	}
}
