package run

import (
	"errors"
	"fmt"
	"io/fs"
	"sync"

	"privrec/internal/config"
)

// Plan holds the effect that Start would have under the same options.
type Plan struct {
	Hash     string    // of the effective configuration, seed and task
	Seed     uint64    // seed of every random number
	Dir      string    // run directory
	State    State     // how far the run in it has come
	Holder   int       // process on this machine that writes it, for StateBusy
	Manifest *Manifest // of the run in it, nil where there is none

	yaml   func() ([]byte, error)
	values func() (map[string]string, error)
}

// Config returns the effective configuration, as in config.yaml.
func (p *Plan) Config() ([]byte, error) { return p.yaml() }

// Values returns the values of the effective configuration by their keys, as config.Flat does. All copies of a plan
// share them.
func (p *Plan) Values() (map[string]string, error) { return p.values() }

// State says how far the run in a directory has come.
type State string

// The states of a run directory, as seen without taking its lock. A process on another machine that writes it is not
// noticed.
const (
	StateNew       State = "to do"
	StateResumable State = "resumable" // begun, and no process is writing it
	StateBusy      State = "running"   // a process on this machine is writing it
	StateDone      State = "done"
	StateFinal     State = "failed for good" // no further attempt can succeed
	StateForeign   State = "other"           // a run of another configuration
)

// Plan loads and validates the configuration and inspects the run directory. It writes nothing.
func (t Task) Plan(o Options) (Plan, error) {
	b, err := t.bind(o)
	if err != nil {
		return Plan{}, err
	}
	p := Plan{Hash: b.hash, Seed: b.settings.Seed, Dir: b.dir(t), yaml: b.yaml}
	p.values = sync.OnceValues(func() (map[string]string, error) {
		text, err := b.yaml()
		if err != nil {
			return nil, err
		}
		return config.Flat(configName, text)
	})
	if err := p.Look(); err != nil {
		return Plan{}, err
	}
	return p, nil
}

// Look inspects the run directory again, under the configuration of the plan. It writes nothing.
func (p *Plan) Look() error {
	p.State, p.Holder, p.Manifest = StateNew, 0, nil
	m, err := ReadManifest(p.Dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return WithHint(err, "the manifest is damaged; start again with another --out")
	}
	p.Manifest = &m
	switch {
	case m.ConfigHash != p.Hash:
		p.State = StateForeign
	case m.Status == StatusDone:
		p.State = StateDone
	case m.Final:
		p.State = StateFinal
	default:
		p.State = StateResumable
		if p.Holder = livingHolder(p.Dir); p.Holder != 0 {
			p.State = StateBusy
		}
	}
	return nil
}

// dir returns the run directory that the configuration asks for.
func (b *bound) dir(t Task) string {
	if b.settings.Out != "" {
		return b.settings.Out
	}
	return fmt.Sprintf("runs/%s-%s-%.8s", t.Verb, t.Name, b.hash)
}
