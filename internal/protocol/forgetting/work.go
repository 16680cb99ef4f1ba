package forgetting

import (
	"context"
	"fmt"
	"slices"

	"privrec/internal/dataset"
	"privrec/internal/dataset/registry"
	"privrec/internal/experiment"
	"privrec/internal/graph"
	"privrec/internal/metrics"
	"privrec/internal/privacy"
	"privrec/internal/rng"
	"privrec/internal/run"
	"privrec/internal/system"
)

// Task returns the comparison of ways to forget users. build makes its models.
func Task(build Build) run.Task {
	return run.Spec[Config]{
		Verb: "attack", Name: Name,
		Summary: "which ways to unlearn users forget them, beside training from the start",
		Cite: "Li et al., Selective and Collaborative Influence Function for Efficient Recommendation Unlearning, " +
			"2023, arXiv 2304.10199; Bourtoule et al., Machine Unlearning, S&P 2021, arXiv 1912.03817; " +
			"benchmark: Lubitzsch et al., ERASE, 2026, arXiv 2603.08341",
		Flags: []run.Flag{
			{Name: "data", Key: "data.name", Usage: "a registered data set"},
			{Name: "model", Key: "model.name", Usage: "the model that learns and forgets: bprmf, lightgcn or ngcf"},
			{Name: "share", Key: "forget.share", Number: true, Usage: "share of the users who are forgotten"},
		},
		Default: Default,
		Check:   Check,
		Open: func(_ context.Context, env *run.Env, c Config) (run.Work, error) {
			if env.Rehearsing() {
				return nil, run.ErrNoForecast
			}
			setting := c // which data and which model is no change of how
			setting.Data, setting.Model = Default().Data, Default().Model
			standing, err := experiment.Stand(setting, c.Profile, map[string]Config{Default().Profile: Default()}, nil)
			return &study{Config: c, env: env, build: build, standing: standing}, err
		},
	}.Task()
}

// study is one comparison. It implements run.Work.
type study struct {
	Config
	env      *run.Env
	build    Build
	standing experiment.Standing

	data *dataset.Interactions
	*groups
	rest  *graph.Bipartite // of the remaining users
	pairs int64            // that trainings and gradients have read
}

// seed returns the seed of a purpose.
func (s *study) seed(purpose string) rng.Seed {
	stream := s.env.Seed.Stream("forgetting " + purpose)
	return rng.Seed(stream.Uint64())
}

// Run implements run.Work: it trains, unlearns in every way, measures each, and writes the results.
func (s *study) Run(ctx context.Context) error {
	a := experiment.Unprotected("histories",
		"the attacker is given the histories of the users in the clear, and the models are trained without noise")
	if _, err := s.env.Ledger(privacy.Research, a.Declaration()); err != nil {
		return err
	}
	if err := s.load(ctx); err != nil {
		return err
	}
	ways, err := s.ways(ctx)
	if err != nil {
		return err
	}
	o, err := s.outcome(ctx, ways)
	if err != nil {
		return err
	}
	if err := s.env.WriteMetrics(o); err != nil {
		return err
	}
	if err := experiment.WriteCells(s.env, o.Data.Level, o.cells()); err != nil {
		return err
	}
	if err := s.env.WritePrivacy(&a); err != nil {
		return err
	}
	d := o.document(s.Config, uint64(s.env.Seed))
	a.ShowOpen(d)
	return s.env.Print(d)
}

// load loads the data and draws who is forgotten.
func (s *study) load(ctx context.Context) (err error) {
	defer s.env.Stage("load " + s.Data.Name)()
	s.data, err = registry.LoadInteractions(ctx, s.Data.Name, s.Data.Recipe, s.env.View(), registry.Options{})
	if err != nil {
		return err
	}
	if err := experiment.RecordSource(s.env, s.data.Source); err != nil {
		return err
	}
	if s.data.Valid == nil {
		return &run.UsageError{Message: fmt.Sprintf("data.recipe: the strengths of the ways are chosen on validation "+
			"rows, which recipe %q does not hold out", s.data.Recipe), Fix: "take a recipe that does"}
	}
	if s.groups, err = drawGroups(s.data, s.Forget.Share, s.env.Seed); err != nil {
		return err
	}
	s.rest, err = graphOf(s.data, s.remaining)
	return err
}

// way is a model after one way to forget.
type way struct {
	name, how string
	pairs     int64   // that were read for it
	seconds   float64 // of processor time for it
	tries     []Try   // of a way with strengths, in the order of the tries
	*shown
	*evidence
}

// compared holds the ways, the first model's first, then the retrained one, and the models of the attacker.
type compared struct {
	ways       []*way
	references []*way
	sharded    bool // shards are compared
}

// Names of the ways in results.
const (
	wayBefore  = "first model"
	wayRetrain = "retrain"
	wayAscent  = "gradient ascent"
	wayNewton  = "influence"
	waySharded = "shards, first"
	wayShards  = "shards"
)

// ways trains the first model, the retrained one, those of the attacker, and every way, and returns what each shows.
func (s *study) ways(ctx context.Context) (*compared, error) {
	x := &compared{}
	var first *network
	err := s.do(x, wayBefore, "trained on the forgotten and the remaining users", func(w *way) (err error) {
		if first, err = s.fitted(ctx, s.env.Seed, s.forgotten, s.remaining); err != nil {
			return err
		}
		w.shown, err = show(first)
		return err
	})
	if err != nil {
		return nil, err
	}
	defer first.close()
	err = s.do(x, wayRetrain, "trained from the start on the remaining users, with the same seed", func(w *way) error {
		return s.retrained(ctx, w, s.env.Seed)
	})
	for k := 0; k < s.Attack.References && err == nil; k++ {
		var w *way
		stream := s.env.Seed.Stream("forgetting reference", uint64(k))
		seed := rng.Seed(stream.Uint64())
		w, err = s.measured("references", "", func(w *way) error { return s.retrained(ctx, w, seed) })
		x.references = append(x.references, w)
	}
	if err == nil && slices.Contains(s.Forget.Ways, Ascent) {
		strengths := make([]float64, len(s.Ascent.Epochs))
		for k, n := range s.Ascent.Epochs {
			strengths[k] = float64(n)
		}
		how := fmt.Sprintf("epochs up the loss of the forgotten rows, then %d on the remaining ones", s.Ascent.Repair)
		err = s.do(x, wayAscent, how, func(w *way) error {
			return s.strongest(ctx, x, w, strengths, func(strength float64) (*network, error) {
				return s.ascent(ctx, first, int(strength))
			})
		})
	}
	if err == nil && slices.Contains(s.Forget.Ways, Influence) {
		how := fmt.Sprintf("one Newton step by at most %d conjugate gradients, damped", s.Influence.Steps)
		err = s.do(x, wayNewton, how, func(w *way) error {
			return s.strongest(ctx, x, w, s.Influence.Damping, func(strength float64) (*network, error) {
				return s.influence(ctx, first, strength)
			})
		})
	}
	if err == nil && slices.Contains(s.Forget.Ways, Shards) {
		err = s.shards(ctx, x)
	}
	return x, err
}

// retrained fills in a way with a model that is trained from the start on the remaining users.
func (s *study) retrained(ctx context.Context, w *way, seed rng.Seed) error {
	m, err := s.fitted(ctx, seed, s.remaining)
	if err != nil {
		return err
	}
	defer m.close()
	w.shown, err = show(m)
	return err
}

// do makes a way and adds it.
func (s *study) do(x *compared, name, how string, make func(w *way) error) error {
	w, err := s.measured(name, how, make)
	x.ways = append(x.ways, w)
	return err
}

// measured makes a way, with its signals if it shows something, and logs the processor time and the pairs that it took.
func (s *study) measured(name, how string, make func(w *way) error) (*way, error) {
	defer s.env.Stage(name)()
	w, began := &way{name: name, how: how}, s.begin()
	if err := make(w); err != nil {
		return nil, err
	}
	if w.pairs == 0 {
		w.pairs, w.seconds = s.pairs, system.CPUSeconds()-began
	}
	s.env.AppendLog("way", "name", name, "cpu_seconds", w.seconds, "pairs", w.pairs)
	if w.shown == nil || w.evidence != nil {
		return w, nil
	}
	var err error
	w.evidence, err = s.signals(w.models)
	return w, err
}

// begin starts to count pairs, and returns the processor time so far.
func (s *study) begin() float64 {
	s.pairs = 0
	return system.CPUSeconds()
}

// Try is one strength of a way.
type Try struct {
	Strength float64 `json:"strength"`
	Kept     float64 `json:"kept"`     // validation Recall@20 of the remaining users, over that before
	AUC      float64 `json:"auc"`      // of the main attack
	Accepted bool    `json:"accepted"` // the last accepted one is the way
}

// strongest makes a way of the strongest strength that keeps enough of the remaining users' validation Recall@20. It
// tries the gentlest first, which it takes if none keeps enough, and ends at the first that does not. Pairs and time
// are those of the one that it takes.
func (s *study) strongest(ctx context.Context, x *compared, w *way, strengths []float64,
	make func(strength float64) (*network, error)) error {
	was, err := s.valid(ctx, x.ways[0].shown)
	if err != nil {
		return err
	}
	for k, strength := range strengths {
		began := s.begin()
		m, err := make(strength)
		if err != nil {
			return err
		}
		seconds := system.CPUSeconds() - began
		y, err := show(m)
		m.close()
		if err != nil {
			return err
		}
		now, err := s.valid(ctx, y)
		if err != nil {
			return err
		}
		e, err := s.signals(y.models)
		if err != nil {
			return err
		}
		try := Try{Strength: strength, Kept: now / was, Accepted: now >= s.Forget.Keep*was}
		if try.AUC, err = metrics.AUC(x.attacks(e)[mainAttack].score, s.positive()); err != nil {
			return err
		}
		if try.Accepted || k == 0 {
			w.shown, w.evidence, w.pairs, w.seconds = y, e, s.pairs, seconds
		}
		if w.tries = append(w.tries, try); !try.Accepted {
			break
		}
	}
	return nil
}

// valid returns Recall@20 of the remaining users on validation rows.
func (s *study) valid(ctx context.Context, x *shown) (float64, error) {
	values, err := s.rank(ctx, x, s.data.Valid, nil)
	if err != nil {
		return 0, err
	}
	return values[0].Value, nil
}

// shards measures shards before and after the forgotten leave, and logs what it takes that one of them leaves.
func (s *study) shards(ctx context.Context, x *compared) error {
	var was *sharded
	x.sharded = true
	err := s.do(x, waySharded, fmt.Sprintf("%d shards of users, trained with the forgotten", s.Shards.Number),
		func(w *way) (err error) {
			everybody := slices.Sorted(slices.Values(slices.Concat(s.forgotten, s.remaining)))
			if was, err = s.shard(ctx, everybody, nil); err != nil {
				return err
			}
			w.shown, err = s.showShards(was)
			return err
		})
	if err != nil {
		return err
	}
	defer was.close(nil)
	err = s.do(x, wayShards, "the shards of the forgotten are trained again without them", func(w *way) error {
		now, err := s.shard(ctx, s.remaining, was)
		if err != nil {
			return err
		}
		defer now.close(was)
		w.shown, err = s.showShards(now)
		return err
	})
	if err != nil {
		return err
	}
	_, err = s.measured("shards, one user", "", func(*way) error {
		now, err := s.shard(ctx, slices.Sorted(slices.Values(slices.Concat(s.forgotten[1:], s.remaining))), was)
		if err == nil {
			now.close(was)
		}
		return err
	})
	return err
}
