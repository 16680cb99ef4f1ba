package nextitem

import (
	"fmt"

	"privrec/internal/dataset"
	"privrec/internal/eval"
	"privrec/internal/experiment"
	"privrec/internal/metrics"
	"privrec/internal/report"
	"privrec/internal/run"
)

// prefixes is the cut of DIPSGNN, section 5.1: every prefix of a sequence is a sample.
type prefixes struct{}

func (prefixes) divide(x *Experiment) (err error) {
	d := x.Data
	sequences, all := d.Train, dataset.Prefixes(d.Train)
	var owner []int32
	if x.Window > 0 {
		sequences, owner = dataset.Windows(d.Train, x.Window)
		all = dataset.Whole(sequences)
	}
	if all, err = x.sampled(all); err != nil {
		return err
	}
	samples, held, err := x.holdOut(all, sequences, owner)
	if err != nil {
		return err
	}
	x.Train = NewPart("train", sequences, samples, x.Items)
	x.Train.Owner = owner
	if held.Len() > 0 {
		x.Valid = x.Train.with("valid", held)
	}
	if x.Fit.Refit {
		x.Refit = x.Train.with("refit", all)
	}
	x.Test = NewPart("test", d.Test, dataset.Prefixes(d.Test), x.Items)
	if x.ByPosition {
		x.Train.byPosition()
		x.Test.byPosition()
	}
	return nil
}

// sampled returns the training samples that the run uses. The choice of a sample depends on the seed, the name of its
// user and its place, and on no other sample. So data that differ in one user or one interaction use the same samples
// of all others. The account counts the used samples.
func (x *Experiment) sampled(all dataset.Samples) (dataset.Samples, error) {
	chance := x.Fit.Sample
	if chance == 0 {
		return all, nil
	}
	if x.Window > 0 {
		return all, &run.UsageError{Message: "train.sample: windows are used whole",
			Fix: "leave train.sample out, or the windows"}
	}
	draws := x.Env.Seed.Stream("nextitem.sample")
	some := all.Where(func(user, length int32) bool {
		s := draws.Of(x.Data.UserIDs[user]).Sub(uint64(length))
		return s.Float64() < chance
	})
	if some.Len() == 0 {
		return some, &run.UsageError{Message: fmt.Sprintf(
			"train.sample: a chance of %v leaves none of the %d training samples of %s", chance, all.Len(),
			x.Data.Name),
			Fix: "raise train.sample, or leave it out to use all"}
	}
	return some, nil
}

// holdOut divides the training samples of sequences into those to learn and those for validation. owner holds the user
// of each sequence; nil: sequence u belongs to user u.
func (x *Experiment) holdOut(all dataset.Samples, sequences [][]int32,
	owner []int32) (samples, held dataset.Samples, err error) {
	share := x.Fit.Validation
	if share == 0 {
		return all, held, nil
	}
	hold := all.HoldOutSamples
	if x.Fit.ValidationSplit == SplitUser {
		hold = all.HoldOutUsers
	}
	of := dataset.Owners{
		User: func(i int) string {
			u := all.User[i]
			if owner != nil {
				u = owner[u]
			}
			return x.Data.UserIDs[u]
		},
		Item: func(i int) string {
			_, target := all.At(sequences, i)
			return x.Data.ItemIDs[target]
		},
	}
	if samples, held, err = hold(share, of, x.Env.Seed.Stream("dipsgnn.validation")); err != nil {
		return samples, held, err
	}
	if held.Len() == 0 || samples.Len() == 0 {
		return samples, held, &run.UsageError{Message: fmt.Sprintf(
			"train.validation: a share of %v holds out %d of the %d training samples of %s",
			share, held.Len(), all.Len(), x.Data.Name), Fix: "0.1 is the paper's share; 0 holds out none"}
	}
	return samples, held, nil
}

// measures implements cut. The metrics are those of DIPSGNN's Table 2.
func (prefixes) measures() ([]metrics.Kind, metrics.Metric, bool) {
	return []metrics.Kind{metrics.Recall, metrics.MRR}, metrics.Metric{Kind: metrics.Recall, K: 20}, true
}

func (prefixes) random(x *Experiment, ms []metrics.Metric) []metrics.Value {
	return metrics.RandomFloor(ms, x.Items)
}

func (prefixes) describe(x *Experiment, o *Outcome) {
	c := &PrefixCounts{Candidates: x.Items, TrainSamples: x.learned().Samples.Len(), TestSamples: x.Test.Samples.Len()}
	if x.Valid != nil {
		c.ValidSamples = x.Valid.Samples.Len()
	}
	o.Data.PrefixCounts = c
}

// perUser implements cut: it writes each user's mean scores over their samples.
func (prefixes) perUser(x *Experiment, mode string, ms []metrics.Metric, ranks []int32) error {
	var columns []run.Column
	for _, m := range ms {
		users, err := eval.PerUser(m.Each(ranks), x.Test.Samples.User, x.Data.Users)
		if err != nil {
			return err
		}
		ids, samples, means := make([]string, len(users)), make([]int64, len(users)), make([]float64, len(users))
		for i, u := range users {
			ids[i], samples[i], means[i] = x.Data.UserIDs[u.User], int64(u.Samples), u.Score
		}
		if columns == nil {
			columns = []run.Column{{Name: "user_id", Values: ids}, {Name: "samples", Values: samples}}
		}
		columns = append(columns, run.Column{Name: m.String(), Values: means})
	}
	return x.Env.WriteScores("scores-noise-"+mode, columns...)
}

func (prefixes) document(x *Experiment, o *Outcome) *report.Document {
	d := &report.Document{
		Subtitle: fmt.Sprintf("%s; seed %d, %d candidates, %d test samples", o.Setting, uint64(x.Env.Seed), x.Items,
			x.Test.Samples.Len()),
	}
	if x.Fit.Epochs > 0 {
		d.Figures = experiment.Curves(o.Method, "mean cross-entropy (nats)", o.Epochs)
	}
	return d
}

func (prefixes) history(x *Experiment, u int) []int32 { return x.Data.Train[u] }

func (prefixes) recommended(x *Experiment) (setting string, notes []string) {
	return x.Standing.Text, []string{"items that the user has are not left out, as in the paper's protocol"}
}

func (prefixes) again(x *Experiment, _ *experiment.Outcome[experiment.Data], mode string,
	values []metrics.Value) experiment.Scores {
	return experiment.NewScores(fmt.Sprintf("%s, noise %s", x.Method, mode), mode, values)
}
