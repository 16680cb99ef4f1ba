package nextitem

import (
	"context"
	"fmt"
	"math"
	"slices"

	"privrec/internal/eval"
	"privrec/internal/experiment"
	"privrec/internal/metrics"
	"privrec/internal/run"
	"privrec/internal/tensor"
)

// metrics returns the metrics of the cut at the configured cutoffs.
func (x *Experiment) metrics() []metrics.Metric {
	kinds, _, _ := x.cut.measures()
	return metrics.Grid(kinds, x.Eval.K)
}

// scoreEpoch scores the held-out or the test samples by the first of the evaluations that are reported.
func (x *Experiment) scoreEpoch(ctx context.Context, t experiment.Training, epoch int,
	test bool) ([]metrics.Value, error) {
	p, ms := x.Valid, x.metrics()
	if test {
		p = x.Test
	} else if _, m, _ := x.cut.measures(); x.Fit.Select == SelectValidation && !slices.Contains(ms, m) {
		ms = append(ms, m)
	}
	ranks, err := x.rank(ctx, p, x.Modes[0], x.pass(t, epoch))
	if err != nil {
		return nil, err
	}
	return metrics.Summary(ms, ranks), nil
}

// rank returns the rank of every sample's label among the candidates. Labels that training
// does not know follow, with a rank beyond any cutoff.
func (x *Experiment) rank(ctx context.Context, p *Part, mode string, pass Pass) ([]int32, error) {
	s, err := x.Model.Scorer(p, pass, mode == NoiseOn)
	if err != nil {
		return nil, err
	}
	ranks, err := x.rankBy(ctx, s, p)
	if err != nil {
		return nil, fmt.Errorf("rank %s samples, noise %s: %w", p.Name, mode, err)
	}
	return ranks, nil
}

func (x *Experiment) rankBy(ctx context.Context, s eval.Scorer, p *Part) ([]int32, error) {
	ranks, err := eval.Ranks(ctx, s, p.All(), p.Labels, x.candidates(p))
	if err := run.Interrupted(ctx, err); err != nil {
		return nil, err
	}
	for range p.Unknown {
		ranks = append(ranks, math.MaxInt32)
	}
	return ranks, nil
}

// candidates returns the options of a ranking of all items, except those that a sample has
// seen where the setting masks them.
func (x *Experiment) candidates(p *Part) eval.Options {
	o := eval.Options{Tape: x.tape}
	if x.Masked {
		o.Exclude = func(sample int32) []int32 { return x.seen(p, sample) }
	}
	return o
}

// seen lists the items that are no candidates of a sample, as ascending indices: the items of its prefix, but never the
// label. Nil if the setting masks nothing.
func (x *Experiment) seen(p *Part, sample int32) []int32 {
	if !x.Masked {
		return nil
	}
	var out []int32
	for _, item := range p.Prefix(sample) {
		if item-1 != p.Labels[sample] {
			out = append(out, item-1)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// counts returns how often each item occurs in the training sequences.
func (x *Experiment) counts() []int64 {
	n := make([]int64, x.Items)
	for _, seq := range x.Data.Train {
		for _, item := range seq {
			n[item-1]++
		}
	}
	return n
}

// popular ranks by how often each item occurs in training.
func (x *Experiment) popular(ctx context.Context) ([]int32, error) {
	if !x.Masked && x.Test.Unknown == 0 {
		return metrics.PopularityRanks(x.counts(), x.Test.Labels)
	}
	var by eval.Same
	for _, n := range x.counts() {
		by = append(by, tensor.Float(n))
	}
	return x.rankBy(ctx, by, x.Test)
}
