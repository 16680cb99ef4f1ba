//go:build smoke && amd64 && !amd64.v3 && !f64

package cli

import (
	"os"
	"path/filepath"
	"testing"

	"privrec/internal/run"
)

// smokeTables is the environment variable with the folder in which .ci/run made all tables in size smoke.
const smokeTables = "PRIVREC_SMOKE_TABLES"

// TestFrozenTables holds the tables, figures, pages and verdicts of size smoke, which .ci/run made. They are of the
// kernels for AVX2, with which training takes a third of the time that plain Go takes; their last digits differ from
// those of other kernels. They are of a program that does not know its commit, which tables and pages name.
func TestFrozenTables(t *testing.T) {
	out := os.Getenv(smokeTables)
	runs, err := filepath.Glob(filepath.Join(out, "runs", "*"))
	if err != nil || len(runs) == 0 {
		t.Fatalf("%s is %q, which has no runs: .ci/run makes them", smokeTables, out)
	}
	m, err := run.ReadManifest(runs[0])
	if err != nil {
		t.Fatal(err)
	}
	if b := m.Attempts[0].Build; b.Commit != "" || b.SIMD != "avx2" {
		t.Fatalf("the tables are of %+v, want no commit and the kernels for AVX2", b)
	}
	got := map[string]string{}
	got["reproduce --claims"] = sum(answered(t, out, "reproduce", "--claims", "--profile", "smoke", "--out", ".", "--json"))
	hashFiles(t, got, out, "")
	frozen(t, "tables.txt", got)
}
