package eventlog

import (
	"cmp"
	"fmt"
	"math"

	"privrec/internal/privacy"
	"privrec/internal/privacy/correlated"
)

// plan holds what is charged for an event of the file. A fault may change it.
type plan struct {
	name      string
	unit      privacy.Unit
	relation  privacy.Neighbouring
	releases  int64
	perUnit   int64 // 0: every one
	training  bool  // dp-sgd, to which the next numbers belong
	noise     float64
	rate      float64
	perEpoch  int64 // of allocated records: the steps of an epoch
	sampling  privacy.Sampling
	sampled   privacy.Unit // what enters a sample by a draw of its own
	group     int64        // units of the release that come at once in a sample of one unit of the account
	widened   float64      // factor of the sensitivity
	without   []privacy.Unprotected
	event     *Event
	at        int // of the event in the file
	noiseless bool
	sizes     []int64 // of its batches; nil: not known
	other     *plan   // as the log shows it, where that is another sampling; the worse is charged
	evidence  string  // what the log shows the other by
}

// or returns the value behind a pointer, or another value for nil.
func or[T any](p *T, v T) T {
	if p == nil {
		return v
	}
	return *p
}

// title returns the name of event i of a file.
func (e *Event) title(i int) string { return cmp.Or(e.Name, fmt.Sprintf("event %d", i+1)) }

// relation returns the neighbours of the file.
func (f *File) relation() privacy.Neighbouring { return cmp.Or(f.Neighbours, privacy.AddRemove) }

// plans returns the plans of all events as the file states them.
func (f *File) plans() []plan {
	list := make([]plan, len(f.Events))
	for i := range f.Events {
		e := &f.Events[i]
		p := plan{
			name: e.title(i), unit: cmp.Or(e.Unit, f.Unit), relation: cmp.Or(e.Neighbours, f.relation()),
			releases: or(e.Releases, 1), perUnit: or(e.PerUnit, 0), widened: 1, group: 1, event: e, at: i,
			rate: or(e.SamplingRate, 0), sampled: cmp.Or(e.SampledUnit, e.Unit, f.Unit),
		}
		if e.Mechanism == dpSGD {
			p.train(e)
		}
		list[i] = p
	}
	return list
}

// train fills in the stated values of a training, and computes a rate and steps that are missing.
func (p *plan) train(e *Event) {
	p.training, p.noise = true, *e.NoiseMultiplier
	p.noiseless = p.noise < noiseLeast
	p.sampling = cmp.Or(privacy.Sampling(e.Sampling), privacy.Poisson)
	l := e.log()
	switch {
	case e.SamplingRate != nil:
		p.rate = *e.SamplingRate
	case l.Batch != nil && l.Records != nil:
		p.rate = rateUp(l.whole(), *l.Records)
	}
	switch {
	case ByEpoch(p.sampling):
		p.releases = int64(math.Ceil(*l.Epochs))
	case e.Steps != nil:
		p.releases = *e.Steps
	case l.Steps != nil:
		p.releases = *l.Steps
	default:
		p.releases = int64(math.Ceil(*l.Epochs)) * ceilDiv(*l.Records, l.whole())
	}
	p.perEpoch = p.leastSteps(l)
}

// leastSteps returns the least number of steps of an epoch that the event or its log states; 0 if neither does.
func (p *plan) leastSteps(l Log) int64 {
	least := or(l.StepsPerEpoch, 0)
	for _, rate := range []float64{p.rate, rateOf(l)} {
		if rate == 0 {
			continue
		}
		if n := max(1, int64(math.Ceil(1/rate*(1-1e-12)))); least == 0 || n < least {
			least = n
		}
	}
	return least
}

// rateOf returns the part of the records that is in a batch, by a log; 0 if it does not say.
func rateOf(l Log) float64 {
	if l.Batch == nil || l.Records == nil {
		return 0
	}
	return rateUp(l.whole(), *l.Records)
}

// whole returns the number of records in a batch of all workers; 0 if the log does not say.
func (l Log) whole() int64 { return or(l.Batch, 0) * or(l.Workers, 1) }

// log returns the log of an event, empty if it has none.
func (e *Event) log() Log { return or(e.Log, Log{}) }

func ceilDiv(a, b int64) int64 { return (a + b - 1) / b }

// rateUp returns a/b, rounded up.
func rateUp(a, b int64) float64 {
	r := float64(a) / float64(b)
	if math.FMA(r, float64(b), -float64(a)) < 0 {
		r = math.Nextafter(r, 2)
	}
	return math.Min(r, 1)
}

// release returns the event of one release of a plan.
func (p *plan) release() (privacy.Event, error) {
	if !p.training {
		return p.noised()
	}
	moves := p.widened * float64(p.group)
	g := privacy.Gaussian{Sigma: p.noise, Sensitivity: moves, Unit: p.unit, Neighbouring: p.relation}
	if p.relation == privacy.Replace {
		g.Sensitivity, g.Norm = 2*moves, moves
	}
	switch {
	case p.sampling == Shuffled || p.rate == 1:
		return g, nil
	case p.sampling == privacy.Allocation:
		return privacy.AllocatedGaussian{Sigma: g.Sigma, Sensitivity: g.Sensitivity, Times: 1,
			Steps: max(1, p.perEpoch), Unit: g.Unit, Neighbouring: g.Neighbouring}, nil
	}
	return privacy.Sampled{Event: g, Rate: p.rate, Method: p.sampling}, nil
}

// noised returns the event of one release that is no training. A group of units that come at once moves it as far as
// all of them together.
func (p *plan) noised() (privacy.Event, error) {
	about := privacy.Subject{Unit: p.unit, Neighbouring: p.relation}
	in := *p.event
	in.Unit = "" // it is that of about, or of the whole group
	if p.group > 1 {
		in.SamplingRate = nil
	} else if in.SamplingRate != nil {
		in.SamplingRate = &p.rate
	}
	e, err := in.release(about, p.widened)
	if err != nil || p.group == 1 {
		return e, err
	}
	if e, err = privacy.Group(e, p.group, about); err != nil || p.rate == 1 {
		return e, err
	}
	return privacy.Sampled{Event: e, Rate: p.rate, Method: privacy.Sampling(p.event.Sampling)}, nil
}

// release returns the event of one release about a subject. Nested events may be about others.
func (e *Event) release(s privacy.Subject, widened float64) (privacy.Event, error) {
	s = privacy.Subject{Unit: cmp.Or(e.Unit, s.Unit), Neighbouring: cmp.Or(e.Neighbours, s.Neighbouring)}
	var out privacy.Event
	switch e.Mechanism {
	case "gaussian":
		g := privacy.Gaussian{Sensitivity: widened * or(e.Sensitivity, 1), Norm: or(e.Norm, 0), Unit: s.Unit,
			Neighbouring: s.Neighbouring}
		if e.Sigma != nil {
			g.Sigma = *e.Sigma
		} else {
			g.Sigma = *e.NoiseMultiplier * or(e.Sensitivity, 1)
		}
		if g.Norm == 0 && e.Clip != nil && s.Neighbouring == privacy.Replace && 2**e.Clip >= g.Sensitivity {
			g.Norm = *e.Clip
		}
		out = g
	case "laplace":
		l := privacy.Laplace{Scale: 1, Sensitivity: or(e.Epsilon, 0), Unit: s.Unit, Neighbouring: s.Neighbouring}
		if e.Scale != nil {
			l.Scale, l.Sensitivity = *e.Scale, *e.Sensitivity
		}
		out = l
	case "discrete-gaussian":
		out = privacy.DiscreteGaussian{Sigma: *e.Sigma, Sensitivity: *e.Sensitivity, Dimension: *e.Dimension,
			Unit: s.Unit, Neighbouring: s.Neighbouring}
	case "discrete-laplace":
		out = privacy.DiscreteLaplace{Scale: *e.Scale, Sensitivity: *e.Sensitivity, Unit: s.Unit,
			Neighbouring: s.Neighbouring}
	case correlatedGaussian:
		out, err := e.stream(s)
		if err != nil {
			return nil, err
		}
		out.Sensitivity *= widened
		return out, out.Validate()
	case "randomized-response":
		eps := or(e.Epsilon, 0)
		if e.Keep != nil {
			eps = math.Log(*e.Keep) - math.Log1p(-*e.Keep) + math.Log(float64(*e.Categories-1))
		}
		out = privacy.RandomizedResponse{Epsilon: eps, Categories: *e.Categories, Unit: s.Unit}
	case "local":
		out = privacy.PureLDP{Epsilon: *e.Epsilon, Unit: s.Unit}
	case "exponential":
		out = privacy.Exponential{Epsilon: *e.Epsilon, Unit: s.Unit, Neighbouring: s.Neighbouring}
	case "pure":
		// Of the releases that are about any relation, this one has the worst law of its epsilon.
		out = privacy.SphericalLaplace{Scale: 1, Sensitivity: *e.Epsilon, Unit: s.Unit, Neighbouring: s.Neighbouring}
	default:
		var list []privacy.Event
		for i := range e.Events {
			in := &e.Events[i]
			one, err := in.release(s, widened)
			if err != nil {
				return nil, err
			}
			if n := or(in.Releases, 1); n > 1 {
				one = privacy.SelfComposed{Event: one, Count: n}
			}
			list = append(list, one)
		}
		if e.Mechanism == parallel {
			out = privacy.Parallel{Events: list, Fixed: e.Fixed}
		} else {
			out = privacy.Composed{Events: list}
		}
	}
	if e.SamplingRate != nil && *e.SamplingRate < 1 {
		out = privacy.Sampled{Event: out, Rate: *e.SamplingRate, Method: privacy.Sampling(e.Sampling)}
	}
	return out, out.Validate()
}

// design returns the strategy of correlated noise that an event states.
func (e *Event) design() correlated.Design {
	return correlated.Design{Name: e.Strategy, Steps: int(or(e.Steps, 0)), Bands: int(or(e.Bands, 0)),
		Weights: correlated.NumbersOf(e.Weights), Decays: correlated.NumbersOf(e.Decays),
		Column: correlated.NumbersOf(e.Column)}
}

// stream returns the event of the sums of a stream. Its sensitivity is that of its strategy where none is stated.
func (e *Event) stream(s privacy.Subject) (privacy.CorrelatedGaussian, error) {
	out := privacy.CorrelatedGaussian{NoiseMultiplier: *e.NoiseMultiplier, Design: e.design(),
		Participation: correlated.Participation{Times: int(or(e.Times, 1)), Apart: int(or(e.Apart, 1))}, Unit: s.Unit,
		Neighbouring: s.Neighbouring}
	var err error
	if e.Sensitivity != nil {
		out.Sensitivity = *e.Sensitivity
	} else {
		out.Sensitivity, err = out.Least()
	}
	return out, err
}

// ledger returns the releases of plans as a ledger in memory, which states the file's assumptions and how many units
// others hold. Plans with the same release, of the same use, become one entry.
func (f *File) ledger(plans []plan, without []privacy.Unprotected) (*privacy.Ledger, error) {
	noise := privacy.Research
	if f.Noise != nil && f.Noise.Numbers == "exact" {
		noise = privacy.Secure
	}
	l, err := privacy.NewLedger(noise)
	if err != nil {
		return nil, err
	}
	d := privacy.Declaration{WithoutNoise: f.stated()}
	for _, p := range f.Public {
		d.Public = append(d.Public, privacy.Assumption{What: p.What, Why: p.Why})
	}
	d.WithoutNoise = append(d.WithoutNoise, without...)
	for _, p := range plans {
		d.WithoutNoise = append(d.WithoutNoise, p.without...)
		if p.noiseless {
			d.WithoutNoise = append(d.WithoutNoise,
				privacy.Unprotected{What: p.name, Why: "its noise multiplier is 0: the sums leave as they are"})
		}
	}
	if err := l.Declare(d); err != nil {
		return nil, fmt.Errorf("%s: %w", f.path, err)
	}
	for _, h := range f.Holds {
		if err := l.Hold(privacy.Holding{Unit: h.Unit, Of: h.Of, Most: h.Most}); err != nil {
			return nil, fmt.Errorf("%s: %w", f.path, err)
		}
	}
	return l, f.record(l, plans)
}

// stated lists what the file itself declares as open.
func (f *File) stated() (list []privacy.Unprotected) {
	for _, o := range f.Open {
		list = append(list, privacy.Unprotected{What: o.What, Why: o.Why, Unit: o.Unit})
	}
	return list
}

// record records the releases of plans. Equal releases become one entry.
func (f *File) record(l *privacy.Ledger, plans []plan) error {
	first := map[string]string{} // purpose of a release, by what it is
	for _, p := range plans {
		i := p.at
		if p.noiseless {
			continue
		}
		e, err := p.release()
		if err != nil {
			return fmt.Errorf("%s:%d: %s: %w", f.path, f.places[i].line("mechanism"), p.name, err)
		}
		b, err := privacy.MarshalEvent(e)
		if err != nil {
			return fmt.Errorf("%s:%d: %s: %w", f.path, f.places[i].line("mechanism"), p.name, err)
		}
		purpose := p.name
		if p.perUnit == 0 {
			if was, ok := first[string(b)]; ok {
				purpose = was
			} else {
				first[string(b)] = purpose
			}
		} else if err := l.Bound(purpose, p.perUnit); err != nil {
			return fmt.Errorf("%s:%d: %w", f.path, f.places[i].line("per_unit"), err)
		}
		if err := l.Record(purpose, e, p.releases); err != nil {
			return fmt.Errorf("%s:%d: %w", f.path, f.places[i].line("mechanism"), err)
		}
	}
	return l.Flush("all")
}
