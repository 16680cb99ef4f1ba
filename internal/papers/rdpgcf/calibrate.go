package rdpgcf

import (
	"context"
	"errors"
	"fmt"
	"math"

	"privrec/internal/graph"
	"privrec/internal/privacy/accountant"
	"privrec/internal/privacy/accountant/rdp"
)

// Calibration describes a training run as the paper accounts for it. It converts noise multipliers to epsilons and
// back. Source: section 3.5.
type Calibration struct {
	Accounting string // printed, poisson or none
	Count      string // layer, views, joint or step
	Conversion string // classic, tight or order:A
	Delta      float64

	Edges  int64 // E, of the training graph
	Batch  int   // B
	Epochs int   // T
	Layers int   // L

	View  float64 // how far an edge moves one view of a layer (Normalizer.Sensitivity)
	Joint float64 // and both together

	// Raw uses Theorem 3 as it stands, whose epsilon has a positive lower limit however large the noise. Otherwise the
	// minimum of it and the divergence without sampling is used.
	Raw bool
	// Whole counts the steps of a run of all epochs. Otherwise the steps of Theorem 5 count, which are fewer by the
	// last, smaller batch of every epoch.
	Whole bool
}

// noiseBatch returns the batch of the steps that the noise is calibrated for. The printed claim keeps the noise of the
// paper's steps also under a schedule, as it does for epochs that are planned and not run: for steps of sixteen times
// the pairs its bound (Theorem 3) requires 4 to 130 times the noise. A guarantee that is meant to hold counts the steps
// that are made.
func (c Config) noiseBatch() int {
	if c.Privacy.Accounting == AccountingPrinted {
		return c.Train.Batch
	}
	return c.Train.Scheduled().Batch
}

// perEpoch returns the number of steps of an epoch on a number of edges.
func (c Config) perEpoch(edges int64) int64 {
	b := int64(c.Train.Scheduled().Batch)
	return (edges + b - 1) / b
}

// Calibration returns the calibration of the configuration on a graph with a number of edges.
func (c Config) Calibration(edges int64) (Calibration, error) {
	n, err := graph.ParseNormalizer(c.Model.Norm)
	if err != nil {
		return Calibration{}, fmt.Errorf("model.norm: %w", err)
	}
	p := c.Privacy
	a := Calibration{Accounting: p.Accounting, Count: p.Count, Conversion: p.Conversion, Delta: p.Delta,
		Edges: edges, Batch: c.noiseBatch(), Epochs: c.Train.Epochs, Layers: c.Model.Layers}
	if p.PlannedEpochs > 0 {
		a.Epochs = p.PlannedEpochs
	}
	// Theorem 5's count belongs to the printed claim. What is meant to hold pays for
	// every step.
	a.Whole = p.Accounting != AccountingPrinted
	a.View, a.Joint = n.Sensitivity()
	return a, a.validate()
}

func (c Calibration) validate() error {
	check := func(ok bool, format string, args ...any) error {
		if ok {
			return nil
		}
		return fmt.Errorf("calibration: "+format, args...)
	}
	_, _, err := order(c.Conversion)
	return errors.Join(err,
		check(c.Delta > 0 && c.Delta < 1, "delta is %v, want between 0 and 1", c.Delta),
		check(c.Edges >= 1, "edges is %d, want at least 1", c.Edges),
		check(c.Batch >= 1, "batch is %d, want at least 1", c.Batch),
		check(c.Epochs >= 1, "epochs is %d, want at least 1", c.Epochs),
		check(c.Layers >= 1, "layers is %d, want at least 1", c.Layers),
		check(c.View > 0 && c.Joint >= c.View && !math.IsInf(c.Joint, 1),
			"sensitivities are %v and %v, want positive, the joint one not below", c.View, c.Joint))
}

// Rate returns q = B/E, at most 1.
func (c Calibration) Rate() float64 { return math.Min(1, float64(c.Batch)/float64(c.Edges)) }

// Steps returns ceil(T/q), as in Theorem 5. Under Whole it returns StepsRun, T ceil(1/q), the steps that a run makes.
func (c Calibration) Steps() int64 {
	if c.Whole {
		return c.StepsRun()
	}
	if int64(c.Batch) >= c.Edges {
		return int64(c.Epochs)
	}
	return (int64(c.Epochs)*c.Edges + int64(c.Batch) - 1) / int64(c.Batch)
}

// StepsRun returns T ceil(E/B), the steps that a run of all epochs makes.
func (c Calibration) StepsRun() int64 {
	return int64(c.Epochs) * ((c.Edges + int64(c.Batch) - 1) / int64(c.Batch))
}

// releases returns the number of releases that a step counts for, and the sensitivity of each to one edge.
func (c Calibration) releases() (perStep int64, sensitivity float64, err error) {
	switch c.Count {
	case CountLayer:
		return int64(c.Layers), c.View, nil
	case CountViews:
		return 2 * int64(c.Layers), c.View, nil
	case CountJoint:
		return int64(c.Layers), c.Joint, nil
	case CountStep:
		return 1, c.Joint * math.Sqrt(float64(c.Layers)), nil
	}
	return 0, 0, fmt.Errorf("unknown count %q, want %s, %s, %s or %s", c.Count, CountLayer, CountViews, CountJoint,
		CountStep)
}

// curve returns the Rényi divergence of all steps at a noise multiplier, the noise divided by the sensitivity of one
// release.
func (c Calibration) curve(multiplier float64) (rdp.Curve, error) {
	perStep, _, err := c.releases()
	if err != nil {
		return nil, err
	}
	base, err := rdp.Gaussian(multiplier, 1)
	if err != nil {
		return nil, err
	}
	switch c.Accounting {
	case AccountingPrinted:
		base, err = rdp.WithoutReplacement{Rate: c.Rate(), Base: base, EpsInf: math.Inf(1), Variant: rdp.Printed,
			Capped: !c.Raw}.Curve()
	case AccountingPoisson:
		base, err = rdp.SampledGaussian(c.Rate(), multiplier)
	case AccountingNone:
	default:
		err = fmt.Errorf("accounting %q has no curve", c.Accounting)
	}
	if err != nil {
		return nil, err
	}
	return rdp.Times(base, c.Steps()*perStep), nil
}

// options returns the orders to search. The paper's bound is defined at orders 2 to 64; the best one is 6 at epsilon 5.
// The others are searched freely.
func (c Calibration) options() rdp.Options {
	o := rdp.Options{Conversion: rdp.Conversion(c.Conversion)}
	if c.Accounting == AccountingPrinted {
		o.Orders, o.Fixed = rdp.Whole(64), true
	}
	return o
}

// Epsilon returns the epsilon of a noise multiplier under this accounting, with the steps of Theorem 5. Without
// amplification it is the exact epsilon of the composed Gaussians, for every conversion except a fixed order.
func (c Calibration) Epsilon(multiplier float64) (float64, error) {
	if err := c.validate(); err != nil {
		return 0, err
	}
	a, isOrder, err := order(c.Conversion)
	if err != nil {
		return 0, err
	}
	if c.Accounting == AccountingNone && !isOrder {
		perStep, _, err := c.releases()
		if err != nil {
			return 0, err
		}
		return accountant.Exact(math.Sqrt(float64(c.Steps()*perStep))/multiplier, c.Delta)
	}
	curve, err := c.curve(multiplier)
	if err != nil {
		return 0, err
	}
	if isOrder {
		return curve(a), nil
	}
	p, err := rdp.Epsilon(context.Background(), curve, c.Delta, c.options())
	return p.Epsilon, err
}

// Multiplier returns the smallest noise multiplier whose epsilon is at most the given one. If no noise reaches it, as
// under Raw below the floor, the error states the lowest possible epsilon.
func (c Calibration) Multiplier(epsilon float64) (float64, error) {
	if !(epsilon > 0) || math.IsInf(epsilon, 1) {
		return 0, fmt.Errorf("calibrate sigma: epsilon is %v, want positive and finite", epsilon)
	}
	if err := c.validate(); err != nil {
		return 0, err
	}
	if c.Accounting == AccountingNone {
		if _, is, _ := order(c.Conversion); !is {
			perStep, _, err := c.releases()
			if err != nil {
				return 0, err
			}
			return accountant.SigmaFor(math.Sqrt(float64(c.Steps()*perStep)), epsilon, c.Delta)
		}
	}
	if c.Raw {
		if floor, err := c.Floor(); err == nil && epsilon <= floor {
			return 0, fmt.Errorf("calibrate sigma: epsilon %v is out of reach of Theorem 3: however large the noise, "+
				"with %d steps at rate %.4g it does not get below %.4g",
				epsilon, c.Steps(), c.Rate(), floor)
		}
	}
	found, err := accountant.Calibrate(accountant.Goal{Epsilon: epsilon, Delta: c.Delta, Exposed: c.exposed()}, 1,
		c.Epsilon)
	if err != nil {
		return 0, fmt.Errorf("calibrate sigma: %w", err)
	}
	return found.Noise, nil
}

// exposed returns the probability that an edge is in any release; 1 without sampling.
func (c Calibration) exposed() float64 {
	if c.Accounting == AccountingNone {
		return 1
	}
	return accountant.Exposed(c.Rate(), c.Steps())
}

// Sigma returns the standard deviation of the noise: Multiplier times the sensitivity of the counted releases. For the
// paper's normaliser and count that sensitivity is 1.
func (c Calibration) Sigma(epsilon float64) (float64, error) {
	_, sensitivity, err := c.releases()
	if err != nil {
		return 0, err
	}
	m, err := c.Multiplier(epsilon)
	return m * sensitivity, err
}

// EpsilonOf is Epsilon for a standard deviation.
func (c Calibration) EpsilonOf(sigma float64) (float64, error) {
	_, sensitivity, err := c.releases()
	if err != nil {
		return 0, err
	}
	return c.Epsilon(sigma / sensitivity)
}

// Floor returns the limit of the printed Theorem 3's epsilon as the noise grows. Its terms of degree 3 and more do not
// vanish with the divergence. At the best order a it is
//
//	ceil(T/q) L/(a-1) ln(1 + 2 sum over j >= 3 of C(a,j) q^j) + ln(1/delta)/(a-1)
func (c Calibration) Floor() (float64, error) {
	c.Raw, c.Accounting = true, AccountingPrinted
	return c.Epsilon(1e12)
}
