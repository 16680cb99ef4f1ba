package secure

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"privrec/internal/privacy"
	"privrec/internal/privacy/mechanism"
	"privrec/internal/privacy/mechanism/channel"
	"privrec/internal/privacy/mechanism/mechanismtest"
	"privrec/internal/rng"
)

var (
	secretly     = DiscreteGaussian{Purpose: "sums", Sigma: 1.1, Sensitivity: 1, Dimension: 150, Bound: 100, Unit: privacy.Edge, Neighbouring: privacy.AddRemove}
	secretCounts = DiscreteLaplace{Purpose: "degrees", Scale: 2, Sensitivity: 1, Dimension: 1, Bound: 1 << 16, Grid: 1, Whole: true, Unit: privacy.Edge, Neighbouring: privacy.AddRemove}
)

// A mark says which noise a run had: neither sampler writes into the ledger of the
// other, and no noise without a ledger.
func TestMarksAreHonest(t *testing.T) {
	s := rng.Seed(1).Stream("x")
	for name, c := range map[string]struct {
		err error
		ok  bool
	}{
		"secure gaussian, secure":       {second(OpenGaussian[float32](secretly, mechanismtest.SecureLedger(t))), true},
		"secure gaussian, research":     {second(OpenGaussian[float32](secretly, mechanismtest.Ledger(t))), false},
		"secure gaussian, none":         {second(OpenGaussian[float32](secretly, nil)), false},
		"secure laplace, secure":        {second(OpenLaplace[float32](secretCounts, mechanismtest.SecureLedger(t))), true},
		"secure laplace, research":      {second(OpenLaplace[float32](secretCounts, mechanismtest.Ledger(t))), false},
		"secure laplace, none":          {second(OpenLaplace[float32](secretCounts, nil)), false},
		"discrete gaussian, secure":     {second(OpenKeyedGaussian[float32](secretly, mechanismtest.SecureLedger(t), s)), false},
		"discrete gaussian, research":   {second(OpenKeyedGaussian[float32](secretly, mechanismtest.Ledger(t), s)), true},
		"discrete laplace, secure":      {second(OpenKeyedLaplace[float32](secretCounts, mechanismtest.SecureLedger(t), s)), false},
		"discrete laplace, research":    {second(OpenKeyedLaplace[float32](secretCounts, mechanismtest.Ledger(t), s)), true},
		"gaussian in floats, secure":    {second(channel.Open[float32](channel.Gaussian{Purpose: "aggregate", Sigma: 0.2374, Sensitivity: 0.2, Unit: privacy.Edge, Neighbouring: privacy.AddRemove}, mechanismtest.SecureLedger(t), s)), false},
		"laplace in floats, secure":     {second(channel.OpenLaplace[float32](channel.Laplace{Purpose: "degrees", Scale: 0.2374, Sensitivity: 0.2, Unit: privacy.Edge, Neighbouring: privacy.AddRemove}, mechanismtest.SecureLedger(t), s)), false},
		"discrete gaussian, no ledger ": {second(OpenKeyedGaussian[float32](secretly, nil, s)), false},
	} {
		if (c.err == nil) != c.ok {
			t.Errorf("%s: %v", name, c.err)
		}
	}
}

func second[A any](_ A, err error) error { return err }

// The grid is what the type allows: all outputs are exact, rounding is priced in
// and the noise stands to the sensitivity as asked for. An explicit grid is kept.
func TestSecureGrid(t *testing.T) {
	for _, c := range []struct {
		digits      int
		sigma, sens float64
		dim         int64
		bound, grid float64
		want        float64 // grid
	}{
		{24, 1.1, 1, 150, 100, 0, 0x1p-17},   // 113.2 of 2^24 steps
		{53, 1.1, 1, 150, 100, 0, 0x1p-25},   // 2^26 steps to a sigma
		{53, 1, 1, 1 << 20, 1e9, 0, 0x1p-23}, // 1e9 of 2^53 steps is coarser than 2^-25
		{24, 1, 1, 10, 1, 0x1p-10, 0x1p-10},
		{53, 1e-300, 1e-300, 1, 1e-299, 0, 0x1p-1022}, // the end of the type
		{24, 1e30, 1e30, 1, 1e31, 0, 0x1p81},
	} {
		m := DiscreteGaussian{Purpose: "p", Sigma: c.sigma, Sensitivity: c.sens, Dimension: c.dim, Bound: c.bound, Grid: c.grid, Unit: privacy.User, Neighbouring: privacy.Replace}
		l, e, err := m.plan(c.digits)
		if err != nil {
			t.Errorf("%+v: %v", c, err)
			continue
		}
		if l.Step != c.want {
			t.Errorf("%+v: grid 2^%g", c, math.Log2(l.Step))
		}
		if most := l.Bound + gaussianReach*l.Scale; most > float64(l.Limit) || l.Limit != 1<<c.digits {
			t.Errorf("%+v: %g of %d steps", c, most, l.Limit)
		}
		root := math.Sqrt(float64(c.dim))
		if wanted := c.sens/l.Step + root; e.Sensitivity < wanted || e.Sensitivity > wanted*(1+1e-9) || e.Dimension != c.dim {
			t.Errorf("%+v: event %+v, want a sensitivity of %g", c, e, wanted)
		}
		if e.Sigma*l.Step < c.sigma || e.Sigma/e.Sensitivity < c.sigma/c.sens || e.Sigma/e.Sensitivity > c.sigma/c.sens*(1+1e-7) || e.Sigma != l.noise.Float64() {
			t.Errorf("%+v: event %+v, want a sigma of %g sensitivities", c, e, c.sigma/c.sens)
		}
	}
}

// Whole values keep what is asked for as it is.
func TestWholeValuesAreNotRounded(t *testing.T) {
	l, e, err := secretCounts.plan(24)
	if err != nil {
		t.Fatal(err)
	}
	want := privacy.DiscreteLaplace{Scale: 2, Sensitivity: 1, Unit: privacy.Edge, Neighbouring: privacy.AddRemove}
	if e != want || l.noise != (Ratio{2, 1}) {
		t.Errorf("%+v with noise %v, want %+v", e, l.noise, want)
	}
	m := DiscreteGaussian{Purpose: "p", Sigma: 0.7, Sensitivity: 3, Dimension: 9, Bound: 8, Grid: 0.5, Whole: true, Unit: privacy.User, Neighbouring: privacy.Replace}
	if _, e, err := m.plan(53); err != nil || e.Sigma < 1.4 || e.Sigma > 1.4000001 || e.Sensitivity != 6 {
		t.Errorf("%+v, %v", e, err)
	}
	c, err := OpenLaplace[float32](secretCounts, mechanismtest.SecureLedger(t))
	if err != nil {
		t.Fatal(err)
	}
	x := []float32{3, 0, -7, 1e9}
	if err := c.Perturb(x, 4, 1, 0); err != nil {
		t.Fatal(err)
	}
	for i, v := range x {
		if v != float32(math.Trunc(float64(v))) || math.Abs(float64(v)) > 1<<16+200 {
			t.Errorf("count %d became %v", i, v)
		}
	}
}

// Rounding moves neighbours apart by no more than the event says, in either norm,
// for any values: clamped ones, halves of a step, both signs.
func TestRoundingIsPricedIn(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		dim := rapid.IntRange(1, 20).Draw(t, "dim")
		grid := math.Ldexp(1, rapid.IntRange(-12, -4).Draw(t, "grid"))
		x, y := make([]float64, dim), make([]float64, dim)
		var l2, l1 float64
		for i := range x {
			if x[i] = rapid.Float64Range(-1.5, 1.5).Draw(t, "x"); rapid.Bool().Draw(t, "half") {
				x[i] = (math.Floor(x[i]/grid) + 0.5) * grid // the worst place
			}
			y[i] = x[i] + rapid.Float64Range(-1, 1).Draw(t, "d")*grid
			l2, l1 = l2+(x[i]-y[i])*(x[i]-y[i]), l1+math.Abs(x[i]-y[i])
		}
		l2 = math.Sqrt(l2)
		if l2 < 1e-9 {
			return
		}
		for name, q := range map[string]request{
			"l2": {1, l2, math.Sqrt(float64(dim)), gaussianReach, 1, grid, false},
			"l1": {1, l1, float64(dim), laplaceReach, 1, grid, false},
		} {
			q.sensitivity = max(q.sensitivity, q.moved*grid) // below that a grid is refused
			l, err := plan(53, q)
			if err != nil {
				t.Fatal(err)
			}
			var r2, r1 float64
			for i := range x {
				d := l.Round(x[i]) - l.Round(y[i])
				r2, r1 = r2+d*d, r1+math.Abs(d)
				if k := l.Round(x[i]); math.Abs(k*grid-max(-1, min(1, x[i]))) > grid/2 { // to the nearest
					t.Fatalf("%g is rounded to %g steps of %g", x[i], k, grid)
				}
			}
			if moved := map[string]float64{"l2": math.Sqrt(r2), "l1": r1}[name]; moved > l.sensitivity {
				t.Fatalf("%s: %g steps apart, the event says %g", name, moved, l.sensitivity)
			}
		}
	})
}

// TestWholeValuesMoveByWholeSteps: a sensitivity that a sum of decimals left below one
// step is one, and what is far below a step is a mistake and no release.
func TestWholeValuesMoveByWholeSteps(t *testing.T) {
	tenth := 0.0
	for range 10 {
		tenth += 0.1
	}
	for sensitivity, fits := range map[float64]bool{tenth: true, 1: true, 0.5: false, 1 - 1e-6: false} {
		g := DiscreteGaussian{Purpose: "counts", Sigma: 2, Sensitivity: sensitivity, Dimension: 1, Bound: 64, Grid: 1, Whole: true, Unit: privacy.User, Neighbouring: privacy.AddRemove}
		l := DiscreteLaplace{Purpose: "counts", Scale: 2, Sensitivity: sensitivity, Dimension: 1, Bound: 64, Grid: 1, Whole: true, Unit: privacy.User, Neighbouring: privacy.AddRemove}
		_, normal, err := g.plan(53)
		_, laplace, err2 := l.plan(53)
		if (err == nil) != fits || (err2 == nil) != fits {
			t.Errorf("a sensitivity of %v steps: %v, %v", sensitivity, err, err2)
		}
		if fits && (normal.Squared() != 1 || laplace.Steps() != 1) {
			t.Errorf("a sensitivity of %v steps is recorded as %+v and %+v", sensitivity, normal, laplace)
		}
	}
	// Rounded to the grid, values of any sensitivity move by steps.
	m := DiscreteLaplace{Purpose: "means", Scale: 0.2, Sensitivity: 0.01, Dimension: 1, Bound: 1, Unit: privacy.User, Neighbouring: privacy.AddRemove}
	if _, e, err := m.plan(53); err != nil || e.Steps() < 1 {
		t.Errorf("%+v, %v", e, err)
	}
}

func TestSecureRefusesSettings(t *testing.T) {
	for want, change := range map[string]func(*DiscreteGaussian){
		"no purpose":  func(m *DiscreteGaussian) { m.Purpose = "" },
		"sigma":       func(m *DiscreteGaussian) { m.Sigma = math.NaN() },
		"sensitivity": func(m *DiscreteGaussian) { m.Sensitivity = 0 },
		"dimension":   func(m *DiscreteGaussian) { m.Dimension = 0 },
		"bound is 0":  func(m *DiscreteGaussian) { m.Bound = 0 },
		"bound is +":  func(m *DiscreteGaussian) { m.Bound = math.Inf(1) },
		"bound is Na": func(m *DiscreteGaussian) { m.Bound = math.NaN() },
		"power":       func(m *DiscreteGaussian) { m.Grid = 0.3 },
		"power of":    func(m *DiscreteGaussian) { m.Grid = -1 },
		"power of t":  func(m *DiscreteGaussian) { m.Grid = math.Inf(1) },
		"need a grid": func(m *DiscreteGaussian) { m.Whole = true },
		"24 bits":     func(m *DiscreteGaussian) { m.Grid = 0x1p-20 },                                             // 100 is too many steps
		"do not fit":  func(m *DiscreteGaussian) { m.Bound, m.Sensitivity, m.Dimension = 1e9, 1e6, 1 },            // or too coarse
		"move":        func(m *DiscreteGaussian) { m.Dimension = 1 << 40 },                                        // 2^20 steps of 2^-17
		"below one":   func(m *DiscreteGaussian) { m.Grid = 256 },                                                 // than the bound
		"fit into":    func(m *DiscreteGaussian) { m.Sigma, m.Sensitivity, m.Bound = 1e-50, 1e-50, 1e-48 },        // below the type's numbers
		"2^50":        func(m *DiscreteGaussian) { m.Sigma, m.Grid = 1e30, 0x1p-10 },                              // more steps than a sample holds
		"2^-26":       func(m *DiscreteGaussian) { m.Sigma, m.Grid, m.Sensitivity, m.Whole = 1e-9, 1, 100, true }, // hardly any noise
		"outside":     func(m *DiscreteGaussian) { m.Sigma, m.Grid, m.Bound, m.Sensitivity = 1e34, 0x1p112, 1e34, 1e35 },
		"unit":        func(m *DiscreteGaussian) { m.Unit = "x" },
		"neighbour":   func(m *DiscreteGaussian) { m.Neighbouring = "x" },
		"share":       func(m *DiscreteGaussian) { m.Share = -1 },
	} {
		m := secretly
		change(&m)
		l := mechanismtest.SecureLedger(t)
		_, err := OpenGaussian[float32](m, l)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", want, err)
		}
		if len(l.Entries()) != 0 {
			t.Errorf("%s: recorded", want)
		}
	}
	for want, change := range map[string]func(*DiscreteLaplace){
		"no purpose": func(m *DiscreteLaplace) { m.Purpose = "" },
		"scale":      func(m *DiscreteLaplace) { m.Scale = -1 },
		"dimension":  func(m *DiscreteLaplace) { m.Dimension = -1 },
		"bound":      func(m *DiscreteLaplace) { m.Bound = -1 },
		"share":      func(m *DiscreteLaplace) { m.Share = 7 },
		"move":       func(m *DiscreteLaplace) { m.Whole, m.Dimension = false, 2 },
	} {
		m := secretCounts
		change(&m)
		if _, err := OpenLaplace[float32](m, mechanismtest.SecureLedger(t)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("laplace, %s: %v", want, err)
		}
	}
}

// A value that is not a number ends the channel and leaves its row alone; so does a
// count that is none.
func TestSecureRefusesValues(t *testing.T) {
	c := func() *channel.Channel[float64] {
		return mechanismtest.Must(OpenGaussian[float64](secretly, mechanismtest.SecureLedger(t)))
	}
	w := func() *channel.Channel[float64] {
		return mechanismtest.Must(OpenLaplace[float64](secretCounts, mechanismtest.SecureLedger(t)))
	}
	for name, try := range map[string]struct {
		c   *channel.Channel[float64]
		bad float64
	}{"NaN": {c(), math.NaN()}, "+Inf": {c(), math.Inf(1)}, "-Inf": {c(), math.Inf(-1)}, "multiple of 1": {w(), 0.5}, "finite": {w(), math.NaN()}} {
		x := []float64{1, 2, try.bad, 3}
		before := slices.Clone(x)
		err := try.c.Perturb(x, 2, 1, 0)
		if err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: %v", name, err)
		}
		if fmt.Sprint(x[2:]) != fmt.Sprint(before[2:]) {
			t.Errorf("%s: the row became %v", name, x[2:])
		}
		if try.c.Check() == nil {
			t.Errorf("%s: forgotten", name)
		}
	}
}

// Values beyond the bound come out around it, and outputs stay within what the type
// holds exactly even where noise would leave it.
func TestClamping(t *testing.T) {
	c := mechanismtest.Must(OpenGaussian[float32](secretly, mechanismtest.SecureLedger(t)))
	x := []float32{1e30, -1e30, 100, 0}
	if err := c.Perturb(x, 4, 1, 0); err != nil {
		t.Fatal(err)
	}
	for i, want := range []float32{100, -100, 100, 0} { // 12 sigma: below 1e-32
		if math.Abs(float64(x[i]-want)) > 12*1.2 {
			t.Errorf("value %d is %v, want about %v", i, x[i], want)
		}
	}
	grid, event, err := secretly.plan(24)
	if err != nil {
		t.Fatal(err)
	}
	for far, want := range map[int64]float64{1 << 30: 1 << 24, -1 << 30: -1 << 24, 5: 5} {
		c := mechanismtest.Must(openLattice[float32]("p", 0, gridLaw(event, event.Sigma, grid.Step), 0, grid, false,
			mechanismtest.Ledger(t), rng.Stream{}, false, func(rng.Source) int64 { return far }))
		y := []float32{0}
		var failed *mechanism.CheckError
		if err := c.Perturb(y, 1, 1); err != nil && !errors.As(err, &failed) { // such noise fails the check, and is there
			t.Fatal(err)
		}
		if float64(y[0]) != want*grid.Step {
			t.Errorf("noise of %d steps gives %v steps", far, float64(y[0])/grid.Step)
		}
	}
}

// The noise of what was released has the law of the event: chi-square on the steps,
// false alarm 1e-9.
func TestSecureLaw(t *testing.T) {
	const n = 60_000
	m := DiscreteGaussian{Purpose: "p", Sigma: 3, Sensitivity: 1, Dimension: 1, Bound: 64, Grid: 1, Whole: true, Unit: privacy.User, Neighbouring: privacy.AddRemove}
	g := mechanismtest.Must(OpenGaussian[float32](m, mechanismtest.SecureLedger(t)))
	l := mechanismtest.Must(OpenLaplace[float32](secretCounts, mechanismtest.SecureLedger(t)))
	for _, k := range []struct {
		name string
		c    *channel.Channel[float32]
		pmf  func(int64) float64
	}{{"gaussian", g, DiscreteGaussianLaw{3}.PMF}, {"laplace", l, DiscreteLaplaceLaw{2}.PMF}} {
		x := make([]float32, n)
		for i := range x {
			x[i] = 17
		}
		if err := k.c.Perturb(x, 100, 1, 0); err != nil {
			t.Fatal(err)
		}
		i := -1
		mechanismtest.CheckLaw(t, k.name, n, 1, func() int64 { i++; return int64(x[i]) - 17 }, k.pmf)
	}
}

func TestSecureSteadyStateDoesNotAllocate(t *testing.T) {
	if mechanismtest.Raced { // the same test runs without the detector too
		t.Skip("the race detector allocates")
	}
	c := mechanismtest.Must(OpenGaussian[float32](secretly, mechanismtest.SecureLedger(t)))
	x := mechanismtest.Message[float32](16, 150)
	step := uint64(0)
	n := testing.AllocsPerRun(50, func() {
		if err := c.Perturb(x, 150, 1, step); err != nil {
			t.Fatal(err)
		}
		step++
	})
	if n > 14 { // the ledger entry, not the rows
		t.Errorf("%g allocations for a release of 16 rows", n)
	}
}

func BenchmarkSecure(b *testing.B) {
	c := mechanismtest.Must(OpenGaussian[float32](secretly, mechanismtest.SecureLedger(b)))
	x := make([]float32, 9600)
	b.ReportAllocs()
	for s := uint64(0); b.Loop(); s++ {
		if err := c.Perturb(x, 150, 1, s); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/9600, "ns/value")
}

// Noise for data that are published: no seed, and an event in steps of a grid.
func ExampleOpenGaussian() {
	ledger, _ := privacy.NewLedger(privacy.Secure)
	m := DiscreteGaussian{
		Purpose: "sums", Sigma: 4, Sensitivity: 1, Dimension: 150, Bound: 64,
		Unit: privacy.User, Neighbouring: privacy.AddRemove,
	}
	noise, err := OpenGaussian[float32](m, ledger)
	if err != nil {
		fmt.Println(err)
		return
	}
	sums := make([]float32, 2*150)
	if err := noise.Perturb(sums, 150, 1, 0 /* release */); err != nil {
		fmt.Println(err)
		return
	}
	e, _ := ledger.Entries()[0].Event.(privacy.DiscreteGaussian)
	fmt.Printf("%s: noise of %.4f sensitivities in %d coordinates\n", e.Kind(), e.Sigma/e.Sensitivity, e.Dimension)
	// Output: discrete-gaussian: noise of 4.0000 sensitivities in 150 coordinates
}
