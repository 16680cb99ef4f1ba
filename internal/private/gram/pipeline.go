package gram

import (
	"context"
	"fmt"
	"math"
	"slices"

	"privrec/internal/config"
	"privrec/internal/dataset"
	"privrec/internal/experiment"
	"privrec/internal/model/ease"
	"privrec/internal/model/itemknn"
	"privrec/internal/privacy"
	"privrec/internal/privacy/audit"
	"privrec/internal/private/release"
	"privrec/internal/protocol/static"
	"privrec/internal/protocol/topn"
	"privrec/internal/rng"
	"privrec/internal/run"
	"privrec/internal/tensor"
)

// Names of the methods in tables.
const (
	Popularity = "DP popularity"
	EASE       = "DP-EASE"
	ItemKNN    = "DP-ItemKNN"
)

// flags lists the flags of every task here.
var flags = []run.Flag{{Name: "secure", Key: release.SecureKey, Switch: true,
	Usage: "exact discrete noise from cryptographic bits: what is released may leave the house"},
	{Name: "from", Key: FromKey, Usage: "the folder of a stream, whose last release the model is made of"}}

// Tasks returns the tasks of the methods of this package.
func Tasks() []run.Task { return tasks((*work).train) }

// opener opens the work of a known configuration.
type opener func(w *work, ctx context.Context, protocol string, m topn.Method, theorem string) (run.Work, error)

// tasks returns the task of every method. open opens their work.
func tasks(open opener) []run.Task {
	return []run.Task{
		run.Spec[PopularityConfig]{
			Verb: "train", Name: "dp-popularity", Noisy: true,
			Summary: "items by counts with noise, private for a whole user",
			Cite:    "counts by the Gaussian mechanism", Default: DefaultPopularity, Check: checkPopularity,
			Answers: true,
			Secure:  true, Flags: flags,
			Open: func(ctx context.Context, env *run.Env, c PopularityConfig) (run.Work, error) {
				return openPopularity(ctx, env, c, open)
			},
		}.Task(),
		task(EASE, "dp-ease", "EASE of one noisy matrix of items, private for a whole user",
			"ours: the Gaussian mechanism on the matrix of items; on "+ease.Cite, Default, open),
		task(ItemKNN, "dp-itemknn", "neighbours in one noisy matrix of items, private for a whole user",
			"ours: the Gaussian mechanism on the matrix of items; on "+itemknn.Cite, DefaultKNN, open),
	}
}

func task(method, name, summary, cite string, profile func() Config, open opener) run.Task {
	return run.Spec[Config]{
		Verb: "train", Name: name, Noisy: true, Summary: summary, Cite: cite, Default: profile, Answers: true,
		Secure: true, Flags: flags,
		Check: func(v *config.Checker, c Config) { check(v, c, method == ItemKNN) },
		Open: func(ctx context.Context, env *run.Env, c Config) (run.Work, error) {
			standing, err := experiment.Stand(c, c.Profile, map[string]Config{profile().Profile: profile()}, nil,
				topn.Free()...)
			if err != nil {
				return nil, err
			}
			w := newWork(env, method, c.Privacy, &c.Model, c.Public)
			if err := w.follow(c.Stream, w.privacy); err != nil {
				return nil, err
			}
			m := topn.Method{Name: method, Standing: standing, Data: c.Data, Eval: c.Eval,
				Shape: topn.Shape{Epsilon: w.privacy.Epsilon}}
			return open(w, ctx, c.Protocol, m,
				"one release of counts and one of the item matrix, by the Gaussian mechanism")
		},
	}.Task()
}

func openPopularity(ctx context.Context, env *run.Env, c PopularityConfig, open opener) (run.Work, error) {
	standing, err := experiment.Stand(c, c.Profile, map[string]PopularityConfig{c.Profile: DefaultPopularity()}, nil,
		topn.Free()...)
	if err != nil {
		return nil, err
	}
	w := newWork(env, Popularity, c.Privacy, nil, c.Public)
	if err := w.follow(c.Stream, w.privacy); err != nil {
		return nil, err
	}
	m := topn.Method{Name: Popularity, Standing: standing, Data: c.Data, Eval: c.Eval,
		Shape: topn.Shape{Epsilon: w.privacy.Epsilon}}
	return open(w, ctx, c.Protocol, m, "one release of counts, by the Gaussian mechanism")
}

// work holds a method and its data.
type work struct {
	env      *run.Env
	method   string
	rows     static.Rows
	privacy  release.Privacy
	matrix   *MatrixConfig // nil: the counts are all
	open     PublicConfig
	public   *public // nil: there are no public rows
	releaser release.Releaser
	stream   *streamed // releases for the run; nil: it makes its own
	source   Source    // adds up what users contribute
	keeps    bool      // the released counts, in CountsFile, until all is released
}

// newWork returns the work of a configuration.
func newWork(env *run.Env, method string, p release.Privacy, m *MatrixConfig, open PublicConfig) *work {
	p.Secure = p.Secure || env.Secure()
	return &work{env: env, method: method, privacy: p, matrix: m, open: open}
}

// train loads the data and declares the assumptions of a finite epsilon.
func (w *work) train(ctx context.Context, protocol string, m topn.Method, theorem string) (run.Work, error) {
	if w.env.Rehearsing() {
		return nil, run.ErrNoForecast
	}
	a := w.account(theorem)
	x, err := release.Load(ctx, w.env, protocol, m)
	if err != nil {
		return nil, err
	}
	if err := w.beside(ctx, x); err != nil {
		return nil, err
	}
	if w.stream != nil && w.stream.simulation == nil {
		x.Remark("the model is that of a stream: test rows that the stream holds make the measurement too good")
	}
	x.Compute(ctx, w.of)
	x.Redraw = func(ctx context.Context, items int) ([]audit.Release, error) { return w.redraw(ctx, x, items) }
	a.Of(x.Core, func() error { return a.Compose(w.releaser.Ledger) })
	return x.Work, w.declareOn(a, x.Data.Source)
}

// account returns the account, before anything is released.
func (w *work) account(theorem string) *release.Account {
	if w.stream == nil {
		return release.NewAccount(w.privacy, theorem, []string{ReleasedFile, run.LedgerName})
	}
	a := release.NewAccount(w.privacy, "all releases of a stream together, by the Gaussian mechanism with correlated "+
		"noise", []string{ReleasedFile, run.LedgerName})
	a.Public = append(a.Public, w.stream.public()...)
	return a
}

// declareOn opens the ledger for data of a source, whose rows may decide which items there are.
func (w *work) declareOn(a *release.Account, s dataset.Source) error {
	if err := a.Decide(w.env, s, experiment.Taken{Items: true}); err != nil {
		return err
	}
	return w.declare(a)
}

// declare opens the ledger.
func (w *work) declare(a *release.Account) error {
	var sums []release.Sum
	var also []privacy.Entry
	var err error
	if w.stream != nil {
		also = w.stream.entries
	} else if sums, err = w.sums(); err != nil {
		return err
	}
	d, err := a.Declares(sums, also...)
	if err != nil {
		return err
	}
	ledger, err := w.env.Ledger(w.privacy.Marks(), d)
	w.releaser = release.Releaser{Ledger: ledger, Secure: w.privacy.Secure, Releases: 2,
		Noise: func(purpose string) (rng.Stream, error) { return w.env.Noise("private.gram", purpose) }}
	return err
}

// of computes the model of rows.
func (w *work) of(ctx context.Context, r static.Rows) (*topn.Made, error) {
	w.rows, w.source = r, local{r}
	if err := w.sameRows(); err != nil {
		return nil, err
	}
	if err := w.env.Private(r.TrainRows()); err != nil {
		// nothing else is read, here or where rows are added up elsewhere
		return nil, err
	}
	return w.make(ctx)
}

// make makes the releases, or reads those of an earlier attempt, and computes the model.
func (w *work) make(ctx context.Context) (*topn.Made, error) {
	r, err := w.obtain(ctx)
	if err != nil {
		return nil, err
	}
	if w.matrix == nil {
		return &topn.Made{Scorer: newScorer(w.rows.Graph, w.popularity(r.counts), nil, tensor.Matrix{})}, nil
	}
	defer w.env.Stage("compute the model")()
	p := r.plan()
	if w.stream == nil {
		sums, err := w.sums()
		if err != nil {
			return nil, err
		}
		if p = w.plan(r.counts, sums); !slices.Equal(p.Items, r.items) {
			return nil, run.WithHint(fmt.Errorf("the released matrix is of other items than the released counts name"),
				"train again with another --out")
		}
	}
	counts, prior := r.counts, w.matrix.Public == PublicPrior
	if prior {
		sums, err := w.sums()
		if err != nil {
			return nil, err
		}
		if w.public.hidden(counts, sums[0].Deviation()) {
			s, err := w.ofPublic(ctx, w.rows.Graph)
			return &topn.Made{Scorer: s}, err
		}
		counts = w.public.addCounts(counts, sums[0].Deviation())
	}
	g, diagonal, err := w.clean(ctx, r, p)
	if err != nil {
		return nil, err
	}
	items, unit := r.items, mean(diagonal)
	if prior {
		g, diagonal, items, unit = w.public.add(g, diagonal, p)
	}
	b, err := w.model(ctx, g, diagonal, unit)
	if err != nil {
		return nil, err
	}
	return &topn.Made{Scorer: newScorer(w.rows.Graph, w.popularity(counts), items, b)}, nil
}

// popularity returns the scores that counts give to items.
func (w *work) popularity(counts []float64) []float64 {
	most, scores := slices.Max(counts), make([]float64, len(counts))
	for i, c := range counts {
		if scores[i] = c / math.Max(most, 1); w.matrix != nil {
			scores[i] *= w.matrix.Popularity
		}
	}
	return scores
}

// clean returns the released matrix denoised, and its diagonal as released, both without weights.
func (w *work) clean(ctx context.Context, r *released, p *Plan) (square, []float64, error) {
	d, diagonal, err := w.matrix.clean(ctx, r, p)
	if err != nil {
		return square{}, nil, run.Interrupted(ctx, err)
	}
	w.env.AppendLog("matrix", "items", d.n, "deviation", p.Sum.Deviation(), "rank", d.rank)
	return d.square, diagonal, nil
}

// clean returns the released matrix denoised as the setting says, and its diagonal as released, both without weights.
func (c MatrixConfig) clean(ctx context.Context, r *released, p *Plan) (denoised, []float64, error) {
	g, deviation := r.full(), p.Sum.Deviation()
	diagonal := g.diagonal()
	for i, v := range diagonal {
		diagonal[i] = math.Max(v, deviation) / (p.Weights[i] * p.Weights[i])
	}
	d, err := c.denoise(ctx, g, deviation)
	if err != nil {
		return denoised{}, nil, err
	}
	unweigh(d.square, p.Weights)
	return d, diagonal, nil
}

// mean returns the mean of values.
func mean(values []float64) float64 {
	m := 0.0
	for _, v := range values {
		m += v / float64(len(values))
	}
	return m
}

// model computes the weights among the items of a matrix. lambda is in units of unit.
func (w *work) model(ctx context.Context, g square, diagonal []float64, unit float64) (tensor.Matrix, error) {
	if w.method == ItemKNN {
		return w.matrix.cosine(g, diagonal, unit), nil
	}
	b, raised, err := w.matrix.ease(ctx, g, unit)
	if raised > 0 && err == nil {
		err = w.env.Note(fmt.Sprintf(
			"the released matrix was not positive definite with model.lambda %g: it was doubled %d times",
			w.matrix.Lambda, raised))
	}
	return b, err
}

// obtain returns the run's releases, from its file or by making them. It reuses the file of a stopped run and records
// its releases again, since drawing unseeded noise would be a second release.
func (w *work) obtain(ctx context.Context) (*released, error) {
	_, finished := w.env.Finished()
	if finished || w.env.Resume {
		r, err := readReleased(w.env.Dir, w.env.ConfigHash, w.source.Items())
		switch {
		case err != nil:
			return nil, err
		case r != nil:
			return r, w.repeat(r)
		case finished || !w.keeps && w.env.ReleasedForGood():
			return nil, run.WithHint(fmt.Errorf("the run in %s has no %s", w.env.Dir, ReleasedFile),
				"train again with another --out")
		}
	}
	if w.keeps {
		if err := w.notLost(); err != nil {
			return nil, err
		}
	}
	r, err := w.release(ctx)
	if err != nil {
		return nil, err
	}
	return r, r.write(w.env, ReleasedFile)
}

// repeat records the releases of a stopped run again.
func (w *work) repeat(r *released) error {
	if w.stream != nil {
		return w.stream.record(w.releaser.Ledger)
	}
	sums, err := w.sums()
	if err != nil {
		return err
	}
	if w.matrix != nil {
		p := w.plan(r.counts, sums)
		sums[1] = p.Sum
	}
	for _, s := range sums {
		if err := w.releaser.Repeat(s); err != nil {
			return err
		}
	}
	return w.releaser.Ledger.Flush(period)
}

// sameRows fails if the run released sums that a program computed elsewhere, over other rows, or over items in another
// order than in the data.
func (w *work) sameRows() error {
	f, _ := w.env.Finished()
	same := true
	if was := f.Data(RowsName); was != "" {
		same = was == w.rows.TrainRows().String()
	} else if was := f.Data(oldRowsName); was != "" {
		sum := release.RowsSum{}
		for u, items := range w.rows.Train {
			sum.Add(w.rows.UserIDs[u], items)
		}
		same = was == sum.Of(w.rows.ItemIDs)
	}
	if !same {
		return run.WithHint(fmt.Errorf(
			"the run in %s released sums of other rows than the training rows of the data, or of items in another "+
				"order", w.env.Dir), "add up the training rows, with the ids of all items in the order of the data")
	}
	return nil
}

// period names the time of the releases in the ledger.
const period = "before the model"

// release makes the releases.
func (w *work) release(ctx context.Context) (*released, error) {
	defer w.env.Stage("release")()
	if w.stream != nil {
		return w.streamedRelease()
	}
	sums, err := w.sums()
	if err != nil {
		return nil, err
	}
	exact, err := w.source.Counts(ctx, w.draws())
	if err != nil {
		return nil, run.Interrupted(ctx, err)
	}
	r := &released{}
	if r.counts, err = w.releaseCounts(sums[0], exact); err != nil {
		return nil, err
	}
	if w.matrix != nil {
		if err := ctx.Err(); err != nil {
			return nil, fmt.Errorf("%w: %w", run.ErrInterrupted, err)
		}
		p := w.plan(r.counts, sums)
		r.items = p.Items
		if r.triangle, err = w.source.Triangle(ctx, w.draws(), p); err != nil {
			return nil, run.Interrupted(ctx, err)
		}
		if err := w.releaser.Release(p.Sum, r.triangle, len(r.triangle)); err != nil {
			return nil, err
		}
	}
	return r, w.releaser.Ledger.Flush(period)
}

// releaseCounts adds noise to the counts.
func (w *work) releaseCounts(s release.Sum, exact []float64) ([]float64, error) {
	if !w.keeps {
		return exact, w.releaser.Release(s, exact, len(exact))
	}
	return w.keptCounts(s, exact)
}

// draws returns the random choice of users' contributions.
func (w *work) draws() Draws {
	return Draws{Seed: w.env.Seed, Counts: w.privacy.PerCount(), Matrix: w.privacy.Items}
}

// sums returns the releases with their noise: the counts, and the matrix if there is one. Of the matrix only the
// multiplier is valid before the counts are known.
func (w *work) sums() ([]release.Sum, error) {
	counts := release.CountSum(w.privacy.PerCount())
	if w.matrix == nil {
		return w.privacy.Split([]release.Sum{counts}, 1)
	}
	unknown := newPlan(nil, nil, w.privacy.Items, 1).Sum
	return w.privacy.Split([]release.Sum{counts, unknown}, w.privacy.Counts, 1-w.privacy.Counts)
}

// plan chooses the items of the matrix and the form of users' terms by released counts.
func (w *work) plan(counts []float64, sums []release.Sum) *Plan {
	m, deviation := w.matrix, sums[0].Deviation()
	items := release.Top(counts, m.Items)
	level := m.Floor * float64(w.privacy.PerCount()) * sums[1].Multiplier
	n := min(2, len(items))
	for n < len(items) && counts[items[n]] >= level*math.Sqrt(float64(n+1)) {
		n++
	}
	items = slices.Clone(items[:n])
	slices.Sort(items)
	weights := release.MatrixWeights(counts, items, deviation, m.ItemWeight/2)
	p := newPlan(items, weights, w.privacy.Items, m.UserWeight)
	p.Sum.Multiplier, p.Prefer = sums[1].Multiplier, release.Weights(counts, items, deviation, w.privacy.Prefer)
	return p
}
