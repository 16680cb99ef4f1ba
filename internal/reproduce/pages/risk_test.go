package pages

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"privrec/internal/privacy"
	"privrec/internal/report"
	"privrec/internal/run"
)

// The page of a run says what an attacker reaches by its ledger, and nothing without one. A ledger that
// cannot be read is named without its folder.
func TestRunPageRisk(t *testing.T) {
	f := &finished{dir: t.TempDir()}
	if f.risk() != nil {
		t.Error("a run without a ledger has a risk")
	}
	l, err := privacy.CreateLedger(filepath.Join(f.dir, run.LedgerName), privacy.Secure, nil)
	if err != nil {
		t.Fatal(err)
	}
	e := privacy.Gaussian{Sigma: 2, Sensitivity: 1, Unit: privacy.Edge, Neighbouring: privacy.AddRemove}
	if err := l.Record("p", e, 1); err != nil {
		t.Fatal(err)
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	parts := f.risk()
	if len(parts) != 2 {
		t.Fatalf("%v", parts)
	}
	table, ok := parts[0].(*report.Table)
	if !ok || len(table.Rows) != 1 || fmt.Sprint(table.Rows[0][0]) != "edge, add-remove" || !bytes.Contains([]byte(fmt.Sprint(parts[1])), []byte("finds at most 3.39 % of members")) {
		t.Errorf("%v", parts)
	}
	bad := &finished{dir: t.TempDir()}
	if err := os.WriteFile(filepath.Join(bad.dir, run.LedgerName), []byte("not a ledger"), 0o644); err != nil {
		t.Fatal(err)
	}
	text := fmt.Sprint(bad.risk())
	if !bytes.Contains([]byte(text), []byte("is not known: ")) || bytes.Contains([]byte(text), []byte(bad.dir)) {
		t.Error(text)
	}
}
