package eventlog

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"privrec/internal/config"
	"privrec/internal/dataset"
)

// Every file under testdata/bad is refused, with its name, the line and what is wrong.
func TestBadFiles(t *testing.T) {
	want := map[string]string{
		"alias.yaml": ":5:9: events: anchors and aliases", "array.jsonl": ":1: is no object of JSON", "bad-line.jsonl": `:3:32: epsilon: want a number, found the text "much"`,
		"batch-above-records.yaml": ":14:14: events.0.log.batch: is 20, more than the 10 records", "date.yaml": `:5:11: end.at: must be a date or a time`,
		"deep.yaml": "nests deeper than 8", "empty.yaml": ": is empty", "end-twice.jsonl": ":4: end: must stand alone in a line, once in a file",
		"fraction-of-step.yaml": ":10:12: events.0.steps: want an integer, found the number 2350.5", "keep-too-small.yaml": ":6:44: events.0.keep: must be above 1 over the categories",
		"key-of-other.yaml": ":12:12: events.0.scale: is no key of dp-sgd", "laplace-half.yaml": ":6:33: events.0.scale: must be given with sensitivity", "ledger.jsonl": ":1: is the ledger of a run",
		"nan.yaml": ":8:23: events.0.noise_multiplier: NaN is not a value", "negative.yaml": ":8:23: events.0.noise_multiplier: must be 0 to 1e+09, got -1", "no-events.yaml": ":5:9: events: must not be empty",
		"no-steps.yaml": ":6:5: events.0.steps: is missing, and log has neither", "no-unit.yaml": ": unit: is missing", "no-version.yaml": ":1: privrec_events: is missing", "not-json.jsonl": ":2: is no object of JSON",
		"random-runs-without-law.yaml": ":5:28: tuning.counted: random-runs needs eta and mean", "rate-above-1.yaml": ":9:20: events.0.sampling_rate: must be above 1e-12 and at most 1, got 1.5",
		"sigma-and-multiplier.yaml": ":6:34: events.0.sigma: must be given, or noise_multiplier, and not both", "twice.yaml": `:12:11: events.1.name: is there twice: "training"`,
		"two-documents.yaml": ":12:1: a second document starts here", "unknown-key.yaml": ":8:5: events.0.noise_multiplyer: unknown key", "unknown-mechanism.yaml": ":7:16: events.0.mechanism: must be one of dp-sgd",
		"unknown-unit.yaml": ":2:7: unit: must be one of edge", "null.yaml": ":6:58: events.0.sensitivity: is missing: discrete-laplace needs it", "version-2.yaml": ":1:17: privrec_events: must be 1, got 2",
		"shuffled-add-remove.yaml": ":8:15: events.0.sampling: of shuffled records does not go with neighbours add-remove", "fixed-size-add-remove.yaml": ":11:15: events.0.sampling: without replacement keeps the number of records",
	}
	files, err := filepath.Glob("testdata/bad/*")
	if err != nil || len(files) != len(want) {
		t.Fatalf("%d files for %d errors (%v)", len(files), len(want), err)
	}
	for _, file := range files {
		_, err := Read(file)
		if text := want[filepath.Base(file)]; err == nil || text == "" || !strings.HasPrefix(err.Error(), file) || !strings.Contains(err.Error(), text) {
			t.Errorf("%s: %v, want %q", file, err, text)
		}
	}
	if _, err := Read("testdata/none.yaml"); err == nil || err.Error() != "testdata/none.yaml: no such file" {
		t.Errorf("%v", err)
	}
}

// A file in YAML and the same in JSON Lines say the same, and text of any language arrives.
func TestFormsAgree(t *testing.T) {
	yaml := "privrec_events: 1\nunit: user\nrecords: 10\ndelta: 1e-3\ntitle: \"Légende 🚀 \\\\ud83d\"\nevents:\n  - {mechanism: laplace, scale: 2, sensitivity: 1, releases: 3}\n  - {name: b, mechanism: local, epsilon: 0.5}\n"
	lines := `{"privrec_events": 1, "unit": "user", "records": 10, "delta": 1e-03, "title": "L\u00e9gende \ud83d\ude80 \\ud83d"}` + "\r\n\n" +
		`{"mechanism": "laplace", "scale": 2.0, "sensitivity": 1, "releases": 3}` + "\n" + `{"name": "b", "mechanism": "local", "epsilon": 0.5}`
	for _, name := range []string{"a.jsonl", "a.txt"} {
		a, err := Parse("a.yaml", []byte(yaml))
		if err != nil {
			t.Fatal(err)
		}
		b, err := Parse(name, []byte(lines))
		if err != nil {
			t.Fatal(err)
		}
		if a.Title != "Légende 🚀 \\ud83d" || a.Title != b.Title {
			t.Errorf("titles %q and %q", a.Title, b.Title)
		}
		if diff := cmp.Diff(a.Events, b.Events); diff != "" {
			t.Error(diff)
		}
		if a.places[1].line("epsilon") != 8 || b.places[1].line("epsilon") != 4 {
			t.Errorf("lines %d and %d, want 8 and 4", a.places[1].line("epsilon"), b.places[1].line("epsilon"))
		}
	}
}

// More events than are read are refused before they are checked.
func TestTooManyEvents(t *testing.T) {
	text := `{"privrec_events":1,"unit":"user"}` + strings.Repeat("\n"+`{"mechanism":"local","epsilon":1}`, maxEvents+1)
	_, err := Parse("x.jsonl", []byte(text))
	if err == nil || !strings.Contains(err.Error(), "10001 events, want at most 10000") {
		t.Error(err)
	}
}

// The example has every key of a file and of a training's log, and no fault.
func TestExample(t *testing.T) {
	f, err := Parse("example.yaml", []byte(example))
	if err != nil {
		t.Fatal(err)
	}
	a, err := f.Account(0)
	if err != nil || len(a.Faults) > 0 || len(a.Questions) > 0 || len(f.Events) != 2 {
		t.Errorf("%v, %v, %v", a.Faults, a.Questions, err)
	}
}

// A binomial law says how likely equal batches are: the bound holds against the exact probability for
// two draws, and true Poisson sizes are not taken for fixed ones.
func TestEqualByChance(t *testing.T) {
	// Two draws of Bin(2, 1/2) are equal with probability 3/8; the bound is the largest probability, 1/2.
	if got := equalByChance(2, 2, 2, 0.5); got < 0.375 || got > 0.5+1e-12 {
		t.Errorf("%v", got)
	}
	if got := equalByChance(12, 13, 60000, 256.0/60000); got > falseAlarm {
		t.Errorf("12 of 13 equal batches by chance: %v", got)
	}
	for _, k := range []int{2, 3} {
		if got := equalByChance(k, 13, 60000, 256.0/60000); got < falseAlarm {
			t.Errorf("%d of 13 equal batches by chance: %v", k, got)
		}
	}
}

// Every name that a fault may have is listed once.
func TestFaultNames(t *testing.T) {
	var names []string
	for _, n := range FaultNames() {
		if n[1] == "" || slices.Contains(names, n[0]) {
			t.Errorf("%q", n)
		}
		names = append(names, n[0])
	}
	for name := range openNames {
		if !slices.Contains(names, name) {
			t.Errorf("%s is not listed", name)
		}
	}
}

// FuzzParse gives any bytes to the reader: it never panics, an error names the file, and what it accepts
// has an account, twice the same.
func FuzzParse(f *testing.F) {
	for _, dir := range []string{"clean", "faults", "bad"} {
		files, err := filepath.Glob("testdata/" + dir + "/*")
		if err != nil || len(files) == 0 {
			f.Fatal(err)
		}
		for _, file := range files {
			text, err := os.ReadFile(file)
			if err != nil {
				f.Fatal(err)
			}
			f.Add(strings.HasSuffix(file, "jsonl"), text)
		}
	}
	f.Add(false, []byte(example))
	f.Fuzz(func(t *testing.T, lines bool, text []byte) {
		if len(text) > 1<<16 {
			return
		}
		name := "x.yaml"
		if lines {
			name = "x.jsonl"
		}
		file, err := Parse(name, text)
		if err != nil {
			var bad *dataset.Error
			if !errors.As(err, &bad) && !config.Is(err) || !strings.HasPrefix(err.Error(), name) {
				t.Fatalf("%T: %v", err, err)
			}
			return
		}
		a, err := file.Account(0)
		if err != nil {
			if !strings.HasPrefix(err.Error(), name) {
				t.Fatalf("account: %v", err)
			}
			return
		}
		b, err := file.Account(0)
		if err != nil || fmt.Sprint(a.Faults, a.Questions, a.Corrected.Entries()) != fmt.Sprint(b.Faults, b.Questions, b.Corrected.Entries()) {
			t.Fatalf("another account of the same file: %v", err)
		}
		for _, x := range a.Faults {
			if !slices.ContainsFunc(FaultNames(), func(n [2]string) bool { return n[0] == x.Name }) || x.Message == "" || x.Ask == "" || strings.Contains(x.Message, "%!") {
				t.Fatalf("%+v", x)
			}
		}
	})
}
