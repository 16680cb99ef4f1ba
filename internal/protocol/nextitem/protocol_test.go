package nextitem

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"privrec/internal/autograd"
	"privrec/internal/dataset"
	"privrec/internal/metrics"
	"privrec/internal/nn"
	"privrec/internal/train"
)

// spyNet notes whose sessions and whose vectors a network is given.
type spyNet struct {
	item *autograd.Param
	see  func(training bool, session, users []int32)
}

func (s spyNet) Items() *autograd.Param    { return s.item }
func (s spyNet) Params() []*autograd.Param { return []*autograd.Param{s.item} }

func (s spyNet) Forward(t *autograd.Tape, b *Step) (*autograd.Node, error) {
	s.see(!t.NoGrad, b.Graph.User, b.Users)
	return t.Rows(s.item, make([]int32, b.Graph.Len())), nil
}

// With misalign_users the i-th training sample of every epoch gets the features
// of the user of the i-th sample in the unshuffled order, as the published
// program's shuffle of sequences and labels alone has it. Without it, and in
// every evaluation, a sample has its own user's.
func TestMisalignedUsers(t *testing.T) {
	for _, misaligned := range []bool{true, false} {
		c := small()
		c.Fit.L2, c.Fit.Refit = 0, false
		inRun(t, c, func(ctx context.Context, x *Experiment) error {
			n, slot, foreign, evaluated := x.Train.Samples.Len(), 0, 0, 0
			net := spyNet{nn.NewParam("item", x.Items+1, 1, nn.Zeros), func(training bool, session, users []int32) {
				for i, u := range session {
					want := u
					if training {
						if misaligned {
							want = x.Train.Samples.User[slot%n]
						}
						slot++
					} else {
						evaluated++
					}
					if users[i] != want {
						t.Errorf("misalign_users %v, slot %d, of user %d, training %v: vector of %v, want %d", misaligned, slot, u, training, users[i], want)
					}
					if want != u {
						foreign++
					}
				}
			}}
			x.New = func(q *Part) (Learner, error) {
				return &Sessions{Net: net, Part: q, Batch: c.Fit.Batch, Misaligned: misaligned}, nil
			}
			fitted, err := x.fit(ctx)
			if err != nil {
				return err
			}
			if _, err = x.measure(ctx, fitted); err != nil {
				return err
			}
			epochs := c.Fit.Epochs
			if want := epochs*x.Valid.Samples.Len() + (epochs+1)*x.Test.Samples.Len(); slot != n*epochs || evaluated != want {
				t.Errorf("%d training samples and %d evaluated ones, want %d and %d", slot, evaluated, n*epochs, want)
			}
			if misaligned != (foreign > n/2) {
				t.Errorf("misalign_users %v: %d of %d training samples got another user's vector", misaligned, foreign, n)
			}
			return nil
		})
	}
}

// The slot of a sample does not depend on where a resumed epoch begins: it comes
// from the step alone, also in the last, shorter batch of an epoch.
// A window is one sample with its last row as the label, and with the vector of the user whose rows it has.
func TestWindows(t *testing.T) {
	c := small()
	c.Window, c.Fit.Validation, c.Fit.Refit, c.Fit.Patience, c.Fit.Select = 4, 0, false, 0, SelectLast
	inRun(t, c, func(_ context.Context, x *Experiment) error {
		seen := 0
		net := spyNet{nn.NewParam("item", x.Items+1, 1, nn.Zeros), func(_ bool, session, users []int32) {
			for i, w := range session {
				seen++
				window, own := x.Train.Sequences[w], x.Data.Train[users[i]]
				if !slices.ContainsFunc(slices.Collect(slices.Chunk(own, 4)), func(c []int32) bool { return slices.Equal(c, window) }) {
					t.Errorf("window %v of user %d, whose rows are %v", window, users[i], own)
				}
			}
		}}
		s := &Sessions{Net: net, Part: x.Train, Batch: 10}
		l, err := s.Lessons(0)
		if err != nil {
			return err
		}
		if _, err := l.Model.Loss(autograd.NewTape(), train.Batch{Samples: x.Train.All()}); err != nil {
			return err
		}
		if windows, _ := dataset.Windows(x.Data.Train, 4); seen != len(windows) || x.Train.Samples.Len() != len(windows) || seen <= len(x.Data.Train) {
			t.Errorf("%d windows seen, %d samples, want %d", seen, x.Train.Samples.Len(), len(windows))
		}
		for i := range x.Train.Samples.Len() {
			if w := x.Train.Sequences[i]; len(x.Train.Prefix(int32(i))) != len(w)-1 || x.Train.Labels[i] != w[len(w)-1]-1 {
				t.Errorf("sample %d of window %v", i, w)
			}
		}
		return nil
	})
}

// Nodes by position are as many as the prefix is long, in its order, whatever items they have; labels are items.
func TestByPosition(t *testing.T) {
	c := small()
	c.ByPosition, c.Fit.Validation, c.Fit.Refit, c.Fit.Patience, c.Fit.Select = true, 0, false, 0, SelectLast
	inRun(t, c, func(_ context.Context, x *Experiment) error {
		last := x.whole()
		for _, p := range []*Part{x.Train, x.Test, last, x.Train.with("some", x.Train.Samples)} {
			m, err := (&Sessions{Net: spyNet{nn.NewParam("item", x.Items+1, 1, nn.Zeros),
				func(bool, []int32, []int32) {}}, Part: p, Batch: 10}).On(p, 0, false)
			if err != nil {
				return err
			}
			if _, err := m.forward(autograd.NewTape(), 0, p.All(), nil); err != nil {
				return err
			}
			g := m.Packed
			for b := range g.Len() {
				from, to := g.NodeOff[b], g.NodeOff[b+1]
				if int(to-from) != len(p.Prefix(int32(b))) || g.Label[b] != p.Labels[b]+1 || g.Last[b] != to-1 {
					t.Fatalf("%s, sample %d: %d nodes, last %d, label %d", p.Name, b, to-from, g.Last[b]-from, g.Label[b])
				}
				for i := from; i < to; i++ {
					if g.Node[i] != i-from+1 || g.Count[i] != 1 {
						t.Fatalf("%s, sample %d: node %d is %d", p.Name, b, i-from, g.Node[i])
					}
				}
			}
		}
		return nil
	})
}

func TestSlots(t *testing.T) {
	r := &OnSessions{Part: &Part{Samples: dataset.Samples{User: make([]int32, 7), Length: make([]int32, 7)}},
		batch: 3, userOf: func(slot int) int32 { return int32(slot) }}
	for step, want := range [][]int32{{0, 1, 2}, {3, 4, 5}, {6}, {0, 1, 2}, {3, 4, 5}, {6}} {
		if got := fmt.Sprint(r.trainUsers(train.Batch{Epoch: step / 3, Step: step, Samples: make([]int32, len(want))})); got != fmt.Sprint(want) {
			t.Errorf("step %d: slots %s, want %v", step, got, want)
		}
	}
}

// Phantom candidates: items that the filters leave but training lacks are ranked
// under "ten-core" and lengthen the floors; under "train" they do not exist.
func TestCandidates(t *testing.T) {
	for _, candidates := range []string{CandidatesTrain, CandidatesTenCore} {
		c := small()
		c.From.Candidates = candidates
		inRun(t, c, func(ctx context.Context, x *Experiment) error {
			want := x.Data.Items
			if candidates == CandidatesTenCore {
				want = max(x.Data.Items, x.Data.CandidatesCore)
			}
			if candidates == CandidatesTenCore && want <= x.Data.Items {
				t.Fatal("the data have no phantom candidate, so nothing is tested")
			}
			if x.Items != want || len(x.counts()) != want {
				t.Errorf("%s: %d candidates, %d counts, want %d", candidates, x.Items, len(x.counts()), want)
			}
			return nil
		})
	}
	// Two items of six are in the test part alone.
	x := &Experiment{Items: 6, Data: &dataset.Sequential{Items: 4, Train: [][]int32{{1, 2, 3, 4, 1}}}}
	r := &OnSessions{net: spyNet{item: nn.NewParam("item", x.Items+1, 1, nn.Zeros)}}
	if r.Items() != 6 {
		t.Errorf("%d items are ranked, want 6", r.Items())
	}
	if got := fmt.Sprint(x.counts()); got != "[2 1 1 1 0 0]" {
		t.Errorf("counts %s", got)
	}
}

// history is a hand-made run of three epochs whose best epochs differ between
// validation, and test by metric.
func history() []train.EpochRecord {
	epoch := func(e int, valid, recall, mrr float64) train.EpochRecord {
		return train.EpochRecord{Epoch: e, Scores: []train.Score{
			{Name: "valid Recall@20", Value: valid}, {Name: "valid MRR@20", Value: 1 - valid},
			{Name: "test Recall@20", Value: recall}, {Name: "test MRR@20", Value: mrr},
		}}
	}
	return []train.EpochRecord{epoch(0, 0.2, 0.1, 0.09), epoch(1, 0.3, 0.4, 0.02), epoch(2, 0.1, 0.2, 0.05)}
}

func TestSelectionFromHistory(t *testing.T) {
	for _, c := range []struct {
		rule       string
		validation float64
		selected   int
	}{{SelectValidation, 0.1, 2}, {SelectLast, 0.1, 3}, {SelectTest, 0, 3}} {
		set := small()
		set.Fit.Select, set.Fit.Refit, set.Fit.Validation, set.Eval.K = c.rule, false, c.validation, []int{20}
		inRun(t, set, func(ctx context.Context, x *Experiment) error {
			o, err := measured(ctx, x, history())
			if err != nil {
				return err
			}
			if o.Selected != c.selected || len(o.Evaluations) != 2 {
				t.Fatalf("%s: epoch %d selected, %d evaluations", c.rule, o.Selected, len(o.Evaluations))
			}
			for i, want := range []string{fmt.Sprint("GRU4Rec, epoch ", c.selected), "best epoch on test, by metric"} {
				if got := o.Evaluations[i].Name; !strings.Contains(got, want) {
					t.Errorf("%s: evaluation %q, want %q", c.rule, got, want)
				}
			}
			best := o.Evaluations[len(o.Evaluations)-1].Values
			if best["Recall@20"] != 0.4 || best["MRR@20"] != 0.09 {
				t.Errorf("%s: best on test %v, want 0.4 and 0.09, each from its own epoch", c.rule, best)
			}
			return nil
		})
	}
}

// The floors are those of the metrics package for the same labels and counts,
// counted here again.
func TestFloors(t *testing.T) {
	inRun(t, small(), func(ctx context.Context, x *Experiment) error {
		o, err := measured(ctx, x, history())
		if err != nil {
			return err
		}
		counts := make([]int64, x.Data.Items)
		for _, seq := range x.Data.Train {
			for _, item := range seq {
				counts[item-1]++
			}
		}
		var labels []int32
		for _, seq := range x.Data.Test {
			for l := 1; l < len(seq); l++ {
				labels = append(labels, seq[l]-1)
			}
		}
		ranks, err := metrics.PopularityRanks(counts, labels)
		if err != nil {
			return err
		}
		ms := metrics.Grid([]metrics.Kind{metrics.Recall, metrics.MRR}, []int{5, 10, 20})
		for i, want := range [][]metrics.Value{metrics.RandomFloor(ms, x.Data.Items), metrics.Summary(ms, ranks)} {
			floor := o.Floors[i]
			if len(floor.Values) != len(ms) || floor.Name != []string{"random", "popularity"}[i] || floor.Paper != nil {
				t.Errorf("floor %d is %+v", i, floor)
			}
			for _, v := range want {
				if floor.Values[v.Metric.String()] != v.Value {
					t.Errorf("%s: %v is %v, want %v", floor.Name, v.Metric, floor.Values[v.Metric.String()], v.Value)
				}
			}
		}
		return nil
	})
}

// Printed numbers stand beside a setting as its profile has it, trained as long as that
// states, and beside nothing else.
func TestPrintedBesideOurs(t *testing.T) {
	table := func(method, data string) map[string]float64 {
		if method+data == "GRU4Recml-1m" {
			return map[string]float64{"Recall@5": 0.25}
		}
		return nil
	}
	for _, c := range []struct {
		method, data string
		profile      bool
		short        string
		table        func(method, data string) map[string]float64
		want         bool
	}{
		{"GRU4Rec", "ml-1m", true, "", table, true},
		{"GRU4Rec", "ml-1m", true, "", nil, false},
		{"SRGNN", "ml-1m", true, "", table, false},
		{"GRU4Rec", "standin-tiny", true, "", table, false},
		{"GRU4Rec", "ml-1m", false, "", table, false},
		{"GRU4Rec", "ml-1m", true, "trained for 1 of the 10 epochs stated", table, false},
	} {
		x := &Experiment{Setting: small(), Data: &dataset.Sequential{Name: c.data}}
		x.Method, x.Table, x.Standing.Printed = c.method, Table{Row: c.table, From: "table 2"}, c.profile
		s := x.ours(c.short, "row", NoiseOff, nil)
		if (s.Paper != nil) != c.want || (s.Printed == "table 2") != c.want {
			t.Errorf("%s on %s: %+v", c.method, c.data, s)
		}
	}
}

// The passes of a run have numbers of their own, and names for the periods of a ledger.
func TestPasses(t *testing.T) {
	p := Passes{Epochs: 3}
	all := []Pass{p.Epoch(0), p.Epoch(2), p.Again(0), p.Again(2), p.Final(0), p.Final(1), p.Rehearsal()}
	if !slices.Equal(all, []Pass{0, 2, 3, 5, 6, 7, 1 << 30}) {
		t.Errorf("passes %v", all)
	}
	for i, want := range []string{"epoch 1", "epoch 3", "refit, epoch 1", "refit, epoch 3", "final evaluation", "final evaluation", "final evaluation"} {
		if got := p.Name(all[i]); got != want {
			t.Errorf("pass %d is %q, want %q", all[i], got, want)
		}
	}
}
