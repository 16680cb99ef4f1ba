//go:build slow

package calculator

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// Every file with a planted fault is warned of by the name of the fault, which is that of the file, and
// by no other name; a file without a fault has no warning.
func TestAllEventFiles(t *testing.T) {
	var met []string
	for dir, least := range map[string]int{"faults": 70, "clean": 40} {
		files, err := filepath.Glob("eventlog/testdata/" + dir + "/*")
		if err != nil || len(files) < least {
			t.Fatalf("%d files in %s (%v)", len(files), dir, err)
		}
		for _, file := range files {
			a := eventsOf(t, file)
			var names []string
			for _, x := range a.Faults {
				names = append(names, x.Name)
			}
			want, _, _ := strings.Cut(strings.TrimSuffix(filepath.Base(file), filepath.Ext(file)), "+")
			switch {
			case dir == "clean" && len(names) > 0:
				t.Errorf("%s: %v", file, a.Faults)
			case dir == "faults" && !slices.Equal(names, []string{want}):
				t.Errorf("%s: warned of %v", file, names)
			case dir == "faults":
				met = append(met, want)
				if a.Faults[0].Line == 0 || a.Faults[0].Ask == "" || a.Faults[0].File != file {
					t.Errorf("%s: %+v", file, a.Faults[0])
				}
				holdsEffect(t, file, a)
			}
			shown(t, file, a)
		}
	}
	if !slices.Contains(met, "claim-below-account") { // package eventlog tests the others
		t.Error("no file has the fault claim-below-account")
	}
}

// Of whatever a log may mean the worst is charged, or what is taken is asked: 300 stories whose parts contradict each
// other.
func TestWorstMeanings(t *testing.T) { holdsStories(t, 35, 300, 150) }
