package eventlog

import (
	"cmp"
	"fmt"
	"math"
	"reflect"
	"slices"

	"privrec/internal/privacy"
)

// trainings holds the trainings of a file that share one log, since exporters write the log of all into each.
type trainings struct {
	log   Log
	plans []*plan
	parts bool // the sizes in the log are of parts of batches; several parts make a noisy step
	small bool // the batch of the log is that of a part too
}

// sharing groups trainings by their logs. A training without a log is a group by itself.
func sharing(plans []plan) (all []*trainings) {
	for i := range plans {
		p := &plans[i]
		if !p.training {
			continue
		}
		if l := p.event.Log; l != nil {
			if j := slices.IndexFunc(all, func(g *trainings) bool {
				was := g.plans[0].event.Log
				return was != nil && len(was.BatchSizes) == len(l.BatchSizes) && reflect.DeepEqual(was, l)
			}); j >= 0 {
				all[j].plans = append(all[j].plans, p)
				continue
			}
		}
		all = append(all, &trainings{log: p.event.log(), plans: []*plan{p}})
	}
	return all
}

// steps returns the total number of noisy steps that the events state.
func (g *trainings) steps() (sum int64) {
	for _, p := range g.plans {
		sum = min(sum+p.releases, 1e18) // a log shows no more than 1e15
	}
	return sum
}

// expected returns mean and variance of the number of records drawn in all steps from n records.
func (g *trainings) expected(n float64) (mean, variance float64) {
	for _, p := range g.plans {
		t := float64(p.releases) * n * p.rate
		mean, variance = mean+t, variance+t*(1-p.rate)
	}
	return mean, variance
}

// rate returns the largest rate of the events.
func (g *trainings) rate() (r float64) {
	for _, p := range g.plans {
		r = max(r, p.rate)
	}
	return r
}

// fits is the largest relative difference between a stated number and the log's that causes no warning, since numbers
// are written with few digits. The worse of the two is charged all the same.
const fits = 0.01

// near reports whether two numbers differ by no more than omitted digits.
func near(a, b float64) bool { return math.Abs(a/b-1) <= fits }

// held compares the events of one log with it: rates, then steps.
func (s *search) held(g *trainings) {
	if g.plans[0].event.Log == nil {
		s.multiplier(g)
		return
	}
	n := s.records(g)
	if !slices.ContainsFunc(g.plans, func(p *plan) bool { return ByEpoch(p.sampling) }) {
		s.parts(g, n)
		s.multiplier(g)
		if n == 0 {
			s.rateOfAll(g)
		}
		s.rateOfBatch(g, n)
		s.rateOfSizes(g, n)
		s.uneven(g, n)
		s.steps(g, n)
		return
	}
	s.multiplier(g)
	for _, p := range g.plans {
		s.epochsOf(g, p, n)
		if p.sampling == privacy.Allocation {
			s.allocated(g, p, n)
		}
	}
}

// allocated compares the steps of an epoch of allocated records with the log. Fewer steps cost more.
func (s *search) allocated(g *trainings, p *plan, n float64) {
	least := float64(p.perEpoch)
	if _, hi := s.perEpoch(g, n); hi > 0 {
		least = min(least, hi)
	}
	if sizes := float64(len(g.log.BatchSizes)); sizes > 0 && n > 0 && !g.parts {
		if each := n * sizes / (total(g.log.BatchSizes) * float64(or(g.log.Workers, 1))); !near(each, least) {
			least = max(1, min(least, math.Floor(each)))
		}
	}
	if least < float64(p.perEpoch) {
		s.charged(p, "%.0f steps of an epoch, which the log shows, and not %d: in fewer steps a %s is easier to find",
			least, p.perEpoch, cmp.Or(p.sampled, p.unit))
		p.perEpoch = int64(least)
	}
}

// records returns the number of records that batches are drawn from; 0 if the log does not say. If the records are the
// file's units and there are more units than these, rates are those of the units.
func (s *search) records(g *trainings) float64 {
	n, all := float64(or(g.log.Records, 0)), float64(or(s.file.Records, 0))
	if all == 0 || n <= all {
		return n
	}
	for _, p := range g.plans {
		if p.sampled != s.file.Unit {
			return n
		}
	}
	for _, p := range g.plans {
		if p.rate == 0 || p.rate == 1 {
			continue
		}
		was := p.rate
		p.rate = math.Min(1, p.rate*n/all)
		if n > all*(1+fits) {
			s.at(p.at, "log.records", "rate-does-not-fit", Corrected, askRate,
				"batches are said to be drawn from %d records, and the data have %d: the sampling rate is %.6g for "+
					"them, which is charged", *g.log.Records, *s.file.Records, p.rate)
		} else {
			s.charged(p, "a sampling rate of %.9g, that of the %d records of the data, and not %.9g, that of the "+
				"log's %d", p.rate, *s.file.Records, was, *g.log.Records)
		}
	}
	return all
}

const askRate = "With which probability is a record in a batch: the expected batch over the records?"

// parts determines whether the sizes in the log are of parts of batches. The log says so, or they add up to the stated
// steps and batch with more sizes than steps. In that case parts are assumed, and a question is asked.
func (s *search) parts(g *trainings, n float64) {
	l, steps := g.log, g.steps()
	workers := float64(or(l.Workers, 1))
	g.parts = or(l.Accumulated, false)
	if n == 0 {
		return
	}
	mean, variance := g.expected(n)
	sizes := int64(len(l.BatchSizes))
	switch {
	case l.Accumulated != nil && !g.parts:
		return
	case sizes > steps && !g.parts && !beyond(total(l.BatchSizes), mean/workers, variance/workers):
		g.parts = true
		s.assume(fmt.Sprintf("%s: the %d sizes of the log are of parts of batches, since they add up to %d steps "+
			"with the batches of the sampling rate, and noise is added once in a step", g.names(), sizes, steps),
			fmt.Sprintf("%s: are the %d batches of the log parts that are added up before noise is added (log: "+
				"accumulated: true), or did each get noise of its own (false)?", g.names(), sizes))
		s.otherwise(g.plans, "each part of a batch got noise of its own", noisesParts)
	case sizes == 0 && or(l.Steps, 0) > steps && l.Batch != nil && near(float64(*l.Steps)*float64(l.whole()), mean):
		g.parts = true
		if l.Accumulated == nil {
			s.assume(fmt.Sprintf("%s: the %d steps of the log are of parts of batches, since they come to %d steps "+
				"with the batches of the sampling rate, and noise is added once in these", g.names(), *l.Steps, steps),
				fmt.Sprintf("%s: are the %d steps of the log parts that are added up before noise is added (log: "+
					"accumulated: true), or did each get noise of its own (false)?", g.names(), *l.Steps))
			s.otherwise(g.plans, "each part of a batch got noise of its own", noisesParts)
		}
	}
	g.small = g.parts && float64(l.whole()) < n*g.rate()*(1-fits)
}

// rateOfAll compares the sampling rates with all units of the file, if the log does not say how many records its
// batches are drawn from. They are no more than the units, so the rates are no smaller.
func (s *search) rateOfAll(g *trainings) {
	n := float64(or(s.file.Records, 0))
	if n == 0 || slices.ContainsFunc(g.plans, func(p *plan) bool { return p.sampled != s.file.Unit }) {
		return
	}
	if float64(g.log.whole()) <= n {
		s.rateOfBatch(g, n)
	}
	workers, m := float64(or(g.log.Workers, 1)), float64(len(g.log.BatchSizes))
	if g.parts {
		m = float64(g.steps())
	}
	q, sum := g.rate(), total(g.log.BatchSizes)
	if mean := m * n * q / workers; m == 0 || q == 1 || sum <= mean || !beyond(sum, mean, mean*(1-q)) {
		return
	}
	for _, p := range g.plans {
		s.raise(p, math.Min(1, sum/m/n*workers))
	}
}

// names returns the names of the trainings.
func (g *trainings) names() string {
	if len(g.plans) == 1 {
		return g.plans[0].name
	}
	return fmt.Sprintf("%s to %s", g.plans[0].name, g.plans[len(g.plans)-1].name)
}

// rateOfBatch compares the sampling rates with batch and records. It also accepts a rate of one over the number of
// batches in an epoch, which Opacus uses.
func (s *search) rateOfBatch(g *trainings, n float64) {
	l := g.log
	if n == 0 || l.Batch == nil || g.small {
		return
	}
	b := float64(l.whole())
	is := rateUp(l.whole(), int64(n))
	right := func(p *plan) bool {
		return slices.ContainsFunc([]float64{b / n, 1 / math.Ceil(n/b), 1 / max(1, math.Floor(n/b))},
			func(r float64) bool { return near(p.rate, r) })
	}
	some := slices.ContainsFunc(g.plans, right)
	for _, p := range g.plans {
		switch {
		case p.rate >= is, some && !right(p):
		case right(p):
			s.charged(p, "a sampling rate of %.9g, that of batches of %d of %.0f records, and not the stated %.9g", is,
				l.whole(), n, p.rate)
			p.rate = is
		default:
			s.at(p.at, s.rateField(p), "rate-does-not-fit", Corrected, askRate,
				"the sampling rate is %v, and batches of %d of %.0f records have %.6g: the larger one is charged",
				p.rate, l.whole(), n, is)
			p.rate = is
		}
	}
	if some && int64(len(l.BatchSizes)) != g.steps() &&
		slices.ContainsFunc(g.plans, func(p *plan) bool { return p.rate < is && !right(p) }) {
		s.assume(fmt.Sprintf("%s: the log's batch of %d is that of some of these events, and the others have the "+
			"smaller batches of their rates", g.names(), l.whole()),
			fmt.Sprintf("%s: what was the batch of each of these events? They share one log, which has one.",
				g.names()))
	}
}

// rateField returns the key that a rate comes from.
func (s *search) rateField(p *plan) string {
	if p.event.SamplingRate == nil {
		return "log.batch"
	}
	return "sampling_rate"
}

// rateOfSizes compares the sampling rates with the sizes of the batches.
func (s *search) rateOfSizes(g *trainings, n float64) {
	sizes, workers := g.log.BatchSizes, float64(or(g.log.Workers, 1))
	m := int64(len(sizes))
	if n == 0 || m == 0 || g.rate() == 1 {
		return
	}
	mean, variance := g.expected(n)
	switch {
	case g.parts:
		if sum := total(sizes) * workers; sum > mean && beyond(sum/workers, mean/workers, variance/workers) {
			for _, p := range g.plans {
				s.raise(p, math.Min(1, p.rate*sum/mean))
			}
		}
	case len(g.plans) == 1:
		s.rateOf(g.plans[0], sizes, n, workers)
	case m == g.steps():
		s.eachRate(g, n, workers)
	default:
		q := g.rate()
		t := float64(m) * n * q / workers
		if is := total(sizes) / float64(m) / n * workers; is > q && beyond(total(sizes), t, t*(1-q)) {
			for _, p := range g.plans {
				s.raise(p, math.Min(1, is))
			}
		}
	}
}

// rateOf compares the rate of one event with the sizes of its batches. Batches smaller than the rate suggests cost
// less, so nothing is charged; a question asks why.
func (s *search) rateOf(p *plan, sizes []int64, n, workers float64) {
	sum, m := total(sizes), float64(len(sizes))
	mean := m * n * p.rate / workers
	if !beyond(sum, mean, mean*(1-p.rate)) {
		return
	}
	if sum > mean {
		s.raise(p, math.Min(1, sum/m/n*workers))
		return
	}
	if sum == 0 {
		return
	}
	if k := math.Round(mean / sum); k >= 2 && !beyond(sum, mean/k, mean/k*(1-p.rate)) {
		s.assume(fmt.Sprintf("%s: the sizes of the log are those of one of %.0f workers, since each is one of so "+
			"many of what the sampling rate has", p.name, k),
			fmt.Sprintf("%s: how many workers shared a batch (log: workers), and are the sizes those of one of them?",
				p.name))
		return
	}
	s.assume(fmt.Sprintf("%s: the larger batches of the sampling rate, %.6g on average, and not those of the log, %.6g",
		p.name, mean/m, sum/m),
		fmt.Sprintf("%s: why are the batches of the log smaller than the sampling rate says? Are they those of one "+
			"of several workers (log: workers)?", p.name))
}

// raise charges a larger rate, shown by the sizes.
func (s *search) raise(p *plan, rate float64) {
	if rate > p.rate {
		s.at(p.at, s.rateField(p), "rate-does-not-fit", Corrected, askRate,
			"the sampling rate is %v, and the batches of the log have %.6g of the records on average: the larger one "+
				"is charged", p.rate, rate)
		p.rate = rate
	}
}

// uneven compares the rate of each event with the largest of its batches, if these vary more than samples of one rate.
// Some steps then had a larger rate than all together, and cost more.
func (s *search) uneven(g *trainings, n float64) {
	for _, p := range g.plans {
		if p.sizes == nil && len(g.plans) == 1 && !g.parts {
			p.sizes = g.log.BatchSizes
		}
		if n == 0 || len(p.sizes) == 0 || p.rate == 1 || !spreadOf(p.sizes, p.rate).more {
			continue
		}
		top := slices.Max(p.sizes)
		if rate := math.Min(1, float64(top)*float64(or(g.log.Workers, 1))/n); rate > p.rate {
			s.at(p.at, "log.batch_sizes", "rate-does-not-fit", Corrected,
				"Did all steps have the same sampling rate? State an event for each rate.",
				"the sampling rate is %v, and the batches of the log vary more than those of one rate: that of the "+
					"largest, with %d records, is charged, %.6g", p.rate, top, rate)
			p.rate = rate
		}
	}
}

// mostOrders is the largest number of events of one log for which every order of them is tried.
const mostOrders = 5

// eachRate compares the rates of several events with the sizes of all of their batches. Each event has its own batches,
// in the order of training: that of the file, or another one.
func (s *search) eachRate(g *trainings, n, workers float64) {
	order := slices.Clone(g.plans)
	found := s.inOrder(order, g.log.BatchSizes, n, workers)
	if !found && len(order) <= mostOrders {
		found = permuted(order, 0, func() bool { return s.inOrder(order, g.log.BatchSizes, n, workers) })
	}
	if found {
		return
	}
	mean, variance := g.expected(n)
	if sum := total(g.log.BatchSizes); sum*workers <= mean || !beyond(sum, mean/workers, variance/workers) {
		s.assume(g.names()+": the rates as stated, since all batches of the log together have the records of these",
			g.names()+": which batches of the log belong to which event? They are not in the order of the events.")
		return
	}
	rest := g.log.BatchSizes
	for _, p := range g.plans {
		was := p.rate
		s.rateOf(p, rest[:p.releases], n, workers)
		if rest = rest[p.releases:]; p.rate == was {
			s.raise(p, math.Min(1, total(g.log.BatchSizes)*workers/mean*p.rate))
		}
	}
}

// inOrder reports whether sizes fit the rates of events in a given order, and assigns each event its own sizes.
func (s *search) inOrder(order []*plan, sizes []int64, n, workers float64) bool {
	rest := sizes
	for _, p := range order {
		t := float64(p.releases) * n * p.rate / workers
		if beyond(total(rest[:p.releases]), t, t*(1-p.rate)) {
			return false
		}
		rest = rest[p.releases:]
	}
	for _, p := range order {
		p.sizes, sizes = sizes[:p.releases], sizes[p.releases:]
	}
	return true
}

// permuted tries the orders of a list from index k on until one is right.
func permuted[T any](list []T, k int, right func() bool) bool {
	if k == len(list) {
		return right()
	}
	for i := k; i < len(list); i++ {
		list[k], list[i] = list[i], list[k]
		if permuted(list, k+1, right) {
			return true
		}
		list[k], list[i] = list[i], list[k]
	}
	return false
}

// unitsOf returns how many of a unit there are; 0 if the file does not say.
func (f *File) unitsOf(u privacy.Unit) int64 {
	if u == f.Unit {
		return f.units()
	}
	return 0
}
