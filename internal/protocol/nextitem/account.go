package nextitem

import (
	"privrec/internal/experiment"
	"privrec/internal/privacy"
	"privrec/internal/report"
)

// Account is what a run protects: privacy.json, and the part of its result that says so.
type Account interface {
	Show(d *report.Document)
}

// OpenSelection is open wherever rows held out of training, in the clear, decide something.
var OpenSelection = experiment.NotCovered("selection", "rows held out of training decide, in the clear, when it ends or which epoch is reported")

// Unprotect declares that the method protects nothing: it reads the sequences in the clear,
// and what else is listed.
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

// unprotected is the account of a model without any privacy.
type unprotected struct{ experiment.Account }

// Show implements Account.
func (a *unprotected) Show(d *report.Document) { a.ShowOpen(d) }
