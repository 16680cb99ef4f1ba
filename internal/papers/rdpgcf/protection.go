package rdpgcf

import (
	"errors"
	"fmt"

	"privrec/internal/experiment"
	"privrec/internal/privacy"
	"privrec/internal/protocol/topn"
	"privrec/internal/rng"
	"privrec/internal/run"
)

// protection holds the private parts of a run of the paper's method: the ledger, the calibrated noise, and their
// account.
type protection struct {
	env    *run.Env
	cfg    Config
	ledger *privacy.Ledger
	sigma  float64     // standard deviation of the noise on layers; 0: none
	layers *layerNoise // nil: none
}

// newProtection calibrates the noise for the training graph, declares what the run leaves unprotected, and opens the
// noise.
func newProtection(x *topn.Experiment, c Config) (*protection, error) {
	p := &protection{env: x.Env, cfg: c}
	edges := int64(x.Graph.Edges())
	cal, err := c.Calibration(edges)
	if err != nil {
		return nil, err
	}
	if c.Privacy.noisy() {
		if p.sigma, err = c.sigma(cal); err != nil {
			return nil, err
		}
	}
	r, err := c.planned(edges, p.sigma)
	if err != nil {
		return nil, err
	}
	if p.ledger, err = declare(x.Env, c.open(r), nil); err != nil {
		return nil, err
	}
	if c.Privacy.noisy() {
		p.layers, err = c.openNoise(cal, p.sigma, p.ledger, p.stream)
	}
	return p, err
}

// planned returns the expected releases of a run, without their numbers.
func (c Config) planned(edges int64, sigma float64) (Ran, error) {
	filtered, err := c.Data.Filtered()
	r := Ran{Edges: edges, Sigma: sigma, Selected: c.Train.Selected(), Filtered: filtered}
	for _, kind := range c.Release.Kinds {
		r.Clean = r.Clean || kind == ReleaseClean
	}
	return r, err
}

// plannedAccount returns the account of a run of all its epochs, without validations, whose number is known only at the
// end.
func (c Config) plannedAccount(edges int64, sigma float64) (*Account, error) {
	r, err := c.planned(edges, sigma)
	if err != nil {
		return nil, err
	}
	if sigma > 0 {
		r.Steps = c.perEpoch(edges) * int64(c.Train.Epochs)
		r.Releases = int64(c.Release.Average)
	}
	return c.Account(r)
}

// openNoise opens the noise on layers.
func (c Config) openNoise(cal Calibration, sigma float64, l *privacy.Ledger,
	stream func(purpose string) (rng.Stream, error)) (*layerNoise, error) {
	rate := 1.0
	if c.Privacy.Propagation == PropagationSampled {
		rate = cal.Rate()
	}
	return newLayerNoise(layerNoiseOptions{
		sigma: sigma, joint: cal.Joint, layers: cal.Layers, rate: rate,
		perEpoch: int(c.perEpoch(cal.Edges)), share: 1,
	}, l, stream)
}

// mostSigma is the largest sigma: beyond it single precision loses the values that noise is added to.
const mostSigma = 1e9

// sigma returns the standard deviation in force: the given one, or the one that the accounting requires. It fails for
// an epsilon that no noise reaches, which the user must change.
func (c Config) sigma(cal Calibration) (float64, error) {
	if c.Privacy.Accounting == AccountingFixed {
		return c.Privacy.Sigma, nil
	}
	s, err := cal.Sigma(c.Privacy.Epsilon)
	if err == nil && s > mostSigma {
		err = fmt.Errorf("epsilon %v asks for noise of standard deviation %.3g: above %g nothing of a graph is left",
			c.Privacy.Epsilon, s, float64(mostSigma))
	}
	if err != nil {
		return 0, &run.UsageError{Message: fmt.Sprintf("privacy.epsilon: %v", err),
			Fix: "take a larger epsilon, fewer epochs, or another privacy.accounting"}
	}
	return s, nil
}

// stream returns the stream of a purpose's noise.
func (p *protection) stream(purpose string) (rng.Stream, error) {
	return p.env.Noise("rdpgcf", purpose)
}

// noise returns the noise on propagations; nil for none.
func (p *protection) noise() noise {
	if p.layers == nil {
		return nil
	}
	return p.layers
}

// Save implements train.Extra.
func (p *protection) Save() ([]byte, error) {
	if p.layers == nil {
		return []byte("{}"), nil
	}
	return p.layers.Save()
}

// Load implements train.Extra.
func (p *protection) Load(b []byte) error {
	if p.layers == nil {
		if string(b) != "{}" {
			return errors.New("state of the noise: there is one, in a run without noise")
		}
		return nil
	}
	return p.layers.Load(b)
}

// account counts the releases of a finished run, checks all noise, and compares the ledger with the account.
func (p *protection) account(x *topn.Experiment, fitted *experiment.Fitted) (*Account, error) {
	c := p.cfg
	r, err := c.planned(int64(x.Graph.Edges()), p.sigma)
	if err != nil {
		return nil, err
	}
	if p.layers != nil {
		if err := p.layers.check(); err != nil {
			return nil, err
		}
		r.Steps, r.Releases = p.layers.calls[phaseTrain], p.layers.calls[phaseRelease]
		if r.Steps != int64(fitted.Steps) {
			return nil, fmt.Errorf("account: %d noisy steps in a training of %d", r.Steps, fitted.Steps)
		}
		if err := p.ledger.Flush(p.layers.period); err != nil {
			return nil, err
		}
	}
	a, err := c.Account(r)
	if err != nil {
		return nil, err
	}
	if p.layers != nil {
		if err := a.Agree(p.ledger); err != nil {
			return nil, err
		}
	}
	return a, nil
}

// Assumptions of a finite total.
var (
	publicUnit = privacy.Assumption{What: "which row trains",
		Why: "the unit is a training row: where a share of a user's rows trains, a row more can put another one of " +
			"that user's into training, and costs two"}
	publicSettings = privacy.Assumption{What: "the settings",
		Why: "to choose them by results on these rows is not accounted for"}
	publicLists = privacy.Assumption{What: "users' own lists",
		Why: "they leave out the items of the user's own row, which shows that row to its reader: the guarantee is " +
			"for the vectors, and for what all others see"}
	publicReport = privacy.Assumption{What: "what is measured here",
		Why: "numbers of rows, check sums of their files, floors and ranks of held-out rows, whose masks are the " +
			"training rows"}
)

// declare opens the run's ledger with what the run leaves open, and the assumptions of a finite total.
func declare(env *run.Env, open []experiment.Open, taken []privacy.Assumption) (*privacy.Ledger, error) {
	a := experiment.Account{Unbounded: open, Public: taken}
	return env.Ledger(privacy.Research, a.Declaration())
}
