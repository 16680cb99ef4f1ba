package topn

import (
	"strings"

	"privrec/internal/experiment"
	"privrec/internal/report"
)

// OpenSelection names the selection of the epoch by held-out edges, which has no noise.
var OpenSelection = experiment.NotCovered("selection",
	"held-out edges decided when training ended or which epoch was kept")

// unprotected is the account of a method without any privacy.
type unprotected struct{ experiment.Account }

// Unprotect opens the ledger of a method without any privacy, and sets its account.
func (x *Experiment) Unprotect() error {
	a := &unprotected{experiment.Unprotected("edges", "the model trains on and recommends from the rows in the clear")}
	if x.Method.Train.Selected() {
		a.Leave(OpenSelection.What, OpenSelection.Why)
	}
	return x.Declare(a)
}

// Show implements experiment.Privacy: it lists what has no noise.
func (a *unprotected) Show(d *report.Document) {
	a.ShowOpen(d)
	words := &report.Table{Name: "account",
		Title:   "What is claimed, and what the run comes to, for one edge more or less",
		Columns: []report.Column{{Name: "which"}, {Name: "epsilon, and of what"}}}
	words.Add("claimed", "nothing")
	words.Add("accounted", strings.Join(experiment.Names(a.Unbounded), " / ")+": eps=infinity  (not noised)")
	words.Add("", "total: eps=infinity")
	d.Tables = append(d.Tables, words)
}
