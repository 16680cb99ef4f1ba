package dipsgnn

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"

	"privrec/internal/experiment"
	"privrec/internal/model/userinput"
	"privrec/internal/privacy/mechanism/channel"
	"privrec/internal/privacy/mechanism/local"

	"privrec/internal/dataset"
	"privrec/internal/privacy"
	"privrec/internal/privacy/mechanism"
	"privrec/internal/protocol/nextitem"
	"privrec/internal/rng"
	"privrec/internal/run"
	"privrec/internal/tensor"
)

// protection holds the private parts of a DIPSGNN run: the ledger, the perturbed features and the noise on
// aggregations.
type protection struct {
	env      *run.Env
	x        *nextitem.Experiment
	cfg      Config
	ledger   *privacy.Ledger
	once     *privacy.Ledger // takes what is released before training
	period   string          // under which releases are now recorded
	noises   map[string]*aggregationNoise
	released map[string]*graphNoise // of EdgeRand, by part
	noise    Accounting             // of the setting, with the noise of the run
	whole    *wholeMessages         // of noise from cryptographic bits; nil: it is seeded
}

// newProtection opens the ledger and declares what the run leaves unprotected.
func newProtection(env *run.Env, x *nextitem.Experiment, c Config) (*protection, error) {
	p := &protection{env: env, x: x, cfg: c, noises: map[string]*aggregationNoise{}, released: map[string]*graphNoise{}}
	var err error
	if p.noise, err = p.calibrated(); err != nil {
		return nil, err
	}
	a := experiment.Account{Unbounded: p.noise.unbounded()}
	if p.noise.closed() {
		a.Public = public
	}
	if c.Model.UserInput == userinput.Features && x.Data.Features != nil {
		a.Features = AccountFeatures(x.Data.Features, c.Privacy.Features)
	}
	mark := privacy.Research
	if env.Secure() {
		mark = privacy.Secure
		if err := p.secretly(); err != nil {
			return nil, err
		}
	}
	if p.ledger, err = env.Ledger(mark, a.Declaration()); err != nil {
		return nil, err
	}
	if env.Secure() {
		if err := p.keepLost(); err != nil {
			return nil, err
		}
	}
	p.once, err = env.Once()
	return p, err
}

// Purposes of the ledger's entries.
const (
	purposeFeatures = "features"
	purposeIncoming = "aggregation, incoming, " // and the part: train, valid, test
	purposeOutgoing = "aggregation, outgoing, "
	purposeGraphs   = "session graphs, "
)

// deviations returns the standard deviation that theorem 4.2 requires and the one that the run adds; 0 without a
// budget.
func (c Config) deviations() (sigma, std float64) {
	a := c.accounting()
	return a.Sigma(), a.NoiseStd()
}

// PerturbUsers returns the features of every user as perturbed cells (users, d0), perturbed once. The same rows serve
// all samples, which costs nothing more. once is the ledger of releases before training.
func PerturbUsers(f *dataset.Features, c FeatureConfig, once *privacy.Ledger, env *run.Env) (tensor.Matrix, error) {
	x, err := userinput.Clear(f)
	if err != nil {
		return x, err
	}
	if math.IsInf(c.Epsilon, 1) {
		return x, nil // in the clear, as was declared
	}
	noise, err := env.Noise("dipsgnn", purposeFeatures)
	if err != nil {
		return x, err
	}
	if err := local.PerturbFeatures(sampler(f, c), once, noise, x.Data[:x.Rows*x.Cols]); err != nil {
		return x, fmt.Errorf("perturb user features: %w", err)
	}
	return x, once.Flush("before training")
}

func sampler(f *dataset.Features, c FeatureConfig) local.FeatureSampler {
	s := local.FeatureSampler{Purpose: purposeFeatures, Epsilon: c.Epsilon, Unselected: local.Zeroed, Share: share}
	if c.Unselected == UnselectedRaw {
		s.Unselected = local.SharedClear
	}
	for i := range f.Columns {
		k := local.FeatureKind{Name: f.Columns[i].Name}
		if f.Columns[i].Kind == dataset.Categorical {
			k.Categories = len(f.Columns[i].Levels)
		}
		s.Features = append(s.Features, k)
	}
	return s
}

// share is every mechanism's part of the run's false-alarm probability: user
// features, and two directions of four parts.
const share = mechanism.Share(1.0 / 9)

// stream returns the stream of a purpose's noise.
func (p *protection) stream(purpose string) (rng.Stream, error) {
	return p.env.Noise("dipsgnn", purpose)
}

// parts lists the parts of the split whose aggregations may be noisy.
func (p *protection) parts() []*nextitem.Part {
	return []*nextitem.Part{p.x.Train, p.x.Valid, p.x.Refit, p.x.Test}
}

// on returns the noise on aggregations of a part, opened once; nil without a budget.
func (p *protection) on(q *nextitem.Part) (*aggregationNoise, error) {
	if a := p.noises[q.Name]; a != nil {
		return a, nil
	}
	a, err := p.open(q)
	if a != nil {
		p.noises[q.Name] = a
	}
	return a, err
}

func (p *protection) open(q *nextitem.Part) (*aggregationNoise, error) {
	std := p.noise.NoiseStd()
	if std == 0 {
		return nil, nil
	}
	counts, err := CountPrefixes(q.Samples.User, q.Samples.Length)
	if err != nil {
		return nil, err
	}
	a := &aggregationNoise{period: p.enter, show: p.show}
	for dir, purpose := range []string{Incoming: purposeIncoming, Outgoing: purposeOutgoing} {
		g := channel.Gaussian{
			Purpose: purpose + q.Name, Sigma: std, Sensitivity: p.cfg.Model.Norm,
			Unit: privacy.Edge, Neighbouring: privacy.AddRemove,
			Share: share,
		}
		// An edge is in no more prefixes of one pass than the worst edge of the part.
		if err := p.ledger.Bound(g.Purpose, max(1, counts.Edge)*int64(p.cfg.Model.Steps)); err != nil {
			return nil, err
		}
		if p.whole != nil {
			if a.to[dir], err = p.openSecretly(g.Purpose); err != nil {
				return nil, err
			}
			continue
		}
		noise, err := p.stream(g.Purpose)
		if err != nil {
			return nil, err
		}
		if a.to[dir], err = channel.Open[tensor.Float](g, p.ledger, noise); err != nil {
			return nil, err
		}
	}
	return a, nil
}

// channel returns the channel of a purpose, and opens it on first use.
func (p *protection) channel(purpose string) (*channel.Channel[tensor.Float], error) {
	for _, q := range p.parts() {
		for dir, prefix := range []string{Incoming: purposeIncoming, Outgoing: purposeOutgoing} {
			if q != nil && prefix+q.Name == purpose {
				a, err := p.on(q)
				if err != nil || a == nil {
					return nil, errors.Join(err, fmt.Errorf("state of the noise: %q in a run without noise", purpose))
				}
				return a.to[dir], nil
			}
		}
	}
	return nil, fmt.Errorf("state of the noise: unknown purpose %q", purpose)
}

// channels lists the channels opened so far, in a fixed order.
func (p *protection) channels() []*channel.Channel[tensor.Float] {
	var all []*channel.Channel[tensor.Float]
	for _, q := range p.parts() {
		if q != nil && p.noises[q.Name] != nil {
			all = append(all, p.noises[q.Name].to[:]...)
		}
	}
	return all
}

// check checks all noise that was added.
func (p *protection) check() error {
	for _, c := range p.channels() {
		if err := c.Check(); err != nil {
			return err
		}
	}
	return nil
}

// enter closes the ledger's period when the next pass over the data begins.
func (p *protection) enter(pass nextitem.Pass) error {
	period := p.cfg.Train.Passes().Name(pass)
	if p.period == period {
		return nil
	}
	if p.period != "" {
		if err := p.ledger.Flush(p.period); err != nil {
			return err
		}
	}
	p.period = period
	return nil
}

// state holds the protection's part of a checkpoint. The run keeps the ledger itself.
type state struct {
	Period   string          `json:"period"`
	Channels []channel.State `json:"channels"` // in the order of parts and directions
}

// Save implements train.Extra.
func (p *protection) Save() ([]byte, error) {
	s := state{Period: p.period, Channels: []channel.State{}}
	if p.whole != nil { // its noise has no keys: the next attempt draws and checks bits of its own
		return json.Marshal(s)
	}
	for _, c := range p.channels() {
		s.Channels = append(s.Channels, c.State())
	}
	return json.Marshal(s)
}

// Load implements train.Extra. It opens the channels that the interrupted run had opened, so
// that all noise ever added is still checked.
func (p *protection) Load(b []byte) error {
	var s state
	if err := json.Unmarshal(b, &s); err != nil {
		return fmt.Errorf("state of the noise: %w", err)
	}
	p.period = s.Period
	for _, c := range s.Channels {
		to, err := p.channel(c.Purpose)
		if err != nil {
			return err
		}
		if err := to.Restore(c); err != nil {
			return err
		}
	}
	return nil
}
