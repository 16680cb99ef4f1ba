package nextitem

import "fmt"

// Pass numbers a pass over samples among all of a run. Noise is keyed by it, so that two
// passes never draw the same.
type Pass int

// Passes numbers the passes of a run whose trainings last at most so many epochs.
type Passes struct{ Epochs int }

// Epoch is the pass of an epoch of the first training, from 0, with its evaluations.
func (p Passes) Epoch(e int) Pass { return Pass(e) }

// Again is the pass of an epoch of the second training, from 0.
func (p Passes) Again(e int) Pass { return Pass(p.Epochs + e) }

// Final is the i-th pass after training, from 0: the evaluations that are reported, then
// those that a finished run is asked for.
func (p Passes) Final(i int) Pass { return Pass(2*p.Epochs + i) }

// Rehearsal is the pass of a forecast's ranking: after all others.
func (p Passes) Rehearsal() Pass { return 1 << 30 }

// Name says what of the run a pass is.
func (p Passes) Name(n Pass) string {
	switch {
	case n >= p.Final(0):
		return "final evaluation"
	case n >= p.Again(0):
		return fmt.Sprintf("refit, epoch %d", n-p.Again(0)+1)
	}
	return fmt.Sprintf("epoch %d", n+1)
}
