package review

import (
	"bytes"
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"privrec/internal/experiment"
)

const (
	runs   = "../../testdata/runs/"
	events = "../calculator/eventlog/testdata/"
)

// copyRun copies the run directory of an earlier program, without one of its files.
func copyRun(t *testing.T, from, without string) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS(runs+from)); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(filepath.Join(dir, without)); err != nil {
		t.Fatal(err)
	}
	return dir
}

// imported makes a run directory of a model that another program trained.
func imported(t *testing.T) string {
	t.Helper()
	dir := copyRun(t, "train-ease", "privacy.json")
	b, err := json.Marshal(experiment.Elsewhere())
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "privacy.json"), b, 0o600); err != nil {
		t.Fatal(err)
	}
	return dir
}

// A review of every kind of source says unit, epsilon and what is open first, in its conclusion too.
func TestAnswers(t *testing.T) {
	dir := t.TempDir()
	openEvents, claimed, unsaid := filepath.Join(dir, "open.yaml"), filepath.Join(dir, "claimed.yaml"), filepath.Join(dir, "unsaid.yaml")
	training := "privrec_events: 1\nunit: interaction\nrecords: 100000\ndelta: 1e-6\nevents:\n  - {mechanism: dp-sgd, noise_multiplier: 0.8, sampling_rate: 0.005, steps: 400}\n"
	if err := os.WriteFile(unsaid, []byte(training), 0o600); err != nil {
		t.Fatal(err)
	}
	for path, more := range map[string]string{openEvents: "open: [{what: list lengths, why: a list is as long as the history}]", claimed: "claim: {epsilon: 0.1, delta: 1e-6}"} {
		text := "privrec_events: 1\nunit: user\ndelta: 1e-6\nevents: [{mechanism: laplace, scale: 4, sensitivity: 1}]\n" + more + "\n"
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for name, c := range map[string]struct {
		path       string
		delta      float64
		facts      []string // values of the first three
		conclusion string   // regular expression
		ask        string
	}{
		"events": {events + "clean/laplace-count.yaml", 0, []string{"one record", "0.4", "nothing that is listed"},
			`^One record is protected up to epsilon 0\.4: an attacker who must tell whether that record is in the data is right at most \d\d times in 100`, "Was the noise drawn on a grid"},
		"events with something open": {openEvents, 0, []string{"one user", "no bound", "1 thing"},
			`^No guarantee: nothing protects list lengths\. The noise that was added would come to epsilon 0\.25 for one user`, "Must this leave without noise: list lengths?"},
		"events with a fault": {events + "faults/sensitivity-too-small.yaml", 0, []string{"one record", "1.766", "nothing that is listed"},
			`^One record is protected up to epsilon 1\.766: .*One warning below says what does not fit\.$`, "How far can one unit move the sum?"},
		"events with a claim that does not hold": {claimed, 0, []string{"one user", "0.25", "nothing that is listed"},
			`The claimed epsilon, 0\.1, does not hold\.`, "With which program"},
		"events without noise":   {events + "faults/no-noise+multiplier.yaml", 0, []string{"one record", "no bound", "1 thing"}, `^No guarantee: nothing protects training\.$`, "What is the standard deviation"},
		"events of another unit": {events + "faults/mixed-unit.yaml", 0, []string{"one user", "no bound", "1 thing"}, `^No guarantee`, "How many interactions has one user at most?"},
		"a training whose samples are not said": {unsaid, 0, []string{"one interaction", "1.605, by what is assumed", "nothing that is listed"},
			`^One interaction is protected up to epsilon 1\.605 if what the file does not say is so; 9\.48\d if interactions were shuffled: .* at most 54 times in 100; \d\d if interactions were shuffled;`, "how are batches drawn"},
		"a model of another program":    {imported(t), 0, []string{"not known", "not known", "not known"}, `^Not known: another program trained the model.* can say neither\.$`, "How was the model trained"},
		"a ledger":                      {runs + "train-pricdsr/ledger.jsonl", 1e-6, []string{"one user", "no bound", "3 things"}, `^No guarantee: nothing protects target rows`, "Must this leave without noise"},
		"a run without a finite number": {runs + "train-dipsgnn", 0, []string{"one user", "no bound", "5 things"}, `^No guarantee: nothing protects training labels, .*epsilon 1,902,000 for one user`, "run.secure=true"},
		"a run that claims nothing":     {runs + "train-ease", 0, []string{"no unit", "no bound", "1 thing"}, `^Nothing is protected: the interactions leave without noise`, "Which files leave the house"},
		"a run without an account":      {copyRun(t, "train-ease", "privacy.json"), 0, []string{"no unit", "no bound", "everything"}, `^Nothing is promised: the run wrote no account`, "What of the rows"},
	} {
		r, err := Of(c.path, Settings{Delta: c.delta})
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		facts := r.facts()
		for i, label := range []string{"Whose data (unit)", "How much (epsilon)", "What is not protected"} {
			if facts[i].Label != label || facts[i].Value != c.facts[i] {
				t.Errorf("%s: %q is %q, want %q", name, facts[i].Label, facts[i].Value, c.facts[i])
			}
		}
		if got := r.Conclusion(); !regexp.MustCompile(c.conclusion).MatchString(got) {
			t.Errorf("%s: %q", name, got)
		}
		if !strings.Contains(strings.Join(r.Ask, "\n"), c.ask) {
			t.Errorf("%s: asks %q", name, r.Ask)
		}
		var a, b bytes.Buffer
		if err := r.HTML(&a); err != nil {
			t.Fatal(err)
		}
		again := r
		if name == "events" || strings.Contains(name, "ledger") { // of the others it takes long
			if again, err = Of(c.path, Settings{Delta: c.delta}); err != nil {
				t.Fatal(err)
			}
		}
		if err := again.HTML(&b); err != nil || !bytes.Equal(a.Bytes(), b.Bytes()) {
			t.Errorf("%s: another page of the same source (%v)", name, err)
		}
		for _, bad := range []string{"NaN", "+Inf", "%!", "..<", "__"} {
			if page := strings.ReplaceAll(a.String(), c.path, ""); strings.Contains(page, bad) {
				t.Errorf("%s: the page has %q", name, bad)
			}
		}
		text, err := json.Marshal(Written{r, "x.html"})
		if err != nil || !json.Valid(text) {
			t.Errorf("%s: %s (%v)", name, text, err)
		}
	}
}

// What a review cannot be made of is an error that says why.
func TestRefused(t *testing.T) {
	for path, want := range map[string]string{
		"none":                              "none: no such file or folder",
		t.TempDir():                         "is no run directory",
		runs + "train-dipsgnn/ledger.jsonl": "is a ledger, which has no delta",
		events + "bad/nan.yaml":             ":8:23: events.0.noise_multiplier: NaN is not a value",
	} {
		if _, err := Of(path, Settings{}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", path, err, want)
		}
	}
}

// Texts of a source can neither bring markup into a page nor hide what stands beside them.
func TestHostileTexts(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.yaml")
	text := "privrec_events: 1\ntitle: \"<script>alert(1)</script>\\u202E\"\nunit: user\ndelta: 1e-6\nclaim: {epsilon: 1, delta: 1e-6, by: \"<b>\\u202E\"}\n" +
		"open: [{what: \"<i>x</i>\", why: \"a\\u200Bb\"}]\npublic: [{what: \"</style><p>\"}]\nreleased: [\"<img src=x>\"]\nevents:\n  - {name: \"<u>\", mechanism: laplace, scale: 1, sensitivity: 1}\n"
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	r, err := Of(path, Settings{})
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := r.HTML(&b); err != nil {
		t.Fatal(err)
	}
	for _, bad := range []string{"<script>alert", "\u202e", "\u200b", "<i>x", "</style><p>", "<img", "<u>"} {
		if strings.Contains(b.String(), bad) {
			t.Errorf("the page has %q", bad)
		}
	}
}

// Numbers of the page are never rounded to the better side.
func TestRounding(t *testing.T) {
	for _, c := range []struct {
		v        float64
		digits   int
		up, down string
	}{
		{1.0661, 4, "1.067", "1.066"}, {1, 4, "1", "1"}, {9.48219, 4, "9.483", "9.482"}, {1901405.2, 4, "1,902,000", "1.901e+06"}, {0.00012341, 3, "1.24e-4", "0.000123"}, {math.Inf(1), 4, "no bound", "no bound"}, {99.995, 3, "100", "99.9"},
	} {
		if got := up(c.v, c.digits); got != c.up {
			t.Errorf("up(%v, %d) is %s, want %s", c.v, c.digits, got, c.up)
		}
		if got := down(c.v, c.digits); got != c.down {
			t.Errorf("down(%v, %d) is %s, want %s", c.v, c.digits, got, c.down)
		}
	}
	for p, want := range map[float64]string{0.5: "50", 0.541: "55", 0.55: "55", 1: "100"} {
		if got := times(p); got != want {
			t.Errorf("times(%v) is %s, want %s", p, got, want)
		}
	}
	if got := oddsIn(1e-6); got != "1 in 1,000,000" {
		t.Error(got)
	}
}
