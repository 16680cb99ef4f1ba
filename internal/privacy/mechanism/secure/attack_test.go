package secure

import (
	"math"
	"runtime"
	"testing"

	"privrec/internal/privacy"
	"privrec/internal/privacy/mechanism"
	"privrec/internal/privacy/mechanism/channel"
	"privrec/internal/privacy/mechanism/mechanismtest"
	"privrec/internal/rng"
)

// The attack on floating-point noise (Mironov, "On significance of the least
// significant bits for differential privacy", CCS 2012; for normal noise Jin et
// al., "Are we there yet? Timing and floating-point attacks on differential
// privacy systems", S&P 2022): a sampler has finitely many outputs, and so has
// x + sigma z; an observer of y asks of every candidate x whether any random bits
// lead from it to y. The research sampler makes two normals out of 128 bits, an
// angle of 2^53 values and a radius of some 2^53. Two doubles have far more values
// than that, so a pair of released numbers, of which only the first one depends on
// the data, mostly has one explanation.

// explained tells whether the pair y may be {x, 0} + sigma z, by inverting every
// step of the sampler. It is never false for the true x.
func explained(y [2]float64, x, sigma float64) bool {
	first, ok := sources(y[0], x, sigma)
	second, ok2 := sources(y[1], 0, sigma)
	if !ok || !ok2 {
		return true // too many candidates to say no
	}
	for _, z0 := range first {
		for _, z1 := range second {
			if drawable(z0, z1) {
				return true
			}
		}
	}
	return false
}

// sources returns the doubles z with x + sigma z = y in floating point; not ok if
// there are very many.
func sources(y, x, sigma float64) (list []float64, ok bool) {
	centre := (y - x) / sigma
	for _, side := range []float64{math.Inf(-1), math.Inf(1)} {
		z := centre
		if side > 0 {
			z = math.Nextafter(z, side)
		}
		for misses := 0; misses < 4; z = math.Nextafter(z, side) {
			p := sigma * z
			if x+p == y {
				list = append(list, z)
			} else {
				misses++
			}
			if len(list) > 2048 {
				return nil, false
			}
		}
	}
	return list, true
}

// drawable tells whether 128 bits give exactly these two normals.
func drawable(z0, z1 float64) bool {
	theta := math.Atan2(z1, z0)
	if theta < 0 {
		theta += 2 * math.Pi
	}
	middle := math.RoundToEven(theta * (0x1p53 / (2 * math.Pi)))
	for d := -4.0; d <= 4; d++ {
		m := middle + d
		if m < 0 || m >= 0x1p53 {
			m -= math.Copysign(0x1p53, m)
		}
		sin, cos := math.Sincos(m * (2 * math.Pi * 0x1p-53))
		r := z0 / cos
		if math.Abs(sin) > math.Abs(cos) {
			r = z1 / sin
		}
		r = math.Nextafter(math.Nextafter(r, 0), 0)
		for range 5 {
			if r*cos == z0 && r*sin == z1 && isRadius(r) {
				return true
			}
			r = math.Nextafter(r, math.Inf(1))
		}
	}
	return false
}

// isRadius tells whether some 64 bits give the radius r.
func isRadius(r float64) bool {
	u := math.Exp(-r * r / 2)
	reach := 8 + int(2*r*r)
	for range reach {
		u = math.Nextafter(u, 0)
	}
	for range 2*reach + 1 {
		if u > 0 && u <= 1 && math.Sqrt(-2*math.Log(u)) == r && isUniform(u) {
			return true
		}
		u = math.Nextafter(u, 2)
	}
	return false
}

// isUniform tells whether u is the sampler's uniform number for some 64 bits.
func isUniform(u float64) bool {
	if u >= 0x1p-9 {
		return true // every double of this size
	}
	a := uint64(math.Round((u - 0x1p-65) * 0x1p64))
	for _, a := range []uint64{a - 1, a, a + 1} {
		if float64(a)*0x1p-64+0x1p-65 == u {
			return true
		}
	}
	return false
}

// attack releases {x, 0} for x = 0 and 1 in turn and lets the observer guess: where
// exactly one of the two x explains a release, it was that one.
func attack(t *testing.T, c *channel.Channel[float64], sigma float64, releases int) (right, wrong int) {
	t.Helper()
	for i := range releases {
		x := float64(i % 2)
		y := []float64{x, 0}
		if err := c.Perturb(y, 2, 1, uint64(i)); err != nil {
			t.Fatal(err)
		}
		pair := [2]float64{y[0], y[1]}
		zero, one := explained(pair, 0, sigma), explained(pair, 1, sigma)
		switch {
		case zero == one:
		case one == (x == 1):
			right++
		default:
			wrong++
		}
	}
	return right, wrong
}

var attacked = []float64{1.1, 4, 20}

// On the research sampler the observer is told x by most releases and is never
// wrong, for any sigma: no epsilon describes that.
func TestSupportAttackOnResearchNoise(t *testing.T) {
	// The observer undoes the sampler operation by operation. On amd64, where .ci/run
	// is, Go never fuses x*y + z and this runs always; elsewhere it may, and the
	// attack would need the fused form.
	if runtime.GOARCH != "amd64" {
		t.Skip("the compiler may fuse operations here, so that this inversion is not that of the sampler")
	}
	const releases = 4000
	for _, sigma := range attacked {
		g := channel.Gaussian{Purpose: "sum", Sigma: sigma, Sensitivity: 1, Unit: privacy.Edge, Neighbouring: privacy.AddRemove}
		c, err := channel.Open[float64](g, mechanismtest.Ledger(t), rng.Seed(5).Stream("attack"))
		if err != nil {
			t.Fatal(err)
		}
		right, wrong := attack(t, c, sigma, releases)
		t.Logf("sigma %g: %.2f%% of %d releases tell x, %d wrong", sigma, 100*float64(right)/releases, releases, wrong)
		if wrong != 0 || right < releases*3/4 {
			t.Errorf("sigma %g: %d of %d releases tell x, %d wrong: want most and none", sigma, right, releases, wrong)
		}
	}
}

// On the secure sampler the same observer does no better than the best observer of
// ideal noise could: a right guess with probability Phi(1/(2 sigma)) (half the
// distance of the two laws' means in standard deviations), which is what epsilon
// is about. False alarm 1e-9.
func TestSupportAttackOnSecureNoise(t *testing.T) {
	const releases = 4000
	for _, sigma := range attacked {
		m := DiscreteGaussian{Purpose: "sum", Sigma: sigma, Sensitivity: 1, Dimension: 1, Bound: 1, Unit: privacy.Edge, Neighbouring: privacy.AddRemove}
		c, err := OpenGaussian[float64](m, mechanismtest.SecureLedger(t))
		if err != nil {
			t.Fatal(err)
		}
		right, wrong := attack(t, c, sigma, releases)
		n := float64(right + wrong)
		best := math.Erfc(-1/(2*sigma*math.Sqrt2)) / 2
		t.Logf("sigma %g: %d right and %d wrong of %d releases", sigma, right, wrong, releases)
		if high := n*best + 6.11*math.Sqrt(n/4) + 14; float64(right) > high {
			t.Errorf("sigma %g: %d right guesses of %g, want at most %.0f", sigma, right, n, high)
		}
	}
}

// What the secure sampler releases lies on one grid for every input, and the same
// points of it are within reach from every input: a law on all the integers.
func TestSecureNoiseHasOneGrid(t *testing.T) {
	t.Run("float32", testOneGrid[float32])
	t.Run("float64", testOneGrid[float64])
}

func testOneGrid[T mechanism.Float](t *testing.T) {
	m := DiscreteGaussian{Purpose: "sum", Sigma: 4, Sensitivity: 1, Dimension: 1, Bound: 10, Unit: privacy.Edge, Neighbouring: privacy.AddRemove}
	c, err := OpenGaussian[T](m, mechanismtest.SecureLedger(t))
	if err != nil {
		t.Fatal(err)
	}
	research, err := channel.Open[T](channel.Gaussian{Purpose: "sum", Sigma: 4, Sensitivity: 1, Unit: privacy.Edge, Neighbouring: privacy.AddRemove}, mechanismtest.Ledger(t), rng.Seed(5).Stream("grid"))
	if err != nil {
		t.Fatal(err)
	}
	plan, _, err := m.plan(digits[T]())
	if err != nil {
		t.Fatal(err)
	}
	grid := plan.Step
	for i, x := range []float64{0, 1, 0.1, -math.Pi, 1e-30, 9.9, -1e4} {
		const n = 2000
		y, z := make([]T, n), make([]T, n)
		for j := range y {
			y[j], z[j] = T(x), T(x)
		}
		if err := c.Perturb(y, n, 1, uint64(i)); err != nil {
			t.Fatal(err)
		}
		if err := research.Perturb(z, n, 1, uint64(i)); err != nil {
			t.Fatal(err)
		}
		off, even := 0, 0
		for j := range y {
			k := float64(y[j]) / grid
			if k != math.Trunc(k) || math.Abs(k) > float64(plan.Limit) {
				t.Fatalf("x %g: %v is not on the grid of %g", x, y[j], grid)
			}
			if math.Mod(k, 2) == 0 {
				even++
			}
			if k := float64(z[j]) / grid; k != math.Trunc(k) {
				off++
			}
		}
		// Both parities of the grid, alike: no digit tells x. Two tails of 5e-10.
		if d := math.Abs(float64(even) - n/2); d > 6.11*math.Sqrt(n/4) {
			t.Errorf("x %g: %d of %d outputs are even", x, even, n)
		}
		if x == 0 && off == 0 {
			t.Error("the research sampler is on the grid too: this test sees nothing")
		}
	}
}
