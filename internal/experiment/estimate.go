package experiment

import (
	"fmt"
	"slices"

	"privrec/internal/run"
	"privrec/internal/stats"
)

// Rehearsed holds what a rehearsal measured, in seconds, and how often a run does it.
type Rehearsed struct {
	Opening float64   // of the data and the model
	Steps   []float64 // of the training steps that were timed
	Of      int       // training steps of the run, every epoch counted
	Ranking float64   // everything else that the run ranks and releases
	Text    string    // what Of and Ranking were multiplied from
}

// Estimate multiplies what was measured. It does not count on early stopping.
func (r Rehearsed) Estimate() run.Forecast {
	step, least := stats.Mean(r.Steps), slices.Min(r.Steps)
	rest := r.Opening + r.Ranking
	return run.Forecast{
		Steps: r.Of, StepSeconds: step, Seconds: rest + float64(r.Of)*step, Fastest: rest + float64(r.Of)*least,
		Basis: fmt.Sprintf("%d training steps on the run's own rows (mean %.1f ms, fastest %.1f ms) for %s; every epoch counted, none saved by stopping early",
			len(r.Steps), 1000*step, 1000*least, r.Text),
	}
}
