package terms

import (
	"math"
	"testing"

	"privrec/internal/privacy"
)

// clippedSum is a Gaussian under Replace of a sum of vectors up to a norm.
func clippedSum(sigma, d, norm float64) privacy.Gaussian {
	return privacy.Gaussian{Sigma: sigma, Sensitivity: d, Norm: norm, Unit: privacy.User, Neighbouring: privacy.Replace}
}

// norms says what a release knows of the lengths of vectors.
type norms struct{ within, clipped bool }

var unknown, within, halved = norms{}, norms{true, false}, norms{true, true}

func normsOf(g privacy.Gaussian) norms { return norms{g.Within(), g.Clipped()} }

func TestNorms(t *testing.T) {
	for _, c := range []struct {
		d, norm float64
		want    norms
	}{{2, 0, unknown}, {2, 1, halved}, {2, 1.0000000001, within}, {2, 1.5, within}, {2, 2, within},
		{2, 2.0000000001, unknown}, {0.3, 0.15, halved}} {
		if got := normsOf(clippedSum(1, c.d, c.norm)); got != c.want {
			t.Errorf("a norm of %v with a sensitivity of %v: %v, want %v", c.norm, c.d, got, c.want)
		}
	}
}

// TestJoinedNorms: several releases on one sample are one, whose norm is that of all of
// them side by side.
func TestJoinedNorms(t *testing.T) {
	for name, c := range map[string]struct {
		parts []privacy.Event
		want  norms
		ratio float64 // of the norm to the sensitivity
	}{
		"all clipped": {[]privacy.Event{clippedSum(1, 2, 1), clippedSum(3, 0.7, 0.35),
			self(clippedSum(2, 5, 2.5), 3)}, halved, 0.5},
		"one is not":        {[]privacy.Event{clippedSum(1, 1, 0.5), clippedSum(1, 1, 1)}, within, math.Sqrt(1.25 / 2)},
		"one says nothing":  {[]privacy.Event{clippedSum(1, 1, 0.5), clippedSum(1, 1, 0)}, unknown, 0},
		"one may be longer": {[]privacy.Event{clippedSum(1, 1, 0.5), clippedSum(1, 1, 4)}, unknown, math.Sqrt(16.25 / 2)},
		"alone":             {[]privacy.Event{clippedSum(1, 1, 0.7)}, within, 0.7},
	} {
		l := underReplace(t, poisson(all(c.parts...), 0.1))
		g, ok := privacy.LawOf(l.Terms[0].Leaf).(privacy.Gaussian)
		if !ok || len(l.Terms) != 1 || normsOf(g) != c.want || math.Abs(g.Norm/g.Sensitivity-c.ratio) > 1e-12 {
			t.Errorf("%s: %+v, want %v and a norm of %v sensitivities", name, l.Terms, c.want, c.ratio)
		}
	}
}

// TestLongerNormsDominate: of branches the one whose contributions may be longer is the
// worse one, and less noise does not make up for that.
func TestLongerNormsDominate(t *testing.T) {
	short, long, any := clippedSum(1, 1, 0.5), clippedSum(1, 1, 1), clippedSum(1, 1, 0)
	branches := func(e ...privacy.Event) privacy.Event {
		var list []privacy.Event
		for _, x := range e {
			list = append(list, poisson(x, 0.1))
		}
		return privacy.Parallel{Events: list, Fixed: true}
	}
	for name, c := range map[string]struct {
		event privacy.Event
		want  privacy.Event // nil: none is known to be the worst
	}{
		"longer":               {branches(short, long), long},
		"not known":            {branches(any, long, short), any},
		"less noise, shorter":  {branches(clippedSum(0.7, 1, 0.5), long), nil},
		"less noise, as short": {branches(clippedSum(0.5, 1, 0.5), long), clippedSum(0.5, 1, 0.5)},
		"less noise, unknown":  {branches(clippedSum(0.5, 1, 0.5), any), nil},
	} {
		ts, err := underReplace(t, c.event).Worst()
		if c.want == nil {
			if err == nil {
				t.Errorf("%s: %+v", name, ts)
			}
			continue
		}
		if err != nil || len(ts) != 1 || ts[0].Leaf != c.want {
			t.Errorf("%s: %+v, %v, want %+v", name, ts, err, c.want)
		}
	}
}
