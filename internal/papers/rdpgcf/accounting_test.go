package rdpgcf

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"strings"
	"testing"

	"privrec/internal/privacy/accountant"
	"privrec/internal/privacy/accountant/rdp"
)

func TestRatesAndStepsOfSpecification(t *testing.T) {
	for i, want := range []struct {
		rate  float64
		steps int64
		run   int64
	}{{0.001280, 234_424, 300 * 782}, {0.001264, 237_343, 300 * 792}, {0.000828, 362_479, 300 * 1209}} {
		a := specCalibration(specSets[i].edges, AccountingPrinted, CountLayer)
		within(t, "rate of "+specSets[i].name, a.Rate(), want.rate, half)
		if a.Steps() != want.steps || a.StepsRun() != want.run {
			t.Errorf("%s: %d steps by Theorem 5 and %d in a run, want %d and %d", specSets[i].name, a.Steps(), a.StepsRun(), want.steps, want.run)
		}
	}
}

// TestVariationsOfSpecification is the paragraph below the table of section 5, on
// Gowalla.
func TestVariationsOfSpecification(t *testing.T) {
	gowalla := specCalibration(810_128, AccountingPrinted, CountLayer)
	for _, c := range []struct {
		name    string
		change  func(a *Calibration)
		epsilon float64
		want    float64
	}{
		{"72 % of the edges", func(a *Calibration) { a.Edges = 729_115 }, 5, 2.482},
		{"delta 1/E", func(a *Calibration) { a.Delta = 1 / 810_128.0 }, 5, 2.525},
		{"tight conversion", func(a *Calibration) { a.Conversion = ConversionTight }, 5, 2.155},
		{"order 2, epsilon 1", func(a *Calibration) { a.Conversion = "order:2" }, 1, 2.24},
		{"order 2, epsilon 3", func(a *Calibration) { a.Conversion = "order:2" }, 3, 1.41},
		{"order 2, epsilon 5", func(a *Calibration) { a.Conversion = "order:2" }, 5, 1.13},
		{"order 2, epsilon 10", func(a *Calibration) { a.Conversion = "order:2" }, 10, 0.82},
		{"order 8, epsilon 1", func(a *Calibration) { a.Conversion = "order:8" }, 1, 4.38},
		{"order 8, epsilon 3", func(a *Calibration) { a.Conversion = "order:8" }, 3, 2.58},
		{"order 8, epsilon 5", func(a *Calibration) { a.Conversion = "order:8" }, 5, 2.04},
		{"order 8, epsilon 10", func(a *Calibration) { a.Conversion = "order:8" }, 10, 1.52},
	} {
		a := gowalla
		c.change(&a)
		sigma, err := a.Sigma(c.epsilon)
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		within(t, "sigma with "+c.name, sigma, c.want, half)
	}
	for _, c := range []struct {
		accounting string
		want       float64
	}{{AccountingPrinted, 4.99968}} {
		a := gowalla
		a.Accounting = c.accounting
		eps, err := a.EpsilonOf(2.363)
		if err != nil {
			t.Fatal(err)
		}
		within(t, "epsilon of sigma 2.363 by "+c.accounting, eps, c.want, 1e-5)
	}
	// The sampled Gaussian at the same orders and conversion: the value of autodp's
	// exact integer formula.
	curve, err := rdp.SampledGaussian(gowalla.Rate(), 2.363)
	if err != nil {
		t.Fatal(err)
	}
	p, err := rdp.Epsilon(context.Background(), rdp.Times(curve, 3*gowalla.Steps()), 1e-5, rdp.Options{Conversion: rdp.Classic, Orders: rdp.Whole(64), Fixed: true})
	if err != nil {
		t.Fatal(err)
	}
	within(t, "epsilon of sigma 2.363 by the sampled Gaussian", p.Epsilon, 2.381, half)
}

// TestAccountedOfSpecification is the last column of section 5's table: what the
// sigma of Theorem 3 comes to when both views count and nothing is amplified.
func TestAccountedOfSpecification(t *testing.T) {
	for i, want := range [][4]float64{{3.6e3, 5.1e4, 1.27e5, 3.6e5}, {3.8e3, 5.2e4, 1.30e5, 3.7e5}, {1.2e4, 1.2e5, 2.9e5, 7.9e5}} {
		printed := specCalibration(specSets[i].edges, AccountingPrinted, CountLayer)
		joint := specCalibration(specSets[i].edges, AccountingNone, CountJoint)
		views := specCalibration(specSets[i].edges, AccountingNone, CountViews)
		for e, epsilon := range []float64{1, 3, 5, 10} {
			sigma, err := printed.Sigma(epsilon)
			if err != nil {
				t.Fatal(err)
			}
			got, err := joint.EpsilonOf(sigma)
			if err != nil {
				t.Fatal(err)
			}
			// Printed with two digits: half of the last one is up to 4.2 per cent.
			within(t, fmt.Sprintf("%s at %v", specSets[i].name, epsilon), got, want[e], 0.0424)
			// Two views of sensitivity 1 are one release of sqrt(2).
			both, err := views.EpsilonOf(sigma)
			if err != nil {
				t.Fatal(err)
			}
			within(t, "two views", both, got, 1e-9)
		}
	}
}

// TestFloorsOfSpecification is the floor of section 6.5.
func TestFloorsOfSpecification(t *testing.T) {
	for i, want := range []struct {
		layer, views, kept float64 // the last: views, 72 % of all edges
		edges              int64
	}{{0.762, 0.959, 1.03, 720_150}, {0.755, 0.951, 1.02, 729_115}, {0.570, 0.717, 0.77, 1_113_533}} {
		a := specCalibration(specSets[i].edges, AccountingPrinted, CountLayer)
		for _, c := range []struct {
			count string
			edges int64
			want  float64
		}{{CountLayer, specSets[i].edges, want.layer}, {CountViews, specSets[i].edges, want.views}, {CountViews, want.edges, want.kept}} {
			a.Count, a.Edges = c.count, c.edges
			floor, err := a.Floor()
			if err != nil {
				t.Fatal(err)
			}
			within(t, specSets[i].name+" "+c.count, floor, c.want, half)
		}
		// Theorem 3 by itself refuses epsilon 1 where the floor is above; the minimum with
		// the divergence without sampling reaches it, at a sigma of thousands.
		floor, err := a.Floor()
		if err != nil {
			t.Fatal(err)
		}
		raw := a
		raw.Raw = true
		_, err = raw.Sigma(1)
		if (floor >= 1) != (err != nil) {
			t.Errorf("%s: floor %v, error %v", specSets[i].name, floor, err)
		}
		if err != nil && !strings.Contains(err.Error(), "does not get below 1.0") {
			t.Errorf("%s: the error does not say the floor: %v", specSets[i].name, err)
		}
		sigma, err := a.Sigma(1)
		if err != nil {
			t.Fatal(err)
		}
		if floor >= 1 {
			within(t, "sigma without amplification", sigma, 5500, 0.2)
		}
	}
}

// TestForwardOfSpecification is section 6.3: what the published sigma comes to on
// Gowalla, and what early stopping makes of it.
func TestForwardOfSpecification(t *testing.T) {
	c := Default()
	c.Data.Recipe = "lightgcn"
	for _, want := range []struct {
		steps   int64
		mu, eps float64
		share   float64
	}{
		{237_343, 505, 1.297e5, half}, {237_600, 505, 1.30e5, half},
		{7_920, 0, 4.6e3, 0.011}, {39_600, 0, 2.2e4, 0.023}, {79_200, 0, 4.4e4, 0.0115},
	} {
		a, err := c.Account(Ran{Edges: 810_128, Sigma: 2.363, Steps: want.steps})
		if err != nil {
			t.Fatal(err)
		}
		if len(a.Components) != 1 {
			t.Fatalf("%d components", len(a.Components))
		}
		p := a.Components[0]
		within(t, fmt.Sprintf("epsilon of %d steps", want.steps), float64(p.Eps), want.eps, want.share)
		if want.mu > 0 {
			within(t, "mu", float64(p.Mu), want.mu, half)
		}
		if p.Releases != 3*want.steps || p.Sensitivity != math.Sqrt2 || !math.IsInf(float64(a.Total), 1) || a.Covered != p.Eps {
			t.Errorf("%+v, total %v", p, a.Total)
		}
	}
	// One propagation in all, and one an epoch (6 and 1,800 releases of sensitivity 1).
	for _, q := range []struct {
		steps   int
		epsilon float64
		want    float64
	}{{1, 5, 2.18 * 1}, {1, 1, 9.14}, {1, 3, 3.41}, {1, 10, 1.22}, {300, 5, 37.8}} {
		a := Calibration{Accounting: AccountingNone, Count: CountViews, Conversion: ConversionClassic, Delta: 1e-5, Edges: 1, Batch: 1, Epochs: q.steps, Layers: 3, View: 1, Joint: math.Sqrt2}
		sigma, err := a.Sigma(q.epsilon)
		if err != nil {
			t.Fatal(err)
		}
		within(t, fmt.Sprintf("sigma of %d propagations at %v", q.steps, q.epsilon), sigma, q.want, half)
	}
}

func TestPrintout(t *testing.T) {
	c := Default()
	a, err := c.Account(Ran{Edges: 810_128, Sigma: 2.363, Steps: 237_343})
	if err != nil {
		t.Fatal(err)
	}
	want := `claimed:   eps=5.000 delta=1e-05  (subsampled-WOR bound, Theorem 3, L=3 per step, sensitivity 1, 300 epochs, sigma=2.363)
accounted: forward releases of training, no sampling amplification, both views: eps=1.297e+05 (mu=505.0)
           labels / backward / layer 0 / degrees / negatives / mask: eps=infinity  (not noised)
           total: eps=infinity`
	if got := strings.Join(a.Lines(), "\n"); got != want {
		t.Errorf("printed\n%s\nwant\n%s", got, want)
	}
	b, err := json.Marshal(a)
	if err != nil {
		t.Fatal(err)
	}
	var back Account
	if err := json.Unmarshal(b, &back); err != nil {
		t.Fatal(err)
	}
	if !math.IsInf(float64(back.Total), 1) || back.Components[0] != a.Components[0] || len(back.Readings) != len(a.Readings) {
		t.Errorf("privacy.json does not come back: %s", b)
	}
}

// TestPrintoutOfCounts: L is said where releases are layers, their number where not.
func TestPrintoutOfCounts(t *testing.T) {
	for count, want := range map[string]string{CountLayer: "L=3 per step", CountJoint: "L=3 per step", CountViews: "6 releases per step", CountStep: "1 release per step"} {
		c := Default()
		c.Privacy.Accounting, c.Privacy.Count = AccountingPoisson, count
		a, err := c.Account(Ran{Edges: 810_128, Sigma: 2, Steps: 1})
		if err != nil {
			t.Fatal(err)
		}
		if line := a.Lines()[0]; !strings.Contains(line, ", "+want+", sensitivity") {
			t.Errorf("%s: %q lacks %q", count, line, want)
		}
	}
}

// TestReadings compares the readings of one sigma with each other: what the paper
// counts is the least, and only the joint count without amplification holds.
func TestReadings(t *testing.T) {
	c := Default()
	a, err := c.Account(Ran{Edges: 810_128, Sigma: 2.363, Steps: 1})
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]Reading{}
	for _, r := range a.Readings {
		got[r.Accounting+"/"+r.Count] = r
	}
	if len(got) != 10 {
		t.Fatalf("%d readings: %+v", len(got), got)
	}
	within(t, "printed/layer", float64(got["printed/layer"].Eps), 5, 1e-4)
	within(t, "none/views", float64(got["none/views"].Eps), float64(got["none/joint"].Eps), 1e-9)
	within(t, "none/joint", float64(got["none/joint"].Eps), 129809.6939, 1e-6) // of 300 x 792 steps; 129670.449 of Theorem 5's
	within(t, "none/step", float64(got["none/step"].Eps), float64(got["none/joint"].Eps), 1e-9)
	// Layers that see one sample are amplified once: counting each is too little.
	if got["poisson/step"].Eps <= got["poisson/joint"].Eps {
		t.Errorf("a step counts %v, its layers one by one %v", got["poisson/step"].Eps, got["poisson/joint"].Eps)
	}
	for name, r := range got {
		if want := name == "none/views" || name == "none/joint" || name == "none/step"; r.Sound != want {
			t.Errorf("%s: sound %t, want %t", name, r.Sound, want)
		}
		if r.Eps < got["poisson/layer"].Eps {
			t.Errorf("%s: %v is below what Poisson sampling of one view gives, %v", name, r.Eps, got["poisson/layer"].Eps)
		}
	}
	c.Privacy.Propagation, c.Train.Sampler = PropagationSampled, "poisson"
	if a, err = c.Account(Ran{Edges: 810_128, Sigma: 2.363, Steps: 1}); err != nil {
		t.Fatal(err)
	}
	for _, r := range a.Readings {
		if r.Accounting == AccountingPrinted && r.Sound {
			t.Errorf("Theorem 3 is about samples of fixed size, these are Poisson: %+v", r)
		}
		if r.Accounting == AccountingPoisson && r.Sound != (r.Count == CountStep) {
			t.Errorf("%+v", r)
		}
	}
}

// TestReadingsThatHold: a reading that is said to hold is at least what the planned
// run's forward releases come to, also where the last step of an epoch is a small one,
// and a divergence of one order, which leaves delta out, holds for nothing.
func TestReadingsThatHold(t *testing.T) {
	for _, edges := range []int64{1_025, 5_000, 810_128} {
		c := Default()
		cal, err := c.Calibration(edges)
		if err != nil {
			t.Fatal(err)
		}
		a, err := c.Account(Ran{Edges: edges, Sigma: 40, Steps: cal.StepsRun()})
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range a.Readings {
			if r.Sound && r.Eps < a.Components[0].Eps*(1-1e-9) {
				t.Errorf("%d edges: %s/%s says %v of %d releases and that it holds, the run's come to %v", edges, r.Accounting, r.Count, r.Eps, r.Releases, a.Components[0].Eps)
			}
		}
		c.Privacy.Conversion = "order:2"
		if a, err = c.Account(Ran{Edges: edges, Sigma: 40, Steps: 1}); err != nil {
			t.Fatal(err)
		}
		for _, r := range a.Readings {
			if r.Sound {
				t.Errorf("%d edges: the divergence of order 2 is said to hold for epsilon: %+v", edges, r)
			}
		}
	}
}

func TestWhatStaysOpen(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(c *Config, r *Ran)
		want   string
	}{
		{"paper", func(c *Config, r *Ran) {}, "labels backward layer_0 degrees negatives mask"},
		{"selected and clean", func(c *Config, r *Ran) { r.Selected, r.Clean = true, true }, "labels backward layer_0 degrees negatives selection mask release"},
		{"code", func(c *Config, r *Ran) { *c = Code() }, "labels backward layer_0 degrees negatives sampler mask"},
		{"all negatives", func(c *Config, r *Ran) { c.Train.Negatives = "all" }, "labels backward layer_0 degrees mask"},
		{"clamped degrees", func(c *Config, r *Ran) { c.Model.Norm = "right-clamp:50" }, "labels backward layer_0 degrees negatives mask"},
		{"sums, without degrees", func(c *Config, r *Ran) { c.Model.Norm = "sum" }, "labels backward layer_0 negatives mask"},
		{"after a filter", func(c *Config, r *Ran) { r.Filtered = true }, "labels backward layer_0 degrees negatives filter mask"},
		{"no noise", func(c *Config, r *Ran) { r.Sigma = 0; c.Privacy.Epsilon = math.Inf(1) }, "labels no_noise backward layer_0 degrees negatives mask"},
	} {
		cfg, ran := Default(), Ran{Edges: 800_167, Sigma: 2, Steps: 10}
		c.change(&cfg, &ran)
		a, err := cfg.Account(ran)
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		var got []string
		for _, o := range a.Unbounded {
			got = append(got, o.What)
			if o.Why == "" {
				t.Errorf("%s: %s without a reason", c.name, o.What)
			}
		}
		if s := strings.Join(got, " "); s != c.want || !math.IsInf(float64(a.Total), 1) {
			t.Errorf("%s: open is %q (total %v), want %q", c.name, s, a.Total, c.want)
		}
	}
}

func TestAccountRefuses(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	for _, r := range []Ran{{}, {Edges: 1, Sigma: -1}, {Edges: 1, Sigma: nan}, {Edges: 1, Sigma: inf}, {Edges: 1, Steps: -1}, {Edges: 1, Releases: -1}} {
		if _, err := Default().Account(r); err == nil {
			t.Errorf("%+v was accepted", r)
		}
	}
	if _, err := Repaired().Account(Ran{Edges: 1}); err == nil || !strings.Contains(err.Error(), "repaired") {
		t.Errorf("the repaired method was accounted as the paper's: %v", err)
	}
	good := specCalibration(810_128, AccountingPrinted, CountLayer)
	for name, change := range map[string]func(a *Calibration){
		"delta":    func(a *Calibration) { a.Delta = 0 },
		"edges":    func(a *Calibration) { a.Edges = 0 },
		"batch":    func(a *Calibration) { a.Batch = 0 },
		"epochs":   func(a *Calibration) { a.Epochs = 0 },
		"layers":   func(a *Calibration) { a.Layers = 0 },
		"sensitiv": func(a *Calibration) { a.View = nan },
		"joint":    func(a *Calibration) { a.Joint = 0.5 },
		"count":    func(a *Calibration) { a.Count = "both" },
		"order":    func(a *Calibration) { a.Conversion = "order:1" },
		"accounti": func(a *Calibration) { a.Accounting = "fixed" },
		"conversi": func(a *Calibration) { a.Conversion = "loose" },
	} {
		a := good
		change(&a)
		if s, err := a.Sigma(5); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: sigma %v, error %v", name, s, err)
		}
	}
	for _, epsilon := range []float64{0, -1, nan, inf} {
		if s, err := good.Sigma(epsilon); err == nil {
			t.Errorf("epsilon %v gives sigma %v", epsilon, s)
		}
	}
}

// TestLawsOfCalibration: more steps, layers and confidence ask for more noise, and a
// larger batch for more, whatever the accounting.
func TestLawsOfCalibration(t *testing.T) {
	for _, accounting := range []string{AccountingPrinted, AccountingPoisson, AccountingNone} {
		base := specCalibration(800_167, accounting, CountLayer)
		sigma := func(change func(a *Calibration)) float64 {
			a := base
			change(&a)
			s, err := a.Sigma(5)
			if err != nil {
				t.Fatalf("%s: %v", accounting, err)
			}
			return s
		}
		s := sigma(func(*Calibration) {})
		for name, more := range map[string]float64{
			"epochs": sigma(func(a *Calibration) { a.Epochs *= 2 }),
			"layers": sigma(func(a *Calibration) { a.Layers++ }),
			"delta":  sigma(func(a *Calibration) { a.Delta /= 10 }),
			"views":  sigma(func(a *Calibration) { a.Count = CountViews }),
			"joint":  sigma(func(a *Calibration) { a.Count = CountJoint }),
		} {
			if !(more > s) {
				t.Errorf("%s: more %s asks for sigma %v, not above %v", accounting, name, more, s)
			}
		}
		// A normaliser of another sensitivity scales the noise and nothing else.
		scaled := sigma(func(a *Calibration) { a.View, a.Joint = 0.1419, 0.1955 })
		within(t, accounting+": noise under a clamp", scaled, 0.1419*s, 1e-9)
	}
}

// TestCalibrationRefusesWhereDeltaPays: a delta that lets every sampled edge be published
// asks for no noise, and gets none.
func TestCalibrationRefusesWhereDeltaPays(t *testing.T) {
	const edges = 10_000
	for _, accounting := range []string{AccountingPrinted, AccountingPoisson} {
		c := specCalibration(edges, accounting, CountLayer)
		c.Epochs, c.Delta = 1, 0.7 // ten batches take an edge with probability 0.66
		if m, err := c.Multiplier(5); !errors.Is(err, accountant.ErrDelta) {
			t.Errorf("%s: noise multiplier %v, %v", accounting, m, err)
		}
		c.Delta = 0.01
		if m, err := c.Multiplier(5); err != nil {
			t.Errorf("%s: noise multiplier %v, %v", accounting, m, err)
		}
	}
	c := Default()
	c.Train.Epochs, c.Privacy.PlannedEpochs, c.Privacy.Delta = 1, 1, 0.7
	if s, err := c.Split(edges); !errors.Is(err, accountant.ErrDelta) {
		t.Errorf("repaired: %+v, %v", s, err)
	}
}

// The committed values of public accountants, see testdata/goldens at the root.
func TestGoldens(t *testing.T) {
	b, err := os.ReadFile("../../../testdata/goldens/wor_composed.json")
	if err != nil {
		t.Fatal(err)
	}
	var file struct {
		Entries []struct {
			ID, Fn string
			Params struct {
				E, S, L, B int64
				Epochs     int
				J          float64
				Eps, Delta float64
				Sigma      float64
				Conversion string
			}
			Value  float64
			RelTol float64 `json:"rel_tol"`
		}
	}
	if err := json.Unmarshal(b, &file); err != nil {
		t.Fatal(err)
	}
	seen := map[string]int{}
	for _, e := range file.Entries {
		p := e.Params
		a := Calibration{Accounting: AccountingPrinted, Count: CountLayer, Conversion: p.Conversion, Delta: p.Delta, Edges: p.E, Batch: int(p.B), Epochs: p.Epochs,
			Layers: int(p.L), View: 1, Joint: math.Sqrt2, Raw: true}
		var got float64
		switch e.Fn {
		case "WORComposedSigma":
			got, err = a.Sigma(p.Eps)
		case "WORComposedEps":
			got, err = a.EpsilonOf(p.Sigma)
		case "WORFloorEps":
			got, err = a.Floor()
		case "UnamplifiedEps":
			a.Accounting, a.Count, a.Conversion, a.Joint = AccountingNone, CountJoint, ConversionClassic, p.J
			a.Edges, a.Batch, a.Epochs = 1, 1, int(p.S)
			got, err = a.EpsilonOf(p.Sigma)
		default:
			t.Errorf("%s: unknown function %q", e.ID, e.Fn)
			continue
		}
		if err != nil {
			t.Errorf("%s %s: %v", e.ID, e.Fn, err)
			continue
		}
		seen[e.Fn]++
		within(t, e.ID+" "+e.Fn, got, e.Value, max(e.RelTol, 1e-8))
	}
	if len(seen) != 4 {
		t.Errorf("compared %v", seen)
	}
}

// TestSampledCalibration: under the count that is right for sampled propagation the
// claim is what the releases of training come to.
func TestSampledCalibration(t *testing.T) {
	c := Default()
	c.Model.Norm, c.Train.Sampler, c.Train.Epochs = "sym-clamp:5", "poisson", 3
	c.Privacy.Propagation, c.Privacy.Accounting, c.Privacy.Conversion = PropagationSampled, AccountingPoisson, ConversionTight
	for count, sound := range map[string]bool{CountJoint: false, CountStep: true} {
		c.Privacy.Count = count
		cal, err := c.Calibration(800_167)
		if err != nil {
			t.Fatal(err)
		}
		sigma, err := cal.Sigma(5)
		if err != nil {
			t.Fatal(err)
		}
		a, err := c.Account(Ran{Edges: 800_167, Sigma: sigma, Steps: cal.Steps()})
		if err != nil {
			t.Fatal(err)
		}
		if got := a.Components[0].Eps; (got <= 5) != sound || sound && got < 3.5 { // Rényi curves are loose for few steps
			t.Errorf("count %s: the releases of training come to %v, the claim is 5", count, got)
		}
	}
}
