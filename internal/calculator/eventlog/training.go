package eventlog

import (
	"fmt"
	"math"
	"slices"

	"privrec/internal/privacy"
)

// at records a fault of an event.
func (s *search) at(i int, field, name string, effect Effect, ask, format string, args ...any) {
	f := s.file
	s.found = append(s.found, Fault{Name: name, File: f.path, Line: f.places[i].line(field), Field: field,
		Event: f.Events[i].title(i), Message: fmt.Sprintf(format, args...), Effect: effect, Ask: ask})
}

// opens records a fault of an event that leaves something open.
func (s *search) opens(i int, p *plan, field, name, ask, format string, args ...any) {
	s.at(i, field, name, Opens, ask, format, args...)
	p.without = append(p.without, privacy.Unprotected{What: openNames[name], Why: p.name + ": " +
		s.found[len(s.found)-1].Message})
}

// training finds faults in the trainings of one log, and changes their plans to what it shows.
func (s *search) training(g *trainings) {
	for _, p := range g.plans {
		s.clipped(p, g.log)
	}
	s.held(g)
	for _, p := range g.plans {
		s.sampling(g, p)
		s.units(p)
		if p.other != nil {
			(&search{file: s.file}).units(p.other)
		}
		s.gradient(p.at, p, g.log)
		s.microbatches(g, p)
		if p.other != nil {
			p.other.without = p.without
			p.other.noiseless = p.noiseless
		}
	}
	for _, p := range g.plans {
		if p.event.Sampling == "" && g.log.Loader == "" && p.rate < 1 && p.other == nil {
			s.assume(fmt.Sprintf("%s: each %s comes into each batch by its own coin (poisson), since neither "+
				"sampling nor the loader of the log is stated", p.name, p.sampled), "")
			s.otherwise([]*plan{p}, fmt.Sprintf("%ss were shuffled", p.sampled), shuffles)
		}
	}
}

// clipped determines whose gradient was clipped, which decides the unit of an event's release.
func (s *search) clipped(p *plan, l Log) {
	u := s.file.Unit
	switch clip := l.ClipPer; {
	case clip == p.unit:
	case clip == "" && p.sampled != p.unit && p.unit.Contains(p.sampled):
		s.assume(fmt.Sprintf("%s: the gradient of each %s is clipped, since these are sampled", p.name, p.sampled), "")
		p.unit, s.clip = p.sampled, true
	case clip == "" && p.unit == privacy.User:
		s.assume(p.name+": the gradient of a whole user is clipped as one, since the event is about users", "")
		row := s.file.row()
		s.otherwise([]*plan{p}, fmt.Sprintf("the gradient of each %s was clipped", row), clipsPer(row))
	case clip == "":
	case clip.Contains(p.unit) && u == clip: // what is stated costs more
	default:
		s.at(p.at, "log.clip_per", "clip-of-other-unit", Corrected,
			fmt.Sprintf("Whose gradient is clipped: that of a whole %s, or of one %s? Only what is clipped as one is "+
				"protected as one.", p.unit, clip),
			"the event is about one %s, and the gradient of one %s was clipped: it is charged as a release about one "+
				"%s", p.unit, clip, clip)
		p.unit = clip
	}
}

// row returns the unit of a row of the data: the one that the file says users hold, else a record.
func (f *File) row() privacy.Unit {
	for _, h := range f.Holds {
		if h.Unit == privacy.User {
			return h.Of
		}
	}
	return privacy.Record
}

// most returns how many of a unit one unit of the file holds, as the file says; 0 if it does not.
func (f *File) most(unit, of privacy.Unit) (most int64) {
	for _, h := range f.Holds {
		if h.Unit == unit && h.Of == of {
			most = max(most, h.Most)
		}
	}
	if most == 0 && of == privacy.Feature {
		return 1
	}
	return most
}

// units determines which part of one unit of the account is in a sample. A user's records come together if users are
// sampled, and by separate coins if the file says that records are.
func (s *search) units(p *plan) {
	f, c, drawn := s.file, p.unit, p.sampled
	u := f.Unit
	most := f.most(u, c)
	inside := u != c && u.Contains(c)
	if ByEpoch(p.sampling) && c != drawn && c.Contains(drawn) {
		// The records of one user are in as many batches of an epoch. Together they are charged as if these were known.
		p.sampling = Shuffled
		if k := f.most(c, drawn); k == 0 {
			p.unit = drawn
		} else {
			p.releases = int64(math.Min(float64(p.releases)*float64(k), 1e18))
			s.charged(p, "%d batches, in each of which one of the %d %ss of a %s is once an epoch", p.releases, k,
				drawn, c)
		}
		return
	}
	if p.rate == 0 || p.rate == 1 || p.sampling == Shuffled {
		return
	}
	switch {
	case drawn == c:
		if inside && most > 1 && p.event.SampledUnit == "" {
			s.assume(fmt.Sprintf("%s: each %s of one %s comes into a sample by its own coin, since the event is "+
				"about one %s (state sampled_unit)", p.name, c, u, c),
				fmt.Sprintf("%s: is each %s drawn by itself, or all of one %s at once (sampled_unit)?", p.name, c, u))
			s.otherwise([]*plan{p}, fmt.Sprintf("all %ss of one %s were drawn at once", c, u), samples(u))
		}
	case c.Contains(drawn):
		was, k := p.rate, f.most(c, drawn)
		if p.rate = 1; k > 0 && p.way() == privacy.Poisson {
			p.rate = math.Min(1, -math.Expm1(float64(k)*math.Log1p(-was))*(1+1e-12))
		}
		s.charged(p, "a sampling rate of %.9g, at which one of the %ss of a %s is in a sample, and not %.9g, that of "+
			"one", p.rate, drawn, c, was)
	case drawn.Contains(u):
		if inside && most > 0 {
			p.unit, p.group = u, most
			s.charged(p, "%d %ss of one %s, which come into a sample at once: the unit that is sampled is a %s", most,
				c, u, drawn)
		}
	default:
		p.rate = 1
		if inside && most > 0 {
			p.unit, p.group = u, most
		}
		s.charged(p, "no amplification by sampling: nothing says that one %s is in a sample by the coin of one %s", c,
			drawn)
	}
}

// way returns the sampling that an event states.
func (p *plan) way() privacy.Sampling {
	if p.training {
		return p.sampling
	}
	return privacy.Sampling(p.event.Sampling)
}

const askMultiplier = "What is the standard deviation of the noise, on which sum, and the clipping norm? The " +
	"multiplier is the first over the second."

// multiplier compares the noise multipliers of the trainings of one log with the noise that was added.
func (s *search) multiplier(g *trainings) {
	l := g.log
	for _, p := range g.plans {
		switch {
		case p.noiseless:
			s.at(p.at, "noise_multiplier", "no-noise", Opens, askMultiplier,
				"the noise multiplier is 0: sums leave without noise")
		case l.NoiseStd != nil && *l.NoiseStd == 0:
			s.at(p.at, "log.noise_std", "no-noise", Opens, askMultiplier, "the log has noise of standard deviation 0")
			p.noiseless = true
		}
	}
	if l.NoiseStd == nil || *l.NoiseStd == 0 || l.Clip == nil || l.NoiseOn == "mean" && (l.Batch == nil || g.small) {
		return
	}
	sum := *l.NoiseStd / *l.Clip
	mean := sum * float64(l.whole())
	is, on := sum, "the sum"
	if l.NoiseOn == "mean" {
		is, on = mean, fmt.Sprintf("the mean over %d records", l.whole())
	}
	some := slices.ContainsFunc(g.plans, func(p *plan) bool { return near(is, p.noise) })
	for _, p := range g.plans {
		switch {
		case p.noiseless || p.noise <= is && near(is, p.noise):
		case near(is, p.noise):
			s.charged(p, "a noise multiplier of %.9g, that of noise of %v on %s of vectors of length at most %v, and "+
				"not the stated %.9g", is, *l.NoiseStd, on, *l.Clip, p.noise)
			p.noise = is
		case some:
			s.assume(fmt.Sprintf("%s: the noise multiplier of %v, as stated, though the log that it shares has "+
				"another, %.6g", p.name, p.noise, is),
				p.name+": what was the noise of this event? It shares the log of an event with another multiplier.")
		case l.NoiseOn == "" && mean > 0 && near(mean, p.noise):
			s.assume(fmt.Sprintf("%s: the log's noise of %v is on the mean over %d records, where it has the stated "+
				"multiplier", p.name, *l.NoiseStd, l.whole()),
				p.name+": was the noise added to the sum or to the mean of a batch (log: noise_on)?")
			p.noise = min(p.noise, mean)
		default:
			why := fmt.Sprintf("noise of standard deviation %v on %s of vectors of length at most %v has %.6g",
				*l.NoiseStd, on, *l.Clip, is)
			if near(*l.NoiseStd, p.noise) {
				why = "it is the standard deviation itself: " + why
			}
			s.at(p.at, "noise_multiplier", "multiplier-does-not-fit", Corrected, askMultiplier,
				"the noise multiplier is %v; %s: the smaller one is charged", p.noise, why)
			p.noise = math.Min(p.noise, is)
			p.noiseless = p.noise < noiseLeast
		}
	}
}

// gradient finds causes why a sum is not one of clipped gradients of single records.
func (s *search) gradient(i int, p *plan, l Log) {
	if l.NormalisedBy == "drawn-batch" {
		s.opens(i, p, "log.normalised_by", "drawn-batch",
			"By which number is the noisy sum divided? It must be fixed beforehand, as the expected batch is.",
			"the sum is divided by the number of records that were drawn, which has no noise: whether a %s is in a "+
				"batch changes it", p.unit)
	}
	switch l.ClipChosen {
	case "from-data":
		s.opens(i, p, "log.clip_chosen", "clip-from-data",
			"Who chose the clipping norm, and from what? Fix it beforehand, or choose it by noisy counts that are "+
				"among the events.",
			"the clipping norm was chosen from the data without noise, such as by a quantile of gradient norms: it "+
				"tells of single records")
	case "counted":
		if len(s.file.Events) == 1 {
			s.opens(i, p, "log.clip_chosen", "clip-not-counted", "Which event is the choice of the clipping norm?",
				"the choice of the clipping norm is said to be counted, and the file has no other event")
		}
	}
	if l.Loss == "batch" {
		s.opens(i, p, "log.loss", "records-mixed",
			"Does the loss of one record read others of its batch, as batch normalisation and negatives from the "+
				"batch do? Then clipping bounds nothing.",
			"the loss of one record depends on the others of its batch, such as by batch normalisation or negatives "+
				"from the batch: clipping one gradient does not bound what one record moves")
	}
}

// microbatches charges gradients of several records that were averaged before clipping. An average with another record
// moves by up to two clipping norms. Leaving out a record moves the following ones to other averages, so all averages
// of a batch may move; exchanging or blanking a record in its place moves one.
func (s *search) microbatches(g *trainings, p *plan) {
	size := or(g.log.Microbatch, 1)
	if size <= 1 || p.noiseless {
		return
	}
	ask := "How many records are clipped as one? Set microbatches of one record."
	p.without = slices.Clip(p.without)
	if p.other != nil {
		s.averaged(g, p.other, size)
	}
	switch what := s.averaged(g, p, size); {
	case what == "" && p.relation == privacy.AddRemove:
		s.opens(p.at, p, "log.microbatch", "microbatches", ask,
			"gradients of %d records were averaged before they were clipped: one record more or less moves those "+
				"behind it to other averages, and nothing says how many of these a batch has", size)
	case what != "":
		s.at(p.at, "log.microbatch", "microbatches", Corrected, ask,
			"gradients of %d records were averaged before they were clipped: %s, which is charged", size, what)
	}
}

// averaged widens a plan for averages of several records, and returns what it charges; empty if nothing, or if it
// cannot.
func (s *search) averaged(g *trainings, p *plan, size int64) string {
	sampled := p.rate < 1 && p.sampling != Shuffled
	switch {
	case p.relation == privacy.AddRemove:
		n := s.recordsOf(g, p)
		if n == 0 && g.log.Batch != nil && !g.small {
			n = float64(g.log.whole()) / p.rate
		}
		if n == 0 {
			return ""
		}
		top := n
		if sampled {
			top = math.Min(n, largest(n*p.rate, n*p.rate*(1-p.rate), 1e-15/float64(p.releases)))
		}
		k := math.Ceil(top / float64(size))
		p.widened *= 2 * k
		return fmt.Sprintf("one record more or less moves those behind it to other averages, up to %.0f in a batch, "+
			"each by up to two clipping norms", k)
	case sampled && p.sampling == privacy.Poisson:
		p.rate = 1
		if p.relation == privacy.ZeroOut {
			p.widened *= 2
		}
		return "one record moves its average by up to two clipping norms, and by being drawn all averages behind it, " +
			"so that there is no amplification by sampling"
	case p.relation == privacy.Replace && !sampled:
		return "" // an exchange moves by two clipping norms without averages too
	}
	p.widened *= 2
	return "one record moves a sum by up to two clipping norms"
}

// release finds faults in a release that is no training.
func (s *search) release(p *plan) {
	if p.event.SamplingRate != nil {
		s.units(p)
	}
	s.sensitivity(p.at, p)
}

// sensitivity compares the sensitivity of normal noise with the norm that vectors were clipped to.
func (s *search) sensitivity(i int, p *plan) {
	e := p.event
	if e.Mechanism != "gaussian" || e.Clip == nil || e.Sensitivity == nil {
		return
	}
	moves := *e.Clip
	if p.relation == privacy.Replace {
		moves *= 2
	}
	if *e.Sensitivity >= moves*(1-1e-9) {
		return
	}
	s.at(i, "sensitivity", "sensitivity-too-small", Corrected,
		"How far can one unit move the sum? A vector clipped at C moves it by C if it is there or not, and by 2C if "+
			"it is exchanged.",
		"the sensitivity is %v, and a vector of length at most %v that is %s moves a sum by up to %v, which is charged",
		*e.Sensitivity, *e.Clip, relationWords[p.relation], moves)
	p.widened = moves / *e.Sensitivity
}
