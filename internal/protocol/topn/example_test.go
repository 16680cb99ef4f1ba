package topn_test

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"

	"privrec/internal/autograd"
	"privrec/internal/config"
	"privrec/internal/experiment"
	"privrec/internal/privacy"
	"privrec/internal/privacy/accountant"
	"privrec/internal/privacy/mechanism/channel"
	"privrec/internal/protocol/topn"
	"privrec/internal/run"
	"privrec/internal/tensor"
)

// Config is a run: what the protocol reads, and the method's own keys.
type Config struct {
	Profile string          `yaml:"profile" limit:"filled"`
	Data    topn.DataConfig `yaml:"data"`
	Privacy struct {
		Epsilon float64 `yaml:"epsilon" limit:"[1e-3,1e3]"`
		Delta   float64 `yaml:"delta" limit:"[1e-15,0.1]"`
	} `yaml:"privacy"`
	Eval topn.EvalConfig `yaml:"eval"`
}

// Default is complete: a file need not name every key.
func Default() Config {
	c := Config{Profile: "own", Data: topn.DataConfig{Name: "standin-tiny", Recipe: "rdpgcf"}, Eval: topn.DefaultEval()}
	c.Privacy.Epsilon, c.Privacy.Delta = 1, 1e-6
	return c
}

// check reports what cannot be run although every key is within the limit of its field.
func check(v *config.Checker, c Config) {
	c.Eval.CheckAtOnce(v)
}

// open loads the data, declares what a finite epsilon takes as public, and says how the model
// is made and accounted for.
func open(ctx context.Context, env *run.Env, c Config) (run.Work, error) {
	standing, err := experiment.Stand(c, c.Profile, map[string]Config{"own": Default()}, nil)
	if err != nil {
		return nil, err
	}
	x, err := topn.Load(ctx, env, topn.Method{Name: "Noisy popularity", Standing: standing, Data: c.Data, Eval: c.Eval})
	if err != nil {
		return nil, err
	}
	a := experiment.Protected(
		privacy.Assumption{What: "which users and items there are", Why: "the unit is a training row"},
		privacy.Assumption{What: "users' own lists, which leave out what the user has"},
		privacy.Assumption{What: "what is measured here"})
	ledger, err := env.Ledger(privacy.Research, a.Declaration())
	if err != nil {
		return nil, err
	}
	x.Compute = func(context.Context) (*topn.Made, error) {
		scores, err := c.release(x, ledger)
		return &topn.Made{Scorer: scores}, err
	}
	x.Account = func(*experiment.Fitted) (experiment.Privacy, error) {
		a.Claimed = &experiment.Claim{Eps: privacy.Number(c.Privacy.Epsilon), Delta: c.Privacy.Delta, Unit: "edge", Theorem: "Gaussian mechanism"}
		return &a, a.Compose(ledger, privacy.Subject{Unit: privacy.Edge, Neighbouring: privacy.AddRemove}, c.Privacy.Delta)
	}
	return x, nil
}

// release gives every item's number of users with noise: an edge moves one of them by 1.
func (c Config) release(x *topn.Experiment, l *privacy.Ledger) (popularity, error) {
	sigma, err := accountant.SigmaFor(1, c.Privacy.Epsilon, c.Privacy.Delta)
	if err != nil {
		return nil, err
	}
	stream, err := x.Env.Noise("popularity", "numbers of users")
	if err != nil {
		return nil, err
	}
	noise, err := channel.Open[float64](channel.Gaussian{Purpose: "numbers of users", Sigma: sigma, Sensitivity: 1,
		Unit: privacy.Edge, Neighbouring: privacy.AddRemove}, l, stream)
	if err != nil {
		return nil, err
	}
	p := make(popularity, x.Graph.Items)
	for i := range p {
		p[i] = float64(x.Graph.ItemDegree(i))
	}
	if err := noise.Perturb(p, 1, 1, 1, 1); err != nil { // rows of 1, a release of 1, under the key (1, 1)
		return nil, err
	}
	if err := noise.Check(); err != nil {
		return nil, err
	}
	return p, l.Flush("before ranking")
}

// popularity scores an item alike for all users. It implements eval.Scorer.
type popularity []float64

func (p popularity) Items() int { return len(p) }

func (p popularity) Score(_ *autograd.Tape, users []int32, scores tensor.Matrix) error {
	for k := range users {
		for i, v := range p {
			tensor.Row(scores, k)[i] = tensor.Float(v)
		}
	}
	return nil
}

// A method with noise is a configuration, its check, and what opens it. Runs, resuming, answers
// and files are the task's.
func Example() {
	task := run.Spec[Config]{
		Verb: "train", Name: "popularity", Summary: "numbers of users with noise", Cite: "ours",
		Default: Default, Check: check, Open: open, Answers: true, Noisy: true,
	}.Task()

	dir, err := os.MkdirTemp("", "example")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	out := filepath.Join(dir, "run")
	_, err = task.Start(context.Background(), run.Options{NoiseSeed: 1, Sets: []string{"run.out=" + out}, Log: slog.New(slog.DiscardHandler), Progress: run.Silent{}, Stdout: os.Stdout})
	if err != nil {
		fmt.Println(err)
	}
	// Output:
	// the noise can be repeated, and taken off again, by whoever has the data and run.noise_seed, which is 1: epsilon holds as if that number were unknown
	//
	// Noisy popularity on synthetic data of the kind of ml-1m, 200 users
	// profile own; seed 1
	// evidence level D: synthetic stand-in
	//
	// ranked             300 items for 200 users  (13 items and 0 users have no training row and are kept; training items are masked, validation items too)
	// claimed epsilon    1  (Gaussian mechanism, at delta 1e-06, for one edge)
	// accounted epsilon  1  (the worst unit, over all releases of the run)
	//
	// Ranking of test rows among all items not seen in training
	// row                 Recall@20  NDCG@20
	// ------------------  ---------  -------
	// random (floor)           7.75     6.15
	// popularity (floor)      56.51    42.58
	// Noisy popularity        55.67    42.79
	// values in percent; evidence level D: synthetic stand-in
	//
	// What the noise of the run guarantees
	// unit  neighbours  delta  epsilon
	// ----  ----------  -----  -------
	// edge  add-remove  1e-06        1
	//
	// - taken as public: which users and items there are: the unit is a training row; users' own lists, which leave out what the user has; what is measured here
}
