package accountant

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"

	"privrec/internal/privacy"
	"privrec/internal/privacy/accountant/rdp"
)

// endsAfter is a context that ends once it was looked at so often.
type endsAfter struct {
	context.Context
	looks, most int64
}

func (c *endsAfter) Err() error {
	if atomic.AddInt64(&c.looks, 1) > c.most {
		return context.Canceled
	}
	return nil
}

// Every question of every method ends with its context, whenever that ends: no method makes way for another
// then, and no bound stands for a number. long is a question that an accountant looks at often.
func TestAnswersEndWithTheirContext(t *testing.T) {
	normal := privacy.Gaussian{Sigma: 0.8, Sensitivity: 1, Unit: privacy.Record, Neighbouring: privacy.AddRemove}
	sampled := privacy.Sampled{Event: normal, Rate: 0.01, Method: privacy.Poisson}
	far := privacy.Laplace{Scale: 1.05, Sensitivity: 264, Unit: privacy.Record, Neighbouring: privacy.AddRemove}
	ask := map[string]func(a *Account) error{
		"epsilon":   func(a *Account) error { _, err := a.Spent(1e-6); return err },
		"delta":     func(a *Account) error { _, err := a.DeltaAt(0.81); return err },
		"trade-off": func(a *Account) error { _, err := a.TradeOff(); return err },
		"best": func(a *Account) error {
			_, err := Best([]*Account{a}, rdp.Selection{Eta: 1, Gamma: 0.1}, nil, 1e-6)
			return err
		},
	}
	for name, c := range map[string]struct {
		method Method
		event  privacy.Event
		count  int64
		group  int64
		least  map[string]int64 // looks of a question that may be long
	}{
		"exact":          {Contour, sampled, 1000, 1, map[string]int64{"epsilon": 20, "delta": 20, "trade-off": 20}},
		"exact, far":     {Contour, far, 260_000_000, 1, map[string]int64{"epsilon": 20, "delta": 100}},
		"pld":            {PLD, sampled, 1000, 1, map[string]int64{"epsilon": 20, "delta": 20, "trade-off": 20}},
		"pld, a group":   {PLD, sampled, 10, 3, map[string]int64{"epsilon": 20, "delta": 20, "trade-off": 20}},
		"rényi":          {RDP, sampled, 1000, 1, map[string]int64{"epsilon": 100, "delta": 100, "trade-off": 1000, "best": 200}},
		"rényi, a group": {RDP, sampled, 1000, 3, map[string]int64{"epsilon": 100}},
		"analytic":       {Analytic, normal, 5, 1, nil},
	} {
		for what, question := range ask {
			if what == "best" && c.method != RDP || what != "epsilon" && c.group > 1 && c.method == RDP {
				continue
			}
			about := func(ctx context.Context) error {
				a, err := New(c.method, privacy.Record, privacy.AddRemove)
				if err != nil {
					t.Fatal(err)
				}
				if err := ChargeGroup(a, c.event, c.count, c.group); err != nil {
					t.Fatal(err)
				}
				return question(a.During(ctx))
			}
			whole := &endsAfter{context.Background(), 0, 1 << 60}
			wanted := about(whole)
			if errors.Is(wanted, context.Canceled) || whole.looks < c.least[what] {
				t.Errorf("%s, %s: %d looks at the context, want at least %d (%v)", name, what, whole.looks, c.least[what], wanted)
			}
			for _, most := range []int64{0, 1, whole.looks / 3, whole.looks / 2, whole.looks - 1} {
				if most < 0 || most >= whole.looks || what == "trade-off" && c.method == Analytic {
					continue
				}
				ctx := &endsAfter{context.Background(), 0, most}
				if err := about(ctx); !errors.Is(err, context.Canceled) {
					t.Errorf("%s, %s: ended after %d of %d looks, and the answer is %v", name, what, most, whole.looks, err)
				} else if ctx.looks > most+600 { // looks without work
					t.Errorf("%s, %s: ended after %d looks, looked %d times", name, what, most, ctx.looks)
				}
			}
		}
	}
}

// A search for noise ends with the context of what it asks.
func TestCalibrationEndsWithItsContext(t *testing.T) {
	calls := 0
	_, err := Calibrate(Goal{Epsilon: 1, Delta: 1e-5, Exposed: 1}, 1, func(noise float64) (float64, error) {
		if calls++; calls == 4 {
			return 0, context.Canceled
		}
		return 1 / noise / noise, nil
	})
	if !errors.Is(err, context.Canceled) || calls != 4 {
		t.Errorf("%d calls, %v", calls, err)
	}
}

// A search for noise stays in the range that it was given, and says where it looked.
func TestCalibrationStaysInItsRange(t *testing.T) {
	for _, c := range []struct {
		start, at float64 // where epsilon is the target
		found     bool
	}{{1, 50, true}, {1e9, 50, true}, {1, 1e4, false}, {1, 1e-4, false}, {1e-9, 0.5, true}, {1, 100, true}, {1, 0.01, false}} {
		least, most := 1e300, 0.0
		got, err := Calibrate(Goal{Epsilon: 1, Delta: 1e-5, Exposed: 1, Least: 1e-2, Most: 100}, c.start, func(noise float64) (float64, error) {
			least, most = min(least, noise), max(most, noise)
			return c.at / noise, nil
		})
		if least < 1e-2 || most > 100 || (err == nil) != c.found || c.found && !(got.Noise >= c.at && got.Noise <= c.at*(1+1e-9)) {
			t.Errorf("%+v: %+v, %v; looked from %v to %v", c, got, err, least, most)
		}
	}
	for _, g := range []Goal{{Epsilon: 1, Exposed: 1, Least: 2, Most: 1}, {Epsilon: 1, Exposed: 1, Least: 0, Most: 1}, {Epsilon: 1, Exposed: 1, Least: 1}} {
		if _, err := Calibrate(g, 1, func(float64) (float64, error) { return 1, nil }); err == nil {
			t.Errorf("%+v: no error", g)
		}
	}
}
