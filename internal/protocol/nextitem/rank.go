package nextitem

import (
	"context"
	"fmt"
	"slices"

	"privrec/internal/eval"
	"privrec/internal/metrics"
	"privrec/internal/run"
	"privrec/internal/train"
)

// Names of the two families of scores that validation returns.
const (
	onValid = "valid "
	onTest  = "test "
)

// validate scores the held-out samples, the test samples, or both, under the
// first of the evaluations to be reported.
func (x *Experiment) validate(ctx context.Context, pass Pass, held, test bool) ([]train.Score, error) {
	var scores []train.Score
	for _, v := range []struct {
		prefix string
		part   *Part
		want   bool
	}{{onValid, x.Valid, held}, {onTest, x.Test, test}} {
		if !v.want {
			continue
		}
		ranks, err := x.rank(ctx, v.part, x.Modes[0], pass)
		if err != nil {
			return nil, err
		}
		ms := x.metrics()
		if v.prefix == onValid && x.Fit.Select == SelectValidation && !slices.Contains(ms, primary) {
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
func (x *Experiment) rank(ctx context.Context, p *Part, mode string, pass Pass) ([]int32, error) {
	s, err := x.model.Scorer(p, pass, mode == NoiseOn)
	if err != nil {
		return nil, err
	}
	ranks, err := eval.Ranks(ctx, s, p.All(), p.Labels, eval.Options{Tape: x.tape})
	if err := run.Interrupted(ctx, err); err != nil {
		return nil, fmt.Errorf("rank %s samples, noise %s: %w", p.Name, mode, err)
	}
	return ranks, nil
}

// counts is how often each item occurs in the training sequences.
func (x *Experiment) counts() []int64 {
	n := make([]int64, x.Items)
	for _, seq := range x.Data.Train {
		for _, item := range seq {
			n[item-1]++
		}
	}
	return n
}
