package channel

import (
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/stat/distuv"

	"privrec/internal/privacy"
	"privrec/internal/privacy/mechanism"
	"privrec/internal/privacy/mechanism/mechanismtest"
	"privrec/internal/rng"
)

var ball = SphericalLaplace{Purpose: "objective", Scale: 0.2374, Sensitivity: 1, Unit: privacy.Edge, Neighbouring: privacy.AddRemove}

// The law of the research sampler: lengths are Gamma(d, scale) and the direction is uniform.
// Chi-square over 40 cells of equal probability, false alarm 1e-9 each, in both types. The
// square of a coordinate of a uniform direction is Beta(1/2, (d-1)/2), and its sign is even.
func TestSphericalLaw(t *testing.T) {
	t.Run("float32", testSphericalLaw[float32])
	t.Run("float64", testSphericalLaw[float64])
}

func testSphericalLaw[T mechanism.Float](t *testing.T) {
	const n, cells, scale = 40_000, 40, 2
	even := func(int) float64 { return 1.0 / cells }
	for _, d := range []int{1, 2, 7, 60} {
		gamma := distuv.Gamma{Alpha: float64(d), Beta: 1}
		law := func(draw func(s rng.Stream, dst []T)) (length, first []int) {
			length, first = make([]int, cells), make([]int, cells)
			x := make([]T, d)
			for k := range n {
				clear(x)
				draw(rng.Seed(3).Stream("ball", uint64(d)).Sub(uint64(k)), x)
				sq := 0.0
				for _, v := range x {
					sq += float64(v) * float64(v)
				}
				r := math.Sqrt(sq)
				length[min(cells-1, int(cells*gamma.CDF(r/scale)))]++
				u := 0.5 // of the first coordinate of the direction, from its upper end
				if d > 1 {
					c := float64(x[0]) / r
					u = 0.5 * distuv.Beta{Alpha: 0.5, Beta: float64(d-1) / 2}.Survival(min(1, c*c))
				} else {
					u *= float64(k%(cells/2))/(cells/2) + 1e-9 // only the sign is random
				}
				if x[0] < 0 {
					u = 1 - u
				}
				first[min(cells-1, int(u*cells))]++
			}
			return length, first
		}
		length, first := law(func(s rng.Stream, dst []T) { addSpherical(s, dst, scale) })
		mechanismtest.CheckCounts(t, "length", length, even)
		mechanismtest.CheckCounts(t, "direction", first, even)
		quiet := mechanismtest.Quiet{TB: t}
		if length, _ := law(func(s rng.Stream, dst []T) { addSpherical(s, dst, scale*1.05) }); mechanismtest.CheckCounts(quiet, "", length, even) {
			t.Errorf("dimension %d: a scale 5%% too large passed", d)
		}
		if d == 1 {
			continue
		}
		// Independent Laplace values of the same scale are another law: that of the l1 ball.
		if length, first := law(func(s rng.Stream, dst []T) { addLaplace(s, dst, scale) }); mechanismtest.CheckCounts(quiet, "", length, even) && mechanismtest.CheckCounts(quiet, "", first, even) {
			t.Errorf("dimension %d: independent Laplace values passed", d)
		}
	}
}

// The density of the noise, at two centres at the sensitivity's distance, never differs by more
// than the factor of the event's law.
func TestSphericalLossIsBounded(t *testing.T) {
	law, ok := ball.Event().Law().(privacy.ResponseLaw)
	if !ok || math.Abs(law.Epsilon-1/0.2374) > 1e-12 || !law.Bound {
		t.Fatalf("law %+v", ball.Event().Law())
	}
	worst := 0.0
	for k := range 20_000 {
		s := rng.Seed(5).Stream("loss", uint64(k))
		z := make([]float64, 1+k%9)
		addSpherical(s, z, 0.2374)
		shift := make([]float64, len(z))
		norm := 0.0
		for i := range shift {
			shift[i] = s.NormFloat64()
			if k%2 == 0 {
				shift[i] = -z[i] // away from the other centre: the worst direction
			}
			norm += shift[i] * shift[i]
		}
		at, from := 0.0, 0.0
		for i := range z {
			moved := z[i] - shift[i]/math.Sqrt(norm)
			at, from = at+z[i]*z[i], from+moved*moved
		}
		worst = max(worst, math.Abs(math.Sqrt(from)-math.Sqrt(at))/0.2374)
	}
	if worst > law.Epsilon*(1+1e-12) || worst < law.Epsilon*(1-1e-9) {
		t.Errorf("the largest loss is %.12g, the law says %.12g", worst, law.Epsilon)
	}
}

// openBall opens the noise for rows of 30 values.
func openBall[T mechanism.Float](t testing.TB) (*Channel[T], *privacy.Ledger) {
	t.Helper()
	l := mechanismtest.Ledger(t)
	c, err := OpenSphericalLaplace[T](ball, l, rng.Seed(4).Stream("noise"))
	if err != nil {
		t.Fatal(err)
	}
	return c, l
}

// releases makes ten releases of 200 rows.
func releases[T mechanism.Float](c *Channel[T]) error {
	for step := range uint64(10) {
		x := mechanismtest.Message[T](200, 30)
		if err := c.Perturb(x, 30, 1, step); err != nil {
			return err
		}
	}
	return c.Check()
}

// Every release is recorded once, passes its checks and has the scale that its event states:
// within 7 standard errors, false alarm below 1e-9.
func TestSphericalIsRecordedAndPasses(t *testing.T) {
	t.Run("float32", testSphericalPasses[float32])
	t.Run("float64", testSphericalPasses[float64])
}

func testSphericalPasses[T mechanism.Float](t *testing.T) {
	c, l := openBall[T](t)
	if err := releases(c); err != nil {
		t.Fatal(err)
	}
	want := []privacy.Entry{{Purpose: "objective", Count: 10, Event: ball.Event()}}
	if got := l.Entries(); !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	seen, _, _ := Seen(c)
	if n := float64(seen.N); n != 10*200*30 || math.Abs(seen.Sq/n-1) > 7/math.Sqrt(n) {
		t.Errorf("%g values of mean size %g, want 60000 of 1", n, seen.Sq/n)
	}
}

// Planted faults end the run with the name of what is wrong.
func TestSphericalSeesPlantedFaults(t *testing.T) {
	good := addSpherical[float64]
	for name, f := range map[string]struct {
		add  func(s rng.Stream, dst []float64, scale float64)
		what string
	}{
		"scale 4% high":            {func(s rng.Stream, dst []float64, scale float64) { good(s, dst, scale*1.04) }, "scale"},
		"scale 4% low":             {func(s rng.Stream, dst []float64, scale float64) { good(s, dst, scale*0.96) }, "scale"},
		"no noise":                 {func(rng.Stream, []float64, float64) {}, "unchanged"},
		"a value in 30 left out":   {func(s rng.Stream, dst []float64, scale float64) { good(s, dst[1:], scale*30/29) }, "unchanged"},
		"Laplace values":           {addLaplace[float64], "scale"},
		"normal values":            {func(s rng.Stream, dst []float64, scale float64) { addNormals(s, dst, scale) }, "scale"},
		"drawn once":               {func(_ rng.Stream, dst []float64, scale float64) { good(rng.Seed(9).Stream("once"), dst, scale) }, ""},
		"always towards (1 ... 1)": {towardsOnes, "mean"},
		"not a number":             {func(_ rng.Stream, dst []float64, _ float64) { dst[0] = math.NaN() }, ""},
	} {
		c, _ := openBall[float64](t)
		Plant(c, f.add)
		err := releases(c)
		var failed *mechanism.CheckError
		if !errors.As(err, &failed) || !strings.Contains(failed.What, f.what) {
			t.Errorf("%s: %v", name, err)
		}
		if _, again := c.Begin(1, 30, 99); again == nil {
			t.Errorf("%s: the mechanism went on after the failure", name)
		}
	}
}

// towardsOnes has the right lengths, and turns every vector towards (1, ..., 1).
func towardsOnes(s rng.Stream, dst []float64, scale float64) {
	z := make([]float64, len(dst))
	addSpherical(s, z, scale)
	sum := 0.0
	for _, v := range z {
		sum += v
	}
	for i, v := range z {
		if sum < 0 {
			v = -v
		}
		dst[i] += v
	}
}

func TestOpenSphericalRefuses(t *testing.T) {
	for name, change := range map[string]func(m *SphericalLaplace) *privacy.Ledger{
		"no purpose":  func(m *SphericalLaplace) *privacy.Ledger { m.Purpose = ""; return mechanismtest.Ledger(t) },
		"scale":       func(m *SphericalLaplace) *privacy.Ledger { m.Scale = 0; return mechanismtest.Ledger(t) },
		"nan":         func(m *SphericalLaplace) *privacy.Ledger { m.Scale = math.NaN(); return mechanismtest.Ledger(t) },
		"tiny":        func(m *SphericalLaplace) *privacy.Ledger { m.Scale = 1e-60; return mechanismtest.Ledger(t) },
		"sensitivity": func(m *SphericalLaplace) *privacy.Ledger { m.Sensitivity = -1; return mechanismtest.Ledger(t) },
		"unit":        func(m *SphericalLaplace) *privacy.Ledger { m.Unit = "x"; return mechanismtest.Ledger(t) },
		"no ledger":   func(*SphericalLaplace) *privacy.Ledger { return nil },
		"secure":      func(*SphericalLaplace) *privacy.Ledger { return mechanismtest.SecureLedger(t) },
	} {
		m := ball
		l := change(&m)
		if _, err := OpenSphericalLaplace[float32](m, l, rng.Stream{}); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
}
