package eventlog

import (
	"fmt"
	"math"
	"reflect"
	"slices"

	"privrec/internal/privacy"
)

// at notes a fault of an event.
func (s *search) at(i int, field, name string, effect Effect, ask, format string, args ...any) {
	f := s.file
	s.found = append(s.found, Fault{Name: name, File: f.path, Line: f.places[i].line(field), Field: field, Event: f.Events[i].title(i), Message: fmt.Sprintf(format, args...), Effect: effect, Ask: ask})
}

// opens notes a fault of an event that leaves something open.
func (s *search) opens(i int, p *plan, field, name, ask, format string, args ...any) {
	s.at(i, field, name, Opens, ask, format, args...)
	p.without = append(p.without, privacy.Unprotected{What: openNames[name], Why: p.name + ": " + s.found[len(s.found)-1].Message})
}

// event looks for faults of one event, and changes its plan to what its log shows.
func (s *search) event(i int, p *plan) {
	e := p.event
	if p.training {
		l := e.log()
		if l.ClipPer != "" && l.ClipPer != p.unit && !l.ClipPer.Contains(p.unit) {
			s.at(i, "log.clip_per", "clip-of-other-unit", Corrected, fmt.Sprintf("Whose gradient is clipped: that of a whole %s, or of one %s? Only what is clipped as one is protected as one.", p.unit, l.ClipPer),
				"the event is about one %s, and the gradient of one %s was clipped: it is charged as a release about one %s", p.unit, l.ClipPer, l.ClipPer)
			p.unit = l.ClipPer
		}
		s.rate(i, p, l)
		s.steps(i, p, l)
		s.batches(i, p, l)
		s.multiplier(i, p, l)
		s.gradient(i, p, l)
	}
	s.sensitivity(i, p)
	s.subject(i, p)
}

// batches looks for batches that are called Poisson and were drawn otherwise.
func (s *search) batches(i int, p *plan, l Log) {
	if p.sampling != privacy.Poisson || p.rate == 1 {
		return
	}
	field, why := "", ""
	switch {
	case l.Loader == "shuffled" || l.Loader == "in-order" || l.Loader == "fixed-size":
		field, why = "log.loader", "the loader is "+l.Loader
	case l.DropLast != nil && *l.DropLast:
		field, why = "log.drop_last", "a last batch is dropped, which Poisson samples do not have"
	default:
		n := float64(or(l.Records, s.file.unitsOf(p.unit)))
		most, size := common64(l.BatchSizes)
		if n > 0 && equalByChance(most, len(l.BatchSizes), n, p.rate) < falseAlarm {
			field, why = "log.batch_sizes", fmt.Sprintf("%d of %d batches have exactly %d records, and the size of a Poisson sample varies by about %.3g", most, len(l.BatchSizes), size, math.Sqrt(n*p.rate*(1-p.rate)))
		}
	}
	if field == "" {
		return
	}
	ask := "Does each record enter each batch by its own coin (Poisson), or are the records shuffled and cut? The epsilon of the first is often quoted for the second and is far smaller."
	if l.Loader == "fixed-size" {
		s.at(i, field, "fixed-batches", Corrected, ask, "the sampling is stated as poisson, and %s: the account is for one %s exchanged for another, on samples of a fixed size", why, p.unit)
		p.sampling, s.relation, p.relation = privacy.WithoutReplacement, privacy.Replace, privacy.Replace
		return
	}
	p.sampling, p.releases = Shuffled, max(1, int64(math.Ceil(s.epochs(p, l, p.releases)-1e-9)))
	to := p.relation
	if to == privacy.AddRemove {
		to = privacy.ZeroOut
		s.relation, p.relation = to, to
	}
	s.at(i, field, "fixed-batches", Corrected, ask, "the sampling is stated as poisson, and %s: the account has no amplification by sampling, for one %s %s, in one batch of each of %d epochs", why, p.unit, relationWords[to], p.releases)
}

// epochs returns how often all records were gone through in a number of steps. The log says how often, how many steps
// one epoch has, and how large the batches were; the largest of what these come to counts.
func (s *search) epochs(p *plan, l Log, steps int64) float64 {
	shown := float64(steps) * p.rate
	if each := l.perEpoch(math.Ceil); each > 0 {
		shown = float64(steps) / each
	}
	if n := or(l.Records, s.file.unitsOf(p.unit)); n > 0 {
		shown = math.Max(shown, total(l.BatchSizes)/float64(n))
	}
	if stated := or(l.Epochs, 0); shown <= stated*(1+fits) {
		return stated
	}
	return shown
}

// perEpoch returns how many steps an epoch has; 0 where the log does not say. A part of a batch at the end is rounded,
// or left out where it is dropped.
func (l Log) perEpoch(round func(float64) float64) float64 {
	switch {
	case l.StepsPerEpoch != nil:
		return float64(*l.StepsPerEpoch)
	case l.Records == nil || l.Batch == nil:
		return 0
	case or(l.DropLast, false):
		round = math.Floor
	}
	return round(float64(*l.Records) / float64(*l.Batch))
}

// total adds up the sizes of batches.
func total(sizes []int64) (sum float64) {
	for _, n := range sizes {
		sum += float64(n)
	}
	return sum
}

// relationWords says what happens to a unit under a relation.
var relationWords = map[privacy.Neighbouring]string{privacy.AddRemove: "added or removed", privacy.ZeroOut: "blanked", privacy.Replace: "exchanged for another"}

// unitsOf returns how many of a unit there are; 0 where the file does not say.
func (f *File) unitsOf(u privacy.Unit) int64 {
	if u == f.Unit {
		return f.units()
	}
	return 0
}

// falseAlarm bounds the probability that the sizes of true Poisson samples look fixed, or look drawn at
// another rate.
const falseAlarm = 1e-9

// common64 returns how often the most common number of a list is in it, and which one it is.
func common64(list []int64) (most int, size int64) {
	counts := map[int64]int{}
	for _, n := range list {
		if counts[n]++; counts[n] > most {
			most, size = counts[n], n
		}
	}
	return most, size
}

// equalByChance bounds the probability that k of m draws of the binomial law of n and q are equal: the
// number of ways to choose them, times that of each but the first to be like the first.
func equalByChance(k, m int, n, q float64) float64 {
	if k < 2 || !(q > 0 && q < 1) {
		return 1
	}
	gamma := func(x float64) float64 { v, _ := math.Lgamma(x + 1); return v }
	mode := math.Min(n, math.Floor((n+1)*q))
	top := gamma(n) - gamma(mode) - gamma(n-mode) + mode*math.Log(q) + (n-mode)*math.Log1p(-q)
	return math.Exp(gamma(float64(m)) - gamma(float64(k)) - gamma(float64(m-k)) + float64(k-1)*math.Min(top, 0))
}

// fits is how far, relative to it, a stated number may be from the one that the log shows: numbers are
// written with few digits.
const fits = 0.01

// rate holds the sampling rate against batch and records, and against the batches as they were. A rate of one over the
// number of batches in an epoch fits too, which Opacus takes.
func (s *search) rate(i int, p *plan, l Log) {
	if p.sampling == Shuffled {
		return
	}
	ask := "With which probability is a record in a batch: the expected batch over the records?"
	field := "sampling_rate"
	if p.event.SamplingRate == nil {
		field = "log.batch"
	}
	n, m := float64(or(l.Records, 0)), float64(len(l.BatchSizes))
	derived := n > 0 && l.Batch != nil
	if derived && p.event.SamplingRate != nil {
		b := float64(*l.Batch)
		all, whole := math.Ceil(n/b), math.Floor(n/b)
		if !slices.ContainsFunc([]float64{b / n, 1 / all, 1 / whole}, func(r float64) bool { return math.Abs(p.rate/r-1) <= fits }) {
			s.at(i, field, "rate-does-not-fit", Corrected, ask, "the sampling rate is %v, and batches of %d of %d records have %.6g: the larger one is charged", p.rate, *l.Batch, *l.Records, b/n)
			p.rate = math.Max(p.rate, rateUp(*l.Batch, *l.Records))
		}
	}
	if all := float64(or(s.file.Records, 0)); all > 0 && p.unit == s.file.Unit && n > all*(1+fits) {
		s.at(i, "log.records", "rate-does-not-fit", Corrected, ask, "batches are said to be drawn from %d records, and the data have %d: the sampling rate is %.6g for them, which is charged", *l.Records, *s.file.Records, math.Min(1, p.rate*n/all))
		p.rate = math.Min(1, p.rate*n/all)
		n = all
	}
	if n == 0 || m == 0 || p.rate == 1 {
		return
	}
	// Hoeffding's bound on both sides of the mean would be wide; a sum of n m coins has Bernstein's. Batches that are cut
	// from the records have a smaller last one, so that the mean may be below that of the batch of the log.
	sum, mean, v := total(l.BatchSizes), m*n*p.rate, m*n*p.rate*(1-p.rate)
	t := math.Abs(sum - mean)
	if sum < mean && derived || 2*math.Exp(-t*t/2/(v+t/3)) >= falseAlarm {
		return
	}
	s.at(i, field, "rate-does-not-fit", Corrected, ask, "the sampling rate is %v, and the batches of the log have %.6g of the records on average: the larger one is charged", p.rate, sum/m/n)
	p.rate = math.Min(1, math.Max(p.rate, sum/m/n))
}

// steps holds the number of steps against that of the log.
func (s *search) steps(i int, p *plan, l Log) {
	if p.event.Log == nil {
		return
	}
	if p.sampling == Shuffled {
		made := max(or(p.event.Steps, 0), or(l.Steps, 0), int64(len(l.BatchSizes)))
		if shown := s.epochs(p, l, made); shown > *l.Epochs {
			s.at(i, "log.epochs", "too-few-steps", Corrected, "How often were all records gone through, over all restarts?",
				"%v epochs are accounted, and %d steps with the batches of the log are %.6g: the larger number is charged", *l.Epochs, made, shown)
			p.releases = int64(math.Ceil(shown - 1e-9))
		}
		return
	}
	total, first := s.file.stepsOf(p.event.Log)
	if first != i { // one log for several events is held against all of them at the first
		return
	}
	least, why := 0.0, ""
	if l.Steps != nil {
		least, why = float64(*l.Steps), fmt.Sprintf("the log has %d", *l.Steps)
	}
	if n := float64(len(l.BatchSizes)); n > least {
		least, why = n, fmt.Sprintf("the log has the sizes of %d batches", len(l.BatchSizes))
	}
	each := l.perEpoch(func(x float64) float64 { return x })
	if l.Epochs != nil && math.Floor(*l.Epochs*each) > least {
		least = math.Floor(*l.Epochs * each)
		why = fmt.Sprintf("%v epochs of %.6g steps are %.0f", *l.Epochs, each, least)
	}
	if float64(total) >= least {
		return
	}
	field := "steps"
	for _, f := range []string{"log.steps", "log.epochs"} {
		if s.file.places[i].line(field) == 0 {
			field = f
		}
	}
	s.at(i, field, "too-few-steps", Corrected, "How many noisy steps were made, over all epochs and restarts?",
		"%d steps are accounted, and %s: the larger number is charged", total, why)
	p.releases += int64(math.Ceil(least)) - total
}

// stepsOf returns how many steps the events with a log have together, and which of them is the first.
func (f *File) stepsOf(l *Log) (total int64, first int) {
	first = -1
	for i, e := range f.Events {
		if e.Mechanism != dpSGD || e.Log == nil || !reflect.DeepEqual(e.Log, l) {
			continue
		}
		if first < 0 {
			first = i
		}
		if e.Steps != nil {
			total += *e.Steps
			continue
		}
		var p plan
		p.train(&e)
		total += p.releases
	}
	return total, first
}

// multiplier holds the noise multiplier against the noise that was added.
func (s *search) multiplier(i int, p *plan, l Log) {
	ask := "What is the standard deviation of the noise, on which sum, and the clipping norm? The multiplier is the first over the second."
	if p.noiseless {
		s.at(i, "noise_multiplier", "no-noise", Opens, ask, "the noise multiplier is 0: sums leave without noise")
		return
	}
	if l.NoiseStd == nil {
		return
	}
	if *l.NoiseStd == 0 {
		s.at(i, "log.noise_std", "no-noise", Opens, ask, "the log has noise of standard deviation 0")
		p.noiseless = true
		return
	}
	if l.Clip == nil || l.NoiseOn == "mean" && l.Batch == nil {
		return
	}
	is, on := *l.NoiseStd / *l.Clip, "the sum"
	if l.NoiseOn == "mean" {
		is, on = is*float64(*l.Batch), fmt.Sprintf("the mean over %d records", *l.Batch)
	}
	if math.Abs(is/p.noise-1) <= fits {
		return
	}
	why := fmt.Sprintf("noise of standard deviation %v on %s of vectors of length at most %v has %.6g", *l.NoiseStd, on, *l.Clip, is)
	if math.Abs(*l.NoiseStd/p.noise-1) <= fits {
		why = "it is the standard deviation itself: " + why
	}
	s.at(i, "noise_multiplier", "multiplier-does-not-fit", Corrected, ask, "the noise multiplier is %v; %s: the smaller one is charged", p.noise, why)
	p.noise = math.Min(p.noise, is)
	p.noiseless = p.noise < noiseLeast
}

// gradient looks for what makes a sum other than one of clipped gradients, each of one record.
func (s *search) gradient(i int, p *plan, l Log) {
	if l.NormalisedBy == "drawn-batch" {
		s.opens(i, p, "log.normalised_by", "drawn-batch", "By which number is the noisy sum divided? It must be fixed beforehand, as the expected batch is.",
			"the sum is divided by the number of records that were drawn, which has no noise: whether a %s is in a batch changes it", p.unit)
	}
	switch l.ClipChosen {
	case "from-data":
		s.opens(i, p, "log.clip_chosen", "clip-from-data", "Who chose the clipping norm, and from what? Fix it beforehand, or choose it by noisy counts that are among the events.",
			"the clipping norm was chosen from the data without noise, such as by a quantile of gradient norms: it tells of single records")
	case "counted":
		if len(s.file.Events) == 1 {
			s.opens(i, p, "log.clip_chosen", "clip-not-counted", "Which event is the choice of the clipping norm?",
				"the choice of the clipping norm is said to be counted, and the file has no other event")
		}
	}
	if l.Loss == "batch" {
		s.opens(i, p, "log.loss", "records-mixed", "Does the loss of one record read others of its batch, as batch normalisation and negatives from the batch do? Then clipping bounds nothing.",
			"the loss of one record depends on the others of its batch, such as by batch normalisation or negatives from the batch: clipping one gradient does not bound what one record moves")
	}
	if n := or(l.Microbatch, 1); n > 1 {
		s.at(i, "log.microbatch", "microbatches", Corrected, "How many records are clipped as one? Set microbatches of one record.",
			"gradients of %d records were averaged before they were clipped, so that one record moves a sum by up to two clipping norms: half of the noise multiplier is charged", n)
		p.noise /= 2
	}
}

// sensitivity holds the sensitivity of normal noise against the norm that vectors were clipped to.
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
	s.at(i, "sensitivity", "sensitivity-too-small", Corrected, "How far can one unit move the sum? A vector clipped at C moves it by C if it is there or not, and by 2C if it is exchanged.",
		"the sensitivity is %v, and a vector of length at most %v that is %s moves a sum by up to %v, which is charged", *e.Sensitivity, *e.Clip, relationWords[p.relation], moves)
	p.widened = moves / *e.Sensitivity
}
