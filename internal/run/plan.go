package run

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime/debug"
	"time"

	"privrec/internal/autograd"
	"privrec/internal/system"
	"privrec/internal/train"
)

// Plan holds the effect that Start would have under the same options.
type Plan struct {
	Hash     string    // of the effective configuration, seed and task
	Seed     uint64    // seed of every random number
	Dir      string    // run directory
	State    State     // how far the run in it has come
	Holder   int       // process on this machine that writes it, for StateBusy
	Manifest *Manifest // of the run in it, nil where there is none

	yaml func() ([]byte, error)
}

// Config returns the effective configuration, as in config.yaml.
func (p *Plan) Config() ([]byte, error) { return p.yaml() }

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

// livingHolder returns the id of the living process on this machine that the lock file names, 0 if there is none. It
// does not touch the lock: holding it for a moment could make the next process fail.
func livingHolder(dir string) int {
	f, err := os.Open(filepath.Join(dir, lockName))
	if err != nil {
		return 0
	}
	defer f.Close()
	h, ok := readHolder(f)
	host, _ := os.Hostname()
	if !ok || h.PID == 0 || h.Host != host || !system.Alive(h.PID) {
		return 0
	}
	return h.PID
}

// abandoned reports whether no process writes a directory: its lock file is gone, or names a process of this machine
// that has ended. A process on another machine counts as alive.
func abandoned(dir string) bool {
	f, err := os.Open(filepath.Join(dir, lockName))
	if err != nil {
		return errors.Is(err, fs.ErrNotExist)
	}
	defer f.Close()
	h, ok := readHolder(f)
	host, _ := os.Hostname()
	return ok && h.PID > 0 && h.Host == host && !system.Alive(h.PID)
}

// dir returns the run directory that the configuration asks for.
func (b *bound) dir(t Task) string {
	if b.settings.Out != "" {
		return b.settings.Out
	}
	return fmt.Sprintf("runs/%s-%s-%.8s", t.Verb, t.Name, b.hash)
}

// Forecast holds an estimate of the time and memory of a whole run, computed from a few measured steps.
type Forecast struct {
	Steps       int     `json:"steps"`        // training steps, at most
	StepSeconds float64 `json:"step_seconds"` // mean of the measured steps
	Seconds     float64 `json:"seconds"`      // of the whole run, at most, with the machine as busy as it is now
	// seconds of the whole run if every step were as fast as the fastest measured one
	Fastest float64 `json:"fastest"`
	// most memory that the program had resident during the measurement; 0: unknown
	Bytes int64  `json:"bytes"`
	Basis string `json:"basis"` // one sentence: what was measured and how the whole was computed
}

// ErrNoForecast is returned for a task without a forecast.
var ErrNoForecast = errors.New("no forecast")

// Forecast estimates the time and memory of a run of these options on this machine. It trains a few steps and writes
// nothing.
func (t Task) Forecast(ctx context.Context, o Options) (Forecast, error) {
	b, err := t.Action.load(t, source{path: o.Config, text: o.Text}, o.Sets)
	if err != nil {
		return Forecast{}, err
	}
	setWorkers(b.settings.Workers)
	leanHeap()
	resetPeakRSS()
	f, err := b.forecast(ctx)
	if err == nil && f.Bytes == 0 {
		f.Bytes = system.PeakMemory()
	}
	return f, err
}

// resetPeakRSS frees memory and, on Linux, restarts the measurement of peak memory. Elsewhere the peak remains that of
// the whole process, which is no smaller.
func resetPeakRSS() {
	debug.FreeOSMemory()
	if f, err := os.OpenFile("/proc/self/clear_refs", os.O_WRONLY, 0); err == nil {
		f.WriteString("5")
		f.Close()
	}
}

// Rehearsal says which training steps to time. A user waits for the forecast, so both a number of steps and a time
// limit end it.
type Rehearsal struct {
	Optimizer interface {
		Step(params []*autograd.Param, g *autograd.Grads, rate float64) error
	}
	Rate       float64
	Batch      func(step int) train.Batch            // batch of a step, from 0; making it is not timed
	BeforeRead func(p *autograd.Param, rows []int32) // of the tape; nil: none

	Warm   int           // first steps, which are not timed
	Fewest int           // steps to time, even if they take long; at least 1
	Steps  int           // steps to make, with the warm ones, unless Most ends them before
	Most   time.Duration // for all Steps, about
	Least  time.Duration // continue for at least this long, to see what else the machine does
}

// TimeSteps makes training steps of a model and returns the times, in seconds, of those after the
// warm ones. The steps change the model. An error of the tape, about shapes, is returned as it
// is; one of the context wraps ErrInterrupted.
func TimeSteps(ctx context.Context, m train.Model, r Rehearsal) (seconds []float64, err error) {
	defer func() {
		switch p := recover().(type) {
		case nil:
		case *autograd.Error:
			seconds, err = nil, p
		default:
			panic(p)
		}
	}()
	tape, params := autograd.NewTape(), m.Params()
	tape.BeforeRead = r.BeforeRead
	for began, i := time.Now(), 0; len(seconds) < r.Fewest || time.Since(began) < r.Least || i < r.Steps &&
		time.Since(began) < r.Most; i++ {
		if ctx.Err() != nil {
			return nil, fmt.Errorf("%w: %w", ErrInterrupted, context.Cause(ctx))
		}
		b := r.Batch(i)
		start := time.Now()
		tape.Reset()
		loss, err := m.Loss(tape, b)
		if err != nil {
			return nil, err
		}
		tape.Backward(loss)
		if err := r.Optimizer.Step(params, tape.Grads(), r.Rate); err != nil {
			return nil, err
		}
		if i >= r.Warm {
			seconds = append(seconds, time.Since(start).Seconds())
		}
	}
	return seconds, nil
}
