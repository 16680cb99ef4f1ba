package nextitem

import (
	"privrec/internal/experiment"
	"privrec/internal/privacy"
	"privrec/internal/report"
)

// Account says what a run protects. It is written to privacy.json and shown in the result.
type Account interface {
	Show(d *report.Document)
}

// OpenSelection names what stays without noise where held-out rows, in the clear, choose the
// epoch or end the training.
var OpenSelection = experiment.NotCovered("selection", "rows held out of training decide, in the clear, when it ends or which epoch is reported")

// Unprotect declares that the method protects nothing. It reads the sequences in the clear,
// and everything listed in more.
func (x *Experiment) Unprotect(more ...experiment.Open) error {
	a := &unprotected{experiment.Unprotected("sequences", "the model trains on and recommends from the sequences in the clear; its parameters tell of them too")}
	a.Unbounded = append(a.Unbounded, more...)
	if x.Fit.Selected() {
		a.Unbounded = append(a.Unbounded, OpenSelection)
	}
	x.Account = func(*experiment.Fitted) (Account, error) { return a, nil }
	_, err := x.Env.Ledger(privacy.Research, a.Declaration())
	return err
}

// unprotected accounts for a model without any privacy.
type unprotected struct{ experiment.Account }

// Show implements Account: it lists what has no noise.
func (a *unprotected) Show(d *report.Document) { a.ShowOpen(d) }
