package channel

import (
	"encoding/json"
	"strings"
	"testing"

	"privrec/internal/privacy"
	"privrec/internal/privacy/mechanism/mechanismtest"
	"privrec/internal/rng"
)

// allocated opens a channel whose epochs have 3 releases.
func allocated(t *testing.T) (*Channel[float64], *privacy.Ledger) {
	t.Helper()
	l := mechanismtest.Ledger(t)
	e := privacy.AllocatedGaussian{Sigma: noisy.Sigma, Sensitivity: noisy.Sensitivity, Times: 1, Steps: 3,
		Unit: noisy.Unit, Neighbouring: noisy.Neighbouring}
	return mechanismtest.Must(OpenAllocated[float64](noisy, e, l, rng.Seed(4).Stream("noise"))), l
}

// An epoch is recorded before its first release, and covers as many as its event says: also over a checkpoint.
func TestEpochIsRecordedOnce(t *testing.T) {
	c, l := allocated(t)
	paid := int64(0)
	for k := range uint64(8) {
		if k == 5 { // in the middle of the second epoch
			var st State
			if err := json.Unmarshal(mechanismtest.Must(json.Marshal(c.State())), &st); err != nil {
				t.Fatal(err)
			}
			paid = mechanismtest.CountOf(l)
			if c, l = allocated(t); c.Restore(st) != nil || c.State().Paid != 1 {
				t.Fatal(c.State().Paid)
			}
		}
		r := mechanismtest.Must(c.Begin(1, 4, 0, k))
		if n := paid + mechanismtest.CountOf(l); n != int64(k)/3+1 {
			t.Fatalf("release %d: the ledger has %d epochs", k, n)
		}
		r.Row(0, make([]float64, 4))
		if err := r.Finish(); err != nil {
			t.Fatal(err)
		}
	}
	if e := l.Entries(); len(e) != 1 || e[0].Event.Kind() != "allocated-gaussian" {
		t.Error(e)
	}
}

// Several releases at once are no step of an epoch.
func TestEpochRefusesManyAtOnce(t *testing.T) {
	for name, begin := range map[string]func(c *Channel[float64]) error{
		"many":  func(c *Channel[float64]) error { _, err := c.BeginMany(2, 2, 4, 0, 1); return err },
		"parts": func(c *Channel[float64]) error { _, err := c.Start([]int32{3, 5}, 2, 4, 0, 1); return err },
	} {
		c, l := allocated(t)
		if err := begin(c); err == nil || !strings.Contains(err.Error(), "one after the other") ||
			mechanismtest.CountOf(l) != 0 {
			t.Errorf("%s: %v", name, err)
		}
		if _, err := c.Begin(1, 4, 0, 2); err == nil {
			t.Errorf("%s: the channel goes on", name)
		}
	}
	c, _ := allocated(t)
	for _, paid := range []int64{-1, 3} {
		st := c.State()
		if st.Paid = paid; c.Restore(st) == nil {
			t.Errorf("a state with %d releases paid of an epoch of 3", paid)
		}
	}
	st := c.State()
	plain := mechanismtest.Must(Open[float64](noisy, mechanismtest.Ledger(t), rng.Seed(4).Stream("noise")))
	if st.Kind, st.Paid = "", 1; plain.Restore(st) == nil {
		t.Error("a release was paid that is an event of its own")
	}
}
