package rdpgcf

import (
	"encoding/json"
	"errors"
	"fmt"

	"privrec/internal/nn"
	"privrec/internal/privacy"
	"privrec/internal/privacy/mechanism"
	"privrec/internal/privacy/mechanism/channel"
	"privrec/internal/rng"
	"privrec/internal/tensor"
)

// Purposes of the ledger's entries.
const (
	purposeTraining = "propagation, training"
	purposeReleases = "propagation, releases"
)

// layerNoise adds independent normal noise to every coordinate of every aggregated row of both sides, fresh in every
// layer of every call. It implements noise. A layer is one release with the sensitivity of both sides together, and is
// in the ledger before a row changes. Source: equation (8).
//
// Noise is keyed by phase, call, layer, side and node. It does not depend on the other rows of a batch, on their order
// or on the number of workers.
type layerNoise struct {
	ledger   *privacy.Ledger
	training *channel.Channel[tensor.Float]
	releases *channel.Channel[tensor.Float]
	// sampled is the event of a training step that sees a Poisson sample of the edges; nil if layers are recorded one
	// by one, as they are released.
	sampled  *privacy.Sampled
	perEpoch int // training steps of an epoch, for the ledger's periods

	period string
	calls  map[string]int64 // propagations begun, by phase

	at      propagation // the one that follows, or is under way
	current *channel.Channel[tensor.Float]
	open    *channel.Release[tensor.Float]
	users   int // rows of the open release that are users'
	cols    int
}

// layerNoiseOptions holds the settings of a run's noise.
type layerNoiseOptions struct {
	sigma    float64 // standard deviation
	joint    float64 // how far an edge moves both views of a layer
	layers   int
	rate     float64 // of edges in a training step's propagation; 1: all
	perEpoch int
	share    mechanism.Share // of the run's false-alarm probability
}

// newLayerNoise opens the noise. It records events in ledger l, and draws noise from the streams that stream returns by
// purpose.
func newLayerNoise(o layerNoiseOptions, l *privacy.Ledger,
	stream func(purpose string) (rng.Stream, error)) (*layerNoise, error) {
	if o.layers < 1 || o.perEpoch < 1 || !(o.rate > 0 && o.rate <= 1) {
		return nil, fmt.Errorf("noise of %d layers, %d steps an epoch, rate %v", o.layers, o.perEpoch, o.rate)
	}
	a := &layerNoise{ledger: l, perEpoch: o.perEpoch, calls: map[string]int64{}}
	open := func(purpose string, l *privacy.Ledger) (*channel.Channel[tensor.Float], error) {
		s, err := stream(purpose)
		if err != nil {
			return nil, err
		}
		return channel.Open[tensor.Float](channel.Gaussian{
			Purpose: purpose, Sigma: o.sigma, Sensitivity: o.joint,
			Unit: privacy.Edge, Neighbouring: privacy.AddRemove, Share: o.share / 2,
		}, l, s)
	}
	training := l
	if o.rate < 1 {
		layer := privacy.Gaussian{Sigma: o.sigma, Sensitivity: o.joint, Unit: privacy.Edge,
			Neighbouring: privacy.AddRemove}
		a.sampled = &privacy.Sampled{Rate: o.rate, Method: privacy.Poisson,
			Event: privacy.SelfComposed{Event: layer, Count: int64(o.layers)}}
		// At records the step; the channel's own record, layer by layer and without
		// the sampling, is not that of the run.
		var err error
		if training, err = privacy.NewLedger(privacy.Research); err != nil {
			return nil, err
		}
	}
	var err error
	if a.training, err = open(purposeTraining, training); err != nil {
		return nil, err
	}
	if a.releases, err = open(purposeReleases, l); err != nil {
		return nil, err
	}
	return a, nil
}

// At implements noise.
func (a *layerNoise) At(phase string, p propagation) error {
	if a.open != nil {
		return errors.New("noise: a propagation begins before a layer of the last one has ended")
	}
	period := fmt.Sprintf("epoch %d", int(p)/a.perEpoch+1)
	switch phase {
	case phaseTrain:
		a.current = a.training
	case phaseRelease:
		a.current, period = a.releases, fmt.Sprintf("release %d", p.release()+1)
	default:
		return fmt.Errorf("noise: unknown phase %q", phase)
	}
	if err := a.enter(period); err != nil {
		return err
	}
	a.at = p
	a.calls[phase]++
	if phase == phaseTrain && a.sampled != nil {
		return a.ledger.Record(purposeTraining, *a.sampled, 1)
	}
	return nil
}

// enter closes the ledger's period when another begins.
func (a *layerNoise) enter(period string) error {
	if a.period == period {
		return nil
	}
	if a.period != "" {
		if err := a.ledger.Flush(a.period); err != nil {
			return err
		}
	}
	a.period = period
	return nil
}

// passBits sets the number of calls that share a pass of the noise's keys. The keys of one pass are remembered, to find
// one that is used twice.
const passBits = 10

// Begin implements nn.LayerNoise.
func (a *layerNoise) Begin(layer int, rows [2]int, cols int) (err error) {
	if a.current == nil {
		return errors.New("noise: no propagation was named")
	}
	a.users, a.cols = rows[nn.UserSide], cols
	a.open, err = a.current.Start([]int32{int32(layer)}, rows[nn.UserSide]+rows[nn.ItemSide], cols,
		uint64(a.at>>passBits), uint64(a.at))
	return err
}

// Add implements nn.LayerNoise.
func (a *layerNoise) Add(_ int, side nn.Side, first, rank int, rows []tensor.Float) error {
	if side == nn.ItemSide {
		rank += a.users
	}
	for k := 0; k*a.cols < len(rows); k++ {
		a.open.RowAt(rank+k, rows[k*a.cols:(k+1)*a.cols], 0, uint64(side)<<32|uint64(first+k))
	}
	return nil
}

// End implements nn.LayerNoise. It fails if a row got no noise, or if two rows got the same noise.
func (a *layerNoise) End(int) error {
	r := a.open
	a.open = nil
	return r.Finish()
}

// check checks all noise that was added.
func (a *layerNoise) check() error {
	return errors.Join(a.training.Check(), a.releases.Check())
}

// noiseState holds the noise's part of a checkpoint. The run keeps the ledger itself.
type noiseState struct {
	Period   string        `json:"period"`
	Steps    int64         `json:"steps"`
	Releases int64         `json:"releases"`
	Training channel.State `json:"training"`
	Outside  channel.State `json:"outside"`
}

// Save implements train.Extra.
func (a *layerNoise) Save() ([]byte, error) {
	return json.Marshal(noiseState{Period: a.period, Steps: a.calls[phaseTrain], Releases: a.calls[phaseRelease],
		Training: a.training.State(), Outside: a.releases.State()})
}

// Load implements train.Extra.
func (a *layerNoise) Load(b []byte) error {
	var s noiseState
	if err := json.Unmarshal(b, &s); err != nil {
		return fmt.Errorf("state of the noise: %w", err)
	}
	if s.Steps < 0 || s.Releases < 0 {
		return fmt.Errorf("state of the noise: %d steps and %d releases", s.Steps, s.Releases)
	}
	a.period, a.calls = s.Period, map[string]int64{phaseTrain: s.Steps, phaseRelease: s.Releases}
	return errors.Join(a.training.Restore(s.Training), a.releases.Restore(s.Outside))
}
