package experiment

import (
	"math"
	"strings"
	"testing"

	"privrec/internal/privacy"
)

// Pure epsilons add up over releases, and over what a unit holds.
func TestComposePure(t *testing.T) {
	of := privacy.Subject{Unit: privacy.Interaction, Neighbouring: privacy.Replace}
	held := privacy.Holding{Unit: privacy.User, Of: privacy.Interaction, Most: 7}
	ledger := func(events ...privacy.Event) *privacy.Ledger {
		l, err := privacy.NewLedger(privacy.Research)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range events {
			if err := l.Record("terms", e, 2); err != nil {
				t.Fatal(err)
			}
		}
		return l
	}
	laplace := privacy.Laplace{Scale: 4, Sensitivity: 6, Unit: of.Unit, Neighbouring: of.Neighbouring}
	spherical := privacy.SphericalLaplace{Scale: 2, Sensitivity: 1, Unit: of.Unit, Neighbouring: of.Neighbouring}
	a := Protected()
	one, err := a.ComposePure(ledger(laplace, spherical), of, held)
	if err != nil || math.Abs(one-4) > 1e-12 || len(a.Units) != 2 || float64(a.Units[0].Accounted.Eps) != one || math.Abs(float64(a.Total)-28) > 1e-12 {
		t.Errorf("%v, %+v, %v", one, a, err)
	}
	open := Protected()
	open.Leave("existence", "it shows")
	if _, err := open.ComposePure(ledger(laplace), of, held); err != nil || !math.IsInf(float64(open.Total), 1) || float64(open.Units[1].Accounted.Eps) != 21 {
		t.Errorf("%+v, %v", open, err)
	}
	other := laplace
	other.Unit = privacy.User
	for _, e := range []privacy.Event{other, privacy.Gaussian{Sigma: 1, Sensitivity: 1, Unit: of.Unit, Neighbouring: of.Neighbouring}} {
		if _, err := new(Account).ComposePure(ledger(e), of, held); err == nil || !strings.Contains(err.Error(), "the noise is for") {
			t.Errorf("%v", err)
		}
	}
}
