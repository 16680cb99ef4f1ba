package pld

import (
	"context"
	"math"
	"testing"
)

// waved composes a sampled release both ways: as masses, and as waves.
func waved(t *testing.T, bins int, n float64, upper bool) (whole, waves *tilted, s span) {
	t.Helper()
	x := mustPair(gaussian(1 / 1.1)).sampled(256.0 / 60000)
	v, err := newView(context.Background(), []term{{x, n}}, query{delta: 1e-5, solve: true})
	if err != nil {
		t.Fatal(err)
	}
	plans, _, _, err := v.plans([]int{0}, bins)
	if err != nil {
		t.Fatal(err)
	}
	c := plans[0].terms[0]
	m := c.lower()
	if upper {
		m = c.upper()
	}
	s = plans[0].span
	ms, counts := []*masses{m}, []float64{n}
	whole, waves = newMachine(bins).compose(ms, counts, s), newMachine(bins).composeWaves(ms, counts, s)
	if waves.series == nil || len(waves.series.wave) > bins/fewWaves {
		t.Fatalf("%d bins, %g releases: no waves", bins, n)
	}
	return whole, waves, s
}

// Masses and sums over the window from every loss on are the same as waves, within their slack.
func TestWavesAreMasses(t *testing.T) {
	for _, n := range []float64{3000, 14062, 234_000} {
		for _, upper := range []bool{false, true} {
			whole, waves, s := waved(t, 1<<16, n, upper)
			if whole.lo != waves.lo || whole.logMass != waves.logMass || math.Abs(whole.fuzz/waves.fuzz-1) > 1e-9 {
				t.Fatalf("%g releases: %v, %v, %v of masses, %v, %v, %v of waves", n, whole.lo, whole.logMass, whole.fuzz, waves.lo, waves.logMass, waves.fuzz)
			}
			b := waves.upper(s)
			carriedDown, largest := carried(len(whole.mass)), 0.0
			j := len(whole.mass)
			bound{tilted: whole}.walk(func(_, a, d float64) bool {
				if j--; j%997 != 0 && j > 5 && j < len(whole.mass)-5 {
					return true
				}
				largest = max(largest, d)
				gotA, gotD := b.weighed(j)
				rest := -math.Expm1(-whole.h)
				if off := math.Abs(gotD - d); off > carriedDown*d+2*b.slack {
					t.Fatalf("%g releases, loss %d: %g, want %g within %g", n, j, gotD, d, carriedDown*d+2*b.slack)
				}
				if off := rest * math.Abs(gotA-a); off > rest*carriedDown*a+2*b.slack {
					t.Fatalf("%g releases, loss %d: all weights %g, want %g", n, j, gotA, a)
				}
				if off := math.Abs(waves.series.mass(j) - whole.mass[j]); off > whole.fuzz+waves.fuzz {
					t.Fatalf("%g releases, mass %d: %g, want %g", n, j, waves.series.mass(j), whole.mass[j])
				}
				return true
			})
			if b.slack > 1e-6*largest {
				t.Errorf("%g releases: a slack of %g for sums of %g", n, b.slack, largest)
			}
			if waves.series.slack > waves.fuzz*waves.weights() {
				t.Errorf("%g releases: the sums of waves may be wrong by %g, the masses by %g", n, waves.series.slack, waves.fuzz*waves.weights())
			}
		}
	}
}

// Bounds of delta and of epsilon are the same as waves, also where the window ends.
func TestWavesAnswerAlike(t *testing.T) {
	for _, upper := range []bool{false, true} {
		whole, waves, s := waved(t, 1<<16, 14062, upper)
		a, b := whole.lower(s), waves.lower(s)
		if upper {
			a, b = whole.upper(s), waves.upper(s)
		}
		tol := 1e-9
		top := whole.lo + float64(len(whole.mass))*whole.h
		for _, eps := range []float64{0, whole.lo / 2, whole.lo, whole.lo + whole.h/3, 2, 2.38, 3, top - whole.h/2, top, top + 1} {
			x, y := a.deltaAt(eps), b.deltaAt(eps)
			if math.Abs(x-y) > tol*x+4*b.slack*math.Exp(b.logMass-b.tilt*eps)*math.Copysign(1, b.slack) {
				t.Errorf("upper %v at %g: %g of masses, %g of waves", upper, eps, x, y)
			}
		}
		for _, delta := range []float64{1e-3, 1e-5, 1e-7} {
			lo, hi, err := a.epsilon(delta)
			low, high, err2 := b.epsilon(delta)
			if err != nil || err2 != nil || math.Abs(hi-high) > tol*hi || math.Abs(lo-low) > tol*hi || high > 0 && math.Nextafter(low, high) != high {
				t.Errorf("upper %v at %g: %v to %v (%v) of masses, %v to %v (%v) of waves", upper, delta, lo, hi, err, low, high, err2)
			}
		}
	}
}

// No coefficient that is left out may count: all of them are below the bound by variation.
func TestWavesThatVanish(t *testing.T) {
	x := mustPair(gaussian(1 / 1.1)).sampled(256.0 / 60000)
	v, err := newView(context.Background(), []term{{x, 14062}}, query{delta: 1e-5, solve: true})
	if err != nil {
		t.Fatal(err)
	}
	const bins = 1 << 14
	plans, _, _, err := v.plans([]int{0}, bins)
	if err != nil {
		t.Fatal(err)
	}
	for name, m := range map[string]*masses{"upper": plans[0].terms[0].upper(), "lower": plans[0].terms[0].lower()} {
		var out tilted
		p := m.step(1, plans[0].span, &out)
		machine := newMachine(bins)
		machine.reserve(bins/2 + 1)
		whole := machine.whole()
		p.load(machine.seq)
		whole.Forward(machine.out, machine.seq)
		largest := 0.0
		for k, z := range machine.out {
			size := absolute(z + complex(1-p.rest, 0))
			if k > 0 {
				if most := p.variation / (2 * math.Sin(math.Pi*float64(k)/bins)); size > most*(1+1e-9)+p.err+fftError(bins) {
					t.Fatalf("%s: coefficient %d is %g, at most %g by variation", name, k, size, most)
				}
			}
			if k >= waves([]step{p}, []float64{14062}, bins) {
				largest = max(largest, size)
			}
		}
		if got := 14062 * math.Log(largest); largest == 0 || got > vanishing {
			t.Errorf("%s: a coefficient of exp(%g) is left out", name, got)
		}
		rough := p
		rough.variation = 1e9
		if got := waves([]step{rough}, []float64{14062}, bins); got != bins/2+1 {
			t.Errorf("%s: masses that jump have %d coefficients", name, got)
		}
	}
}
