package calculator

import (
	"fmt"
	"math"
	"path/filepath"
	"strings"
	"testing"

	"privrec/internal/privacy"
	"privrec/internal/privacy/accountant"
)

// ledgerOf writes a closed ledger of one release of each event and returns its path.
func ledgerOf(t *testing.T, held []privacy.Holding, events ...privacy.Event) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "l.jsonl")
	l, err := privacy.CreateLedger(path, privacy.Secure, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, h := range held {
		if err := l.Hold(h); err != nil {
			t.Fatal(err)
		}
	}
	for i, e := range events {
		if err := l.Record(fmt.Sprint("p", i), e, 1); err != nil {
			t.Fatal(err)
		}
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	return path
}

// Units that contain each other: what is shown of a user is shown of their edge, a
// user's noise is the edge's too, and a user is a group of what they hold.
func TestAccountLedgerOfPartsAndWholes(t *testing.T) {
	exact := func(mu2 float64) float64 {
		eps, err := accountant.Exact(math.Sqrt(mu2), 1e-5)
		if err != nil {
			t.Fatal(err)
		}
		return eps
	}
	edge := privacy.Gaussian{Sigma: 2, Sensitivity: 1, Unit: privacy.Edge, Neighbouring: privacy.AddRemove}
	user := privacy.Gaussian{Sigma: 4, Sensitivity: 1, Unit: privacy.User, Neighbouring: privacy.AddRemove}
	labels := privacy.Unprotected{What: "labels", Why: "the loss sees them", Unit: privacy.User}
	cell := privacy.PureLDP{Epsilon: 3, Unit: privacy.Cell}
	holds := func(of privacy.Unit, most int64) []privacy.Holding {
		return []privacy.Holding{{Unit: privacy.User, Of: of, Most: most}}
	}
	pure := func(e float64) float64 { return e + math.Log1p(-1e-5*(1+math.Exp(-e))) }
	for name, c := range map[string]struct {
		held   []privacy.Holding
		events []privacy.Event
		unit   string
		want   map[string]any // epsilon by unit
		says   string
	}{
		"a user in the clear": {nil, []privacy.Event{labels, edge}, "", map[string]any{"user": "infinity", "edge": "infinity"}, "unprotected: labels: the loss sees them"},
		"noise of both":       {nil, []privacy.Event{user, edge}, "", map[string]any{"user": "infinity", "edge": exact(0.5)}, "one user's edges are not bounded in this ledger"},
		"and a holding":       {holds(privacy.Edge, 3), []privacy.Event{user, edge}, "", map[string]any{"user": exact(1.0/16 + 9.0/4), "edge": exact(0.5)}, "a group of 3 edges"},
		"five cells":          {holds(privacy.Cell, 5), []privacy.Event{cell}, "", map[string]any{"cell": pure(3), "user": pure(15)}, "a group of 5 cells of sequences, the most that one holds"},
		"a user asked for":    {nil, []privacy.Event{edge}, "user", map[string]any{"user": "infinity"}, "one user's edges are not bounded in this ledger"},
		"an edge asked for":   {nil, []privacy.Event{user}, "edge", map[string]any{"edge": exact(0.25)}, ""},
		"nothing of cells":    {holds(privacy.Cell, 5), []privacy.Event{edge}, "", map[string]any{"edge": exact(0.25)}, ""},
		"an interaction":      {nil, []privacy.Event{privacy.Gaussian{Sigma: 2, Sensitivity: 1, Unit: privacy.Interaction, Neighbouring: privacy.AddRemove}, edge}, "", map[string]any{"edge": "infinity", "interaction": "infinity"}, "what noise about one interaction costs one edge is not known"},
	} {
		line := "account ledger --delta 1e-5 "
		if c.unit != "" {
			line += "--unit " + c.unit + " "
		}
		m := keys(t, line+ledgerOf(t, c.held, c.events...))
		all, _ := m["guarantees"].([]any)
		got := map[string]any{}
		for _, g := range all {
			g, _ := g.(map[string]any)
			got[fmt.Sprint(g["unit"])] = g["epsilon"]
		}
		for unit, want := range c.want {
			w, finite := want.(float64)
			if eps, number := got[unit].(float64); finite != number || finite && !(math.Abs(eps-w) <= 1e-9*w) || !finite && got[unit] != want {
				t.Errorf("%s: %s has epsilon %v, want %v", name, unit, got[unit], want)
			}
		}
		if len(got) != len(c.want) || !strings.Contains(fmt.Sprint(m["warnings"]), c.says) {
			t.Errorf("%s: %v: want %q", name, m, c.says)
		}
	}
	if out, err := ask(t, "account ledger --delta 1e-6 "+ledgerOf(t, holds(privacy.Cell, 5), cell)); err != nil || !strings.Contains(out, "epsilon for one cell of a sequence  3,") || !strings.Contains(out, "epsilon for one user                15,") {
		t.Errorf("%v %s", err, out)
	}
}
