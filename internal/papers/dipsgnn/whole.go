package dipsgnn

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"

	"privrec/internal/autograd"
	"privrec/internal/graph"
	"privrec/internal/model/userinput"
	"privrec/internal/privacy"
	"privrec/internal/privacy/mechanism/channel"
	"privrec/internal/privacy/mechanism/secure"
	"privrec/internal/run"
	"privrec/internal/tensor"
)

// wholeMessages makes the sums of messages exact, for noise from cryptographic bits.
//
// A message h of length C becomes whole steps, trunc(h / step), whose length is at most C / step: cutting towards zero
// makes no vector longer. Sums of up to mostEdges of them are below 2^22 steps, and with the noise below 2^24, which
// single precision holds: they are exact, and do not depend on the order of edges. So one transition moves a sum by a
// whole vector of length at most C / step, which the account in real numbers takes as C. Nothing is left out for
// rounding.
//
// Nodes are put in the order of their items. In the order of a session their places would tell the order that the noise
// is to hide: sums over nodes in floating point depend on it.
type wholeMessages struct {
	step, perStep float64
	longest       int64 // squared length, in steps
	err           error // of the messages of a step, until it is asked for
}

// Limits of the grid of messages.
const (
	mostEdges    = 1 << 9  // of one session
	mostMessage  = 1 << 13 // steps to C
	leastMessage = 1 << 6
	mostStd      = 1 << 18 // steps to the noise's deviation
	leastStd     = 1 << 10
)

// newWholeMessages returns the finest grid for messages of length norm under noise of deviation std.
func newWholeMessages(norm, std float64) (*wholeMessages, error) {
	// the least power of two that is not below
	_, e := math.Frexp(math.Nextafter(max(norm/mostMessage, std/mostStd), 0))
	w := &wholeMessages{step: math.Ldexp(1, e)}
	w.perStep = 1 / w.step
	radius := norm * w.perStep
	if radius < leastMessage || std*w.perStep < leastStd {
		return nil, run.NoSecure(Task().String()+" with this noise",
			fmt.Sprintf("messages of %.3g steps and noise of %.3g do not fit single precision together, want at "+
				"least %d and %d", radius, std*w.perStep, leastMessage, leastStd))
	}
	w.longest = int64(math.Floor(radius * radius))
	return w, nil
}

// mechanism returns the noise on the aggregated rows of one direction of a step. It is stated as noise on a sample of
// everything, since discrete noise on samples has an exact account. Its variance is 9 squared steps larger than that of
// the normal noise in the run's account, which makes it at least as private (package accountant/terms).
func (w *wholeMessages) mechanism(purpose string, norm, std float64, width int) secure.DiscreteGaussian {
	return secure.DiscreteGaussian{Purpose: purpose, Sigma: math.Sqrt(std*std + 9*w.step*w.step), Sensitivity: norm,
		Dimension: int64(max(width, 2)),
		Bound:     mostEdges * mostMessage * w.step, Grid: w.step, Whole: true, Unit: privacy.Edge,
		Neighbouring: privacy.AddRemove, Share: share, Rate: 1}
}

// messages returns rows rounded to the grid, as constants: the backward pass does not go through transitions.
func (w *wholeMessages) messages(t *autograd.Tape, hb *autograd.Node) *autograd.Node {
	x := t.Buffer(hb.V.Rows, hb.V.Cols)
	for i := range x.Rows {
		from, to, square := tensor.Row(hb.V, i), tensor.Row(x, i), int64(0)
		for k, v := range from {
			steps := math.Trunc(float64(v) * w.perStep * (1 - 1e-6))
			to[k] = tensor.Float(steps * w.step) // exact
			square += int64(steps) * int64(steps)
		}
		if !(square <= w.longest) && w.err == nil {
			w.err = fmt.Errorf("a message of squared length %d steps, want at most %d", square, w.longest)
		}
	}
	return t.Const(x)
}

// fault returns the first error since the last call.
func (w *wholeMessages) fault() error {
	err := w.err
	w.err = nil
	return err
}

// sorted returns the sessions of a step with their nodes in the order of items, so that a node's place does not tell
// where in the session its item came. It fails on a session with more edges than sums have room for.
func sorted(g *graph.Packed) (*graph.Packed, error) {
	out := &graph.Packed{NodeOff: g.NodeOff, SampleOf: g.SampleOf, EdgeOff: g.EdgeOff, User: g.User, Label: g.Label,
		Node: make([]int32, g.Nodes()), Count: make([]tensor.Float, g.Nodes()), Src: slices.Clone(g.Src),
		Dst: slices.Clone(g.Dst), Last: slices.Clone(g.Last)}
	to := make([]int32, g.Nodes()) // the new number of a node
	for b := range g.Len() {
		lo, hi := g.NodeOff[b], g.NodeOff[b+1]
		if n := g.EdgeOff[b+1] - g.EdgeOff[b]; n > mostEdges {
			return nil, &run.UsageError{Message: fmt.Sprintf("a session of %d transitions, and exact sums hold %d", n,
				mostEdges), Fix: "cut them with privacy.transitions.window, or take a recipe of shorter sequences"}
		}
		order := make([]int32, 0, hi-lo)
		for v := lo; v < hi; v++ {
			order = append(order, v)
		}
		slices.SortFunc(order, func(x, y int32) int { return cmp.Compare(g.Node[x], g.Node[y]) })
		for k, v := range order {
			at := lo + int32(k)
			to[v], out.Node[at], out.Count[at] = at, g.Node[v], g.Count[v]
		}
	}
	for _, list := range [][]int32{out.Src, out.Dst, out.Last} {
		for i, v := range list {
			list[i] = to[v]
		}
	}
	return out, nil
}

// errLost returns the error for a run that was stopped after it had released more than its last checkpoint knows.
func errLost(dir string, lost int64) error {
	return &run.UsageError{Message: fmt.Sprintf("the run in %s was stopped after its last checkpoint, when it had "+
		"made %d more releases: other noise would be a second release of the same windows", dir, lost),
		Fix: "train again with another --out; what was released stays in the ledger. A run that is interrupted, and " +
			"not killed, writes a checkpoint first"}
}

// secretly refuses a setting whose noise cannot be secure, and creates the grid of its messages.
func (p *protection) secretly() error {
	c := p.cfg
	switch {
	case c.Privacy.Transitions.onEdges():
		return run.NoSecure(Task().String()+" with noise on "+NoiseOnEdges,
			"its noise is on matrices in floating point")
	case !p.noise.closed() || c.Privacy.Transitions.Count != CountSwap:
		return run.NoSecure(Task().String()+" as published",
			"labels, readout and backward pass have no noise, so that there is no guarantee to keep; "+
				"privacy.transitions.count="+CountSwap+" with windows has one")
	case c.Model.UserInput == userinput.Features && p.x.Data.Features != nil:
		return run.NoSecure(Task().String()+" with model.user_input="+userinput.Features,
			"the local perturbation of user features compares numbers in floating point; model.user_input="+
				userinput.ID+" needs none")
	}
	var err error
	p.whole, err = newWholeMessages(c.Model.Norm, p.noise.NoiseStd())
	return err
}

// openSecretly opens the noise of one direction of a part.
func (p *protection) openSecretly(purpose string) (*channel.Channel[tensor.Float], error) {
	width := p.cfg.Model.Dim + p.cfg.Model.UserDim
	return secure.OpenGaussian[tensor.Float](p.whole.mechanism(purpose, p.cfg.Model.Norm, p.noise.NoiseStd(), width),
		p.ledger)
}

// keepLost fails if an earlier attempt released more than its last checkpoint knows.
func (p *protection) keepLost() error {
	lost, err := p.ledger.Keep("passes of an attempt that was stopped")
	if err == nil && lost > 0 {
		err = errLost(p.env.Dir, lost)
	}
	return err
}

// show writes the recorded releases to the ledger's file, if their noise cannot be drawn again.
func (p *protection) show() error {
	if p.whole == nil {
		return nil
	}
	return errors.Join(p.whole.fault(), p.ledger.Show())
}
