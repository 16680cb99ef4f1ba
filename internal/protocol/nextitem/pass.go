package nextitem

import "fmt"

// Pass numbers one pass over samples among all passes of a run. Noise is keyed by it, so that
// two passes never draw the same noise.
type Pass int

// Passes numbers the passes of a run. Epochs is the most that each training lasts.
type Passes struct{ Epochs int }

// Epoch returns the pass of an epoch of the first training, with its evaluations. e counts
// from 0.
func (p Passes) Epoch(e int) Pass { return Pass(e) }

// Again returns the pass of an epoch of the second training. e counts from 0.
func (p Passes) Again(e int) Pass { return Pass(p.Epochs + e) }

// Final returns the i-th pass after training. i counts from 0: first come the reported
// evaluations, then those that a finished run is asked for.
func (p Passes) Final(i int) Pass { return Pass(2*p.Epochs + i) }

// Rehearsal returns the pass of a forecast's ranking. It comes after all others.
func (p Passes) Rehearsal() Pass { return 1 << 30 }

// Name says which part of the run a pass belongs to.
func (p Passes) Name(n Pass) string {
	switch {
	case n >= p.Final(0):
		return "final evaluation"
	case n >= p.Again(0):
		return fmt.Sprintf("refit, epoch %d", n-p.Again(0)+1)
	}
	return fmt.Sprintf("epoch %d", n+1)
}
