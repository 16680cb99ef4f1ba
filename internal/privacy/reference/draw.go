package reference

import (
	"fmt"
	"math"

	"privrec/internal/privacy"
	"privrec/internal/rng"
)

// Drawn holds a random run.
type Drawn struct {
	Entries  []privacy.Entry
	Holdings []privacy.Holding
}

// Units returns all units, for random ledgers.
func Units() []privacy.Unit {
	return []privacy.Unit{privacy.User, privacy.Edge, privacy.Interaction, privacy.Cell, privacy.Position,
		privacy.Sample, privacy.Feature, privacy.Record}
}

// drawer draws events. One run is about few units, each under one relation, as a ledger must be
// for epsilon to exist.
type drawer struct {
	s         *rng.Stream
	units     []privacy.Unit
	relations map[privacy.Unit]privacy.Neighbouring
	open      float64 // probability that an entry is unprotected
}

// Draw returns a random run of 1 to 30 events: all kinds, nested and single, all units, with
// and without bounds for one unit, with and without holdings.
func Draw(s *rng.Stream) Drawn {
	d := drawer{s: s, relations: map[privacy.Unit]privacy.Neighbouring{}}
	all := Units()
	for range 1 + s.IntN(3) {
		u := all[s.IntN(len(all))]
		d.units = append(d.units, u)
		d.relations[u] = []privacy.Neighbouring{privacy.AddRemove, privacy.Replace, privacy.ZeroOut}[s.IntN(3)]
	}
	if s.Float64() < .25 {
		d.open = .1
	}
	var out Drawn
	for _, u := range d.units {
		if u != privacy.User && s.Float64() < .7 {
			out.Holdings = append(out.Holdings, privacy.Holding{Unit: privacy.User, Of: u, Most: int64(1 + s.IntN(6))})
		}
	}
	for i := range 1 + s.IntN(30)*s.IntN(2) {
		e := privacy.Entry{Period: "1", Purpose: fmt.Sprint("release ", i), Count: int64(1 + s.IntN(8)),
			Event: d.event(2)}
		if s.Float64() < .3 {
			e.PerUnit = int64(1 + s.IntN(4))
		}
		out.Entries = append(out.Entries, e)
	}
	return out
}

// between returns a number from lo to hi, uniform in the logarithm.
func (d *drawer) between(lo, hi float64) float64 {
	return lo * math.Pow(hi/lo, d.s.Float64())
}

func (d *drawer) event(depth int) privacy.Event {
	if d.s.Float64() < d.open {
		u := d.unit()
		if d.s.Float64() < .3 {
			u = ""
		}
		return privacy.Unprotected{What: "labels", Why: "drawn", Unit: u}
	}
	if depth > 0 && d.s.Float64() < .35 {
		switch d.s.IntN(4) {
		case 0:
			return privacy.SelfComposed{Event: d.event(depth - 1), Count: int64(1 + d.s.IntN(4))}
		case 1:
			return privacy.Composed{Events: d.events(depth - 1)}
		case 2:
			return d.parallel(depth - 1)
		}
		return d.sampled()
	}
	return d.leaf(d.unit())
}

func (d *drawer) events(depth int) (all []privacy.Event) {
	for range 1 + d.s.IntN(3) {
		all = append(all, d.event(depth))
	}
	return all
}

func (d *drawer) unit() privacy.Unit { return d.units[d.s.IntN(len(d.units))] }

// parallel returns branches of one kind, where one is known to cost most, or of several kinds, where none may be known
// to.
func (d *drawer) parallel(depth int) privacy.Event {
	if d.s.Float64() < .5 {
		return privacy.Parallel{Events: d.events(depth), Fixed: d.s.Float64() < .5}
	}
	u := d.unit()
	one := d.leaf(u)
	return privacy.Parallel{Events: []privacy.Event{one,
		privacy.SelfComposed{Event: one, Count: int64(1 + d.s.IntN(3))}}, Fixed: d.s.Float64() < .5}
}

// sampled returns a sampled event, mostly one that accountants can price.
func (d *drawer) sampled() privacy.Event {
	u := d.unit()
	r := d.relations[u]
	e := privacy.Sampled{Rate: d.between(.001, 1), Method: privacy.Poisson, Event: d.gaussian(u)}
	switch rare := d.s.Float64() < .05; {
	case rare:
		e.Event = d.leaf(u)
	case r == privacy.Replace && d.s.IntN(3) == 0:
		e.Method = privacy.WithoutReplacement
	case r != privacy.Replace && d.s.IntN(3) == 0:
		e.Event = privacy.Laplace{Scale: d.between(.5, 20), Sensitivity: 1, Unit: u, Neighbouring: r}
	}
	return e
}

// gaussian returns Gaussian noise with no norm, with a norm of half the sensitivity as clipped sums have, or with a
// norm of up to twice that.
func (d *drawer) gaussian(u privacy.Unit) privacy.Event {
	g := privacy.Gaussian{Sigma: d.between(.5, 30), Sensitivity: d.between(.3, 3), Unit: u,
		Neighbouring: d.relations[u]}
	switch d.s.IntN(3) {
	case 0:
		g.Norm = g.Sensitivity / 2
	case 1:
		g.Norm = g.Sensitivity * d.between(.5, 2)
	}
	return g
}

// stream returns the sums of a stream with independent noise on each part, of a unit that is in some of its steps.
func (d *drawer) stream(u privacy.Unit) privacy.Event {
	e := privacy.CorrelatedGaussian{NoiseMultiplier: d.between(.5, 30), Unit: u, Neighbouring: d.relations[u]}
	e.Name, e.Bands, e.Apart = "banded", 1, 1
	e.Steps, e.Times = 1+d.s.IntN(9), 1+d.s.IntN(9)
	e.Sensitivity = math.Sqrt(float64(min(e.Steps, e.Times))) * (1 + 1e-15)
	if e.Neighbouring == privacy.Replace {
		e.Sensitivity *= 2
	}
	return e
}

// allocated returns an epoch of steps with normal noise, with a unit in some of them.
func (d *drawer) allocated(u privacy.Unit) privacy.Event {
	e := privacy.AllocatedGaussian{Sigma: d.between(.5, 30), Sensitivity: d.between(.3, 3), Unit: u,
		Neighbouring: d.relations[u]}
	e.Steps = int64(1 + d.s.IntN(300))
	e.Times = 1 + int64(d.s.IntN(int(min(3, e.Steps))))
	return e
}

// truncated returns a sum over a batch that is cut to a size, mostly one that is often reached.
func (d *drawer) truncated(u privacy.Unit) privacy.Event {
	e := privacy.TruncatedGaussian{Sigma: d.between(.5, 30), Sensitivity: d.between(.3, 3), Rate: d.between(.01, .9),
		Unit: u, Neighbouring: d.relations[u]}
	e.Records = int64(1 + d.s.IntN(500))
	e.Most = 1 + int64(float64(e.Records)*e.Rate*d.between(.5, 1.5))
	return e
}

// nearly returns a whole number, or a number as close to one as sums of tenths are.
func (d *drawer) nearly(most int) float64 {
	n := float64(1 + d.s.IntN(most))
	switch d.s.IntN(3) {
	case 0:
		return n * (1 - d.between(1e-16, 9e-10)/n)
	case 1:
		return n * (1 + d.between(1e-16, 9e-10)/n)
	}
	return n
}

func (d *drawer) leaf(u privacy.Unit) privacy.Event {
	r := d.relations[u]
	switch d.s.IntN(6) {
	case 0:
		if d.s.Float64() < .1 {
			return privacy.SphericalLaplace{Scale: d.between(.5, 30), Sensitivity: d.between(.3, 3), Unit: u,
				Neighbouring: r}
		}
		return privacy.Laplace{Scale: d.between(.5, 30), Sensitivity: d.between(.3, 3), Unit: u, Neighbouring: r}
	case 1:
		e := privacy.DiscreteGaussian{Sigma: d.between(.5, 20), Sensitivity: d.nearly(3), Dimension: 1, Unit: u,
			Neighbouring: r}
		if d.s.Float64() < .2 {
			e.Dimension = int64(1 + d.s.IntN(20))
		}
		return e
	case 2:
		switch rare := d.s.Float64(); {
		case rare < .1:
			return d.stream(u)
		case rare < .15:
			return d.allocated(u)
		case rare < .2:
			return d.truncated(u)
		}
		return privacy.DiscreteLaplace{Scale: d.between(.5, 20), Sensitivity: d.nearly(4), Unit: u, Neighbouring: r}
	case 3:
		switch {
		case d.s.Float64() < .1:
			return privacy.Exponential{Epsilon: d.between(.01, 3), Unit: u, Neighbouring: r}
		case r != privacy.Replace: // local randomisers are about replacing one value
			return d.gaussian(u)
		case d.s.IntN(2) == 0:
			return privacy.PureLDP{Epsilon: d.between(.01, 3), Unit: u}
		}
		return privacy.RandomizedResponse{Epsilon: d.between(.01, 3), Categories: int64(2 + d.s.IntN(50)), Unit: u}
	}
	return d.gaussian(u)
}
