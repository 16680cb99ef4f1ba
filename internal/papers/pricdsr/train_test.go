package pricdsr

import (
	"context"
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"privrec/internal/dataset/standin"
	"privrec/internal/protocol/crossdomain"
	"privrec/internal/run"
	"privrec/internal/run/runtest"
	"privrec/internal/train"
)

// Each task and each kind of auxiliary rows runs through, names its method and says what
// nothing protects.
func TestTasksRun(t *testing.T) {
	for _, c := range []struct {
		name, method string
		sets         []string
		eps          []float64 // of a cell, of the order of two
	}{
		{"dasl-single", "DASL-single", nil, nil},
		{"dasl", "DASL", nil, nil},
		{"dasl", "DASL, permuted users", []string{"auxiliary.kind=permuted"}, nil},
		{"pricdsr", "PriCDSR-DASL", []string{"auxiliary.epsilon=5"}, []float64{5, 5}},
		{"pricdsr", "PriCDSR-DASL, permuted users", []string{"auxiliary.kind=permuted-perturbed", "auxiliary.epsilon=5"}, []float64{5, 5}},
		{"pricdsr", "PriCDSR-DASL", []string{"auxiliary.epsilon=5", "auxiliary.mechanism=sdp-paper", "train.refit=false", "eval.full=false"}, []float64{5, 10}},
		{"dasl", "DASL, uniform noise", []string{"auxiliary.kind=uniform", "auxiliary.mechanism=sdp-fixed", "model.attention=gate"}, []float64{0, 0}},
		{"dasl", "DASL", []string{"profile=code", "model.attention=gate", "model.head=code", "model.hidden=6", "model.align.distance=dot",
			"model.align.orthogonal=0", "model.align.bias=true", "train.align_adam=shared", "train.shuffle=once", "eval.every=true"}, nil},
		{"dasl", "DASL", []string{"model.attention=constant", "model.gate=0.5", "model.mask=zeros", "model.cross_user=other"}, nil},
	} {
		dir := t.TempDir()
		text := start(t, c.name, dir, c.sets...)
		o, a := result[crossdomain.Outcome](t, dir, "metrics.json"), result[Account](t, dir, "privacy.json")
		if o.Method != c.method || !strings.Contains(text, c.method) || !strings.Contains(text, "evidence level D") {
			t.Errorf("%s %v: method %q, printed\n%s", c.name, c.sets, o.Method, text)
		}
		if len(o.Floors) != 2 || len(o.FullFloors) != 2 || o.Evaluations[0].Values["HR@10"] < o.Evaluations[0].Values["HR@5"] {
			t.Errorf("%s: floors %v, %v", c.name, o.Floors, o.Evaluations)
		}
		if !math.IsInf(float64(a.Total), 1) || a.Unbounded[0].What != "target rows" {
			t.Errorf("%s: account %+v", c.name, a)
		}
		for i, e := range c.eps {
			if float64(a.Units[i].Total) != e {
				t.Errorf("%s %v: %s is %v, want %v", c.name, c.sets, a.Units[i].Unit, a.Units[i].Total, e)
			}
		}
		if c.eps == nil && len(a.Units) > 0 {
			t.Errorf("%s %v claims %+v", c.name, c.sets, a.Units)
		}
	}
}

// A gate that reads the other history cannot help the inner product: it says so.
func TestCautions(t *testing.T) {
	text := start(t, "pricdsr", t.TempDir(), "model.attention=gate", "auxiliary.epsilon=0.5", "train.epochs=1", "train.refit=false")
	for _, want := range []string{"cannot change a ranking", "pure noise", "Krichene"} {
		if !strings.Contains(text, want) {
			t.Errorf("does not say %q:\n%s", want, text)
		}
	}
}

// Two runs are the same bytes, whatever the number of workers, and so is a run that was
// stopped and resumed, in either of its trainings.
func TestRunsRepeat(t *testing.T) {
	want := t.TempDir()
	start(t, "pricdsr", want, "auxiliary.epsilon=6")
	again := t.TempDir()
	start(t, "pricdsr", again, "auxiliary.epsilon=6", "run.workers=3")
	all := runtest.Artefacts(t, want)
	runtest.Same(t, "three workers", runtest.Artefacts(t, again), all)
	for _, stop := range []string{"train", "train on all rows for"} {
		dir := t.TempDir()
		ctx, cancel := context.WithCancelCause(context.Background())
		err := try(ctx, t, "pricdsr", dir, []string{"auxiliary.epsilon=6"}, run.Options{Progress: &stopping{phase: stop, after: 2, cancel: cancel}})
		if !errors.Is(err, train.ErrInterrupted) && !errors.Is(err, run.ErrInterrupted) {
			t.Fatalf("stopped in %q: %v", stop, err)
		}
		if err := try(context.Background(), t, "pricdsr", dir, []string{"auxiliary.epsilon=6"}, run.Options{Resume: true}); err != nil {
			t.Fatal(err)
		}
		got := runtest.Artefacts(t, dir)
		for name := range all {
			if strings.HasPrefix(name, "checkpoint") { // its pace is another one
				continue
			}
			if got[name] != all[name] {
				t.Errorf("stopped in %q: %s differs", stop, name)
			}
		}
	}
}

// stopping cancels after some reports of progress of a phase.
type stopping struct {
	phase  string
	within bool
	after  int
	cancel context.CancelCauseFunc
}

func (s *stopping) Phase(name string) { s.within = strings.HasPrefix(name, s.phase) }
func (s *stopping) Begin(string, int) { s.tick() }
func (s *stopping) Add(int)           { s.tick() }
func (s *stopping) End(string)        { s.tick() }

func (s *stopping) tick() {
	if s.within {
		if s.after--; s.after == 0 {
			s.cancel(errors.New("enough"))
		}
	}
}

// prepared is the experiment of a setting on the stand-in.
func prepared(t *testing.T, change func(c *Config)) *crossdomain.Experiment {
	t.Helper()
	c := Default()
	c.Data = crossdomain.Data{Name: standin.CrossName, Target: "left", Auxiliary: "right", Length: 14}
	c.Model.Dim, c.Model.Window, c.Eval.Negatives, c.Train.Batch = 8, 3, 20, 64
	change(&c)
	x, err := open(t.Context(), run.Rehearse(1), c)
	if err != nil {
		t.Fatal(err)
	}
	return x.(*crossdomain.Experiment)
}

// The ends of epsilon: noise that does not depend on the rows, and the rows themselves;
// permuted rows are the same rows of other people.
func TestAuxiliaryRows(t *testing.T) {
	rows := func(change func(c *AuxiliaryConfig)) []int32 {
		x := prepared(t, func(c *Config) { change(&c.Auxiliary) })
		_, final := x.Rows()
		return final.Cells[1]
	}
	raw := rows(func(c *AuxiliaryConfig) { *c = AuxiliaryConfig{Kind: AuxiliaryReal} })
	all := rows(func(c *AuxiliaryConfig) { c.Epsilon = math.Inf(1) })
	if !slices.Equal(raw, all) {
		t.Error("an infinite epsilon must release the rows as they are")
	}
	kept := func(got []int32) float64 {
		n, same := 0, 0
		for i, v := range raw {
			if v != 0 {
				n++
				if got[i] == v {
					same++
				}
			}
		}
		return float64(same) / float64(n)
	}
	if k := kept(rows(func(c *AuxiliaryConfig) { *c = AuxiliaryConfig{Kind: AuxiliaryUniform, Mechanism: "sdp-fixed"} })); k > 0.05 {
		t.Errorf("uniform noise keeps %v", k)
	}
	if k := kept(rows(func(c *AuxiliaryConfig) { c.Epsilon = 12 })); k < 0.99 {
		t.Errorf("far above ln m %v is kept", k)
	}
	permuted := rows(func(c *AuxiliaryConfig) { *c = AuxiliaryConfig{Kind: AuxiliaryPermuted} })
	if k := kept(permuted); k > 0.2 {
		t.Errorf("permuted users keep %v of their cells", k)
	}
	placebo := func(epsilon float64) []int32 {
		return rows(func(c *AuxiliaryConfig) { c.Kind, c.Epsilon = AuxiliaryPlacebo, epsilon })
	}
	if !slices.Equal(placebo(math.Inf(1)), permuted) {
		t.Error("the placebo at an infinite epsilon must be the permuted rows")
	}
	if k := kept(placebo(12)); k > 0.2 {
		t.Errorf("the placebo keeps %v of users' own cells", k)
	}
	bags := func(x []int32) []string {
		var out []string
		for at := 0; at < len(x); at += 13 {
			var b strings.Builder
			for _, v := range x[at : at+13] {
				b.WriteRune(rune(v))
			}
			out = append(out, b.String())
		}
		slices.Sort(out)
		return out
	}
	if !slices.Equal(bags(raw), bags(permuted)) {
		t.Error("permuted rows must be the same rows")
	}
}

// A model that can tell a user's cluster beats the floors on rows that have clusters.
func TestLearns(t *testing.T) {
	dir := t.TempDir()
	start(t, "dasl-single", dir, "model.dim=16", "train.epochs=6", "train.batch=64", "train.rate=0.02", "train.refit=false", "model.dropout=0")
	o := result[crossdomain.Outcome](t, dir, "metrics.json")
	first, last := o.Epochs[0].Loss, o.Epochs[len(o.Epochs)-1].Loss
	if last > 0.8*first {
		t.Errorf("the loss went from %v to %v", first, last)
	}
}

func TestRefusals(t *testing.T) {
	for _, c := range []struct{ name, set, want string }{
		{"dasl", "model.dim=7", "must be even"},
		{"dasl", "data.length=4", "data.length"},
		{"dasl", "model.gate=0.5", "model.gate"},
		{"dasl", "model.attention=constant", "model.gate"},
		{"dasl", "model.hidden=3", "model.hidden"},
		{"dasl", "model.head=code", "model.hidden"},
		{"dasl", "auxiliary.kind=none", "auxiliary.kind"},
		{"dasl-single", "auxiliary.kind=real", "auxiliary.kind"},
		{"dasl-single", "train.align_steps=1", "train.align_steps"},
		{"dasl-single", "train.auxiliary_steps=1", "train.auxiliary_steps"},
		{"pricdsr", "train.auxiliary_steps=-1", "train.auxiliary_steps"},
		{"dasl", "auxiliary.epsilon=3", "auxiliary.epsilon"},
		{"pricdsr", "auxiliary.epsilon=0", "auxiliary.epsilon"},
		{"pricdsr", "auxiliary.epsilon=-1", "auxiliary.epsilon"},
		{"pricdsr", "auxiliary.epsilon=.nan", "auxiliary.epsilon"},
		{"pricdsr", "auxiliary.mechanism=laplace", "auxiliary.mechanism"},
		{"dasl", "eval.k=[5,5]", "twice"},
		{"dasl", "eval.k=[50]", "eval.k"},
		{"dasl", "train.select=last", "train.refit"},
		{"dasl", "train.align_adam=none", "train.align_adam"},
		{"dasl", "model.dropout=1", "model.dropout"},
		{"dasl", "data.target=right", "both target and auxiliary"},
		{"dasl", "data.auxiliary=games", "unknown domain"},
		{"dasl", "eval.negatives=5000", "eval.negatives"},
		{"dasl", "train.rate=1e30", "train.rate"},
	} {
		err := try(context.Background(), t, c.name, t.TempDir(), []string{c.set}, run.Options{})
		if err == nil || !strings.Contains(err.Error(), c.want) && !hinted(err, c.want) {
			t.Errorf("%s %s: %v, want an error that says %q", c.name, c.set, err, c.want)
		}
	}
}

func hinted(err error, want string) bool {
	var u *run.UsageError
	return errors.As(err, &u) && strings.Contains(u.Fix, want)
}

// The paper's rows are compared only with its own data, profile and settings.
func TestPrinted(t *testing.T) {
	c := Default()
	c.Data = crossdomain.Data{Name: paperData, Target: "movies", Auxiliary: "books", Length: 101}
	if got := printedFor(c)["NDCG@10"]; got != 0.1484 {
		t.Errorf("Movie from Book at epsilon 10 is printed as %v", got)
	}
	c.Auxiliary.Epsilon = 7
	if printedFor(c) != nil {
		t.Error("epsilon 7 is not printed")
	}
	single := DefaultSingle()
	single.Data = c.Data
	single.Data.Auxiliary = "cds"
	if got := printedFor(single)["HR@10"]; got != 0.2686 {
		t.Errorf("DASL-single: %v", got)
	}
	if s, err := code(Default()).standing(); err != nil || !s.Printed || s.Text != "profile code" {
		t.Errorf("%+v %v", s, err)
	}
	changed := Default()
	changed.Model.Dropout = 0.1
	if s, _ := changed.standing(); s.Printed || !strings.Contains(s.Text, "model.dropout") {
		t.Errorf("%+v", s)
	}
}
