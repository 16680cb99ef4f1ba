package rdpgcf

import (
	"encoding/json"
	"strings"

	"privrec/internal/privacy"
	"privrec/internal/protocol/topn"
	"privrec/internal/run"
)

// openSelection is open wherever held-out edges, in the clear, decide something.
var openSelection = Open{topn.OpenSelection.What, topn.OpenSelection.Why}

// public lists what a finite total takes as public.
type public []privacy.Assumption

// What that can be.
var (
	publicData     = privacy.Assumption{What: "which users and items there are, and how the rows were filtered and split", Why: "the unit is a training row"}
	publicSettings = privacy.Assumption{What: "the settings", Why: "to choose them by results on these rows is not accounted for"}
	publicReport   = privacy.Assumption{What: "what is measured here", Why: "numbers of rows, floors and ranks of held-out rows, whose masks are the training rows"}
	publicEdges    = privacy.Assumption{What: "the number of training edges, and of labels among them", Why: "it sets the rate and the number of steps"}
)

// String is the list in one line.
func (p public) String() string { return strings.Join(p.texts(), "; ") }

func (p public) texts() []string {
	out := make([]string, len(p))
	for i, a := range p {
		out[i] = a.String()
	}
	return out
}

// MarshalJSON writes the list as texts.
func (p public) MarshalJSON() ([]byte, error) { return json.Marshal(p.texts()) }

// UnmarshalJSON reads texts.
func (p *public) UnmarshalJSON(b []byte) error {
	var texts []string
	if err := json.Unmarshal(b, &texts); err != nil {
		return err
	}
	*p = nil
	for _, t := range texts {
		what, why, _ := strings.Cut(t, ": ")
		*p = append(*p, privacy.Assumption{What: what, Why: why})
	}
	return nil
}

// declare opens the run's ledger with what the run leaves open, and what a total
// that is finite then takes as public.
func declare(env *run.Env, open []Open, taken public) (*privacy.Ledger, error) {
	d := privacy.Declaration{Public: taken}
	for _, o := range open {
		d.Open = append(d.Open, privacy.Unprotected{What: o.What, Why: o.Why})
	}
	return env.Ledger(privacy.Research, d)
}
