package eventlog

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"time"

	"privrec/internal/config"
	"privrec/internal/privacy"
)

// Names of mechanisms.
const (
	dpSGD              = "dp-sgd"
	composed           = "composed"
	parallel           = "parallel"
	correlatedGaussian = "correlated-gaussian"
)

// Shuffled is the sampling in which records are put into a random order once an epoch and cut into batches.
const Shuffled privacy.Sampling = "shuffled"

// ByEpoch reports whether each record is in one batch of every epoch, so that a release is an epoch.
func ByEpoch(s privacy.Sampling) bool { return s == Shuffled || s == privacy.Allocation }

// mechanism lists the keys that a mechanism needs, and those that it may have besides the common ones.
type mechanism struct {
	name      string
	need, may []string
}

// mechanisms lists the possible mechanisms of an event.
var mechanisms = []mechanism{
	{dpSGD, []string{"noise_multiplier"}, []string{"sampling_rate", "steps", "sampling", "sampled_unit", "log"}},
	{"gaussian", nil, []string{"sigma", "sensitivity", "noise_multiplier", "norm", "clip", "sampling_rate", "sampling",
		"sampled_unit"}},
	{"laplace", nil, []string{"scale", "sensitivity", "epsilon", "sampling_rate", "sampling", "sampled_unit"}},
	{"discrete-gaussian", []string{"sigma", "sensitivity", "dimension"}, nil},
	{"discrete-laplace", []string{"scale", "sensitivity"}, nil},
	{correlatedGaussian, []string{"noise_multiplier", "strategy", "steps"}, []string{"bands", "weights", "decays",
		"column", "times", "apart", "sensitivity"}},
	{"randomized-response", []string{"categories"}, []string{"epsilon", "keep"}},
	{"local", []string{"epsilon"}, nil},
	{"exponential", []string{"epsilon"}, nil},
	{"pure", []string{"epsilon"}, nil},
	{composed, []string{"events"}, []string{"sampling_rate", "sampling"}},
	{parallel, []string{"events"}, []string{"fixed"}},
}

// common lists the keys of every event.
var common = []string{"name", "mechanism", "unit", "neighbours", "at"}

// Mechanisms returns the names of the mechanisms that an event may have.
func Mechanisms() []string {
	var names []string
	for _, m := range mechanisms {
		names = append(names, m.name)
	}
	return names
}

// checker checks the values of one document of a file.
type checker struct {
	*config.Checker
	at   place
	file *File
}

func (p place) checker(f *File) checker { return checker{config.NewChecker(p.doc), p, f} }

func (c checker) err() error { return lower(c.Err(), c.at.above) }

// check reports every value that allows no account.
func (f *File) check() error {
	c := f.head.checker(f)
	f.checkHead(c)
	if err := c.err(); err != nil {
		return err
	}
	names := map[string]bool{}
	for i := range f.Events {
		c := f.places[i].checker(f)
		f.Events[i].check(c, c.at.prefix, 0)
		name := f.Events[i].title(i)
		c.Check(!names[name], c.at.prefix+"name", "is there twice: %q", name)
		names[name] = true
		if err := c.err(); err != nil {
			return err
		}
	}
	return nil
}

func (f *File) checkHead(c checker) {
	c.Check(f.Version == Version, "privrec_events", "must be %d, got %d", Version, f.Version)
	c.Check(f.Unit != "", "unit", "is missing: whose guarantee is wanted, one of %v", privacy.Units())
	c.unit("unit", f.Unit)
	c.relation("neighbours", f.Neighbours)
	c.whole("records", f.Records, 1)
	c.number("delta", f.Delta, 0, 1)
	if x := f.Claim; x != nil {
		c.Check(x.Epsilon > 0 && !math.IsInf(x.Epsilon, 1), "claim.epsilon", "must be positive and finite, got %v",
			x.Epsilon)
		c.Check(x.Delta >= 0 && x.Delta < 1, "claim.delta", "must be at least 0 and below 1, got %v", x.Delta)
		c.unit("claim.unit", x.Unit)
	}
	if x := f.Noise; x != nil {
		c.word("noise.numbers", x.Numbers, "exact", "float")
		c.word("noise.seed", x.Seed, "none", "secret", "published")
	}
	if x := f.Tuning; x != nil {
		f.checkTuning(c, x)
	}
	for i, h := range f.Holds {
		err := privacy.Holding{Unit: h.Unit, Of: h.Of, Most: h.Most}.Validate()
		c.Check(err == nil, fmt.Sprintf("holds.%d", i), "%v", err)
	}
	for i, o := range f.Open {
		c.Check(o.What != "" && o.Why != "", fmt.Sprintf("open.%d", i), "must have what leaves without noise, and why")
		c.unit(fmt.Sprintf("open.%d.unit", i), o.Unit)
	}
	for i, p := range f.Public {
		c.NotEmpty(fmt.Sprintf("public.%d.what", i), p.What)
	}
	for i, r := range f.Released {
		c.NotEmpty(fmt.Sprintf("released.%d", i), r)
	}
	if x := f.End; x != nil {
		c.whole("end.events", x.Events, 0)
		c.time("end.at", x.At)
	}
	c.Check(len(f.Events)+len(f.Open) > 0, "events", "must not be empty: nothing is released")
}

func (f *File) checkTuning(c checker, x *Tuning) {
	c.Check(x.Runs >= 0 && x.Runs <= 1_000_000_000, "tuning.runs", "must be 0 to 1e9, got %d", x.Runs)
	c.word("tuning.rows", x.Rows, "none", "public", "private")
	c.word("tuning.counted", x.Counted, "nothing", "as-events", "random-runs")
	c.word("tuning.epoch", x.Epoch, "last", "public", "private", "counted")
	random := x.Counted == "random-runs"
	c.Check(random == (x.Eta != nil) && random == (x.Mean != nil), "tuning.counted",
		"random-runs needs eta and mean, the law of the number of runs, and no other has them")
	c.number("tuning.eta", x.Eta, -1, 101)
	if x.Mean != nil {
		c.Check(*x.Mean >= 1 && *x.Mean <= 1e9, "tuning.mean", "must be 1 to 1e9, got %v", *x.Mean)
	}
}

// maxNesting bounds the depth of nested events.
const maxNesting = 8

func (e *Event) check(c checker, key string, depth int) {
	var of *mechanism
	for i, m := range mechanisms {
		if m.name == e.Mechanism {
			of = &mechanisms[i]
		}
	}
	if of == nil {
		c.OneOf(key+"mechanism", e.Mechanism, Mechanisms()...)
		return
	}
	given := e.given()
	for _, k := range given {
		counts := []string{"releases", "per_unit"}
		if e.Mechanism == dpSGD {
			counts = nil
		}
		c.Check(slices.Contains(slices.Concat(common, of.need, of.may, counts), k), key+k,
			"is no key of %s, which has %v", e.Mechanism, slices.Concat(of.need, of.may))
	}
	for _, k := range of.need {
		c.Check(slices.Contains(given, k), key+k, "is missing: %s needs it", e.Mechanism)
	}
	c.Check(len(e.Name) <= 200, key+"name", "is longer than 200 bytes")
	c.unit(key+"unit", e.Unit)
	c.unit(key+"sampled_unit", e.SampledUnit)
	c.relation(key+"neighbours", e.Neighbours)
	c.time(key+"at", e.At)
	c.whole(key+"releases", e.Releases, 1)
	known := e.Releases != nil || !c.at.doc.Given(key+"releases")
	c.Check(known, key+"releases", "is null: say how many, or leave the key out for one")
	c.whole(key+"per_unit", e.PerUnit, 1)
	c.whole(key+"steps", e.Steps, 1)
	c.whole(key+"categories", e.Categories, 2)
	c.whole(key+"dimension", e.Dimension, 1)
	c.whole(key+"bands", e.Bands, 1)
	c.whole(key+"times", e.Times, 1)
	c.whole(key+"apart", e.Apart, 1)
	least := noiseLeast
	if e.Mechanism == dpSGD {
		least = 0 // no noise is a fault, which the account says
	}
	c.within(key+"noise_multiplier", e.NoiseMultiplier, least, noiseMost)
	for _, x := range []struct {
		name string
		v    *float64
	}{{"sigma", e.Sigma}, {"scale", e.Scale}, {"sensitivity", e.Sensitivity}, {"norm", e.Norm}, {"clip", e.Clip}} {
		c.within(key+x.name, x.v, noiseLeast, noiseMost)
	}
	c.within(key+"epsilon", e.Epsilon, 1e-9, 1e4)
	if e.SamplingRate != nil {
		c.Check(*e.SamplingRate > 1e-12 && *e.SamplingRate <= 1, key+"sampling_rate",
			"must be above 1e-12 and at most 1, got %v", *e.SamplingRate)
	}
	e.checkPairs(c, key)
	if l := e.Log; l != nil {
		if q := or(e.SamplingRate, 1); l.Epochs != nil && q > 0 {
			c.Check(*l.Epochs/q <= mostSteps, key+"log.epochs", "is %v, at a sampling rate of %v: more than 1e15 steps",
				*l.Epochs, q)
		}
		l.check(c, key+"log.")
	}
	if depth == maxNesting {
		c.Check(len(e.Events) == 0, key+"events", "nests deeper than %d", maxNesting)
		return
	}
	for i := range e.Events {
		in := &e.Events[i]
		c.Check(in.Mechanism != dpSGD && in.At == "" && in.PerUnit == nil, fmt.Sprintf("%sevents.%d", key, i),
			"must be no dp-sgd and have neither at nor per_unit, which stand at the top")
		in.check(c, fmt.Sprintf("%sevents.%d.", key, i), depth+1)
	}
	if e.Mechanism == composed || e.Mechanism == parallel {
		c.Check(len(e.Events) > 0, key+"events", "must not be empty")
	}
}

// Range of noise and sensitivities, as in the calculator.
const noiseLeast, noiseMost = 1e-9, 1e9

// mostSteps is the largest number of steps of a training.
const mostSteps = 1e15

// checkPairs reports combinations of keys that a mechanism does not allow: missing partners, and keys that exclude each
// other.
func (e *Event) checkPairs(c checker, key string) {
	switch e.Mechanism {
	case dpSGD:
		l := e.Log
		derived := l != nil && l.Records != nil && l.Batch != nil
		shuffled := e.Sampling == string(Shuffled)
		epochs := ByEpoch(privacy.Sampling(e.Sampling))
		c.word(key+"sampling", e.Sampling, string(privacy.Poisson), string(privacy.WithoutReplacement),
			string(privacy.Allocation), string(Shuffled))
		c.Check(e.SamplingRate != nil || derived || shuffled || epochs && l != nil && l.StepsPerEpoch != nil,
			key+"sampling_rate", "is missing, and log has no records and batch to compute it from")
		c.Check(epochs || e.Steps != nil || derived && l.Epochs != nil || l != nil && l.Steps != nil, key+"steps",
			"is missing, and log has neither steps nor records, batch and epochs")
		to := cmp.Or(e.Neighbours, c.file.relation())
		c.Check(!shuffled || to != privacy.AddRemove, key+"sampling",
			"of shuffled records does not go with neighbours add-remove: one record less moves all others to other "+
				"batches; state zero-out or replace")
		c.Check(e.Sampling != string(privacy.WithoutReplacement) || to == privacy.Replace, key+"sampling",
			"without replacement keeps the number of records: state neighbours: replace")
		c.Check(!epochs || l != nil && l.Epochs != nil, key+"log.epochs",
			"is missing: batches of %s records are counted by epochs", map[bool]string{true: "shuffled",
				false: "allocated"}[shuffled])
	case "gaussian":
		c.Check((e.Sigma != nil) != (e.NoiseMultiplier != nil), key+"sigma",
			"must be given, or noise_multiplier, and not both")
		c.Check(e.NoiseMultiplier != nil || e.Sensitivity != nil, key+"sensitivity", "is missing: sigma needs it")
	case "laplace":
		both := e.Scale != nil && e.Sensitivity != nil
		c.Check(both != (e.Epsilon != nil) && (both || e.Scale == nil && e.Sensitivity == nil), key+"scale",
			"must be given with sensitivity, or epsilon alone, which is sensitivity over scale")
	case correlatedGaussian:
		_, err := e.design().Strategy()
		c.Check(err == nil, key+"strategy", "cannot be made: %v", err)
	case "randomized-response":
		c.Check((e.Epsilon != nil) != (e.Keep != nil), key+"epsilon",
			"must be given, or keep, the probability of the true answer, and not both")
		if e.Keep != nil && e.Categories != nil {
			c.Check(*e.Keep > 1/float64(*e.Categories) && *e.Keep < 1, key+"keep",
				"must be above 1 over the categories and below 1, got %v", *e.Keep)
		}
	}
	if e.Mechanism != dpSGD && (e.Sampling != "" || e.SamplingRate != nil) {
		c.word(key+"sampling", e.Sampling, string(privacy.Poisson), string(privacy.WithoutReplacement))
		c.Check(e.SamplingRate != nil, key+"sampling_rate", "is missing: sampling needs it")
		c.Check(e.Sampling != "", key+"sampling", "is missing: how the sample of this rate is drawn")
	}
	c.Check(e.Mechanism == dpSGD || e.SampledUnit == "" || e.SamplingRate != nil, key+"sampling_rate",
		"is missing: sampled_unit needs it")
}

func (l *Log) check(c checker, key string) {
	c.whole(key+"records", l.Records, 1)
	c.whole(key+"batch", l.Batch, 1)
	c.whole(key+"steps", l.Steps, 1)
	c.whole(key+"steps_per_epoch", l.StepsPerEpoch, 1)
	c.whole(key+"microbatch", l.Microbatch, 1)
	if l.Workers != nil {
		c.Check(*l.Workers >= 1 && *l.Workers <= 1_000_000, key+"workers", "must be 1 to 1e6, got %d", *l.Workers)
		c.Check(or(l.Batch, 1) <= 1e15/max(1, *l.Workers), key+"workers",
			"is %d, and so many batches of %d are more than 1e15 records", *l.Workers, or(l.Batch, 1))
	}
	if l.Records != nil && l.Batch != nil {
		c.Check(*l.Batch <= *l.Records, key+"batch", "is %d, more than the %d records", *l.Batch, *l.Records)
	}
	if l.Epochs != nil {
		c.Check(*l.Epochs > 0 && *l.Epochs <= 1e9, key+"epochs", "must be above 0 and at most 1e9, got %v", *l.Epochs)
		each := float64(or(l.StepsPerEpoch, 1))
		if l.Records != nil && l.Batch != nil {
			each = math.Max(each, float64(*l.Records)/math.Max(1, float64(*l.Batch)))
		}
		c.Check(*l.Epochs*each <= mostSteps, key+"epochs", "is %v, of %.6g steps each: more than 1e15 steps", *l.Epochs,
			each)
	}
	for i, n := range l.BatchSizes {
		if n < 0 || n > 1e15 {
			c.Check(false, fmt.Sprintf("%sbatch_sizes.%d", key, i), "must be 0 to 1e15, got %d", n)
		}
	}
	c.within(key+"clip", l.Clip, noiseLeast, noiseMost)
	c.within(key+"noise_std", l.NoiseStd, 0, noiseMost)
	c.word(key+"loader", l.Loader, "poisson", "allocation", "shuffled", "in-order", "fixed-size")
	c.word(key+"clip_chosen", l.ClipChosen, "in-advance", "from-public-data", "from-data", "counted")
	c.word(key+"noise_on", l.NoiseOn, "sum", "mean")
	c.word(key+"normalised_by", l.NormalisedBy, "expected-batch", "drawn-batch", "constant")
	c.word(key+"loss", l.Loss, "each-record", "batch")
	c.unit(key+"clip_per", l.ClipPer)
}

// word checks a word that may be absent.
func (c checker) word(key, x string, allowed ...string) {
	if x != "" {
		c.OneOf(key, x, allowed...)
	}
}

func (c checker) unit(key string, u privacy.Unit) {
	if u != "" {
		var names []string
		for _, u := range privacy.Units() {
			names = append(names, string(u))
		}
		c.OneOf(key, string(u), names...)
	}
}

func (c checker) relation(key string, n privacy.Neighbouring) {
	if n != "" {
		c.OneOf(key, string(n), string(privacy.AddRemove), string(privacy.Replace), string(privacy.ZeroOut))
	}
}

func (c checker) whole(key string, v *int64, least int64) {
	if v != nil {
		c.Check(*v >= least && *v <= 1e15, key, "must be %d to 1e15, got %d", least, *v)
	}
}

// within checks that a number lies between two bounds.
func (c checker) within(key string, v *float64, least, most float64) {
	if v != nil {
		c.Check(*v >= least && *v <= most, key, "must be %v to %v, got %v", least, most, *v)
	}
}

// number checks a number inside an interval without its ends.
func (c checker) number(key string, v *float64, above, below float64) {
	if v != nil {
		c.Check(*v > above && *v < below, key, "must be above %v and below %v, got %v", above, below, *v)
	}
}

// times lists the formats of a date or a time.
var times = []string{time.RFC3339, "2006-01-02 15:04:05", "2006-01-02T15:04:05", "2006-01-02"}

func (c checker) time(key, text string) {
	if text == "" {
		return
	}
	_, ok := parseTime(text)
	c.Check(ok, key, "must be a date or a time such as 2026-05-01 or 2026-05-01T12:00:00Z, got %q", text)
}

func parseTime(text string) (time.Time, bool) {
	for _, form := range times {
		if t, err := time.Parse(form, text); err == nil {
			return t, true
		}
	}
	return time.Time{}, false
}

// given lists the keys of an event that have a value. A null value, as written for Python's None, counts as absent.
func (e *Event) given() (keys []string) {
	for _, x := range []struct {
		key string
		is  bool
	}{
		{"name", e.Name != ""}, {"mechanism", e.Mechanism != ""}, {"unit", e.Unit != ""},
		{"neighbours", e.Neighbours != ""}, {"at", e.At != ""},
		{"releases", e.Releases != nil}, {"steps", e.Steps != nil}, {"per_unit", e.PerUnit != nil},
		{"noise_multiplier", e.NoiseMultiplier != nil}, {"sampling_rate", e.SamplingRate != nil},
		{"sampling", e.Sampling != ""}, {"sampled_unit", e.SampledUnit != ""},
		{"sigma", e.Sigma != nil}, {"scale", e.Scale != nil}, {"sensitivity", e.Sensitivity != nil},
		{"norm", e.Norm != nil}, {"clip", e.Clip != nil},
		{"epsilon", e.Epsilon != nil}, {"categories", e.Categories != nil}, {"keep", e.Keep != nil},
		{"dimension", e.Dimension != nil},
		{"strategy", e.Strategy != ""}, {"bands", e.Bands != nil}, {"weights", e.Weights != nil},
		{"decays", e.Decays != nil}, {"column", e.Column != nil}, {"times", e.Times != nil}, {"apart", e.Apart != nil},
		{"fixed", e.Fixed}, {"events", e.Events != nil}, {"log", e.Log != nil},
	} {
		if x.is {
			keys = append(keys, x.key)
		}
	}
	return keys
}
