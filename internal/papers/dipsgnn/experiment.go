package dipsgnn

import (
	"context"
	"fmt"
	"math"
	"slices"

	"privrec/internal/autograd"
	"privrec/internal/dataset"
	"privrec/internal/dataset/registry"
	"privrec/internal/eval"
	"privrec/internal/metrics"
	"privrec/internal/nn"
	"privrec/internal/run"
	"privrec/internal/train"
)

// experiment is one model on one data set under the paper's protocol
// (section 5.1): samples cut from the sequences, trained, ranked in full.
type experiment struct {
	env      *run.Env
	method   string       // as Table 2 calls it
	standing string       // how the setting relates to the profile it names
	table2   bool         // the setting is the one that Table 2 is about
	stated   train.Length // of the profile that the setting names
	cfg      shared
	data     *dataset.Sequential
	items    int // |V|, the items ranked

	train, valid, test *part // valid is nil without validation
	refit              *part // train and valid together, nil without refit

	net   network
	user  *userInput // nil: the network has no user vectors
	extra train.Extra
	noise func(p *part) (noise, error) // of a part's aggregations; nil: never any
	modes []string                     // evaluations to make: noise on, off
	tape  *autograd.Tape               // of the evaluations
}

// load reads the data and cuts it into train, validation and test samples.
func load(ctx context.Context, env *run.Env, method string, setting setting) (*experiment, error) {
	cfg := setting.shared()
	defer env.Stage("load " + cfg.data.Name)()
	d, err := registry.Load(ctx, cfg.data.Name, cfg.data.Recipe, registry.Options{Seed: env.Seed})
	if err != nil {
		return nil, err
	}
	if err := env.RecordData(d.Source.Title, d.Source.Hash); err != nil {
		return nil, err
	}
	return cut(env, method, setting, d)
}

// setting is one of the three configurations.
type setting interface {
	shared() shared
	standing() (string, bool, error)
	stated() train.Length
}

// cut makes the samples of loaded data. Of the surroundings it takes the seed
// alone.
func cut(env *run.Env, method string, setting setting, d *dataset.Sequential) (x *experiment, err error) {
	cfg := setting.shared()
	x = &experiment{env: env, method: method, cfg: cfg, data: d, items: d.Items, modes: []string{NoiseOff}, tape: autograd.NewTape()}
	if x.standing, x.table2, err = setting.standing(); err != nil {
		return nil, err
	}
	x.stated = setting.stated()
	if cfg.data.Candidates == CandidatesTenCore {
		x.items = max(d.Items, d.CandidatesCore)
	}
	for _, k := range cfg.k {
		if k > x.items {
			return nil, &run.UsageError{Message: fmt.Sprintf("eval.k: cutoff %d is more than the %d items ranked", k, x.items),
				Fix: "leave that cutoff out"}
		}
	}
	all, held := dataset.Prefixes(d.Train), dataset.Samples{}
	samples := all
	if share := cfg.train.Validation; share > 0 {
		hold := samples.HoldOutSamples
		if cfg.train.ValidationSplit == SplitUser {
			hold = samples.HoldOutUsers
		}
		if samples, held, err = hold(share, env.Seed.Stream("dipsgnn.validation")); err != nil {
			return nil, err
		}
		if held.Len() == 0 || samples.Len() == 0 {
			return nil, &run.UsageError{Message: fmt.Sprintf("train.validation: a share of %v holds out %d of the %d training samples of %s",
				share, held.Len(), all.Len(), d.Name), Fix: "0.1 is the paper's share; 0 holds out none"}
		}
	}
	if x.train, err = newPart("train", d.Train, samples, x.items); err != nil {
		return nil, err
	}
	if held.Len() > 0 {
		x.valid = x.train.with("valid", d.Train, held)
	}
	if cfg.train.Refit {
		x.refit = x.train.with("refit", d.Train, all)
	}
	if x.test, err = newPart("test", d.Test, dataset.Prefixes(d.Test), x.items); err != nil {
		return nil, err
	}
	if len(x.test.labels) == 0 {
		return nil, &dataset.Error{File: d.Name, Msg: "the split leaves no test samples"}
	}
	return x, nil
}

// init fills parameters uniformly on (-1/sqrt(d), 1/sqrt(d)), biases and tables
// included, as the released programs of all three models do.
func (x *experiment) init() nn.Init {
	return nn.Uniform(x.env.Seed, 1/math.Sqrt(float64(x.cfg.dim)))
}

// on is the recommender for the samples of a part.
func (x *experiment) on(p *part) *recommender {
	return &recommender{net: x.net, user: x.user, part: p, batch: x.cfg.train.Batch}
}

// Names of the two families of scores that validation returns.
const (
	onValid = "valid "
	onTest  = "test "
)

// primary selects the epoch.
var primary = metrics.Metric{Kind: metrics.Recall, K: 20}

// metrics are what Table 2 reports, at the configured cutoffs.
func (x *experiment) metrics() []metrics.Metric {
	return metrics.Grid([]metrics.Kind{metrics.Recall, metrics.MRR}, x.cfg.k)
}

// validate scores the held-out samples, the test samples, or both, under the
// first of the evaluations to be reported.
func (x *experiment) validate(ctx context.Context, pass int, held, test bool) ([]train.Score, error) {
	var scores []train.Score
	for _, v := range []struct {
		prefix string
		part   *part
		want   bool
	}{{onValid, x.valid, held}, {onTest, x.test, test}} {
		if !v.want {
			continue
		}
		ranks, err := x.rank(ctx, v.part, x.modes[0], pass)
		if err != nil {
			return nil, err
		}
		ms := x.metrics()
		if v.prefix == onValid && x.cfg.train.Select == SelectValidation && !slices.Contains(ms, primary) {
			ms = append(ms, primary)
		}
		for _, m := range metrics.Summary(ms, ranks) {
			scores = append(scores, train.Score{Name: v.prefix + m.Metric.String(), Value: m.Value})
		}
	}
	return scores, nil
}

// rank returns the rank of every sample's label among all items, seen ones
// included (the protocol removes none).
func (x *experiment) rank(ctx context.Context, p *part, mode string, pass int) ([]int32, error) {
	r := x.on(p)
	r.pass = pass
	if mode == NoiseOn {
		var err error
		if r.noise, err = x.noise(p); err != nil {
			return nil, err
		}
	}
	ranks, err := eval.Ranks(ctx, r, p.all(), p.labels, eval.Options{Tape: x.tape})
	if err != nil && ctx.Err() != nil { // whatever cause the context gives
		err = fmt.Errorf("%w: %w", run.ErrInterrupted, err)
	}
	if err != nil {
		return nil, fmt.Errorf("rank %s samples, noise %s: %w", p.name, mode, err)
	}
	return ranks, nil
}
