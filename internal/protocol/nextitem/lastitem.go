package nextitem

import (
	"fmt"
	"slices"

	"privrec/internal/dataset"
	"privrec/internal/dataset/registry"
	"privrec/internal/experiment"
	"privrec/internal/metrics"
	"privrec/internal/report"
	"privrec/internal/run"
)

// lastItem is the leave-one-out cut: a user's last item is for testing, and the one before it for validation, where the
// data are split so. Held-out items that no training row has count as misses of every ranking.
type lastItem struct{}

func (lastItem) divide(x *Experiment) error {
	d := x.Data
	x.Train = NewPart("train", d.Train, dataset.Prefixes(d.Train), x.Items)
	x.Valid = x.heldOut("valid", dataset.RungValid, d.Train, d.Valid)
	before := d.Train
	if d.Valid != nil {
		before = make([][]int32, len(d.Train))
		for u := range before {
			before[u] = slices.Concat(d.Train[u], d.Valid[u])
		}
	}
	x.Test = x.heldOut("test", dataset.RungTest, before, d.Test)
	if x.Valid.Samples.Len() == 0 {
		e := &dataset.Error{File: d.Name, Msg: "no user has the three items that training, validation and testing take"}
		if d.Valid == nil {
			e.Msg = fmt.Sprintf("recipe %q holds out no validation row", d.Recipe)
			e.Hint = "take a recipe that holds out a user's last row and the one before it"
			if registry.IsOwn(d.Name) {
				e.Hint += ", such as " + registry.OwnLeaveOneOut
			}
		}
		return e
	}
	return nil
}

// heldOut makes a part with one sample for each user who has an item on one side of the split.
// The sample's prefix is the items before that item.
func (x *Experiment) heldOut(name, rung string, before, side [][]int32) *Part {
	sequences := make([][]int32, len(before))
	var all dataset.Samples
	for u, items := range side {
		if len(items) > 0 {
			sequences[u] = append(slices.Clip(before[u]), items[0])
			all.User, all.Length = append(all.User, int32(u)), append(all.Length, int32(len(before[u])))
		}
	}
	p := NewPart(name, sequences, all, x.Items)
	if held, ok := x.Data.Ladder.Get(rung); ok {
		p.Unknown = held.Rows - all.Len()
	}
	return p
}

// measures implements cut. The metrics are those of SASRec's reproductions.
func (lastItem) measures() ([]metrics.Kind, metrics.Metric, bool) {
	return []metrics.Kind{metrics.HR, metrics.NDCG, metrics.MRR}, metrics.Metric{Kind: metrics.NDCG, K: 10}, false
}

func (lastItem) random(x *Experiment, ms []metrics.Metric) []metrics.Value {
	values := make([]metrics.Value, len(ms))
	n := x.Test.Samples.Len() + x.Test.Unknown
	for i, m := range ms {
		sum := 0.0
		for _, k := range x.Test.All() {
			sum += m.Random(x.Items-len(x.seen(x.Test, k)), 1)
		}
		values[i] = metrics.Value{Metric: m, Value: sum / float64(n), Count: n}
	}
	return values
}

func (lastItem) describe(x *Experiment, o *Outcome) {
	o.Ranking = "all items, those of the user's history included"
	if x.Masked {
		o.Ranking = "all items but those of the user's history; an item that comes again is ranked all the same"
	}
	learned := 0
	for _, items := range x.Data.Train {
		if len(items) > 1 {
			learned++
		}
	}
	o.Data.LastItemCounts = &LastItemCounts{
		Items: x.Items, Learned: learned, ValidRows: x.Valid.Samples.Len() + x.Valid.Unknown,
		TestRows: x.Test.Samples.Len() + x.Test.Unknown,
		Unknown:  [2]int{x.Valid.Unknown, x.Test.Unknown},
	}
}

func (lastItem) perUser(x *Experiment, _ string, ms []metrics.Metric, ranks []int32) error {
	ids := x.users(x.Test)
	columns := []run.Column{{Name: "user_id", Values: ids}, {Name: "rank", Values: ranks[:len(ids)]}}
	for _, m := range ms {
		columns = append(columns, run.Column{Name: m.String(), Values: m.Each(ranks[:len(ids)])})
	}
	return x.Env.WriteScores("scores", columns...)
}

func (c lastItem) document(x *Experiment, o *Outcome) *report.Document {
	ended := "all run"
	if o.Stopped {
		ended = "stopped early"
	}
	_, primary, _ := c.measures()
	return &report.Document{
		Subtitle: fmt.Sprintf("%s; seed %d, %d items, %d test items", o.Setting, uint64(x.Env.Seed), o.Data.Items,
			o.Data.TestRows),
		Facts: []report.Fact{
			{Label: "epochs", Value: fmt.Sprintf("%d of at most %d, %s", len(o.Epochs), x.Fit.Epochs, ended),
				Note: fmt.Sprintf("that of epoch %d is reported, the best by %v on the validation items", o.Selected,
					primary)},
			{Label: "out of reach", Value: fmt.Sprintf("%d of %d test items", o.Data.Unknown[1], o.Data.TestRows),
				Note: "no training row has them: misses"},
		},
		Figures: experiment.Curves(o.Method, "mean over steps (nats)", o.Epochs),
	}
}

// history implements cut: all items that the data have of a user, held-out ones included.
func (lastItem) history(x *Experiment, u int) []int32 {
	h := x.Data.Train[u]
	for _, side := range [][][]int32{x.Data.Valid, x.Data.Test} {
		if side != nil {
			h = slices.Concat(h, side[u])
		}
	}
	return h
}

func (lastItem) recommended(x *Experiment) (setting string, notes []string) {
	if x.Masked {
		notes = []string{"items of the user's history are left out; anyone who sees the list can guess them from " +
			"what is missing"}
	}
	return "", notes
}

func (lastItem) again(x *Experiment, was *experiment.Outcome[experiment.Data], _ string,
	values []metrics.Value) experiment.Scores {
	name := x.Method
	if len(was.Evaluations) > 0 {
		name = was.Evaluations[0].Name
	}
	return x.ours(was.Short, name, "", values)
}
