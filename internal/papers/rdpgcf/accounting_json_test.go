package rdpgcf

import (
	"encoding/json"
	"math"
	"reflect"
	"testing"

	"privrec/internal/privacy"
)

// What tables read stands beside the account, and the account comes back as it was.
func TestAccountForTables(t *testing.T) {
	a := Account{Method: "layers", Noise: "research noise", Unit: unitEdge, Neighbouring: addRemove, EpsTotal: privacy.Number(math.Inf(1)), Delta: 1e-5, Sigma: 2,
		Claimed:     &Claim{Eps: 5, Delta: 1e-5, Bound: "theorem", Steps: 7, Rate: 1},
		Components:  []Component{{Name: "forward", Releases: 3, Eps: 12}},
		Covered:     12,
		CoveredBy:   "sum",
		Unprotected: []Open{{"labels", "in the clear"}},
	}
	text, err := json.Marshal(&a)
	if err != nil {
		t.Fatal(err)
	}
	var back Account
	if err := json.Unmarshal(text, &back); err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(a, back) {
		t.Errorf("came back as %+v", back)
	}
	var read struct {
		Claimed struct{ Unit, Theorem string }
		Units   []struct {
			Unit, Neighbouring string
			Delta              float64
			Accounted          map[string]float64
			Total              string `json:"eps_total"`
			Unbounded          []string
		}
		Unbounded []Open
	}
	if err := json.Unmarshal(text, &read); err != nil {
		t.Fatal(err)
	}
	u := read.Units
	if len(u) != 1 || u[0].Unit != unitEdge || u[0].Neighbouring != addRemove || u[0].Delta != 1e-5 || u[0].Accounted["eps_exact"] != 12 ||
		u[0].Total != "infinity" || !reflect.DeepEqual(u[0].Unbounded, []string{"labels"}) {
		t.Errorf("units %+v", u)
	}
	if read.Claimed.Unit != unitEdge || read.Claimed.Theorem != "theorem" || !reflect.DeepEqual(read.Unbounded, a.Unprotected) {
		t.Errorf("claimed %+v, unbounded %v", read.Claimed, read.Unbounded)
	}
	a.Claimed, a.Components = nil, []Component{}
	if text, err = json.Marshal(a); err != nil {
		t.Fatal(err)
	}
	read.Units = nil
	if err := json.Unmarshal(text, &read); err != nil || len(read.Units) != 0 {
		t.Errorf("an account of nothing has units %v, %v", read.Units, err)
	}
}
