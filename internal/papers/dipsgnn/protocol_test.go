package dipsgnn

import (
	"bufio"
	"context"
	"fmt"
	"math"
	"os"
	"strconv"
	"strings"
	"testing"

	"privrec/internal/autograd"
	"privrec/internal/dataset"
	"privrec/internal/metrics"
	"privrec/internal/nn"
	"privrec/internal/report"
	"privrec/internal/run"
	"privrec/internal/tensor"
	"privrec/internal/train"
)

// numbered is a user input whose vector is the user's number. The table is 1;
// its gradient is zero where a network ignores the vector.
func numbered(users int) *userInput {
	u := newUserInput(tensor.New(users, 1), users, 1, nn.Zeros)
	u.table.Value.Data[0] = 1
	for i := range users {
		u.features.Data[i] = tensor.Float(i)
	}
	return u
}

// spyNet notes whose sessions and whose vectors a network is given.
type spyNet struct {
	item *autograd.Param
	see  func(training bool, session []int32, vector []float64)
}

func (s spyNet) Items() *autograd.Param    { return s.item }
func (s spyNet) Params() []*autograd.Param { return []*autograd.Param{s.item} }

func (s spyNet) Forward(t *autograd.Tape, b batch) *autograd.Node {
	var vectors []float64
	for i := range b.user.Rows() {
		vectors = append(vectors, float64(b.user.V.Data[i]))
	}
	s.see(!t.NoGrad, b.graph.User, vectors)
	return t.Rows(s.item, make([]int32, b.graph.Len()))
}

// With misalign_users the i-th training sample of every epoch gets the features
// of the user of the i-th sample in the unshuffled order, as the released
// program's shuffle of sequences and labels alone has it. Without it, and in
// every evaluation, a sample has its own user's.
func TestMisalignedUsers(t *testing.T) {
	for _, misaligned := range []bool{true, false} {
		sets := []string{fmt.Sprint("train.misalign_users=", misaligned), `eval.noise=["off"]`, "train.l2=0", "train.refit=false"}
		inRun(t, sets, func(ctx context.Context, env *run.Env, c Config, x *experiment) error {
			declared(t, env)
			n, slot, foreign, evaluated := x.train.samples.Len(), 0, 0, 0
			x.user = numbered(x.data.Users)
			x.net = spyNet{nn.NewParam("item", x.items+1, 1, nn.Zeros), func(training bool, session []int32, vector []float64) {
				for i, u := range session {
					want := u
					if training {
						if misaligned {
							want = x.train.samples.User[slot%n]
						}
						slot++
					} else {
						evaluated++
					}
					if vector[i] != float64(want) {
						t.Errorf("misalign_users %v, slot %d, of user %d, training %v: vector of %v, want %d", misaligned, slot, u, training, vector[i], want)
					}
					if want != u {
						foreign++
					}
				}
			}}
			fitted, err := x.fit(ctx)
			if err != nil {
				return err
			}
			if _, err = x.measure(ctx, fitted); err != nil {
				return err
			}
			epochs := c.Train.Epochs
			if want := epochs*x.valid.samples.Len() + (epochs+1)*x.test.samples.Len(); slot != n*epochs || evaluated != want {
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
func TestSlots(t *testing.T) {
	r := &recommender{part: &part{samples: dataset.Samples{User: make([]int32, 7), Length: make([]int32, 7)}}, batch: 3, userOf: func(slot int) int32 { return int32(slot) }}
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
		inRun(t, []string{"data.candidates=" + candidates}, func(ctx context.Context, env *run.Env, c Config, x *experiment) error {
			want := x.data.Items
			if candidates == CandidatesTenCore {
				want = max(x.data.Items, x.data.CandidatesCore)
			}
			if candidates == CandidatesTenCore && want <= x.data.Items {
				t.Fatal("the data have no phantom candidate, so nothing is tested")
			}
			if x.items != want || len(x.counts()) != want {
				t.Errorf("%s: %d candidates, %d counts, want %d", candidates, x.items, len(x.counts()), want)
			}
			return nil
		})
	}
	// Two items of six are in the test part alone.
	x := &experiment{items: 6, data: &dataset.Sequential{Items: 4, Train: [][]int32{{1, 2, 3, 4, 1}}}}
	r := &recommender{net: noisy{NewNetwork(x.items, Default().Model, nn.Zeros)}}
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
		rule     string
		sets     []string
		selected int
		rows     []string // parts of the names of the evaluations
	}{
		{SelectValidation, nil, 2, []string{"DIPSGNN, epoch 2", "best epoch on test, by metric"}},
		{SelectLast, nil, 3, []string{"DIPSGNN, epoch 3", "best epoch on test, by metric"}},
		{SelectTest, []string{"train.validation=0"}, 3, []string{"DIPSGNN, epoch 3", "best epoch on test, by metric"}},
	} {
		sets := append([]string{"train.select=" + c.rule, "train.refit=false", `eval.noise=["off"]`, "eval.k=[20]"}, c.sets...)
		inRun(t, sets, func(ctx context.Context, env *run.Env, cfg Config, x *experiment) error {
			declared(t, env)
			x.user = newUserInput(tensor.Matrix{}, x.data.Users, cfg.Model.UserDim, x.init())
			x.net = noisy{NewNetwork(x.items, cfg.Model, x.init())}
			o, err := x.measure(ctx, &fitted{Result: &train.Result{Epochs: history(), Best: 1}})
			if err != nil {
				return err
			}
			if o.Selected != c.selected || len(o.Evaluations) != len(c.rows) {
				t.Fatalf("%s: epoch %d selected, %d evaluations", c.rule, o.Selected, len(o.Evaluations))
			}
			for i, e := range o.Evaluations {
				if !strings.Contains(e.Name, c.rows[i]) {
					t.Errorf("%s: evaluation %q, want %q", c.rule, e.Name, c.rows[i])
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

// What is reported is the model of the selected epoch: without noise its final
// evaluation repeats what the test set gave after that epoch, to the last bit.
func TestSelectedModelIsReported(t *testing.T) {
	for _, c := range []struct{ rule, validation, refit string }{
		{SelectValidation, "0.1", "true"}, {SelectValidation, "0.1", "false"}, {SelectLast, "0.1", "false"}, {SelectTest, "0", "false"},
	} {
		sets := []string{
			"train.epochs=4", "train.patience=0", "train.rate=3", "train.decay_by=1", "train.select=" + c.rule, "train.validation=" + c.validation,
			`eval.noise=["off"]`, "privacy.transitions.epsilon=.inf", "privacy.features.epsilon=.inf", "train.refit=" + c.refit,
		}
		var o Outcome
		if c.rule == SelectValidation {
			o, _ = eventful(t, sets)
		} else {
			dir := t.TempDir() + "/run"
			start(t, task(t, "dipsgnn"), dir, sets)
			o = readJSON[Outcome](t, dir, "metrics.json")
		}
		of := func(e train.EpochRecord, name string) float64 {
			for _, s := range e.Scores {
				if s.Name == name {
					return s.Value
				}
			}
			t.Fatalf("epoch %d has no %s", e.Epoch, name)
			return 0
		}
		what := fmt.Sprintf("%s, refit %s", c.rule, c.refit)
		best, top := 3, -1.0
		chosen := o.Epochs // by validation, in the first training
		if len(o.Selection) > 0 {
			chosen = o.Selection
		}
		if c.rule == SelectValidation {
			for _, e := range chosen {
				if v := of(e, "valid Recall@20"); v > top {
					best, top = e.Epoch, v
				}
			}
		}
		if o.Selected != best+1 || c.refit == "true" && len(o.Epochs) != best+1 {
			t.Errorf("%s: epoch %d selected of %d, want %d", what, o.Selected, len(o.Epochs), best+1)
		}
		for _, m := range o.Metrics {
			if got, want := o.Evaluations[0].Values[m.String()], of(o.Epochs[best], "test "+m.String()); got != want {
				t.Errorf("%s: %v is %v in the result and %v after the epoch", what, m, got, want)
			}
			top := 0.0
			for _, e := range o.Epochs {
				top = max(top, of(e, "test "+m.String()))
			}
			if got := o.Evaluations[1].Values[m.String()]; got != top {
				t.Errorf("%s: the best %v on test is %v, want %v", what, m, got, top)
			}
		}
	}
}

// The floors are those of the metrics package for the same labels and counts,
// counted here again.
func TestFloors(t *testing.T) {
	inRun(t, []string{`eval.noise=["off"]`}, func(ctx context.Context, env *run.Env, cfg Config, x *experiment) error {
		declared(t, env)
		x.user = newUserInput(tensor.Matrix{}, x.data.Users, cfg.Model.UserDim, x.init())
		x.net = noisy{NewNetwork(x.items, cfg.Model, x.init())}
		o, err := x.measure(ctx, &fitted{Result: &train.Result{Epochs: history(), Best: 1}})
		if err != nil {
			return err
		}
		counts := make([]int64, x.data.Items)
		for _, seq := range x.data.Train {
			for _, item := range seq {
				counts[item-1]++
			}
		}
		var labels []int32
		for _, seq := range x.data.Test {
			for l := 1; l < len(seq); l++ {
				labels = append(labels, seq[l]-1)
			}
		}
		ranks, err := metrics.PopularityRanks(counts, labels)
		if err != nil {
			return err
		}
		ms := metrics.Grid([]metrics.Kind{metrics.Recall, metrics.MRR}, []int{5, 10, 20})
		for i, want := range [][]metrics.Value{metrics.RandomFloor(ms, x.data.Items), metrics.Summary(ms, ranks)} {
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

// Every number of Table 2, transcribed a second time, and nothing where the
// paper prints nothing.
func TestTable2(t *testing.T) {
	f, err := os.Open("testdata/table2.tsv")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	entries, rows := 0, 0
	for in := bufio.NewScanner(f); in.Scan(); {
		cells := strings.Split(in.Text(), "\t")
		if len(cells) != 4 || cells[0] == "dataset" {
			continue
		}
		entries++
		m, err := metrics.Parse(cells[2])
		if err != nil {
			t.Fatal(err)
		}
		p, ok := Table2(cells[1], cells[0])
		if cells[3] == "-" {
			if ok {
				t.Errorf("%v: a row where the paper prints none", cells)
			}
			continue
		}
		rows++
		want, err := strconv.ParseFloat(cells[3], 64)
		if err != nil {
			t.Fatal(err)
		}
		if got := 100 * p.share(m); !ok || math.Abs(got-want) > 1e-9 {
			t.Errorf("%v: we have %v (%v)", cells, got, ok)
		}
	}
	if entries != 132 || rows != 124 {
		t.Errorf("%d entries, %d printed, want 132 and 124", entries, rows)
	}
	for _, m := range []metrics.Metric{{Kind: metrics.Recall, K: 5}, {Kind: metrics.MRR, K: 5}, {Kind: metrics.NDCG, K: 10}} {
		if p, _ := Table2("DIPSGNN", "ML-1M"); p.share(m) != report.Missing && !math.IsNaN(p.share(m)) {
			t.Errorf("%v was not printed", m)
		}
	}
	if _, ok := Table2("DIPSGNN", "ML-100K"); ok {
		t.Error("a row of a data set that the paper does not have")
	}
}

// The printed numbers go with the methods of Table 2 on its data sets in the
// setting of a profile, and with nothing else.
func TestPrintedBesideOurs(t *testing.T) {
	for _, c := range []struct {
		method, data string
		profile      bool
		short        string
		want         float64
	}{
		{"DIPSGNN", "ml-1m", true, "", 21.13}, {"SRGNN", "ml-1m", true, "", 21.01}, {"APGNN", "ml-1m", true, "", 21.26},
		{"DIPSGNN", "standin-tiny", true, "", 0}, {"DIPSGNN", "ml-1m", false, "", 0},
		{"DIPSGNN", "ml-1m", true, "trained for 1 of the 10 epochs stated", 0},
	} {
		x := &experiment{method: c.method, data: &dataset.Sequential{Name: c.data}, table2: c.profile}
		s := x.ours(&Outcome{Short: c.short}, "row", NoiseOff, nil)
		if c.want == 0 && s.Paper != nil || c.want > 0 && (s.Paper == nil || s.Paper.Recall20 != c.want) {
			t.Errorf("%s on %s: %+v", c.method, c.data, s.Paper)
		}
	}
}
