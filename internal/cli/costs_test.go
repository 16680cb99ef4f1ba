package cli

import (
	"bytes"
	"os"
	"strings"
	"testing"

	"privrec/configs"
	"privrec/internal/papers"
	"privrec/internal/reproduce"
	"privrec/internal/run"
)

// costsFile is the table of recorded costs that --dry-run reads.
const costsFile = "../reproduce/costs.csv"

// Most runs of the smoke and quick tables whose data can be had have a recorded cost, so that
// a forecast of all tables measures little. With -update the table is made again: finished
// runs in $PRIVREC_RUNS count as they were, of the others a few steps are measured, on two
// threads. That takes minutes, and data.
func TestRecordedCosts(t *testing.T) {
	all, err := reproduce.BuiltIn(configs.Files(), papers.All())
	if err != nil {
		t.Fatal(err)
	}
	if *update {
		if os.Getenv("PRIVREC_RUNS") == "" {
			t.Skip("$PRIVREC_RUNS names no folder of runs that the costs could be taken from")
		}
		var text bytes.Buffer
		for i, size := range []string{"smoke", "quick"} {
			p, err := reproduce.NewPlan(all, reproduce.Options{Size: size, Out: os.Getenv("PRIVREC_RUNS"), Workers: 2, Progress: run.Silent{}})
			if err != nil {
				t.Fatal(err)
			}
			var part bytes.Buffer
			if err := p.Measure(t.Context(), &part); err != nil {
				t.Fatal(err)
			}
			lines := strings.SplitAfter(part.String(), "\n")
			if i > 0 {
				lines = lines[2:] // its heads are there
			}
			text.WriteString(strings.Join(lines, ""))
		}
		if err := os.WriteFile(costsFile, text.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	for _, size := range []string{"smoke", "quick"} {
		p, err := reproduce.NewPlan(all, reproduce.Options{Size: size, Out: t.TempDir(), Progress: run.Silent{}})
		if err != nil {
			t.Fatal(err)
		}
		have, lack := p.Recorded()
		t.Logf("%s: %d runs with a recorded cost, %d without", size, have, lack)
		if have < lack {
			t.Errorf("%s: %d runs have a recorded cost and %d have none: go test ./internal/cli -run TestRecordedCosts -update", size, have, lack)
		}
	}
}
