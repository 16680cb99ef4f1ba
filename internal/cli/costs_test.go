package cli

import (
	"bytes"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"privrec/configs"
	"privrec/internal/papers"
	"privrec/internal/reproduce"
	"privrec/internal/reproduce/grid"
	"privrec/internal/reproduce/matrix"
	"privrec/internal/reproduce/roster"
	"privrec/internal/run"
)

// costsFile is the table of recorded costs that --dry-run reads.
const costsFile = "../reproduce/costs/costs.csv"

// costPlans plans the smoke, quick and full tables, and the quick matrices, over runs in a folder.
func costPlans(t *testing.T, out string) map[string]*reproduce.Plan {
	t.Helper()
	all, err := grid.BuiltIn(configs.Files(), papers.All())
	if err != nil {
		t.Fatal(err)
	}
	plans, o := map[string]*reproduce.Plan{}, roster.Options{Out: out, Workers: 2, Progress: run.Silent{}}
	for _, o.Size = range []string{"smoke", "full", "quick"} {
		if plans[o.Size], err = reproduce.NewPlan(all, o); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{ownMatrix, "ml-1m"} {
		m, err := matrix.BuiltIn(configs.Files(), name, papers.All())
		if err != nil {
			t.Fatal(err)
		}
		if plans["matrix "+name], _, err = m.Plan(o); err != nil {
			t.Fatal(err)
		}
	}
	return plans
}

// Most runs of the smoke, quick and full tables whose data can be had, and of the matrices, have a recorded cost, so
// that a forecast of all of them measures little. With -update the table is made again: finished
// runs in $PRIVREC_RUNS count as they were, others as they are recorded, and of those that are new
// a few steps are measured, on two threads. That takes minutes, and data.
func TestRecordedCosts(t *testing.T) {
	if *update {
		if os.Getenv("PRIVREC_RUNS") == "" {
			t.Skip("$PRIVREC_RUNS names no folder of runs that the costs could be taken from")
		}
		var text bytes.Buffer
		plans := costPlans(t, os.Getenv("PRIVREC_RUNS"))
		for _, name := range slices.Backward(slices.Sorted(maps.Keys(plans))) {
			var part bytes.Buffer
			if err := plans[name].Measure(t.Context(), &part); err != nil {
				t.Fatal(err)
			}
			lines := strings.SplitAfter(part.String(), "\n")
			if text.Len() > 0 {
				lines = lines[2:] // its heads are there
			}
			text.WriteString(strings.Join(lines, ""))
		}
		if err := os.WriteFile(costsFile, text.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	for name, p := range costPlans(t, t.TempDir()) {
		have, lack := p.Recorded()
		t.Logf("%s: %d runs with a recorded cost, %d without", name, have, lack)
		if have < lack {
			t.Errorf("%s: %d runs have a recorded cost and %d have none: go test ./internal/cli -run TestRecordedCosts -update", name, have, lack)
		}
	}
}
