package auditing

import (
	"context"
	"errors"
	"fmt"

	"privrec/internal/config"
	"privrec/internal/experiment"
	"privrec/internal/metrics"
	"privrec/internal/privacy"
	"privrec/internal/privacy/audit"
	"privrec/internal/run"
)

// ReleaseConfig sets how a mechanism is audited that releases every row by itself. Nothing is trained, so that there
// may be many canaries, and a bound comes near to the truth.
type ReleaseConfig struct {
	Canaries int `yaml:"canaries" limit:"10..1000000"` // number of canary rows, each one of two by a coin
	// chance that a bound is above the truth; the confidence is 1 - level
	Level float64 `yaml:"level" limit:"[1e-9,0.5]"`
	// Guesses lists the shares of canaries that are guessed about, half of them in and half out. The largest bound
	// over all shares is taken, at a level divided by their number.
	Guesses []float64 `yaml:"guesses"`
}

// DefaultRelease returns an audit of 20,000 canaries at 95 % confidence.
func DefaultRelease() ReleaseConfig {
	return ReleaseConfig{Canaries: 20_000, Level: 0.05, Guesses: []float64{0.05, 0.1, 0.2, 0.5, 1}}
}

// Check reports an audit that cannot be run, under the key "audit".
func (c ReleaseConfig) Check(v *config.Checker) {
	AuditConfig{Level: c.Level, Guesses: c.Guesses}.checkLevel(v)
}

// Channel is a mechanism that perturbs every row by itself, with canaries for it.
type Channel struct {
	Method  string // as its table calls it
	Setting string // what it is set to
	Data    experiment.Data
	Unit    string // what the two sides of a canary differ in
	Differ  string // that, as a sentence
	Sees    string // what of the release the auditor looks at, as a sentence
	// Epsilon is the accounted epsilon for such a difference. Both it and the claim are pure.
	Epsilon float64
	Claimed *experiment.Claim // nil: nothing is claimed
	Claims  bool              // the claim is for such a difference
	Off     string            // how the positive control switches the noise off
	// Release perturbs one side of every canary, the one that in names, under a separate stream for each name. It
	// returns for each canary how much more the output looks like the side that is in. off switches the noise off.
	Release func(ctx context.Context, name string, in func(canary int) bool, off bool,
		l *privacy.Ledger) ([]float64, error)
}

// Releases describes a task that audits a channel. C is its configuration.
type Releases[C any] struct {
	Name    string // after the verb audit
	Summary string
	Cite    string
	Flags   []run.Flag
	Default func() C
	Check   func(v *config.Checker, c C)
	Profile func(c C) (name string, audit ReleaseConfig)
	Open    func(ctx context.Context, env *run.Env, c C) (*Channel, error)
}

// Task returns the task.
func (r Releases[C]) Task() run.Task {
	return run.Spec[C]{
		Verb: "audit", Name: r.Name, Noisy: true, Summary: r.Summary, Cite: r.Cite, Flags: r.Flags, Default: r.Default,
		Check: r.Check,
		Open: func(ctx context.Context, env *run.Env, c C) (run.Work, error) {
			if env.Rehearsing() {
				return nil, run.ErrNoForecast
			}
			profile, a := r.Profile(c)
			standard, _ := r.Profile(r.Default())
			standing, err := experiment.Stand(c, profile, map[string]C{standard: r.Default()}, nil, "data.",
				"mechanism.")
			if err != nil {
				return nil, err
			}
			ch, err := r.Open(ctx, env, c)
			if err != nil {
				return nil, err
			}
			return &release{Channel: ch, env: env, audit: a, standing: standing, task: "audit " + r.Name},
				env.RecordData(ch.Data.Source.Title, ch.Data.Source.Hash)
		},
	}.Task()
}

// release is the audit of one channel. It implements run.Work.
type release struct {
	*Channel
	env      *run.Env
	audit    ReleaseConfig
	standing experiment.Standing
	task     string
}

// Run implements run.Work: it releases one side of every canary and compares the evidence about the coins with the
// account. It returns an error for a bound above the account, after the result was written.
func (w *release) Run(ctx context.Context) error {
	a := experiment.Unprotected("coins",
		"the auditor makes both sides of every canary and is told the coins afterwards; the releases are of "+
			"canaries, and nothing else of them is kept")
	a.Noise = string(privacy.Research)
	l, err := w.env.Ledger(privacy.Research, a.Declaration())
	if err != nil {
		return err
	}
	coins, err := audit.NewCoins(w.env.Seed.Stream("canary coins"), w.audit.Canaries)
	if err != nil {
		return err
	}
	rows, err := w.rows(ctx, coins, l)
	if err := errors.Join(run.Interrupted(ctx, err), l.Flush("releases")); err != nil {
		return err
	}
	o := w.outcome(rows)
	write := errors.Join(w.env.WriteMetrics(o), experiment.WriteCells(w.env, o.Data.Level, o.cells()),
		w.env.WritePrivacy(&a))
	if write != nil {
		return write
	}
	if err := w.env.Print(o.document(w.audit.Level, uint64(w.env.Seed))); err != nil {
		return err
	}
	if b := o.Rows[0].Bound; b.Contradicts(w.Epsilon) {
		return &audit.Contradiction{Audited: b, Accounted: w.Epsilon, Unit: w.Unit, Of: w.Method}
	}
	return nil
}

// rows returns the bounds of the audited release and of both controls.
func (w *release) rows(ctx context.Context, coins audit.Coins, l *privacy.Ledger) (rows []Row, err error) {
	defer w.env.Stage("release")()
	n := w.audit.Canaries
	c := AuditConfig{Level: w.audit.Level, Guesses: w.audit.Guesses}
	for _, r := range []struct {
		name, what string
		in         func(int) bool
		off        bool
	}{
		{Audited, fmt.Sprintf("one release of %d canaries, each of which is one of two rows by a coin", n), coins.In,
			false},
		{Positive, "the same, with the noise off: " + w.Off, coins.In, true},
		{Negative, "one release of the rows that are not in, held against coins that were never used",
			func(int) bool { return false }, false},
	} {
		scores, err := w.Release(ctx, r.name, r.in, r.off, l)
		if err != nil {
			return nil, err
		}
		row, err := c.oneRun(Row{Name: r.name, What: r.what}, coins, [][]float64{scores}, 0)
		if err != nil {
			return nil, err
		}
		rows = append(rows, row)
	}
	return rows, nil
}

// outcome returns the bounds in the common form of results.
func (w *release) outcome(rows []Row) *Outcome {
	a := Accounted{Unit: w.Unit, Epsilon: privacy.Number(w.Epsilon), claim: w.Claimed, claims: w.Claims}
	if c := w.Claimed; c != nil {
		a.Claimed = claimText(c)
	}
	o := &Outcome{Accounted: a, Rows: rows, Outcome: experiment.Outcome[DataSummary]{
		Version: experiment.Version, Protocol: Name, Method: "privacy audit", Setting: w.standing.Text,
		Metrics: []metrics.Metric{}, Definitions: AuditConfig{Level: w.audit.Level}.definitions(0),
		Trained: experiment.Trained{Epochs: []experiment.Epoch{}},
	}}
	n := w.audit.Canaries
	o.Data = DataSummary{Data: w.Data, Canaries: n}
	o.Target = Target{Task: w.task, Method: w.Method, Setting: w.Setting, NoiseOff: []string{w.Off}}
	o.Threat = Threat{Method: OneRun, Unit: w.Unit, Sees: "release", How: w.Sees,
		Knows: "both sides of every canary, and the mechanism", Canaries: n, Level: w.audit.Level, Differ: w.Differ}
	o.fill(0)
	return o
}

// claimText returns a claim and its unit as text.
func claimText(c *experiment.Claim) string {
	return fmt.Sprintf("%v at delta %g for one %s", c.Eps, c.Delta, c.Unit)
}
