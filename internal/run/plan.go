package run

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime/debug"
	"syscall"
)

// Plan is what Start would do under the same options, found without doing it.
type Plan struct {
	Hash     string    // of the effective configuration, seed and task
	Seed     uint64    // of every random number
	Dir      string    // run directory
	State    State     // of what is in it
	Holder   int       // process that writes it on this machine, for StateBusy
	Manifest *Manifest // of what is in it, nil where there is no run
}

// State says how far the run of a directory has come.
type State string

// The states of a run directory, as far as they can be told without taking its
// lock: a process of another machine that writes it is not seen.
const (
	StateNew       State = "to do"
	StateResumable State = "resumable" // begun, and not being written now
	StateBusy      State = "running"   // by a process of this machine
	StateDone      State = "done"
	StateFinal     State = "failed for good" // no attempt can mend it
	StateForeign   State = "other"           // a run of another configuration
)

// Plan loads and validates the configuration and looks into the run directory.
// It writes nothing.
func (t Task) Plan(o Options) (Plan, error) {
	b, err := t.Action.load(t, source{o.Config, o.Text}, o.Sets)
	if err != nil {
		return Plan{}, err
	}
	p := Plan{Hash: b.hash, Seed: b.settings.Seed, Dir: b.dir(t)}
	m, err := ReadManifest(p.Dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		p.State = StateNew
		return p, nil
	case err != nil:
		return Plan{}, WithHint(err, "the manifest is damaged; start again with another --out")
	}
	p.Manifest = &m
	switch {
	case m.ConfigHash != b.hash:
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
	return p, nil
}

// livingHolder is the process of this machine that the lock file names, 0 where
// there is none alive. The lock itself is not touched: even a moment's hold could
// turn its next taker away.
func livingHolder(dir string) int {
	f, err := os.Open(filepath.Join(dir, lockName))
	if err != nil {
		return 0
	}
	defer f.Close()
	h, ok := readHolder(f)
	host, _ := os.Hostname()
	if !ok || h.PID == 0 || h.Host != host || !alive(h.PID) {
		return 0
	}
	return h.PID
}

// alive reports whether there is a process, of any user.
func alive(pid int) bool { return !errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) }

// abandoned reports whether a directory is written by no process: its lock file is
// gone, or names a process of this machine that is. One of another machine cannot be
// seen.
func abandoned(dir string) bool {
	f, err := os.Open(filepath.Join(dir, lockName))
	if err != nil {
		return errors.Is(err, fs.ErrNotExist)
	}
	defer f.Close()
	h, ok := readHolder(f)
	host, _ := os.Hostname()
	return ok && h.PID > 0 && h.Host == host && !alive(h.PID)
}

// dir is the run directory that the configuration asks for.
func (b *bound) dir(t Task) string {
	if b.settings.Out != "" {
		return b.settings.Out
	}
	return fmt.Sprintf("runs/%s-%s-%.8s", t.Verb, t.Name, b.hash)
}

// Forecast is what a whole run would take, from a few steps that were measured.
type Forecast struct {
	Steps       int     `json:"steps"`        // training steps, at most
	StepSeconds float64 `json:"step_seconds"` // mean of those measured
	Seconds     float64 `json:"seconds"`      // of the whole run, at most, on the machine as busy as it is
	Fastest     float64 `json:"fastest"`      // likewise in seconds, were every step as fast as the fastest measured
	Bytes       int64   `json:"bytes"`        // most memory that the program had resident while it measured; 0: unknown
	Basis       string  `json:"basis"`        // what was measured and how it was counted, a sentence
}

// ErrNoForecast is returned for a task that offers no forecast.
var ErrNoForecast = errors.New("no forecast")

// Forecast measures what the run of these options would take on this machine as
// it is now. It trains a few steps and writes nothing.
func (t Task) Forecast(ctx context.Context, o Options) (Forecast, error) {
	b, err := t.Action.load(t, source{o.Config, o.Text}, o.Sets)
	if err != nil {
		return Forecast{}, err
	}
	if b.forecast == nil {
		return Forecast{}, ErrNoForecast
	}
	setWorkers(b.settings.Workers)
	leanHeap()
	resetPeakRSS()
	f, err := b.forecast(ctx)
	if err == nil && f.Bytes == 0 {
		f.Bytes = PeakRSS()
	}
	return f, err
}

// resetPeakRSS gives memory back and begins the peak anew where the system can do
// that (Linux); elsewhere the peak stays that of the whole process, which is no
// less.
func resetPeakRSS() {
	debug.FreeOSMemory()
	if f, err := os.OpenFile("/proc/self/clear_refs", os.O_WRONLY, 0); err == nil {
		f.WriteString("5")
		f.Close()
	}
}
