package auditing

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"sort"

	"privrec/internal/dataset"
	"privrec/internal/experiment"
	"privrec/internal/metrics"
	"privrec/internal/privacy"
	"privrec/internal/privacy/accountant"
	"privrec/internal/privacy/audit"
	"privrec/internal/report"
	"privrec/internal/run"
	"privrec/internal/tensor"
)

// What an auditor of releases sees and knows.
const (
	howReleased = "all noisy sums that leave the curator, along what the canary adds to them; their noise is drawn " +
		"again by the program's own mechanism, without training again, and a canary's gradient is long enough for " +
		"the clip"
	knowsReleased = "all rows of other users, what the canary adds to each sum, and the noise that the ledger " +
		"states; the inputs of each step are those of the trained model"
	releasedCanary = "a user who is not in the data, chosen to add as much as a user can"
)

// redrawn audits by the releases of one trained model, whose noise is drawn again and again.
func (w *work) redrawn(ctx context.Context) (*finding, error) {
	dir := folder("audited", false, 1)
	if err := w.fit(ctx, model{dir: dir, seed: uint64(w.env.Seed)}); err != nil {
		return nil, err
	}
	s, err := w.subject(w.dir(dir))
	if err != nil {
		return nil, err
	}
	f, err := w.holds(&finding{subject: s}, dir)
	if err != nil {
		return nil, err
	}
	f.models = 1
	auditor, err := w.auditor(ctx, w.dir(dir))
	if err != nil {
		return nil, err
	}
	defer w.env.Stage("draw the releases again")()
	f.release = ""
	if w.Audit.Method == OneRun {
		return f, w.oneRelease(ctx, f, auditor)
	}
	entries, err := w.entries(f.accounted, w.dir(dir))
	if err != nil {
		return nil, err
	}
	return f, w.manyReleases(ctx, f, auditor, entries)
}

// auditor opens the releases of a trained model.
func (w *work) auditor(ctx context.Context, dir string) (*audit.Auditor, error) {
	workers := tensor.Workers() // opening a run sets those of its own configuration
	defer tensor.SetWorkers(workers)
	answers, err := experiment.AskWith(ctx, w.tasks, dir, "")
	if err != nil {
		return nil, err
	}
	defer answers.Close()
	err = experiment.ErrNoRedraw
	var releases []audit.Release
	if of, ok := answers.(experiment.Redrawing); ok {
		releases, err = of.Releases(ctx, w.Audit.Rows)
	}
	if errors.Is(err, experiment.ErrNoRedraw) {
		return nil, &run.UsageError{Message: fmt.Sprintf("audit.sees: %s: %v", w.task, err),
			Fix: "audit.sees=" + SeesScores + ", or audit train dp-ease, dp-als, dp-sgd-mf, or dpsgd over users"}
	}
	if err != nil {
		return nil, run.Interrupted(ctx, err)
	}
	return audit.NewAuditor(releases)
}

// scored holds the scores of draws: those by the likelihood, and those by the difference of two releases, if there are
// two that differ.
type scored struct {
	all     [][]float64 // by statistic
	squares [][]float64 // of the noise, by release and value
	out     int         // canaries that were out
}

// score draws all releases for so many canaries, of which in says who is in the data. Draws of two kinds have other
// noise. Results do not depend on the number of workers.
func (w *work) score(ctx context.Context, a *audit.Auditor, kind uint64, n int, in func(k int) bool,
	off bool) (*scored, error) {
	const each = 1024
	parts := make([]audit.Scores, (n+each-1)/each)
	failed := make([]error, len(parts))
	w.env.Progress.Begin("releases", n)
	defer w.env.Progress.End("")
	for lo := 0; lo < len(parts); lo += 64 { // so that a user can stop it
		if err := ctx.Err(); err != nil {
			return nil, fmt.Errorf("%w: %w", run.ErrInterrupted, err)
		}
		hi := min(lo+64, len(parts))
		tensor.Parallel(hi-lo, 1, func(_, from, to int) {
			for p := lo + from; p < lo+to; p++ {
				d := audit.Draw{Key: kind<<40 + uint64(p), In: make([]bool, min(each, n-p*each)), Off: off}
				for k := range d.In {
					d.In[k] = in(p*each + k)
				}
				parts[p], failed[p] = a.Score(d)
			}
		})
		w.env.Progress.Add(min(n, hi*each) - lo*each)
	}
	out := &scored{all: [][]float64{nil}}
	for p, s := range parts {
		if failed[p] != nil {
			return nil, failed[p]
		}
		out.all[0] = append(out.all[0], s.Likelihood...)
		if s.Difference != nil {
			if len(out.all) == 1 {
				out.all = append(out.all, nil)
			}
			out.all[1] = append(out.all[1], s.Difference...)
		}
		out.out += s.Out
		if out.squares == nil {
			out.squares = s.Noise
			continue
		}
		for i, r := range s.Noise {
			for j, v := range r {
				out.squares[i][j] += v
			}
		}
	}
	return out, nil
}

// Kinds of draws.
const (
	ofAudited = iota + 1
	ofPositive
	ofNegative
)

// controls is the number of releases of a control, at most.
const controls = 2000

// oneRelease audits by one release that has many canaries, each in or out by a coin, with values of its own.
func (w *work) oneRelease(ctx context.Context, f *finding, a *audit.Auditor) error {
	n := w.Audit.Canaries
	f.canaries = make([]dataset.Canary, n)
	coins, err := w.plant.Flips(w.env.Seed)
	if err != nil {
		return err
	}
	bound := func(r Row, all [][]float64) (Row, error) { return w.Audit.oneRun(r, coins, all, f.delta) }
	return w.rows(ctx, f, a, bound, []releases{
		{Row{Name: Audited, What: fmt.Sprintf("one release with each of %d canaries in or out by a coin", n)},
			ofAudited, n, coins.In, false},
		{Row{Name: Positive, What: "the same, with a billionth of the noise"}, ofPositive, n, coins.In, true},
		{Row{Name: Negative, What: "one release with no canary, held against coins that were never used"}, ofNegative,
			n, func(int) bool { return false }, false},
	})
}

// releases says how a row's releases are drawn.
type releases struct {
	Row
	kind uint64           // of draws
	n    int              // canaries
	in   func(k int) bool // which of them are in the data
	off  bool             // with a billionth of the noise
}

// rows draws the releases of each row and adds its bounds to the finding.
func (w *work) rows(ctx context.Context, f *finding, a *audit.Auditor,
	bound func(r Row, all [][]float64) (Row, error), list []releases) error {
	for _, r := range list {
		s, err := w.score(ctx, a, r.kind, r.n, r.in, r.off)
		if err != nil {
			return err
		}
		row, err := bound(r.Row, s.all)
		if err != nil {
			return err
		}
		row.By = statistic(a, row.Attack)
		f.rows = append(f.rows, row)
		if r.kind == ofAudited {
			f.seen = a.Seen(s.squares, s.out)
		}
	}
	return nil
}

// statistic names a score of an auditor.
func statistic(a *audit.Auditor, k int) string {
	if p := a.Pair(); k == 1 && p != nil {
		return fmt.Sprintf("the difference of %s and %s", p[0], p[1])
	}
	return "the likelihood of all releases"
}

// manyReleases audits by releases with the canary and without it.
func (w *work) manyReleases(ctx context.Context, f *finding, a *audit.Auditor, entries []privacy.Entry) error {
	f.canaries = make([]dataset.Canary, 1)
	runs := w.Audit.Runs
	row := func(name, what string, n int) Row { return Row{Name: name, What: fmt.Sprintf(what, n/2, n/2)} }
	bound := func(r Row, all [][]float64) (Row, error) { return w.Audit.manyRun(r, all, f.delta, entries) }
	positive, negative := min(runs, controls), min(runs, 10*controls)
	return w.rows(ctx, f, a, bound, []releases{
		{row(Audited, "%d releases with the canary and %d without it", runs), ofAudited, runs, every2, false},
		{row(Positive, "the same with a billionth of the noise, %d and %d", positive), ofPositive, positive, every2, true},
		{row(Negative, "releases without the canary, %d of them taken for such with it and %d not", negative), ofNegative,
			negative, func(int) bool { return false }, false},
	})
}

// every2 reports whether the canary is in a release: in every other one.
func every2(k int) bool { return k%2 == 0 }

// shownReleases is the number of releases that a table has rows for.
const shownReleases = 12

// released returns what was seen of the releases as a table.
func (o *Outcome) released() *report.Table {
	t := &report.Table{Name: "releases", Title: "What the auditor saw of each release, in units of the ledger",
		Columns: []report.Column{{Name: "release"}, {Name: "the canary adds", Format: "%.4f"},
			{Name: "noise of a value, least", Format: "%.4f"}, {Name: "most", Format: "%.4f"}}}
	for _, s := range o.Releases[:min(shownReleases, len(o.Releases))] {
		t.Add(s.Purpose, s.Adds, s.Least, s.Most)
	}
	if n := len(o.Releases) - shownReleases; n > 0 {
		t.Notes = append(t.Notes, fmt.Sprintf("and %d more", n))
	}
	return t
}

// faults returns sentences on what of the releases does not fit the ledger.
func (f *finding) faults() (out []string) {
	for _, s := range f.seen {
		if fault := s.Fault(); fault != "" {
			out = append(out, fault)
		}
	}
	if len(f.rows) > 0 && f.rows[0].Attack == 1 && len(f.seen) > 0 {
		out = append(out, "the noise of two releases is not independent: found by "+f.rows[0].By)
	}
	return out
}

// manyRun returns lower bounds on epsilon from scores of many releases, of which every other one has the canary. all
// holds the scores by statistic. A quarter chooses the statistic and the threshold of each bound; the others are
// counted. Bounds have half of the level each, so that they hold together. entries are those of the ledger, or none.
func (c AuditConfig) manyRun(r Row, all [][]float64, delta float64, entries []privacy.Entry) (Row, error) {
	o := audit.Options{Delta: delta, Level: c.Level, Tests: 2}
	var sides [][2][]float64
	for _, scores := range all {
		var s [2][]float64
		for k, v := range scores {
			if math.IsNaN(v) {
				return r, fmt.Errorf("%s: score %d is not a number", r.Name, k)
			}
			s[k%2] = append(s[k%2], v)
		}
		sides = append(sides, s)
	}
	n := len(sides[0][0]) / 4
	if n < 1 || len(sides[0][1]) != len(sides[0][0]) {
		return r, fmt.Errorf("%d releases with the canary and %d without, want as many, at least 4", len(sides[0][0]),
			len(sides[0][1]))
	}
	bounds := []func(x audit.Rates) (audit.Bound, error){
		func(x audit.Rates) (audit.Bound, error) { return audit.TwoRun(x, o) }}
	if delta > 0 {
		bounds = append(bounds, func(x audit.Rates) (audit.Bound, error) {
			return audit.TwoRunGDP(x, o, accountant.Exact)
		})
	}
	for k, bound := range bounds {
		by, at, err := chooseAmong(sides, n, k == 1, o)
		if err != nil {
			return r, err
		}
		rates := ratesOf(sides[by][0][n:], sides[by][1][n:], at)
		b, err := bound(rates)
		if err != nil {
			return r, err
		}
		if k == 0 {
			r.Bound, r.Threshold, r.Attack = b, &at, by
			if err := c.apart(&r, sides[by], n); err != nil {
				return r, err
			}
			continue
		}
		r.Gaussian = &b
		if len(entries) == 0 {
			continue
		}
		curve, err := curveOf(entries, 1)
		if err != nil {
			return r, err
		}
		if r.Found, err = found(rates, c.Level/4, curve.TradeOff); err != nil {
			return r, err
		}
		if r.Ledger, err = byLedger(*r.Found, entries, b, o); err != nil {
			return r, err
		}
		if r.Found != nil && r.Found.Contradicts() {
			r.Attack = by
		}
	}
	return r, nil
}

// strict is the level of the bounds that choose a threshold: of many thresholds one with few scores above it would else
// be chosen by luck.
const strict = 1e-5

// thresholds is the number of quantiles on each side that are tried as thresholds.
const thresholds = 40

// chooseAmong returns the statistic and the threshold whose bound is largest, by the first n scores of each side. For
// the bound on mu the threshold of a statistic is where both errors are equally likely: the largest of many bounds
// would be so by chance.
func chooseAmong(sides [][2][]float64, n int, gaussian bool, o audit.Options) (by int, at float64, err error) {
	best, strictly := math.Inf(-1), audit.Options{Delta: o.Delta, Level: strict}
	for k, s := range sides {
		in, out := slices.Sorted(slices.Values(s[0][:n])), slices.Sorted(slices.Values(s[1][:n]))
		tried := quantiles(in, out)
		if gaussian {
			tried = []float64{even(in, out)}
		}
		for _, t := range tried {
			x := audit.Rates{TruePositives: above(in, t), Positives: int64(n), FalsePositives: above(out, t),
				Negatives: int64(n)}
			value, err := 0.0, error(nil)
			if gaussian {
				value, err = audit.TwoRunMu(x, o.Level/float64(o.Tests))
			} else {
				var b audit.Bound
				b, err = audit.TwoRun(x, strictly)
				value = b.Epsilon
			}
			if err != nil {
				return 0, 0, err
			}
			if value > best {
				by, at, best = k, t, value
			}
		}
	}
	return by, at, nil
}

// quantiles returns thresholds to try: quantiles of two sorted lists, from a half of one to less than one score of it,
// at both ends, and the middle between the lists where they do not overlap.
func quantiles(in, out []float64) []float64 {
	n := len(in)
	tried := []float64{in[0] + (out[n-1]-in[0])/2}
	for _, side := range [][]float64{in, out} {
		for j := range thresholds {
			x := int(math.Pow(float64(2*n), -float64(j)/thresholds) / 2 * float64(n))
			tried = append(tried, between(side, x), between(side, n-1-x))
		}
	}
	slices.Sort(tried)
	return slices.Compact(tried)
}

// even returns a threshold between two sorted lists of one length, above which about as many of out lie as of in lie
// below.
func even(in, out []float64) float64 {
	n := len(in)
	x := sort.Search(n, func(i int) bool { return in[i] >= out[n-1-i] })
	if x == n {
		return in[n-1]
	}
	return out[n-1-x] + (in[x]-out[n-1-x])/2
}

// between returns the middle between a value of a sorted list and the next one.
func between(sorted []float64, i int) float64 {
	return sorted[i] + (sorted[min(i+1, len(sorted)-1)]-sorted[i])/2
}

// above returns the number of values of a sorted list above a threshold.
func above(sorted []float64, t float64) int64 {
	i, _ := slices.BinarySearchFunc(sorted, t, func(v, t float64) int {
		if v > t {
			return 1
		}
		return -1
	})
	return int64(len(sorted) - i)
}

// apart adds to a row how well scores with the canary are told from those without.
func (c AuditConfig) apart(r *Row, side [2][]float64, n int) (err error) {
	in := make([]bool, 2*len(side[0]))
	for k := range side[0] {
		in[k] = true
	}
	if r.AUC, err = metrics.AUC(slices.Concat(side[0], side[1]), in); err != nil {
		return err
	}
	return c.advantage(r, ratesOf(side[0][n:], side[1][n:], *r.Threshold))
}
