package baseline

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"privrec/internal/autograd"
	"privrec/internal/config"
	"privrec/internal/dataset"
	"privrec/internal/model/hrnn"
	"privrec/internal/protocol/nextitem"
	"privrec/internal/run"
	"privrec/internal/tensor"
	"privrec/internal/train"
)

// hrnnTiny makes HRNN small, and lets held-out samples choose its epoch, so that it trains twice.
var hrnnTiny = []string{"model.dim=8", "train.epochs=2", "train.batch=16", "data.sessions.rows=9", "train.select=validation", "train.validation=0.1", "train.refit=true"}

func TestHRNNConfigs(t *testing.T) {
	for name, want := range map[string]HRNNConfig{"ml-1m-hrnn": DefaultHRNN(hrnn.VariantInit), "ml-1m-gap-hrnn": DefaultHRNN(hrnn.VariantInit), "ml-1m-all-hrnn": DefaultHRNN(hrnn.VariantAll),
		"yelp-hrnn": DefaultHRNN(hrnn.VariantInit), "tmall-hrnn": DefaultHRNN(hrnn.VariantInit)} {
		c, _, err := config.Load("../../configs/dipsgnn/"+name+".yaml", nil, file[HRNNConfig]{Task: DefaultHRNN(hrnn.VariantInit)})
		if err != nil {
			t.Fatal(err)
		}
		s, err := c.Task.setting(nextitem.Table{})
		if err != nil || !s.Standing.Printed || s.Standing.Stated != (train.Length{Epochs: 10}) {
			t.Errorf("%s: %+v, %v", name, s.Standing, err)
		}
		want.Data = c.Task.Data // how sequences are divided is the file's own
		if diff := cmp.Diff(want, c.Task); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

func TestHRNNValidation(t *testing.T) {
	for _, c := range []struct{ set, want string }{
		{"data.sessions.rows=0", "data.sessions: must set one of gap, window and rows, has 0"},
		{"data.sessions.gap=9", "data.sessions: must set one of gap, window and rows, has 2"},
		{"data.sessions.unit=hours", "data.sessions.unit: must be one of seconds, milliseconds"},
		{"data.sessions.unit=seconds", "data.sessions.unit: has no effect on sessions of so many rows"},
		{"data.sessions.window=-1", "data.sessions.window: must be at least 0"},
		{"model.variant=both", "model.variant: must be one of init, all"},
		{"model.dropout_init=1", "model.dropout_init"},
		{"train.momentum=1", "train.momentum"},
		{"train.select=validation", "train.validation: must be above 0"},
	} {
		err := HRNN(nextitem.Table{}).Check("../../configs/dipsgnn/ml-1m-hrnn.yaml", []string{c.set})
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", c.set, err, c.want)
		}
	}
}

func TestSessionRule(t *testing.T) {
	for _, c := range []struct {
		rule  SessionRule
		times []int64
		want  []int // places that begin a session
	}{
		{SessionRule{Gap: 10}, []int64{100, 110, 121, 121}, []int{0, 2}},
		{SessionRule{Window: 10}, []int64{-11, -10, -1, 0, 9, 10, 35}, []int{0, 1, 3, 5, 6}},
		{SessionRule{Window: 1}, []int64{1101, 1101, 1102}, []int{0, 2}},
		{SessionRule{Rows: 2}, []int64{0, 0, 0, 0, 0}, []int{0, 2, 4}},
	} {
		var got []int
		for i, b := range c.rule.begins(len(c.times), c.times) {
			if b {
				got = append(got, i)
			}
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%+v of %v begins sessions at %v, want %v", c.rule, c.times, got, c.want)
		}
	}
}

// A gap is in seconds, whatever unit the times of the data are in.
func TestSessionRuleOnTimes(t *testing.T) {
	const at = 1_650_000_000
	times := func(unit int64, train ...int64) *dataset.Times {
		for i := range train {
			train[i] *= unit
		}
		return &dataset.Times{Train: [][]int64{train}, Test: [][]int64{{}}}
	}
	pauses := func(unit int64) *dataset.Times { return times(unit, at, at+1800, at+3601, at+3602) }
	places := times(1, 0, 1, 2, 3)
	for _, c := range []struct {
		rule  SessionRule
		times *dataset.Times
		made  string
		err   string
	}{
		{rule: SessionRule{Gap: 1800}, times: pauses(1), made: "2 sessions in 4 training rows, by pauses of more than 1800 seconds; times are in seconds, as their size tells"},
		{rule: SessionRule{Gap: 1800}, times: pauses(1e3), made: "2 sessions in 4 training rows, by pauses of more than 1800 seconds; times are in milliseconds, as their size tells"},
		{rule: SessionRule{Gap: 1800}, times: pauses(1e6), made: "2 sessions in 4 training rows, by pauses of more than 1800 seconds; times are in microseconds, as their size tells"},
		{rule: SessionRule{Gap: 1800}, times: pauses(1e9), made: "2 sessions in 4 training rows, by pauses of more than 1800 seconds; times are in nanoseconds, as their size tells"},
		{rule: SessionRule{Gap: 1 << 62}, times: pauses(1e9), made: "1 sessions in 4 training rows, by pauses of more than 4611686018427387904 seconds; times are in nanoseconds, as their size tells"},
		{rule: SessionRule{Gap: 2, Unit: "milliseconds"}, times: times(1, 0, 2000, 4001, 4002), made: "2 sessions in 4 training rows, by pauses of more than 2 seconds; times are in milliseconds, as data.sessions.unit says"},
		{rule: SessionRule{Window: 86400}, times: pauses(1), made: "1 sessions in 4 training rows, by windows of 86400 seconds"},
		{rule: SessionRule{Window: 1000}, times: pauses(1e3), made: "", err: "4 sessions in 4 training rows, by windows of 1000 milliseconds: no session has a row to learn from another"},
		{rule: SessionRule{Window: 1}, times: times(1, 5, 5, 6, 7), made: "3 sessions in 4 training rows, by windows of 1"},
		{rule: SessionRule{Rows: 3}, made: "2 sessions in 4 training rows, by 3 rows"},
		{rule: SessionRule{Gap: 1800}, times: places, err: "go up to 3, so they are not seconds since 1970 but places in an order"},
		{rule: SessionRule{Window: 86400}, times: places, err: "not seconds"},
		{rule: SessionRule{Gap: 1800}, err: "has no times"},
		{rule: SessionRule{Gap: 1}, times: times(1, at, at+2, at+4, at+6), err: "4 sessions in 4 training rows, by pauses of more than 1 seconds"},
		{rule: SessionRule{Gap: 1800}, times: times(1, at, at+1, 1000*at, 1000*at+1), err: "not in one unit: 1650000000 looks like seconds, 1650000000000 like milliseconds"},
	} {
		d := &dataset.Sequential{Name: "hand", Train: [][]int32{{1, 2, 3, 4}}, Times: c.times}
		_, made, err := c.rule.on(d)
		if made != c.made || (err == nil) != (c.err == "") || err != nil && !strings.Contains(err.Error(), c.err) {
			t.Errorf("%+v on %+v: %q, %v, want %q, %q", c.rule, c.times, made, err, c.made, c.err)
		}
	}
}

// hrnnByHand makes an experiment of three users, whose sessions end at gaps.
func hrnnByHand(t *testing.T, sets func(c *HRNNConfig)) (*nextitem.Experiment, *hrnnLearner) {
	t.Helper()
	c := DefaultHRNN(hrnn.VariantAll)
	c.Data.Sessions, c.Model.Dim, c.Train.Batch, c.Eval.K = SessionRule{Gap: 10}, 3, 2, []int{2}
	if sets != nil {
		sets(&c)
	}
	const at = 1_000_000_000
	d := &dataset.Sequential{Name: "hand", Users: 3, Items: 9, UserIDs: []string{"a", "b", "c"},
		Train: [][]int32{{1, 2, 3, 4}, {5, 6}, {7, 8, 9}}, Test: [][]int32{{9, 1, 2}, {}, {3, 4}},
		Times: &dataset.Times{Train: [][]int64{{at, at + 1, at + 50, at + 51}, {at, at + 90}, {at, at + 1, at + 2}}, Test: [][]int64{{at + 60, at + 75, at + 76}, {}, {at + 3, at + 4}}}}
	s, err := c.setting(nextitem.Table{})
	if err != nil {
		t.Fatal(err)
	}
	x, err := nextitem.Cut(run.Rehearse(1), s, d)
	if err != nil {
		t.Fatal(err)
	}
	if err := c.learnIn(x); err != nil {
		t.Fatal(err)
	}
	m, err := x.New(x.Train)
	if err != nil {
		t.Fatal(err)
	}
	return x, m.(*hrnnLearner)
}

func TestHRNNLearnsSessionBySession(t *testing.T) {
	_, l := hrnnByHand(t, nil)
	want := []hrnn.Lesson{
		{In: 1, Out: 2, Begin: hrnn.User}, {In: 7, Out: 8, Begin: hrnn.User}, // user b has sessions of one item alone
		{In: 3, Out: 4, Begin: hrnn.Session}, {In: 8, Out: 9},
	}
	if !slices.Equal(l.plan, want) {
		t.Errorf("lessons %v, want %v", l.plan, want)
	}
}

// Test sequences begin a session that goes on from the training part, whatever samples are ranked
// together.
func TestHRNNReadsTestSessionsAfterTrainingSessions(t *testing.T) {
	x, l := hrnnByHand(t, nil)
	tape := autograd.NewTape()
	tape.SetTraining(false)
	sequences := []hrnn.Sequence{
		{Items: []int32{1, 2, 3, 4, 9, 1, 2}, Begins: []bool{true, false, true, false, true, true, false}},
		{Items: []int32{7, 8, 9, 3, 4}, Begins: []bool{true, false, false, true, false}}, // 3 follows at once, but begins the test part
	}
	want := map[string][]tensor.Float{}
	l.Read(tape, hrnn.NewMemory(2, 3), sequences, func(place int, users []int32, h tensor.Matrix) {
		scores := tensor.New(h.Rows, 9)
		l.ScoreAll(h, scores)
		for k, u := range users {
			want[fmt.Sprint(u, place)] = slices.Clone(tensor.Row(scores, k))
		}
	})
	of := []string{"0 4", "0 5", "1 3"} // of the test samples (user a after 9, after 9 1; user c after 3)
	if x.Test.Samples.Len() != len(of) {
		t.Fatalf("%d test samples", x.Test.Samples.Len())
	}
	for _, samples := range [][]int32{{0, 1, 2}, {2, 1}, {1}, {1, 0, 1}} {
		s, err := l.Scorer(x.Test, 0, false)
		if err != nil {
			t.Fatal(err)
		}
		scores := tensor.New(len(samples), 9)
		if err := s.Score(tape, samples, scores); err != nil {
			t.Fatal(err)
		}
		for k, i := range samples {
			for j, v := range tensor.Row(scores, k) {
				if d := float64(v - want[of[i]][j]); !(d < 1e-6 && d > -1e-6) {
					t.Errorf("samples %v, sample %d, item %d: %v, want %v", samples, i, j+1, v, want[of[i]][j])
				}
			}
		}
	}
}

// The states of a learner come back from a checkpoint, exactly, and a mini-batch can be repeated.
func TestHRNNStates(t *testing.T) {
	loss := func(l *hrnnLearner, step int) float64 {
		t.Helper()
		n, err := l.Loss(autograd.NewTape(), train.Batch{Step: step, Samples: []int32{int32(step * 2), int32(step*2 + 1)}})
		if err != nil {
			t.Fatal(err)
		}
		return n.Scalar()
	}
	_, l := hrnnByHand(t, nil)
	loss(l, 0)
	saved, err := (&hrnnStates{l}).Save()
	if err != nil {
		t.Fatal(err)
	}
	want := loss(l, 1)
	if again := loss(l, 1); again != want {
		t.Errorf("repeated, the loss is %v, was %v", again, want)
	}
	x, other := hrnnByHand(t, nil)
	if err := x.Extra.Load(saved); err != nil {
		t.Fatal(err)
	}
	if got := loss(other, 1); got != want {
		t.Errorf("after a checkpoint the loss is %v, was %v", got, want)
	}
	if back, err := x.Extra.Save(); err != nil || len(back) != len(saved) {
		t.Errorf("%d bytes after %d, %v", len(back), len(saved), err)
	}
	if err := x.Extra.Load(saved[1:]); err == nil {
		t.Error("cut states were taken")
	}
	_, fresh := hrnnByHand(t, nil)
	if _, err := fresh.Loss(autograd.NewTape(), train.Batch{Step: 1, Samples: []int32{2, 3}}); err == nil || !strings.Contains(err.Error(), "states are lost") {
		t.Errorf("step 1 without step 0: %v", err)
	}
}

// Where all next items of a mini-batch are held out, it is read, and nothing is learned.
func TestHRNNBatchWithoutTargets(t *testing.T) {
	_, l := hrnnByHand(t, nil)
	for i := range l.plan {
		l.plan[i].Out = 0
	}
	tape := autograd.NewTape()
	loss, err := l.Loss(tape, train.Batch{Samples: []int32{0, 1}})
	if err != nil {
		t.Fatal(err)
	}
	tape.Backward(loss)
	if loss.Scalar() != 0 || tape.Grads().Norm() != 0 {
		t.Errorf("loss %v, gradient %v", loss.Scalar(), tape.Grads().Norm())
	}
}
