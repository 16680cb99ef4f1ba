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
	"privrec/internal/privacy"
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
		"epochs-of-many-steps.yaml": ":9:53: events.0.log.epochs: is 1e+09, of 1e+12 steps each: more than 1e15 steps", "epochs-at-small-rate.yaml": ":9:19: events.0.log.epochs: is 1e+09, at a sampling rate of 1e-09: more than 1e15 steps",
		"workers-of-many-records.yaml": ":10:69: events.0.log.workers: is 1000000, and so many batches of 1000000000000 are more than 1e15 records",
		"strategy-of-other.yaml":       ":6:69: events.0.strategy: cannot be made: numbers that are not of the strategy tree",
		"null-releases.yaml":           ":6:62: events.0.releases: is null: say how many, or leave the key out for one",
		"shuffled-add-remove.yaml":     ":8:15: events.0.sampling: of shuffled records does not go with neighbours add-remove", "fixed-size-add-remove.yaml": ":11:15: events.0.sampling: without replacement keeps the number of records",
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

// Numbers that Python writes and JSON does not have are named with their key and column.
func TestNumbersOfPython(t *testing.T) {
	head := `{"privrec_events": 1, "unit": "user", "delta": 1e-6, "title": "of \"Infinity\"", "claim": `
	for text, want := range map[string]string{
		head + `{"epsilon": Infinity, "delta": 1e-6}}`:                                   `x.jsonl:1:103: claim.epsilon: want a number, found the text "Infinity"`,
		head + `{"epsilon": NaN}}`:                                                       `x.jsonl:1:103: claim.epsilon: want a number, found the text "NaN"`,
		head + `null}` + "\n" + `{"mechanism": "dp-sgd", "noise_multiplier": -Infinity}`: `x.jsonl:2:45: noise_multiplier: want a number, found the text "-Infinity"`,
		head + `Inf}`: "x.jsonl:1: is no object of JSON",
	} {
		if _, err := Parse("x.jsonl", []byte(text)); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
	_, err := Parse("x.jsonl", []byte(head+`null}`+"\n"+`{"mechanism": "pure", "epsilon": Infinity}`))
	var all config.Errors
	if !errors.As(err, &all) || !strings.Contains(all[0].Fix, "write null") {
		t.Errorf("%v", err)
	}
}

// A large file says what a small one does: sizes that are lifted out of the text come back into their logs, in each
// form, and whatever else the text has.
func TestLargeFiles(t *testing.T) {
	list := strings.Repeat("251, 270,\n 239, ", 75_000)
	pad := strings.Repeat(" ", largeText)
	list = "[" + list + "262]"
	line := strings.ReplaceAll(list, "\n", "")
	title := `# batch_sizes: [1, 2]` + "\n" + `title: "of batch_sizes: [1,2]"` + "\n"
	for name, text := range map[string]string{
		"a.yaml": "privrec_events: 1\nunit: record\nevents:\n  - mechanism: dp-sgd\n    noise_multiplier: 1\n    sampling_rate: 0.1\n    log:\n      steps: 225001\n      batch_sizes: " + strings.ReplaceAll(list, "\n", "\n        ") + "\n",
		"b.yaml": title + "privrec_events: 1\nunit: record\nevents:\n  - mechanism: dp-sgd\n    noise_multiplier: 1\n    sampling_rate: 0.1\n    log: {steps: 225001, batch_sizes: " + line + "}\n",
		"c.jsonl": `{"privrec_events": 1, "unit": "record"}` + "\n" + `{"mechanism": "dp-sgd", "noise_multiplier": 1, "sampling_rate": 0.1, "log": {"batch_sizes": ` + line + `, "steps": 225001}}` + "\n" +
			`{"mechanism": "dp-sgd", "noise_multiplier": 1, "sampling_rate": 0.1, "log": {"batch_sizes": [7, 8], "steps": 2}}`,
	} {
		f, err := Parse(name, []byte(text))
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		got := f.Events[0].Log
		if n := len(got.BatchSizes); n != 225_001 || got.BatchSizes[1] != 270 || got.BatchSizes[n-1] != 262 || *got.Steps != 225_001 {
			t.Errorf("%s: %d sizes", name, n)
		}
		if len(f.Events) > 1 && !slices.Equal(f.Events[1].Log.BatchSizes, []int64{7, 8}) {
			t.Errorf("%s: %v", name, f.Events[1].Log.BatchSizes)
		}
	}
	for text, want := range map[string]string{
		`{"privrec_events": 1, "unit": "record", "batch_sizes": [1, 2]}` + pad: "x.jsonl:1:41: batch_sizes: unknown key",
		`{"privrec_events": 1, "unit": "record"}` + pad + "\n" + `{"mechanism": "dp-sgd", "noise_multiplier": 1, "sampling_rate": 0.1, "steps": 1, "log": {"batch_sizes": [3, -1]}}` + pad: "x.jsonl:2:109: log.batch_sizes.1: must be 0 to 1e15, got -1",
		`{"privrec_events": 1, "unit": "record"}` + pad + "\n" + `{"mechanism": "dp-sgd", "log": {"batch_sizes": ["a", 1]}}` + pad:                                                         `x.jsonl:2:49: log.batch_sizes.0: want an integer, found the text "a"`,
	} {
		if _, err := Parse("x.jsonl", []byte(text)); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%.300v, want %s", err, want)
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
		if err != nil || fmt.Sprint(a.Faults, a.Questions, entriesOf(a)) != fmt.Sprint(b.Faults, b.Questions, entriesOf(b)) {
			t.Fatalf("another account of the same file: %v", err)
		}
		for _, x := range a.Faults {
			if !slices.Contains(faultNames, x.Name) || x.Message == "" || x.Ask == "" ||
				strings.Contains(x.Message, "%!") {
				t.Fatalf("%+v", x)
			}
		}
	})
}

// entriesOf returns the releases of all meanings of an account.
func entriesOf(a *Account) (all [][]privacy.Entry) {
	for _, m := range a.Meanings {
		all = append(all, m.Ledger.Entries())
	}
	return all
}

// TestStreams reads sums of a stream by each strategy: what is not stated has its default, and a sensitivity that is
// below that of the strategy is refused at the line of its event.
func TestStreams(t *testing.T) {
	const head = "privrec_events: 1\nunit: user\nneighbours: replace\nevents:\n  - {mechanism: correlated-gaussian, " +
		"noise_multiplier: 8, steps: 4, strategy: "
	for text, want := range map[string]string{
		"tree":               `"sensitivity":3.4641016151377544,"strategy":"tree","steps":4,"times":1,"apart":1`,
		"composed, times: 2": `"sensitivity":7.211102550927978,"strategy":"composed","steps":4,"times":2,"apart":1`,
		"banded, bands: 1":   `"sensitivity":2,"strategy":"banded","steps":4,"bands":1,"times":1,"apart":1`,
		"toeplitz, column: [2, -1.5], apart: 2": `"sensitivity":5,"strategy":"toeplitz","steps":4,"column":[2,-1.5],` +
			`"times":1,"apart":2`,
		"blt, weights: [0.75], decays: [0]": `"sensitivity":2.5,"strategy":"blt","steps":4,"weights":[0.75],` +
			`"decays":[0],"times":1,"apart":1`,
		"banded, bands: 1, sensitivity: 7": `"sensitivity":7,"strategy":"banded"`,
		"tree, sensitivity: 3.46":          ":5: event 1: correlated-gaussian: sensitivity is 3.46, want at least 3.464",
		"banded":                           "events.0.strategy: cannot be made: 0 bands",
		"blt, weights: [0.5]":              "events.0.strategy: cannot be made: 1 weights and 0 decays",
		"blt, weights: [1.5], decays: [0]": "events.0.strategy: cannot be made: the weights of the buffers add up to 1.5",
		"toeplitz":                         "events.0.strategy: cannot be made: a column of 0 entries",
		"root":                             `events.0.strategy: cannot be made: unknown strategy "root"`,
		"tree, times: 0":                   "events.0.times: must be 1 to 1e15, got 0",
		"tree, sampling: poisson":          "events.0.sampling: is no key of correlated-gaussian",
		"tree, sigma: 3":                   "events.0.sigma: is no key of correlated-gaussian",
	} {
		got := ""
		f, err := Parse("a.yaml", []byte(head+text+"}\n"))
		if err == nil {
			var l *privacy.Ledger
			if l, err = f.ledger(f.plans(), nil); err == nil {
				b, bad := privacy.MarshalEvent(l.Entries()[0].Event)
				if got = string(b); bad != nil {
					t.Error(bad)
				}
			}
		}
		if err != nil {
			got = err.Error()
		}
		if !strings.Contains(got, want) {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
	}
}
