package calculator

import (
	"bytes"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"privrec/internal/privacy"
	"privrec/internal/privacy/accountant"
)

// A ledger about two units gives two guarantees, and one where one is asked for;
// what is unprotected is infinite with its reason.
func TestAccountLedger(t *testing.T) {
	path := filepath.Join(t.TempDir(), "ledger.jsonl")
	l, err := privacy.CreateLedger(path, privacy.Research, nil)
	if err != nil {
		t.Fatal(err)
	}
	record := func(purpose string, e privacy.Event, n int64) {
		t.Helper()
		if err := l.Record(purpose, e, n); err != nil {
			t.Fatal(err)
		}
	}
	record("aggregate", privacy.Gaussian{Sigma: 2, Sensitivity: 1, Unit: privacy.Edge, Neighbouring: privacy.AddRemove}, 4)
	record("features", privacy.PureLDP{Epsilon: 1.5, Unit: privacy.Feature}, 6000)
	if err := l.Bound("features", 1); err != nil {
		t.Fatal(err)
	}
	if err := l.Flush("epoch 1"); err != nil {
		t.Fatal(err)
	}
	record("loss", privacy.Unprotected{What: "labels", Why: "the loss sees them", Unit: privacy.User}, 1)
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	m := keys(t, "account ledger "+path+" --delta 1e-5")
	if _, ok := m[""]; ok {
		t.Error("text was written as JSON")
	}
	all, _ := m["guarantees"].([]any)
	if len(all) != 3 || m["epsilon"] != nil || m["entries"] != 3.0 || m["noise"] != "research noise" {
		t.Fatalf("%v", m)
	}
	// The labels of a user are those of their edges, and their features are theirs.
	want := map[string]any{"edge": "infinity", "feature": "infinity", "user": "infinity"}
	for _, g := range all {
		g, _ := g.(map[string]any)
		unit, _ := g["unit"].(string)
		switch w := want[unit].(type) {
		case string:
			if s, _ := g["statement"].(string); g["epsilon"] != w || g["unprotected"] == nil || !strings.Contains(s, "Nothing is guaranteed about one ") {
				t.Errorf("%v", g)
			}
			protected, _ := g["epsilon_protected"].(float64)
			if w := map[string]float64{"edge": 4.377178, "feature": 1.4999878}[unit]; math.Abs(protected-w) > 2e-4 {
				t.Errorf("%s: of what is protected %v, want %v", unit, protected, w)
			}
		default:
			t.Errorf("unit %q", unit)
		}
	}
	one := keys(t, "account ledger "+path+" --delta 1e-5 --unit edge")
	if one["unit"] != "edge" || one["epsilon"] == nil {
		t.Errorf("%v", one)
	}
	for _, m := range []map[string]any{m, one} {
		if w := fmt.Sprint(m["warnings"]); !strings.Contains(w, "what is about one feature vector is other data than one edge, and left out of its account") {
			t.Errorf("no warning that features are left out: %s", w)
		}
	}
	if text, err := ask(t, "account ledger "+path+" --delta 1e-5"); err != nil || !strings.Contains(text, "infinite") || !strings.Contains(text, "unprotected: labels: the loss sees them") || !strings.Contains(text, "research noise") {
		t.Errorf("%v %s", err, text)
	}
	if part := keys(t, "account ledger "+path+" --delta 1e-5 --unit interaction"); part["epsilon"] != "infinity" {
		t.Errorf("an interaction of users without protection: %v", part)
	}
}

// Two relations about one unit are accounted as an exchange; an Unprotected about
// everything alone is infinite.
func TestAccountOddLedgers(t *testing.T) {
	write := func(events ...privacy.Event) string { return ledgerOf(t, nil, events...) }
	g := privacy.Gaussian{Sigma: 2, Sensitivity: 1, Unit: privacy.Edge, Neighbouring: privacy.AddRemove}
	h := g
	h.Neighbouring = privacy.Replace
	ldp := privacy.PureLDP{Epsilon: 1, Unit: privacy.User}
	nested := privacy.Composed{Events: []privacy.Event{privacy.Parallel{Events: []privacy.Event{g, privacy.SelfComposed{Event: g, Count: 2}}}, privacy.Sampled{Event: g, Rate: 1, Method: privacy.Poisson}}}
	if m := keys(t, "account ledger --delta 1e-5 "+write(nested)); m["unit"] != "edge" || m["neighbouring"] != "add-remove" || strings.Contains(fmt.Sprint(m["warnings"]), "left out") {
		t.Errorf("%v", m)
	}
	if m := keys(t, "account ledger --delta 1e-5 "+write(privacy.Unprotected{What: "a", Why: "b"})); m["epsilon"] != "infinity" || m["unit"] != "record" {
		t.Errorf("%v", m)
	}
	// mu² is 1/4 exchanged and (2/2)² added and removed
	both := keys(t, "account ledger --delta 1e-5 "+write(g, h))
	if want, err := accountant.Exact(math.Sqrt(1.25), 1e-5); err != nil || both["neighbouring"] != "replace" || both["epsilon"] != want || !strings.Contains(fmt.Sprint(both["warnings"]), "under add-remove are charged as a group of two") {
		t.Errorf("%v, want %v (%v)", both, want, err)
	}
	if _, err := ask(t, "account ledger --delta 1e-5 --unit cell "+write(g)); kind(err) != usage || hint(err) != "it is about edge" {
		t.Errorf("%v, hint %q", err, hint(err))
	}
	for _, c := range []struct {
		path, want string
	}{
		{write(privacy.Sampled{Event: privacy.Composed{Events: []privacy.Event{ldp, ldp}}, Rate: 0.5, Method: privacy.Poisson}), ": account of user: entry 1 (end, p0): "},
		{write(), "lists no releases"},
	} {
		want := data
		if strings.Contains(c.want, "entry") { // sound, and beyond every accountant
			want = failed
		}
		if out, err := ask(t, "account ledger --delta 1e-5 "+c.path); kind(err) != want || out != "" || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", kind(err), err)
		}
	}
}

// A ledger with any byte changed, or cut anywhere, is refused with file and line.
func TestAccountRefusesDamage(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "ledger.jsonl")
	l, err := privacy.CreateLedger(path, privacy.Research, nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := l.Record("p", privacy.PureLDP{Epsilon: 1, Unit: privacy.User}, 2); err != nil {
		t.Fatal(err)
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	good, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := ask(t, "account ledger --delta 1e-5 --accountant rdp "+path); err != nil {
		t.Fatalf("the whole one: %v", err)
	}
	refused := func(what string, b []byte, line int) {
		t.Helper()
		if err := os.WriteFile(path, b, 0o644); err != nil {
			t.Fatal(err)
		}
		out, err := ask(t, "account ledger --delta 1e-5 "+path)
		if kind(err) != data || out != "" || !strings.HasPrefix(err.Error(), fmt.Sprintf("%s:%d: ", path, line)) {
			t.Fatalf("%s: %s: %v", what, kind(err), err)
		}
	}
	line := 1
	for i := range good {
		bad := bytes.Clone(good)
		bad[i] ^= 4
		refused(fmt.Sprintf("byte %d changed", i), bad, line)
		if good[i] == '\n' {
			line++
		} else if i > 0 && good[i-1] != '\n' {
			refused(fmt.Sprintf("cut at %d", i), good[:i], line)
		}
	}
}

// A ledger says what an attacker reaches, by what is protected alone where something is open.
func TestAccountLedgerRisk(t *testing.T) {
	edge := privacy.Gaussian{Sigma: 2, Sensitivity: 1, Unit: privacy.Edge, Neighbouring: privacy.AddRemove}
	m := keys(t, "account ledger --delta 1e-5 "+ledgerOf(t, nil, edge))
	risk, _ := m["risk"].(map[string]any)
	if a, _ := risk["advantage"].(float64); math.Abs(a-0.19741265) > 1e-7 { // 2 Phi(1/4) - 1
		t.Errorf("advantage %v", risk)
	}
	if s := fmt.Sprint(m["statement"]); !strings.Contains(s, "wrong about 1 % of outsiders finds at most 3.39 % of members") {
		t.Error(s)
	}
	open := privacy.Unprotected{What: "labels", Why: "the loss sees them", Unit: privacy.Edge}
	m = keys(t, "account ledger --delta 1e-5 "+ledgerOf(t, nil, open, edge))
	if _, whole := m["risk"]; whole || m["risk_protected"] == nil || !strings.Contains(fmt.Sprint(m["statement"]), "By what is protected, alone: An attacker") {
		t.Errorf("%v", m)
	}
	m = keys(t, "account ledger --delta 1e-5 "+ledgerOf(t, nil, open))
	if s := fmt.Sprint(m["statement"]); !strings.Contains(s, "Nothing rules out an attacker who finds every edge and is never wrong") {
		t.Error(s)
	}
}
