package rdpgcf

import (
	"encoding/json"

	"privrec/internal/privacy"
)

// tableUnit is an account as tables of several papers read it: one line a unit.
type tableUnit struct {
	Unit         string         `json:"unit"`
	Neighbouring string         `json:"neighbouring"`
	Delta        float64        `json:"delta"`
	Accounted    tableAccount   `json:"accounted"`
	Total        privacy.Number `json:"eps_total"`
	Unbounded    []string       `json:"unbounded"` // names of what is open
}

type tableAccount struct {
	Eps privacy.Number `json:"eps_exact"` // of what noise covers
}

// MarshalJSON adds the account in the form that tables of all papers share, package
// reproduce, to the account in this paper's own words.
func (a Account) MarshalJSON() ([]byte, error) {
	type own Account // without this method
	type claim struct {
		*Claim
		Unit    string `json:"unit"`
		Theorem string `json:"theorem"`
	}
	names := []string{}
	for _, o := range a.Unprotected {
		names = append(names, o.What)
	}
	out := struct {
		own
		Claimed   *claim      `json:"claimed"`
		Units     []tableUnit `json:"units,omitempty"` // none where nothing is protected
		Unbounded []Open      `json:"unbounded"`
	}{own: own(a), Unbounded: a.Unprotected}
	if a.Claimed != nil {
		out.Claimed = &claim{a.Claimed, a.Unit, a.Claimed.Bound}
	}
	if len(a.Components) > 0 {
		out.Units = []tableUnit{{a.Unit, a.Neighbouring, a.Delta, tableAccount{a.Covered}, a.EpsTotal, names}}
	}
	return json.Marshal(out)
}
