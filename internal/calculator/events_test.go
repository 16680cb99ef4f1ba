package calculator

import (
	"encoding/json"
	"math"
	"os"
	"strings"
	"testing"

	"privrec/internal/calculator/eventlog"
)

// eventsOf accounts for a file of events.
func eventsOf(t *testing.T, file string) *EventsAccount {
	t.Helper()
	q := AskEvents()
	if err := q.Check(); err != nil {
		t.Fatal(err)
	}
	a, err := q.Events(file)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// A fault of each effect is warned of by its name in text and JSON, and changes the account as it says.
func TestEventFaults(t *testing.T) {
	for _, name := range []string{"sensitivity-too-small", "no-noise+multiplier", "mixed-unit", "claim-below-account", "claim-below-account+no-delta", "too-few-steps+log-epochs", "too-few-steps+shuffled", "rate-does-not-fit+larger-batches", "rate-does-not-fit+more-records"} {
		file := "eventlog/testdata/faults/" + name + ".yaml"
		a := eventsOf(t, file)
		if want, _, _ := strings.Cut(name, "+"); len(a.Faults) != 1 || a.Faults[0].Name != want {
			t.Errorf("%s: %v", file, a.Faults)
			continue
		}
		if name != "no-noise+multiplier" { // stated is infinite there too
			holdsEffect(t, file, a)
		}
		shown(t, file, a)
	}
	for _, name := range []string{"laplace-count", "composed-and-parallel", "tuned-at-random", "open-and-public"} {
		file := "eventlog/testdata/clean/" + name + ".yaml"
		a := eventsOf(t, file)
		if len(a.Faults) > 0 {
			t.Errorf("%s: %v", file, a.Faults)
		}
		shown(t, file, a)
	}
}

// holdsEffect reports an account on which a fault has another effect than it says.
func holdsEffect(t *testing.T, file string, a *EventsAccount) {
	t.Helper()
	switch x := a.Faults[0]; {
	case x.Effect == eventlog.Opens && !math.IsInf(a.Epsilon, 1):
		t.Errorf("%s: epsilon is %v, and %s leaves something open", file, a.Epsilon, x.Name)
	case (x.Effect == eventlog.Counted) != (a.Stated == nil):
		t.Errorf("%s: stated is %v, and the effect of %s is %s", file, a.Stated, x.Name, x.Effect)
	case x.Name == "other-sampling" && a.Epsilon >= a.Stated.Epsilon: // what is stated may be the worse
	case x.Effect == eventlog.Corrected && !(a.Epsilon > a.Stated.Epsilon):
		t.Errorf("%s: %s makes %v of %v", file, x.Name, a.Epsilon, a.Stated.Epsilon)
	}
}

// shown holds text and JSON of an account against it.
func shown(t *testing.T, file string, a *EventsAccount) {
	t.Helper()
	var text strings.Builder
	if err := a.Text(&text); err != nil {
		t.Fatal(err)
	}
	b, err := json.Marshal(a)
	if err != nil {
		t.Fatal(err)
	}
	var m struct {
		Epsilon                       any
		Delta                         float64
		Unit, Neighbouring, Statement string
		Warnings, Remarks             []string
		Faults                        []eventlog.Fault
		Bracket                       [2]float64
		Protected                     float64 `json:"epsilon_protected"`
	}
	if err := json.Unmarshal(b, &m); err != nil {
		t.Fatalf("%s: %v in %s", file, err, b)
	}
	if len(m.Warnings) != len(a.Faults) || m.Faults == nil || m.Remarks == nil || m.Unit != string(a.Unit) || m.Delta != a.Delta || m.Statement == "" {
		t.Errorf("%s: %s", file, b)
	}
	exact := a.covered()
	if m.Bracket[1] > 0 && exact.Method == "exact" && !(m.Bracket[0] <= exact.Epsilon*(1+1e-9) && exact.Epsilon <= m.Bracket[1]*(1+1e-9)) {
		t.Errorf("%s: %v outside of %v", file, exact.Epsilon, m.Bracket)
	}
	for _, x := range a.Faults {
		if !strings.Contains(text.String(), "warning, "+x.Name) {
			t.Errorf("%s: the text has no %s:\n%s", file, x.Name, text.String())
		}
	}
	if strings.Contains(text.String(), "NaN") || strings.Contains(text.String(), "%!") {
		t.Error(text.String())
	}
}

// An account of events is that of the calculator for the same mechanism, to the last digit.
func TestEventsAgreeWithTheCalculator(t *testing.T) {
	for file, line := range map[string]string{
		"opacus-poisson.yaml":           "account sampled-gaussian --sampling-rate 0.004266666666666667 --noise-multiplier 1.1 --steps 2350 --delta 1e-6",
		"tf-privacy-derived.yaml":       "account dp-sgd --records 60000 --batch 256 --epochs 10 --noise-multiplier 1.1 --delta 1e-6",
		"shuffled-as-shuffled.yaml":     "account dp-sgd --records 60000 --batch 256 --epochs 10 --noise-multiplier 4 --delta 1e-6 --sampling shuffled",
		"fixed-size-as-fixed-size.yaml": "account sampled-gaussian --sampling-rate 0.004266666666666667 --noise-multiplier 4 --steps 100 --delta 1e-6 --sampling without-replacement",
		"full-batch.yaml":               "account gaussian --sigma 9 --sensitivity 1 --steps 3 --delta 1e-6",
		"clipped-sum-replaced.yaml":     "account gaussian --sigma 8 --sensitivity 2 --steps 1 --delta 1e-6 --neighbouring replace",
		"randomised-response.yaml":      "account randomized-response --epsilon 1 --categories 5 --steps 1 --delta 1e-6",
		"responses-of-many.yaml":        "account randomized-response --epsilon 1.0986122886681098 --categories 2 --steps 1 --delta 1e-6",

		"stream.yaml": "account correlated-sums --noise-multiplier 8 --horizon 365 --bands 30 --participations 52 " +
			"--apart 7 --delta 1e-6",
		"allocated.yaml": "account dp-sgd --records 60000 --batch 256 --epochs 10 --noise-multiplier 1.1 " +
			"--delta 1e-6 --sampling allocation",
	} {
		a := eventsOf(t, "eventlog/testdata/clean/"+file)
		want, ok := keys(t, line)["epsilon"].(float64)
		if !ok || math.Abs(a.Epsilon-want) > 1e-9*want {
			t.Errorf("%s: %v, the calculator says %v", file, a.Epsilon, want)
		}
	}
	// A user with samples that are drawn one by one is the group of the calculator, at the rate of the log's batch.
	a := eventsOf(t, "eventlog/testdata/clean/user-of-samples.yaml")
	want := keys(t, "account sampled-gaussian --sampling-rate 0.004270833333333333 --noise-multiplier 1.1 --steps 5 --delta 1e-6 --group 2")["epsilon"].(float64)
	if math.Abs(a.Epsilon-want) > 1e-9*want {
		t.Errorf("a user of 2 samples: %v, the calculator says %v", a.Epsilon, want)
	}
}

// What a log means has the epsilon of that meaning: parts of batches add no steps, a share of a worker is not the whole,
// two rates of one log are each their own, and digits that a file leaves out make nothing cheaper.
func TestLogMeanings(t *testing.T) {
	poisson := "account sampled-gaussian --sampling-rate 0.025 --noise-multiplier 1.2 --steps 40 --delta 1e-6"
	for file, line := range map[string]string{
		"clean/parts-of-batches.yaml":                  poisson,
		"clean/parts-that-fill-up.yaml":                poisson,
		"clean/parts-stated.yaml":                      poisson,
		"clean/steps-of-parts.yaml":                    poisson,
		"clean/worker-stated.yaml":                     poisson,
		"clean/worker.yaml":                            poisson,
		"clean/dropped-beside-samples.yaml":            poisson,
		"clean/dropped-beside-loader.yaml":             poisson,
		"clean/mean-not-said.yaml":                     poisson,
		"clean/digits-left-out.yaml":                   poisson,
		"clean/records-sampled.yaml":                   poisson + " --group 3",
		"clean/users-sampled.yaml":                     "account sampled-gaussian --sampling-rate 0.025 --noise-multiplier 0.4 --steps 40 --delta 1e-6",
		"clean/users-clipped.yaml":                     "account sampled-gaussian --sampling-rate 0.073140625 --noise-multiplier 1.2 --steps 40 --delta 1e-6",
		"clean/counts-of-sampled-users.yaml":           "account sampled-gaussian --sampling-rate 0.025 --noise-multiplier 1.3333333333333333 --steps 10 --delta 1e-6",
		"clean/exchanged-microbatches.yaml":            "account gaussian --sigma 2 --sensitivity 1 --steps 2 --delta 1e-6",
		"faults/clip-of-other-unit+users-sampled.yaml": "account sampled-gaussian --sampling-rate 0.025 --noise-multiplier 0.4 --steps 40 --delta 1e-6",
		"faults/fixed-batches+exchanged-in-order.yaml": "account gaussian --sigma 0.6 --sensitivity 1 --steps 1 --delta 1e-6",
		"faults/fixed-batches+exchanged-dropped.yaml":  "account gaussian --sigma 0.6 --sensitivity 1 --steps 1 --delta 1e-6",
		"faults/other-sampling+shuffled.yaml":          "account sampled-gaussian --sampling-rate 0.025 --noise-multiplier 0.25 --steps 80 --delta 1e-6",
		"faults/rate-does-not-fit+workers.yaml":        "account sampled-gaussian --sampling-rate 0.1 --noise-multiplier 1.2 --steps 40 --delta 1e-6",
		"faults/rate-does-not-fit+users-clipped.yaml":  "account sampled-gaussian --sampling-rate 0.171347376 --noise-multiplier 1.2 --steps 12 --delta 1e-6",
		"faults/fixed-batches+records-of-users.yaml":   "account gaussian --sigma 1.2 --sensitivity 1 --steps 5 --delta 1e-6",
		"faults/too-few-steps+digits.yaml":             "account gaussian --sigma 2 --sensitivity 1 --steps 2 --delta 1e-6",
		"faults/microbatches+blanked.yaml":             "account gaussian --sigma 0.6 --sensitivity 1 --steps 40 --delta 1e-6",

		"faults/other-sampling+allocation.yaml": "account dp-sgd --records 60000 --batch 256 --epochs 3 " +
			"--noise-multiplier 0.6 --delta 1e-6",
		"faults/fixed-batches+allocation.yaml": "account gaussian --sigma 1.1 --sensitivity 1 --steps 3 --delta 1e-6 " +
			"--neighbouring zero-out",
	} {
		a := eventsOf(t, "eventlog/testdata/"+file)
		want, ok := keys(t, line)["epsilon"].(float64)
		if !ok || math.Abs(a.Epsilon-want) > 1e-6*want {
			t.Errorf("%s: %v, the calculator says %v", file, a.Epsilon, want)
		}
	}
}

// What an account takes to be so stands beside its number and is asked: in text, JSON, and the questions.
func TestAssumed(t *testing.T) {
	for file, word := range map[string]string{
		"parts-of-batches": "accumulated", "parts-that-fill-up": "accumulated", "steps-of-parts": "accumulated", "worker": "workers",
		"dropped-beside-samples": "dropped", "mean-not-said": "noise_on",
	} {
		a := eventsOf(t, "eventlog/testdata/clean/"+file+".yaml")
		var text strings.Builder
		if err := a.Text(&text); err != nil {
			t.Fatal(err)
		}
		if len(a.Assumed) == 0 || !strings.Contains(strings.Join(a.Questions, "\n"), word) || !strings.Contains(text.String(), "- assumed: "+a.Assumed[0]) || !strings.Contains(text.String(), "rests on what is assumed below") {
			t.Errorf("%s: %q, %q", file, a.Assumed, a.Questions)
		}
		if b, err := json.Marshal(a); err != nil || !strings.Contains(string(b), `"assumed":["`) {
			t.Errorf("%s: %s (%v)", file, b, err)
		}
	}
	if a := eventsOf(t, "eventlog/testdata/clean/parts-stated.yaml"); len(a.Assumed) > 0 {
		t.Errorf("%q", a.Assumed)
	}
}

// Names with controls of a terminal and marks of direction are written out in the text: they hide no warning.
func TestEventsHideNothing(t *testing.T) {
	file := t.TempDir() + "/hidden.yaml"
	text := `privrec_events: 1
unit: record
records: 10000
delta: 1e-6
title: "a\e[2Jb"
public: [{what: "c\r", why: "\u202ed"}]
events:
  - {name: "e\e[8m", mechanism: dp-sgd, noise_multiplier: 1, sampling_rate: 0.01, steps: 10, log: {steps: 20}}
`
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	a := eventsOf(t, file)
	if shown(t, file, a); len(a.Faults) != 1 {
		t.Errorf("%v", a.Faults)
	}
	var out strings.Builder
	if err := a.Text(&out); err != nil {
		t.Fatal(err)
	}
	if strings.ContainsAny(out.String(), "\x1b\r\u202e") || !strings.Contains(out.String(), `e\x1b[8m`) {
		t.Errorf("%q", out.String())
	}
}
