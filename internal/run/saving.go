package run

import "time"

// Saving says how often a run writes its checkpoint.
type Saving struct {
	Every time.Duration // the longest time between checkpoints; 0: no limit
	Steps int           // steps between checkpoints; 0: no limit
}

// Due reports whether a checkpoint should be written, so many steps after the last one and the time since.
func (s Saving) Due(steps int64, last time.Time) bool {
	return s.Steps > 0 && steps >= int64(s.Steps) || s.Every > 0 && time.Since(last) >= s.Every
}

// saving returns how often the settings ask for a checkpoint.
func (s Settings) saving() Saving {
	return Saving{time.Duration(s.SaveSeconds * float64(time.Second)), s.SaveSteps}
}
