package eventlog

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// faultNames are the names of all faults.
var faultNames = []string{
	"fixed-batches", "other-sampling", "rate-does-not-fit", "too-few-steps", "multiplier-does-not-fit",
	"no-noise", "drawn-batch", "clip-from-data", "clip-not-counted", "clip-of-other-unit", "records-mixed",
	"microbatches", "sensitivity-too-small", "mixed-unit", "mixed-neighbours", "tuning-not-counted",
	"epoch-not-counted", "delta-too-large", "seed-published", "seeded-noise", "float-noise", "after-end",
	"missing-events", "claim-of-other-unit", "claim-below-account",
}

// Every file with a planted fault is warned of by the name of the fault, which is that of the file, and
// by no other name; a file without a fault has no warning. The name claim-below-account needs an
// accountant: package calculator tests it.
func TestFaults(t *testing.T) {
	met := []string{"claim-below-account"}
	for dir, least := range map[string]int{"faults": 70, "clean": 40} {
		files, err := filepath.Glob("testdata/" + dir + "/*")
		if err != nil || len(files) < least {
			t.Fatalf("%d files in %s (%v)", len(files), dir, err)
		}
		for _, file := range files {
			f, err := Read(file)
			if err != nil {
				t.Error(err)
				continue
			}
			a, err := f.Account(0)
			if err != nil {
				t.Error(err)
				continue
			}
			var names []string
			for _, x := range a.Faults {
				names = append(names, x.Name)
				if x.Line == 0 || x.Ask == "" || x.File != file || !strings.HasPrefix(x.String(), x.Name+" (") {
					t.Errorf("%s: %+v", file, x)
				}
			}
			want, _, _ := strings.Cut(strings.TrimSuffix(filepath.Base(file), filepath.Ext(file)), "+")
			switch {
			case (dir == "clean" || want == "claim-below-account") && len(names) > 0:
				t.Errorf("%s: %v", file, a.Faults)
			case dir == "faults" && want != "claim-below-account" && !slices.Equal(names, []string{want}):
				t.Errorf("%s: warned of %v", file, names)
			case dir == "faults":
				met = append(met, want)
			}
		}
	}
	for _, n := range faultNames {
		if !slices.Contains(met, n) {
			t.Errorf("no file has the fault %s", n)
		}
	}
}
