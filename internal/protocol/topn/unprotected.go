package topn

import (
	"encoding/json"
	"math"
	"strings"

	"privrec/internal/experiment"
	"privrec/internal/privacy"
	"privrec/internal/report"
)

// OpenSelection is open wherever held-out edges, in the clear, decide something.
var OpenSelection = privacy.Unprotected{What: "selection", Why: "held-out edges decided when training ended or which epoch was kept"}

// unprotected is the account of a method without any privacy: what is open.
type unprotected []privacy.Unprotected

// DeclareUnprotected opens the ledger of a method without any privacy, and accounts for it.
func (x *Experiment) DeclareUnprotected() error {
	open := unprotected{{What: "edges", Why: "the model trains on and recommends from the rows in the clear"}}
	if x.Method.Train.Selected() {
		open = append(open, OpenSelection)
	}
	x.Account = func(*experiment.Fitted) (Account, error) { return open, nil }
	_, err := x.Env.Ledger(privacy.Research, privacy.Declaration{Open: open})
	return err
}

// MarshalJSON writes the account as privacy.json of this protocol has it.
func (u unprotected) MarshalJSON() ([]byte, error) {
	return json.Marshal(struct {
		Method       string                `json:"method"`
		Noise        string                `json:"noise"`
		Unit         string                `json:"unit"`
		Neighbouring string                `json:"neighbouring"`
		Total        privacy.Number        `json:"eps_total"`
		Delta        float64               `json:"delta"`
		Components   []struct{}            `json:"components"` // nothing is covered
		Covered      privacy.Number        `json:"covered"`
		CoveredBy    string                `json:"covered_by"`
		Unprotected  []privacy.Unprotected `json:"unprotected"`
		Claimed      *struct{}             `json:"claimed"` // null: nothing is claimed
		Unbounded    []privacy.Unprotected `json:"unbounded"`
	}{Method: "none", Noise: "none", Unit: "edge", Neighbouring: "add-remove", Total: privacy.Number(math.Inf(1)), Components: []struct{}{}, Unprotected: u, Unbounded: u})
}

// Show implements Account.
func (u unprotected) Show(d *report.Document) {
	var names []string
	for _, o := range u {
		names = append(names, o.What)
	}
	d.Facts = append(d.Facts, report.Fact{Label: "accounted epsilon", Value: "inf", Note: "without bound: " + strings.Join(names, ", ")})
	words := &report.Table{Name: "account", Title: "What is claimed, and what the run comes to, for one edge more or less",
		Columns: []report.Column{{Name: "which"}, {Name: "epsilon, and of what"}}}
	words.Add("claimed", "nothing")
	words.Add("accounted", strings.Join(names, " / ")+": eps=inf  (not noised)")
	words.Add("", "total: eps=inf")
	d.Tables = append(d.Tables, words)
	for _, o := range u {
		d.Notes = append(d.Notes, o.What+": "+o.Why)
	}
}
