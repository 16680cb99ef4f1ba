package costs

import (
	"os"
	"path/filepath"

	"privrec/internal/experiment"
	"privrec/internal/reproduce/roster"
	"privrec/internal/run"
)

// Spent returns what a finished run took, from its manifest and its directory: of each attempt
// the time that passed, or the processor time where that is less, as it is beside other work.
// ok is false where the run is not finished.
func Spent(r *roster.Run) (c Cost, ok bool) {
	m, err := run.ReadManifest(r.Dir)
	if err != nil || m.Status != run.StatusDone {
		return c, false
	}
	c.Seconds, c.alike = m.Took(), true
	here := run.ThisMachine()
	for _, a := range m.Attempts {
		c.Memory, c.Workers = max(c.Memory, a.PeakRSSBytes), a.Machine.Workers
		c.alike = c.alike && a.Machine.CPU == here.CPU && a.Machine.Workers == here.Workers
	}
	err = filepath.WalkDir(r.Dir, func(_ string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		info, err := d.Info()
		if err == nil {
			c.Disk += info.Size()
		}
		return err
	})
	return c, err == nil
}

// Undisturbed returns what a finished run would take on a machine that nothing else uses: its epochs at the recorded
// cost of its steps, times scale, and at most what it took on a machine of this kind. Where the cost is not recorded it
// is what the run took. done is false where the run is not finished.
func Undisturbed(r *roster.Run, scale float64) (seconds float64, done bool, err error) {
	took, done := Spent(r)
	c := Of(r)
	if !done || c.How != Recorded {
		return took.Seconds, done, nil
	}
	ran, err := RanShare(r)
	return took.atMost(c.Seconds * ran * scale), true, err
}

// atMost returns a forecast of what a finished run takes here, which is no more than what it took on such a machine.
func (took Cost) atMost(forecast float64) float64 {
	if took.alike {
		return min(forecast, took.Seconds)
	}
	return forecast
}

// RanShare returns the share of the most epochs that a finished run ran.
func RanShare(r *roster.Run) (float64, error) {
	m, err := experiment.ReadOutcome(r.Dir)
	if err != nil {
		return 0, err
	}
	return ranShare(m.Trained), nil
}

// ranShare returns the share of the most epochs that a finished run ran, with those of a first training that chose how
// many; 1 for a run without epochs.
func ranShare(t experiment.Trained) float64 {
	if t.Cap == 0 {
		return 1
	}
	return float64(len(t.Selection)+len(t.Epochs)) / float64(t.Cap)
}
