package eventlog

import (
	"fmt"
	"math"
	"slices"
)

// steps compares the number of steps with that of the log.
func (s *search) steps(g *trainings, n float64) {
	l, total := g.log, g.steps()
	least, enough, why := int64(0), int64(0), ""
	sizes := int64(len(l.BatchSizes))
	physical := g.parts && (or(l.Steps, 0) == sizes && sizes > 0 || sizes == 0 && g.small)
	if l.Steps != nil && !physical {
		least, why = *l.Steps, fmt.Sprintf("the log has %d", *l.Steps)
	}
	if sizes > least && !g.parts {
		least, why = sizes, fmt.Sprintf("the log has the sizes of %d batches", sizes)
	}
	enough = least
	if lo, hi := s.perEpoch(g, n); l.Epochs != nil && hi > 0 {
		// Whether the end of an epoch is a step is not said. Steps of the log say it, where they are between the two.
		a, b := int64(math.Floor(*l.Epochs*lo)), int64(math.Ceil(*l.Epochs*hi))
		if least < a {
			enough = a
		}
		if least < a || l.Steps == nil && sizes == 0 && least < b {
			least, why = b, fmt.Sprintf("%v epochs of %.6g steps are %d", *l.Epochs, hi, b)
		}
	}
	if len(g.plans) > 1 && sizes == 0 &&
		slices.ContainsFunc(g.plans, func(p *plan) bool { return p.releases < least }) {
		s.assume(g.names()+": one training, whose steps these events share, since they have one log",
			g.names()+": is this one training with one log, or several whose logs say the same?")
	}
	switch {
	case total >= least:
		return
	case total >= enough:
		s.charged(g.plans[0], "%d steps, and not the stated %d, since %s", least, total, why)
	default:
		field := "steps"
		for _, f := range []string{"log.steps", "log.epochs", "log.batch_sizes"} {
			if s.file.places[g.plans[0].at].line(field) == 0 {
				field = f
			}
		}
		s.at(g.plans[0].at, field, "too-few-steps", Corrected,
			"How many noisy steps were made, over all epochs and restarts?",
			"%d steps are accounted, and %s: the larger number is charged", total, why)
	}
	s.more(g, least-total)
}

// more adds steps that no event counts, priced as the worst step of the log's events.
func (s *search) more(g *trainings, steps int64) {
	noise := g.plans[0].noise
	for _, p := range g.plans {
		noise = min(noise, p.noise)
	}
	for _, p := range g.plans {
		if p.noise == noise && p.rate == g.rate() {
			p.releases += steps
			return
		}
	}
	p := *g.plans[0]
	p.name, p.noise, p.rate, p.releases = p.name+", steps of the log", noise, g.rate(), steps
	s.extra, g.plans = append(s.extra, &p), append(g.plans, &p)
}

// perEpoch returns the least and the largest number of steps of an epoch; 0 if the log does not say. A partial batch at
// the end is a step, or left out if it is dropped.
func (s *search) perEpoch(g *trainings, n float64) (lo, hi float64) {
	l := g.log
	switch {
	case g.small:
		if r := g.rate(); r > 0 {
			lo, hi = math.Floor(1/r), math.Ceil(1/r-1e-9)
		}
	case n > 0 && l.Batch != nil:
		each := n / float64(l.whole())
		lo, hi = max(1, math.Floor(each)), math.Ceil(each)
		if or(l.DropLast, false) {
			hi = lo
		}
	}
	if l.StepsPerEpoch == nil || g.parts {
		return lo, hi
	}
	each := float64(*l.StepsPerEpoch)
	if hi > 0 && (each < lo || each > hi) {
		s.assume(fmt.Sprintf("%s: the worse of the log's %d steps per epoch and of %.6g, which its records and batch "+
			"have", g.names(), *l.StepsPerEpoch, hi),
			fmt.Sprintf("%s: how many steps has an epoch? The log says %d, and its records and batch come to %.6g.",
				g.names(), *l.StepsPerEpoch, hi))
		return min(each, lo), max(each, hi)
	}
	return each, each
}

// epochsOf compares the epochs of a training on shuffled records with the log.
func (s *search) epochsOf(g *trainings, p *plan, n float64) {
	made := max(or(p.event.Steps, 0), or(g.log.Steps, 0), int64(len(g.log.BatchSizes)))
	if g.parts = or(g.log.Accumulated, false); g.parts {
		made = or(p.event.Steps, 0)
	}
	shown := s.epochs(g, p, n, made)
	if shown <= float64(p.releases) {
		return
	}
	why := "%v epochs are accounted, and %d steps with the batches of the log are %.6g: the larger number is charged"
	if shown > *g.log.Epochs*(1+fits) {
		s.at(p.at, "log.epochs", "too-few-steps", Corrected,
			"How often were all records gone through, over all restarts?", why, *g.log.Epochs, made, shown)
	} else {
		s.charged(p, why, *g.log.Epochs, made, shown)
	}
	p.releases = int64(math.Ceil(shown))
}

// epochs returns the number of passes over all records in a number of steps. The log gives the epochs, the steps of an
// epoch, and the sizes of batches; the largest resulting number counts.
func (s *search) epochs(g *trainings, p *plan, n float64, steps int64) float64 {
	lo, hi := s.perEpoch(g, n)
	if hi == 0 && p.rate > 0 {
		lo = math.Ceil(1/p.rate - 1e-9)
		hi = lo
	}
	shown := 0.0
	if alone := len(g.plans) == 1; alone || ByEpoch(p.sampling) {
		shown = or(g.log.Epochs, 0)
		if alone && n > 0 {
			shown = math.Max(shown, total(g.log.BatchSizes)*float64(or(g.log.Workers, 1))/n)
		}
	}
	made := float64(steps)
	switch {
	case hi == 0 || made <= math.Ceil(shown*hi):
	case lo < hi && math.Mod(made, hi) == 0:
		s.assume(fmt.Sprintf("%s: an epoch has %.0f steps, the last of them with fewer records", p.name, hi),
			fmt.Sprintf("%s: is the rest of the records at the end of an epoch left out (log: drop_last)?", p.name))
		shown = math.Max(shown, made/hi)
	default:
		shown = math.Max(shown, made/lo)
	}
	return shown
}
