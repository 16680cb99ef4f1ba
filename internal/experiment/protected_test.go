package experiment

import (
	"bytes"
	"math"
	"strings"
	"testing"

	"privrec/internal/privacy"
	"privrec/internal/privacy/accountant"
	"privrec/internal/report"
)

// noised is a ledger of two releases about a unit, of mu² 0.25 each.
func noised(t *testing.T, a *Account, unit privacy.Unit) *privacy.Ledger {
	t.Helper()
	l, err := privacy.NewLedger(privacy.Research)
	if err != nil {
		t.Fatal(err)
	}
	if err := l.Declare(a.Declaration()); err != nil {
		t.Fatal(err)
	}
	if unit != "" {
		if err := l.Record("sums", privacy.Gaussian{Sigma: 2, Sensitivity: 1, Unit: unit, Neighbouring: privacy.AddRemove}, 2); err != nil {
			t.Fatal(err)
		}
	}
	if err := l.Flush("before training"); err != nil {
		t.Fatal(err)
	}
	return l
}

var user = privacy.Subject{Unit: privacy.User, Neighbouring: privacy.AddRemove}

// What noise covers is the exact composition of the ledger, mu 1/sqrt(2) here, and the total
// where nothing is open.
func TestCompose(t *testing.T) {
	want, err := accountant.Exact(math.Sqrt(0.5), 1e-5)
	if err != nil {
		t.Fatal(err)
	}
	a := Protected(privacy.Assumption{What: "the settings"})
	if err := a.Compose(noised(t, &a, privacy.User), user, 1e-5); err != nil {
		t.Fatal(err)
	}
	if len(a.Units) != 1 || !(math.Abs(float64(a.Total)-want) < 1e-6) || a.Units[0].Total != a.Total || a.Units[0].Accounted.Eps != a.Total {
		t.Errorf("%+v", a)
	}
	open := Protected()
	open.Leave("labels", "they are in the clear")
	if err := open.Compose(noised(t, &open, privacy.User), user, 1e-5); err != nil {
		t.Fatal(err)
	}
	if !math.IsInf(float64(open.Total), 1) || open.Units[0].Accounted.Eps != a.Total || strings.Join(open.Units[0].Unbounded, " ") != "labels" {
		t.Errorf("%+v", open)
	}
	none := Protected()
	none.Leave("no noise", "sums are in the clear")
	if err := none.Compose(noised(t, &none, ""), user, 1e-5); err != nil || len(none.Units) != 0 || !math.IsInf(float64(none.Total), 1) {
		t.Errorf("%+v, %v", none, err)
	}
}

// A ledger that does not bound a unit's cost, or has no noise while nothing is open, is no
// account.
func TestComposeRefuses(t *testing.T) {
	for _, c := range []struct {
		unit privacy.Unit // of the noise
		want string
	}{{"", "no noise for one user"}, {privacy.Cell, "nothing bounds"}} {
		a := Protected()
		if err := a.Compose(noised(t, &a, c.unit), user, 1e-5); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v, want an error about %s", err, c.want)
		}
	}
}

// A result says what is claimed, what ran comes to, what is open and what is public.
func TestShow(t *testing.T) {
	a := Protected(privacy.Assumption{What: "the settings", Why: "they are ours"})
	a.Claimed = &Claim{Eps: 3, Delta: 1e-5, Unit: "user", Theorem: "theorem 7"}
	text := func() string {
		d := &report.Document{}
		a.Show(d)
		var b bytes.Buffer
		if err := d.Text(&b); err != nil {
			t.Fatal(err)
		}
		return b.String()
	}
	if err := a.Compose(noised(t, &a, privacy.User), user, 1e-5); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"claimed epsilon", "theorem 7, at delta 1e-05, for one user", "accounted epsilon  " + a.Total.String(), "What the noise of the run guarantees", "add-remove", "taken as public: the settings: they are ours"} {
		if !strings.Contains(text(), want) {
			t.Errorf("lacks %q:\n%s", want, text())
		}
	}
	a.Leave("labels", "they are in the clear")
	for _, want := range []string{"accounted epsilon  inf", "labels: they are in the clear", "What the noise comes to by itself, no guarantee of the run"} {
		if !strings.Contains(text(), want) {
			t.Errorf("lacks %q:\n%s", want, text())
		}
	}
	if strings.Contains(text(), "noise of the run guarantees") {
		t.Errorf("promises what is open:\n%s", text())
	}
}
