package rdpgcf

import (
	"context"
	"fmt"
	"math"
	"strings"

	"privrec/internal/config"
	"privrec/internal/eval"
	"privrec/internal/graph"
	"privrec/internal/model/bpr"
	"privrec/internal/model/ease"
	"privrec/internal/model/itemknn"
	"privrec/internal/run"
)

// Names of the models without gradient, which any comparison should have.
const (
	methodEASE    = "EASE"
	methodItemKNN = "ItemKNN"
)

// ClosedSetting is a run of a model that is computed and not trained by epochs.
type ClosedSetting[M closedShape] struct {
	Profile string     `yaml:"profile"`
	Data    DataConfig `yaml:"data"`
	Model   M          `yaml:"model"`
	Eval    EvalConfig `yaml:"eval"`
}

// closedShape is such a model's own part of the configuration.
type closedShape interface {
	EASEShape | ItemKNNShape
	check(v *config.Checker)
	// fit computes the model; done gives its memory back.
	fit(ctx context.Context, g *graph.Bipartite) (s eval.Scorer, done func(), err error)
}

// EASEShape is that of EASE.
type EASEShape struct {
	Lambda   float64 `yaml:"lambda"`
	MemoryMB int     `yaml:"memory_mb"` // what its matrix may take
}

// ItemKNNShape is that of ItemKNN.
type ItemKNNShape struct {
	Similarity string  `yaml:"similarity"` // cosine or dot
	Neighbours int     `yaml:"neighbours"`
	Shrink     float64 `yaml:"shrink"`
	Normalise  bool    `yaml:"normalise"` // weights of an item's neighbours sum to 1
	MeanBias   bool    `yaml:"mean_bias"` // scores are deviations from the items' means
}

// DefaultEASE is the setting that the BARS benchmark found on Gowalla's published
// split: lambda 80. Its matrix is of 29,858 users there.
func DefaultEASE() ClosedSetting[EASEShape] {
	return closed(EASEShape{Lambda: 80, MemoryMB: 8192})
}

// DefaultItemKNN is the setting that the BARS benchmark found on Gowalla's published
// split.
func DefaultItemKNN() ClosedSetting[ItemKNNShape] {
	return closed(ItemKNNShape{Similarity: string(itemknn.Cosine), Neighbours: 100, Normalise: true, MeanBias: true})
}

func closed[M closedShape](m M) ClosedSetting[M] {
	d := Default()
	return ClosedSetting[M]{Profile: "bars", Data: DataConfig{Name: d.Data.Name, Recipe: "lightgcn"}, Model: m, Eval: d.Eval}
}

func (s ClosedSetting[M]) common() common {
	// Nothing is drawn, and nothing is chosen on held-out rows.
	t := Default().Train
	t.Patience, t.Select, t.Negatives = 0, SelectLast, bpr.All
	return common{profile: s.Profile, data: s.Data, train: t, eval: s.Eval, releases: []string{""}}
}

func (s ClosedSetting[M]) standing() (standing, error) {
	var base any
	switch any(s.Model).(type) {
	case EASEShape:
		base = DefaultEASE()
	case ItemKNNShape:
		base = DefaultItemKNN()
	}
	return stand(s, s.Profile, map[string]ClosedSetting[M]{"bars": base.(ClosedSetting[M])})
}

func validateClosed[M closedShape](s ClosedSetting[M], doc *config.Document) error {
	v := config.NewChecker(doc)
	s.common().check(v)
	v.Check(!s.Eval.Every, "eval.every", "must be false: there are no epochs")
	v.Check(!s.Eval.Sigmoid, "eval.sigmoid", "must be false: the scores are no inner products")
	s.Model.check(v)
	return v.Err()
}

func (s EASEShape) check(v *config.Checker) {
	v.Within("model.lambda", s.Lambda, 1e-6, 1e12)
	v.Between("model.memory_mb", s.MemoryMB, 1, 1<<20)
}

func (s ItemKNNShape) check(v *config.Checker) {
	v.OneOf("model.similarity", s.Similarity, string(itemknn.Cosine), string(itemknn.Dot))
	v.Between("model.neighbours", s.Neighbours, 1, 1_000_000)
	v.Check(s.Shrink >= 0 && !math.IsInf(s.Shrink, 1), "model.shrink", "must be at least 0 and finite, got %v", s.Shrink)
}

func (s EASEShape) fit(ctx context.Context, g *graph.Bipartite) (eval.Scorer, func(), error) {
	if need := ease.Memory(g) >> 20; need > int64(s.MemoryMB) {
		return nil, nil, &run.UsageError{
			Message: fmt.Sprintf("model.memory_mb: %d users and %d items need a matrix of %d MB, the limit is %d", g.Users, g.Items, need, s.MemoryMB),
			Fix:     "allow more if the machine has it",
		}
	}
	m, err := ease.Fit(ctx, g, s.Lambda)
	if err != nil {
		return nil, nil, err
	}
	return m, m.Close, nil
}

func (s ItemKNNShape) fit(ctx context.Context, g *graph.Bipartite) (eval.Scorer, func(), error) {
	m, err := itemknn.Fit(ctx, g, itemknn.Options{Similarity: itemknn.Similarity(s.Similarity), Neighbours: s.Neighbours, Shrink: s.Shrink,
		Normalise: s.Normalise, MeanBias: s.MeanBias})
	return m, func() {}, err
}

// closedTask is the task of such a model.
func closedTask[M closedShape](method, summary, cite string, def func() ClosedSetting[M]) run.Task {
	return run.Task{
		Verb: "train", Name: strings.ToLower(method), Summary: summary, Cite: cite,
		Action: run.Serving(run.Bind(def, validateClosed[M], func(ctx context.Context, env *run.Env, s ClosedSetting[M]) error {
			return trainClosed(ctx, env, method, s)
		}), serveClosed[M](method)),
	}
}

// serveClosed opens a finished run, for which the model is computed again.
func serveClosed[M closedShape](method string) func(context.Context, run.Finished, ClosedSetting[M]) (run.Server, error) {
	return func(ctx context.Context, f run.Finished, s ClosedSetting[M]) (run.Server, error) {
		x, err := reload(ctx, f, method, s)
		if err != nil {
			return nil, err
		}
		a := &served{x: x, f: f}
		a.scorer = func(ctx context.Context, _ string) (eval.Scorer, error) {
			a.Close()
			scorer, done, err := s.Model.fit(ctx, x.graph)
			a.done = done
			return scorer, x.interrupted(ctx, err)
		}
		return a, nil
	}
}

// trainClosed computes a model and ranks the test rows. It keeps no vectors: whoever
// wants recommendations computes the model again, from the same rows to the same bits.
func trainClosed[M closedShape](ctx context.Context, env *run.Env, method string, s ClosedSetting[M]) error {
	x, err := load(ctx, env, method, s)
	if err != nil {
		return err
	}
	a, err := x.unprotected()
	if err != nil {
		return err
	}
	scorer, done, err := x.fitClosed(ctx, s.Model.fit)
	if err != nil {
		return err
	}
	defer done()
	defer env.Stage("evaluate")()
	o, err := x.outcome(ctx, nil)
	if err != nil {
		return err
	}
	o.Cap = 0
	if err := x.add(ctx, o, scorer, method, "", 0); err != nil {
		return err
	}
	return x.write(o, a)
}

func (x *experiment) fitClosed(ctx context.Context, fit func(context.Context, *graph.Bipartite) (eval.Scorer, func(), error)) (eval.Scorer, func(), error) {
	defer x.env.Stage("fit")()
	s, done, err := fit(ctx, x.graph)
	if err != nil && ctx.Err() != nil {
		err = fmt.Errorf("%w: %w", run.ErrInterrupted, err)
	}
	return s, done, err
}
