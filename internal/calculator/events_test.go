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
	} {
		a := eventsOf(t, "eventlog/testdata/clean/"+file)
		want, ok := keys(t, line)["epsilon"].(float64)
		if !ok || math.Abs(a.Epsilon-want) > 1e-9*want {
			t.Errorf("%s: %v, the calculator says %v", file, a.Epsilon, want)
		}
	}
	// A user with samples that are drawn one by one is the group of the calculator.
	a := eventsOf(t, "eventlog/testdata/clean/user-of-samples.yaml")
	want := keys(t, "account sampled-gaussian --sampling-rate 0.004266666666666667 --noise-multiplier 1.1 --steps 5 --delta 1e-6 --group 2")["epsilon"].(float64)
	if math.Abs(a.Epsilon-want) > 1e-9*want {
		t.Errorf("a user of 2 samples: %v, the calculator says %v", a.Epsilon, want)
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
