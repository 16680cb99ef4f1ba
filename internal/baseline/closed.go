package baseline

import (
	"context"
	"fmt"
	"math"
	"os"
	"strings"

	"privrec/internal/config"
	"privrec/internal/eval"
	"privrec/internal/experiment"
	"privrec/internal/graph"
	"privrec/internal/graph/gram"
	"privrec/internal/model/ease"
	"privrec/internal/model/ials"
	"privrec/internal/model/itemknn"
	"privrec/internal/model/nearest"
	"privrec/internal/model/rp3beta"
	"privrec/internal/model/userknn"
	"privrec/internal/protocol/nextitem"
	"privrec/internal/protocol/static"
	"privrec/internal/protocol/topn"
	"privrec/internal/rng"
	"privrec/internal/run"
)

// Names of the models without gradients, which any comparison should include.
const (
	EASE    = "EASE"
	ItemKNN = "ItemKNN"
	UserKNN = "UserKNN"
	RP3beta = "RP3beta"
)

// ClosedSetting configures a run of a model that is computed at once and not trained by epochs of a loss.
type ClosedSetting[M ClosedShape] struct {
	Profile string `yaml:"profile" limit:"filled"`
	// how the data are cut and which items are ranked: top-n, which "" means too, or next-item
	Protocol string          `yaml:"protocol,omitempty" limit:"top-n|next-item?"`
	Data     StaticData      `yaml:"data"`
	Model    M               `yaml:"model"`
	Eval     topn.EvalConfig `yaml:"eval"`
}

// ClosedShape is the part of the configuration that belongs to such a model.
type ClosedShape interface {
	EASEShape | ItemKNNShape | IALSShape | UserKNNShape | RP3betaShape
	// Fit computes the model. seed is for random numbers, if it needs any. A Close method of the scorer, if it has
	// one, frees its memory.
	Fit(ctx context.Context, g *graph.Bipartite, seed rng.Seed) (eval.Scorer, error)
}

// EASEShape sets the shape of EASE.
type EASEShape struct {
	Lambda   float64 `yaml:"lambda" limit:"[1e-6,1e12]"`
	MemoryMB int     `yaml:"memory_mb" limit:"1..1048576"` // most memory that the matrix of items may take, in MB
	// Gram names a file with the Gram matrix of the training rows, as privrec-beam counts writes it, with the items
	// in the order of the data; the matrix of items is then inverted even if there are fewer users. Empty: it is
	// counted.
	Gram string `yaml:"gram,omitempty"`
	// true: keep the Gram matrix and the inverse, of the items even if there are fewer users, so that users can be
	// forgotten at once
	Keep bool `yaml:"keep,omitempty"`
}

// ItemKNNShape sets the shape of ItemKNN.
type ItemKNNShape struct {
	Similarity string  `yaml:"similarity" limit:"cosine|dot"` // similarity of two items: cosine or dot
	Neighbours int     `yaml:"neighbours" limit:"1..1000000"`
	Shrink     float64 `yaml:"shrink"`
	Normalise  bool    `yaml:"normalise"` // scale the weights of an item's neighbours to sum to 1
	MeanBias   bool    `yaml:"mean_bias"` // take scores as deviations from the items' means
	// Gram names a file with the Gram matrix of the training rows, as privrec-beam counts writes it, with the items
	// in the order of the data. Empty: pairs are counted.
	Gram string `yaml:"gram,omitempty"`
}

// DefaultEASE returns the setting that the BARS benchmark found on Gowalla's published split:
// lambda 80. Its matrix is of 29,858 users there.
func DefaultEASE() ClosedSetting[EASEShape] {
	return closed(EASEShape{Lambda: 80, MemoryMB: 8192})
}

// DefaultItemKNN returns the setting that the BARS benchmark found on Gowalla's published
// split.
func DefaultItemKNN() ClosedSetting[ItemKNNShape] {
	return closed(ItemKNNShape{Similarity: string(nearest.Cosine), Neighbours: 100, Normalise: true, MeanBias: true})
}

func closed[M ClosedShape](m M) ClosedSetting[M] {
	return ClosedSetting[M]{Profile: "bars",
		Data: StaticData{DataConfig: topn.DataConfig{Name: topn.DefaultData().Name, Recipe: "lightgcn"}}, Model: m,
		Eval: topn.DefaultEval()}
}

// closedTasks returns the tasks of the models that are computed at once.
func closedTasks(t topn.Tables, next nextitem.Table) []run.Task {
	return []run.Task{
		closedTask(EASE, "linear item model in closed form, on the same rows", ease.Cite, t, next, DefaultEASE),
		closedTask(IALS, "factors of the pairs by alternating least squares, on the same rows", ials.Cite, t, next,
			DefaultIALS),
		closedTask(ItemKNN, "items like those that a user has, on the same rows", itemknn.Cite, t, next,
			DefaultItemKNN),
		closedTask(UserKNN, "items that users like a user have, on the same rows", userknn.Cite, t, next,
			DefaultUserKNN),
		closedTask(RP3beta, "items at the end of walks of three steps, on the same rows", rp3beta.Cite, t, next,
			DefaultRP3beta),
	}
}

// closedTask returns the task of a model with its one profile. A run writes no vectors: recommendations compute the
// model again from the same rows, to the same bits. Under ProtocolNextItem it is computed from all training items,
// since held-out ones choose nothing.
func closedTask[M ClosedShape](method, summary, cite string, t topn.Tables, next nextitem.Table,
	profile func() ClosedSetting[M]) run.Task {
	return run.Spec[ClosedSetting[M]]{
		Verb: "train", Name: strings.ToLower(method), Summary: summary, Cite: cite, Answers: true,
		Default: profile, Flags: gramFlags(profile().Model),
		Check: func(v *config.Checker, s ClosedSetting[M]) { s.check(v) },
		Open: func(ctx context.Context, env *run.Env, s ClosedSetting[M]) (run.Work, error) {
			if env.Rehearsing() {
				return nil, run.ErrNoForecast
			}
			standing, err := experiment.Stand(s, s.Profile, map[string]ClosedSetting[M]{profile().Profile: profile()},
				nil, topn.Free()...)
			if err != nil {
				return nil, err
			}
			x, err := static.Load(ctx, env, s.Protocol, topn.Method{Name: method, Standing: standing, Tables: t,
				Data: s.Data.DataConfig, Eval: s.Eval}, s.Data.next(next))
			if err != nil {
				return nil, err
			}
			x.Compute(ctx, func(ctx context.Context, r static.Rows) (*topn.Made, error) {
				if s.Protocol != ProtocolNextItem { // which has a stage around it
					defer env.Stage("fit")()
				}
				if m, ok := any(s.Model).(EASEShape); ok && m.Keep {
					scorer, err := m.fitKept(ctx, env, s.Data.DataConfig, r)
					return &topn.Made{Scorer: scorer}, err
				}
				scorer, err := s.Model.Fit(ctx, r.Graph, env.Seed)
				return &topn.Made{Scorer: scorer}, err
			})
			return x.Work, x.Unprotect()
		},
	}.Task()
}

// gramFlags returns the flag of models that read a Gram matrix.
func gramFlags(model any) []run.Flag {
	switch model.(type) {
	case EASEShape, ItemKNNShape:
		return []run.Flag{{Name: "gram", Key: "model.gram",
			Usage: "file with the Gram matrix of the training rows, as privrec-beam counts writes it"}}
	}
	return nil
}

// check reports every setting that cannot be run.
func (s ClosedSetting[M]) check(v *config.Checker) {
	if s.Protocol == ProtocolNextItem {
		s.Data.checkNextItem(v)
		v.Check(s.Eval.Candidates == 0, "eval.candidates", "has no effect under protocol %s, must be 0",
			ProtocolNextItem)
	} else {
		s.Data.checkTopN(v)
	}
	s.Eval.CheckAtOnce(v)
	if m, ok := any(s.Model).(EASEShape); ok && m.Keep {
		v.Check(s.Protocol != ProtocolNextItem, "model.keep", "has no effect under protocol %s, must be false",
			ProtocolNextItem)
		v.Check(m.Gram == "", "model.keep", "has no effect on a matrix from a file (model.gram), must be false")
	}
	if m, ok := any(s.Model).(interface{ Check(v *config.Checker) }); ok {
		m.Check(v)
	}
}

// Check implements ClosedShape.
func (s ItemKNNShape) Check(v *config.Checker) {
	v.Check(s.Shrink >= 0 && !math.IsInf(s.Shrink, 1), "model.shrink", "must be at least 0 and finite, got %v",
		s.Shrink)
}

// Fit implements ClosedShape.
func (s EASEShape) Fit(ctx context.Context, g *graph.Bipartite, _ rng.Seed) (eval.Scorer, error) {
	need := ease.Memory(g) >> 20
	if s.Gram != "" {
		need = ease.ItemMemory(g) >> 20
	}
	if need > int64(s.MemoryMB) {
		return nil, &run.UsageError{
			Message: fmt.Sprintf("model.memory_mb: %d users and %d items need a matrix of %d MB, the limit is %d",
				g.Users, g.Items, need, s.MemoryMB),
			Fix: "allow more if the machine has it",
		}
	}
	counted, done, err := openGram(s.Gram)
	if err != nil {
		return nil, err
	}
	defer done()
	return ease.FitGram(ctx, g, s.Lambda, counted)
}

// openGram opens the file of a Gram matrix. The reader is nil if no file is named.
func openGram(path string) (r *gram.Reader, done func(), err error) {
	if path == "" {
		return nil, func() {}, nil
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, nil, &run.UsageError{Message: fmt.Sprintf("model.gram: %v", err),
			Fix: "privrec-beam counts makes it"}
	}
	if r, err = gram.NewReader(path, f); err != nil {
		f.Close()
		return nil, nil, err
	}
	return r, func() { f.Close() }, nil
}

// Fit implements ClosedShape.
func (s ItemKNNShape) Fit(ctx context.Context, g *graph.Bipartite, _ rng.Seed) (eval.Scorer, error) {
	counted, done, err := openGram(s.Gram)
	if err != nil {
		return nil, err
	}
	defer done()
	o := itemknn.Options{MeanBias: s.MeanBias, Options: nearest.Options{
		Similarity: nearest.Similarity(s.Similarity), Neighbours: s.Neighbours, Shrink: s.Shrink,
		Normalise: s.Normalise}}
	if counted != nil {
		return itemknn.FitGram(ctx, g, o, counted)
	}
	return itemknn.Fit(ctx, g, o)
}

// Suit implements run.Suited.
func (s *ClosedSetting[M]) Suit(doc *config.Document) error {
	return s.Data.suit(doc, s.Protocol == ProtocolNextItem, false)
}
