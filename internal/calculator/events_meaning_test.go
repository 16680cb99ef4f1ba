package calculator

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"privrec/internal/calculator/eventlog"
	"privrec/internal/privacy"
)

// story is a training as a file tells it: what is stated, and what the log has.
type story struct {
	sampling, relation string
	noise, rate        float64
	steps              int64
	unit, sampledUnit  string // of the event; the account is about users where a user holds records
	holds              int64

	records, batch, logged, workers int64 // of the log; 0: not there
	epochs                          float64
	loader                          string
	clipPer                         string
	dropLast                        bool
	accumulated                     string // true, false; empty: not there
	sizes                           []int64
}

// file writes the story as JSON Lines.
func (s story) file(t *testing.T, name string) string {
	t.Helper()
	head := map[string]any{"privrec_events": 1, "unit": "record", "delta": 1e-6, "neighbours": s.relation}
	if s.holds > 0 {
		head["unit"], head["holds"] = "user", []any{map[string]any{"unit": "user", "of": "record", "most": s.holds}}
	}
	log, e := map[string]any{}, map[string]any{"mechanism": "dp-sgd", "noise_multiplier": s.noise, "steps": s.steps, "sampling": s.sampling, "log": nil}
	put := func(m map[string]any, key string, v any, has bool) {
		if has {
			m[key] = v
		}
	}
	put(e, "sampling_rate", s.rate, s.rate > 0)
	put(e, "unit", s.unit, s.unit != "")
	put(e, "sampled_unit", s.sampledUnit, s.sampledUnit != "")
	put(log, "records", s.records, s.records > 0)
	put(log, "batch", s.batch, s.batch > 0)
	put(log, "steps", s.logged, s.logged > 0)
	put(log, "workers", s.workers, s.workers > 0)
	put(log, "epochs", s.epochs, s.epochs > 0)
	put(log, "loader", s.loader, s.loader != "")
	put(log, "clip_per", s.clipPer, s.clipPer != "")
	put(log, "drop_last", true, s.dropLast)
	put(log, "accumulated", s.accumulated == "true", s.accumulated != "")
	put(log, "batch_sizes", s.sizes, len(s.sizes) > 0)
	e["log"] = log
	var text []byte
	for _, x := range []any{head, e} {
		line, err := json.Marshal(x)
		if err != nil {
			t.Fatal(err)
		}
		text = append(append(text, line...), '\n')
	}
	if err := os.WriteFile(name, text, 0o600); err != nil {
		t.Fatal(err)
	}
	return name
}

// meanings reads the story by itself, in the words of docs/account-events.md, and returns what it may mean, each as a
// question to the calculator. It knows nothing of how package eventlog reads.
func (s story) meanings() (all []string) {
	workers := float64(max(1, s.workers))
	n, mean := float64(s.records), 0.0
	for _, k := range s.sizes {
		mean += float64(k)
	}
	steps := []float64{float64(s.steps)}
	if s.logged > 0 {
		steps = append(steps, float64(s.logged))
	}
	if len(s.sizes) > 0 && s.accumulated != "true" { // each has noise of its own
		steps = append(steps, float64(len(s.sizes)))
	}
	per := 0.0
	if n > 0 && s.batch > 0 {
		per = math.Ceil(n / (float64(s.batch) * workers))
		if s.epochs > 0 && s.logged == 0 && len(s.sizes) == 0 && !s.dropLast {
			steps = append(steps, math.Ceil(s.epochs*per))
		}
	}
	made := slices.Max(steps)
	rates := []float64{s.rate}
	if n > 0 && s.batch > 0 {
		rates = append(rates, math.Min(1, float64(s.batch)*workers/n))
	}
	equal, vary := 0, false
	if len(s.sizes) > 0 {
		of := float64(len(s.sizes))
		for _, k := range s.sizes {
			if k == s.sizes[0] {
				equal++
			}
		}
		vary = 2*equal < len(s.sizes)
		if s.accumulated == "true" {
			of, vary = float64(s.steps), false
		}
		if r := mean * workers / of / n; n > 0 && mean/of > slices.Max(rates)*n/workers+9*math.Sqrt(mean/of/of) {
			rates = append(rates, math.Min(1, r))
		}
	}
	rate := slices.Max(rates)
	fixed := len(s.sizes) > 10 && 10*equal > 9*len(s.sizes) && s.accumulated != "true"
	drawn := []string{s.sampling}
	switch {
	case s.loader != "":
		drawn = append(drawn, map[string]string{"poisson": "poisson", "fixed-size": "without-replacement", "shuffled": "shuffled", "in-order": "shuffled"}[s.loader])
		if s.loader == "poisson" && fixed && s.sampling == "poisson" {
			drawn = append(drawn, "shuffled")
		}
	case s.dropLast && !vary, fixed && s.sampling == "poisson":
		drawn = append(drawn, "shuffled")
	case vary && s.sampling == "without-replacement":
		drawn = append(drawn, "poisson")
	}
	width, group := 1.0, ""
	unit := cmp.Or(s.unit, map[bool]string{true: "user", false: "record"}[s.holds > 0])
	if s.holds > 0 && cmp.Or(s.clipPer, s.sampledUnit, unit) == "record" {
		if width = float64(s.holds); cmp.Or(s.sampledUnit, unit) == "record" {
			width, group = 1, fmt.Sprintf(" --group %d", s.holds) // each by its own coin
		}
	}
	const q = " --delta 1e-6 --accountant pld"
	for _, how := range drawn {
		switch {
		case how == "shuffled":
			times := math.Ceil(s.epochs)
			if per > 0 {
				times = max(times, math.Ceil(made/per))
			}
			moves := width
			if group != "" {
				moves = float64(s.holds) // all of them in one batch
			}
			if s.relation == "replace" {
				moves *= 2
			}
			if times > 0 {
				all = append(all, fmt.Sprintf("account gaussian --sigma %v --sensitivity %v --steps %v", s.noise, moves, times)+q)
			}
		case how == "poisson" && (group == "" || s.relation != "replace"): // the calculator has no such group
			all = append(all, fmt.Sprintf("account sampled-gaussian --sampling-rate %v --noise-multiplier %v --steps %v --neighbouring %s", rate, s.noise/width, made, s.relation)+group+q)
		case how == "without-replacement" && group == "":
			all = append(all, fmt.Sprintf("account sampled-gaussian --sampling-rate %v --noise-multiplier %v --steps %v --sampling without-replacement", rate, s.noise/width, made)+q)
		}
	}
	return all
}

// random tells a story whose parts know nothing of each other.
func random(r *rand.Rand) (s story) {
	maybe := func(p float64) bool { return r.Float64() < p }
	pick := func(words ...string) string { return words[r.IntN(len(words))] }
	n, b := int64(2000*(1+r.IntN(5))), int64(20*(1+r.IntN(5)))
	s = story{noise: 0.5 + 3*r.Float64(), rate: float64(b) / float64(n), steps: 20 + r.Int64N(200)}
	switch s.sampling = pick("poisson", "poisson", "without-replacement"); s.sampling {
	case "poisson":
		s.relation = pick("add-remove", "add-remove", "zero-out", "replace")
	default:
		s.relation = "replace"
	}
	if maybe(0.3) {
		s.rate *= 0.5 + r.Float64()
	}
	if maybe(0.8) {
		s.records = n
	}
	if maybe(0.6) && s.records > 0 {
		s.batch = b
	}
	if maybe(0.3) {
		s.logged = s.steps + r.Int64N(40) - 20
	}
	if maybe(0.4) {
		s.epochs = float64(1 + r.IntN(4))
	}
	if maybe(0.4) {
		s.loader = pick("poisson", "shuffled", "in-order", "fixed-size")
	}
	s.dropLast = maybe(0.2)
	if maybe(0.25) {
		s.workers = 1 + r.Int64N(4)
	}
	if maybe(0.3) {
		s.holds = 2 + r.Int64N(3)
		s.unit, s.sampledUnit, s.clipPer = pick("", "record"), pick("", "user", "record"), pick("", "record")
	}
	if maybe(0.6) {
		m, varies := s.steps, maybe(0.5)
		switch r.IntN(4) {
		case 0:
			m = max(2, s.steps/2)
		case 1:
			m = s.steps * 2
			s.accumulated = pick("", "true", "false")
		}
		mean := float64(b)
		if maybe(0.3) {
			mean *= 0.5 + 2*r.Float64()
		}
		for range m {
			k := int64(mean)
			if varies {
				k = max(0, int64(math.Round(mean+math.Sqrt(mean)*r.NormFloat64())))
			}
			s.sizes = append(s.sizes, k)
		}
	}
	return s
}

// holdsStories holds what is charged for random stories against a reading of them by itself: of whatever a log may mean
// the worst is charged, or what is taken is asked. Sizes are told apart at nine standard deviations, so that a false
// alarm has a probability below 1e-9 in all of them. Both sides take the upper ends of brackets.
func holdsStories(t *testing.T, seed uint64, count, least int) {
	t.Helper()
	r := rand.New(rand.NewPCG(seed, 4))
	asked, held, dir := 0, 0, t.TempDir()
	for i := range count {
		s := random(r)
		q := AskEvents()
		q.Accountant = "pld"
		if err := q.Check(); err != nil {
			t.Fatal(err)
		}
		f, err := eventlog.Read(s.file(t, filepath.Join(dir, "story.jsonl")))
		if err != nil {
			t.Fatal(err)
		}
		log, err := f.Account(0)
		if err == nil {
			err = q.eventsDelta(f)
		}
		if err != nil {
			t.Fatal(err)
		}
		if len(log.Assumed) > 0 {
			asked++
			continue
		}
		got := 0.0
		for _, m := range log.Meanings {
			x, _, err := q.eventsUnit(f, m.Ledger, noised(m.Ledger), privacy.Subject{Unit: f.Unit, Neighbouring: m.Relation})
			if err != nil {
				t.Fatalf("story %d: %v\n%+v", i, err, s)
			}
			got = max(got, x.Epsilon)
		}
		held++
		for _, line := range s.meanings() {
			if want, ok := keys(t, line)["epsilon"].(float64); ok && got < want*(1-1e-3) {
				t.Errorf("story %d: epsilon %v, and %v by %s\n%v\n%q\n%+v", i, got, want, line, log.Faults, log.Remarks, s)
			}
		}
	}
	if t.Logf("%d held against the reading, %d asked", held, asked); held < least {
		t.Errorf("%d of %d stories were held against the reading", held, count)
	}
}

// Of whatever a log may mean the worst is charged. More stories are in the slow tests.
func TestWorstMeaning(t *testing.T) { holdsStories(t, 1, 40, 20) }
