package nextitem

import (
	"math"
	"strings"

	"privrec/internal/experiment"
	"privrec/internal/privacy"
	"privrec/internal/report"
)

// Account is what a run protects: privacy.json, and the part of its result that says so.
type Account interface {
	Show(d *report.Document)
}

// Open is something that no finite epsilon covers.
type Open struct {
	What string `json:"what"`
	Why  string `json:"why"`
}

// Unprotected is the entry of the ledger; an empty unit is every unit.
func (o Open) Unprotected(unit privacy.Unit) privacy.Unprotected {
	return privacy.Unprotected{What: o.What, Why: o.Why, Unit: unit}
}

// OpenSelection is open wherever rows held out of training, in the clear, decide something.
var OpenSelection = Open{"selection", "rows held out of training decide, in the clear, when it ends or which epoch is reported"}

// Unprotect declares that the method protects nothing: it reads the sequences in the clear,
// and what else is listed.
func (x *Experiment) Unprotect(more ...Open) error {
	a := x.cut.unprotected(more, x.Fit.Selected())
	var d privacy.Declaration
	for _, o := range a.listed() {
		d.Open = append(d.Open, o.Unprotected(""))
	}
	x.Account = func(*experiment.Fitted) (Account, error) { return a, nil }
	_, err := x.Env.Ledger(privacy.Research, d)
	return err
}

// openAccount is the account of a model without any privacy.
type openAccount interface {
	Account
	listed() []Open
}

// openPrefixes has the fields of DIPSGNN's account, so that readers of privacy.json find
// them.
type openPrefixes struct {
	Noise       string         `json:"noise"`
	EpsTotal    privacy.Number `json:"eps_total"`
	Delta       float64        `json:"delta"`
	T           int            `json:"T"`
	C           float64        `json:"C"`
	Sigma       float64        `json:"sigma"`
	NoiseStd    float64        `json:"noise_std"`
	Claimed     *struct{}      `json:"claimed"`
	Units       []struct{}     `json:"units"`
	Table       []struct{}     `json:"table"`
	Evaluations []struct{}     `json:"noisy_evaluations"`
	Unbounded   []Open         `json:"unbounded"`
}

func newOpenPrefixes(open []Open) *openPrefixes {
	return &openPrefixes{
		Noise: "none", EpsTotal: privacy.Number(math.Inf(1)), Units: []struct{}{}, Table: []struct{}{}, Evaluations: []struct{}{}, Unbounded: open,
	}
}

func (a *openPrefixes) listed() []Open { return a.Unbounded }

// Show implements Account.
func (a *openPrefixes) Show(d *report.Document) {
	d.Facts = append(d.Facts, report.Fact{Label: "epsilon", Value: a.EpsTotal.String(), Note: "without bound: " + Names(a.Unbounded)})
}

// openLastItem has the fields of the exposure paper's account.
type openLastItem struct {
	Mechanism string         `json:"mechanism"`
	Noise     string         `json:"noise"`
	Units     []struct{}     `json:"units"`
	Total     privacy.Number `json:"eps_total"`
	Unbounded []Open         `json:"unbounded"`
}

func newOpenLastItem(open []Open) *openLastItem {
	return &openLastItem{Noise: "none", Units: []struct{}{}, Total: privacy.Number(math.Inf(1)), Unbounded: open}
}

func (a *openLastItem) listed() []Open { return a.Unbounded }

// Show implements Account.
func (a *openLastItem) Show(d *report.Document) {
	d.Facts = append(d.Facts, report.Fact{Label: "accounted epsilon", Value: "inf", Note: "of the whole run, without bound: " + Names(a.Unbounded)})
	for _, o := range a.Unbounded {
		d.Notes = append(d.Notes, o.What+": "+o.Why)
	}
}

// Names lists what is open.
func Names(open []Open) string {
	names := make([]string, len(open))
	for i, o := range open {
		names[i] = o.What
	}
	return strings.Join(names, ", ")
}
