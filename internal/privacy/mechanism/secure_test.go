package mechanism

import (
	"testing"

	"privrec/internal/privacy"
)

func secureLedger(t testing.TB) *privacy.Ledger {
	t.Helper()
	l, err := privacy.NewLedger(privacy.Secure)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

var secretly = DiscreteGaussian{Purpose: "sums", Sigma: 1.1, Sensitivity: 1, Dimension: 150, Bound: 100, Unit: privacy.Edge, Neighbouring: privacy.AddRemove}

func TestTry(t *testing.T) {
	c, err := OpenSecureGaussian[float32](secretly, secureLedger(t))
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%+v %+v", c.lattice, c.Event())
	for s := range uint64(20) {
		if err := c.Perturb(message[float32](320, 150), 150, 1, s); err != nil {
			t.Fatal(err)
		}
	}
	if err := c.Check(); err != nil {
		t.Fatal(err)
	}
}

func BenchmarkSecure(b *testing.B) {
	c, err := OpenSecureGaussian[float64](secretly, secureLedger(b))
	if err != nil {
		b.Fatal(err)
	}
	x := make([]float64, 9600)
	for s := uint64(0); b.Loop(); s++ {
		if err := c.Perturb(x, 150, 1, s); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/9600, "ns/value")
}
