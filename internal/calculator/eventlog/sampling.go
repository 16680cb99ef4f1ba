package eventlog

import (
	"cmp"
	"fmt"
	"math"

	"privrec/internal/privacy"
)

// relationWords maps relations of neighbours to words for what happens to a unit.
var relationWords = map[privacy.Neighbouring]string{privacy.AddRemove: "added or removed", privacy.ZeroOut: "blanked",
	privacy.Replace: "exchanged for another"}

// stateWords maps samplings by epochs to words for the records.
var stateWords = map[privacy.Sampling]string{Shuffled: "shuffled", privacy.Allocation: "allocated to steps"}

// shown holds what a log says about how batches were drawn.
type shown struct {
	sampling privacy.Sampling // empty: what the event states
	field    string           // that says so
	why      string
}

// sampling compares the sampling of an event with its log. If they differ, the event gets a second plan, by the log.
// Neither is always worse, so both are accounted and the larger epsilon is charged.
func (s *search) sampling(g *trainings, p *plan) {
	if p.rate == 1 {
		return
	}
	x := s.drawn(g, p)
	if x.sampling == "" || x.sampling == p.sampling {
		return
	}
	n := s.recordsOf(g, p)
	to := *p
	to.sampling = x.sampling
	o, said := &to, fmt.Sprintf("the sampling is stated as %s", p.sampling)
	if p.event.Sampling == "" {
		said = "no sampling is stated, which is taken as poisson"
	}
	name, what := "fixed-batches", ""
	switch x.sampling {
	case Shuffled, privacy.Allocation:
		made := p.releases
		if p.event.Steps == nil && g.log.Steps == nil && len(g.log.BatchSizes) == 0 {
			made = 0 // they come from the epochs
		}
		o.releases = max(1, int64(math.Ceil(s.epochs(g, p, n, made)-1e-9)))
		if x.sampling == privacy.Allocation {
			name, what = "other-sampling", fmt.Sprintf("with each %s in one of the %d steps of each of %d epochs, at "+
				"random", cmp.Or(o.sampled, o.unit), o.perEpoch, o.releases)
			break
		}
		if o.relation == privacy.AddRemove {
			o.relation = privacy.ZeroOut
		}
		what = fmt.Sprintf("without amplification by sampling, for one %s %s, in one batch of each of %d epochs",
			o.unit, relationWords[o.relation], o.releases)
	case privacy.WithoutReplacement:
		if o.relation = privacy.Replace; !s.drawnSteps(g, p, o) {
			return
		}
		what = fmt.Sprintf("for one %s exchanged for another, on samples of a fixed size", o.unit)
	default:
		if !s.drawnSteps(g, p, o) {
			return
		}
		name, what = "other-sampling", fmt.Sprintf("on samples into which each %s comes by its own coin",
			cmp.Or(o.sampled, o.unit))
	}
	p.other, p.evidence = o, fmt.Sprint(p.sampling, " ", x.sampling, " ", x.field, " ", g.log.Loader)
	s.at(p.at, x.field, name, Corrected, askSampling,
		"%s, and %s: that is accounted %s, and the larger epsilon of the two is charged", said, x.why, what)
}

const askSampling = "Does each record enter each batch by its own coin (Poisson), is a sample of a fixed size drawn " +
	"for each step, or are the records shuffled and cut? The epsilon of the first is often quoted for the last and " +
	"is far smaller."

// drawnSteps sets the plan of a training that was stated by epochs to the steps and the rate of samples drawn for each
// step, and reports whether the log gives them.
func (s *search) drawnSteps(g *trainings, stated, p *plan) bool {
	if !ByEpoch(stated.sampling) {
		return true
	}
	if p.rate == 0 {
		s.assume(p.name+": the records are "+stateWords[stated.sampling]+", as the event states",
			p.name+": how are batches drawn? The event and its log say different things, and nothing says which part "+
				"of the records is in a batch.")
		return false
	}
	_, hi := s.perEpoch(g, s.recordsOf(g, p))
	made := max(or(p.event.Steps, 0), or(g.log.Steps, 0), int64(len(g.log.BatchSizes)))
	if hi == 0 {
		hi = math.Ceil(1/p.rate - 1e-9)
	}
	p.releases = max(made, int64(math.Ceil(float64(p.releases)*hi)))
	return true
}

// recordsOf returns the number of records that an event's batches are drawn from; 0 if the file does not say.
func (s *search) recordsOf(g *trainings, p *plan) float64 {
	return float64(or(g.log.Records, s.file.unitsOf(p.sampled)))
}

// drawn returns what the log shows about how batches were drawn.
func (s *search) drawn(g *trainings, p *plan) shown {
	l := g.log
	sizes := s.shape(g, p)
	by := map[string]privacy.Sampling{"poisson": privacy.Poisson, "allocation": privacy.Allocation,
		"shuffled": Shuffled, "in-order": Shuffled, "fixed-size": privacy.WithoutReplacement}[l.Loader]
	drops := or(l.DropLast, false)
	ask := func(say string) {
		s.assume(p.name+": "+say, fmt.Sprintf("%s: how were the batches drawn? The log contradicts itself.", p.name))
	}
	switch {
	case by == privacy.Poisson && sizes.fixed, by == privacy.Allocation && sizes.fixed:
		if p.sampling == by {
			return shown{Shuffled, "log.batch_sizes", sizes.why}
		}
		ask(fmt.Sprintf("the worse of %s, as stated, and %s, as the loader is: the sizes of the batches are not "+
			"those of Poisson samples", p.sampling, by))
		return shown{by, "log.loader", "the loader is " + l.Loader}
	case by == privacy.Poisson && drops, by == privacy.Allocation && drops, by == privacy.WithoutReplacement && drops:
		ask("the loader is " + l.Loader + ", as the log says, and no last batch is dropped, which it says too")
	case by == Shuffled && sizes.vary, by == privacy.WithoutReplacement && sizes.vary:
		ask("the loader is " + l.Loader +
			", as the log says, though the sizes of its batches vary as those of Poisson samples do")
	}
	switch {
	case by == privacy.WithoutReplacement && sizes.several && !sizes.vary && p.sampling != Shuffled:
		return shown{Shuffled, "log.batch_sizes",
			"the batches are not all of one size, though the loader is fixed-size"}
	case by != "":
		return shown{by, "log.loader", "the loader is " + l.Loader}
	case drops && sizes.vary && p.sampling != Shuffled:
		s.assume(fmt.Sprintf("%s: no last batch is dropped, which the log says: the sizes of its batches vary as "+
			"those of Poisson samples do, and batches that are cut have one size", p.name),
			p.name+": was the last batch of an epoch dropped, as the log says, or were samples drawn, as the sizes "+
				"of its batches show?")
	case drops && p.sampling != Shuffled:
		return shown{Shuffled, "log.drop_last", "a last batch is dropped, which samples do not have"}
	}
	switch {
	case p.sampling == privacy.Poisson && sizes.fixed, p.sampling == privacy.Allocation && sizes.fixed:
		return shown{Shuffled, "log.batch_sizes", sizes.why}
	case p.sampling == privacy.WithoutReplacement && sizes.vary, p.sampling == Shuffled && sizes.vary:
		return shown{privacy.Poisson, "log.batch_sizes", "the sizes of the batches vary as those of Poisson samples do"}
	case p.sampling == privacy.WithoutReplacement && sizes.several:
		return shown{Shuffled, "log.batch_sizes", "the batches are not all of one size"}
	}
	return shown{}
}

// shape holds what the sizes of batches show.
type shape struct {
	fixed   bool // they vary less than those of Poisson samples
	vary    bool // as those
	several bool // they are not all equal
	why     string
}

// shape returns what the sizes of an event's batches show.
func (s *search) shape(g *trainings, p *plan) (x shape) {
	sizes, n := p.sizes, s.recordsOf(g, p)
	if g.parts || sizes == nil && len(g.plans) == 1 {
		sizes = g.log.BatchSizes
	}
	most, size := common64(sizes)
	x.several = most < len(sizes) && !g.parts
	rate := p.rate
	if rate == 0 && n > 0 && len(sizes) > 0 { // of shuffled records
		rate = math.Min(1, total(sizes)/float64(len(sizes))/n)
	}
	if !(rate > 0 && rate < 1) || len(sizes) == 0 {
		return x
	}
	if g.parts {
		// A step whose parts all have one size has a multiple of it. Each other part is of one step.
		k := int(g.steps()) - (len(sizes) - most)
		if x.fixed = n > 0 && multiplesByChance(k, int(g.steps()), float64(size), n/float64(or(g.log.Workers, 1)),
			rate) < falseAlarm; x.fixed {
			x.why = fmt.Sprintf("%d of %d parts of batches have exactly %d records, which those of Poisson samples "+
				"do not", most, len(sizes), size)
		}
		return x
	}
	as := spreadOf(sizes, rate)
	x.vary = !as.less && !as.more && x.several && len(sizes) >= 10 && 2*most <= len(sizes)
	if x.fixed = as.less; as.less {
		by := math.Sqrt(total(sizes) / float64(len(sizes)) * (1 - rate))
		x.why = fmt.Sprintf("%d of %d batches have exactly %d records, and the size of a Poisson sample varies by "+
			"about %.3g", most, len(sizes), size, by)
		if 4*most < len(sizes) {
			x.why = fmt.Sprintf("the sizes of the %d batches vary far less than those of Poisson samples, which vary "+
				"by about %.3g", len(sizes), by)
		}
	}
	return x
}
