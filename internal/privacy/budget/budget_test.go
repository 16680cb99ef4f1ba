package budget

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"privrec/internal/privacy"
	"privrec/internal/privacy/correlated"
)

var about = privacy.Subject{Unit: privacy.User, Neighbouring: privacy.AddRemove}

// planOf returns a plan of one normal release that says of itself that it costs epsilon at delta.
func planOf(sigma, epsilon, delta float64) *privacy.Plan {
	return &privacy.Plan{Budget: privacy.Budget{Epsilon: epsilon, Delta: delta}, Subject: about, Releases: []privacy.Entry{{Purpose: "sum", Count: 1,
		Event: privacy.Gaussian{Sigma: sigma, Sensitivity: 1, Unit: about.Unit, Neighbouring: about.Neighbouring}}}}
}

// made makes a budget of epsilon 2 at delta 1e-5.
func made(t *testing.T, rule Rule, order, slack float64) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "b.jsonl")
	if err := Create(path, Terms{Epsilon: 2, Delta: 1e-5, Unit: about.Unit, Neighbouring: about.Neighbouring, Data: "d", Rule: rule, Order: order, Slack: slack}); err != nil {
		t.Fatal(err)
	}
	return path
}

func reserve(path string, p *privacy.Plan) (id int, err error) {
	err = Change(path, func(b *File) error {
		id, err = b.Reserve(Reservation{Run: "r", Task: "t", Config: "c", Data: "d", SHA256: "abc"}, p)
		return err
	})
	return id, err
}

// Runs spend until the next one would overdraw; that one is refused and leaves no line.
func TestOverdraw(t *testing.T) {
	for _, c := range []struct {
		rule         Rule
		order, slack float64
		sigma, eps   float64
		runs         int // that fit, of epsilon eps at delta 1e-6
	}{
		{Sum, 0, 0, 10, 0.5, 4},              // 4 x 0.5
		{Sum, 0, 0, 10, 0.4, 5},              // decimals that add up to all of it
		{Approximate, 0, 4.9e-6, 60, 0.1, 5}, // 5 deltas of 1e-6 beside the slack; epsilons would allow 14
		{Renyi, 12, 0, 10, 0.5, 21},          // 12/(2 x 100) a run, of 2 - log(11/12) + log(12e-5)/11 = 1.266
	} {
		path := made(t, c.rule, c.order, c.slack)
		for i := range c.runs {
			if id, err := reserve(path, planOf(c.sigma, c.eps, 1e-6)); err != nil || id != i+1 {
				t.Fatalf("%s, run %d: %d, %v", c.rule, i+1, id, err)
			}
		}
		before, _ := os.ReadFile(path)
		_, err := reserve(path, planOf(c.sigma, c.eps, 1e-6))
		var no *Refusal
		if !errors.As(err, &no) || no.Hint() == "" {
			t.Errorf("%s: run %d: %v", c.rule, c.runs+1, err)
		}
		if after, _ := os.ReadFile(path); !bytes.Equal(before, after) {
			t.Errorf("%s: a refusal changed the file", c.rule)
		}
	}
}

// A run whose releases come to more than it says is an error, one of an infinite account is refused.
func TestPrices(t *testing.T) {
	path := made(t, Sum, 0, 0)
	if _, err := reserve(path, planOf(1, 0.5, 1e-6)); err == nil || !strings.Contains(err.Error(), "and it says 0.5") {
		t.Error(err)
	}
	open := planOf(10, 0.5, 1e-6)
	open.Releases = append(open.Releases, privacy.Entry{Purpose: "lists", Count: 1, Event: privacy.Unprotected{What: "lists", Why: "in the clear"}})
	var no *Refusal
	if _, err := reserve(path, open); !errors.As(err, &no) || !strings.Contains(err.Error(), "lists: in the clear") {
		t.Error(err)
	}
	edges := planOf(10, 0.5, 1e-6) // of another unit than the budget, and nothing says how many a user has
	edges.Subject.Unit = privacy.Edge
	edges.Releases[0].Event = privacy.Gaussian{Sigma: 10, Sensitivity: 1, Unit: privacy.Edge, Neighbouring: privacy.AddRemove}
	if _, err := reserve(path, edges); !errors.As(err, &no) || !strings.Contains(err.Error(), "is infinite") {
		t.Error(err)
	}
	edges.Held = []privacy.Holding{{Unit: privacy.User, Of: privacy.Edge, Most: 2}}
	if _, err := reserve(path, edges); err != nil { // a group of two
		t.Error(err)
	}
}

// What a run that ended keeps: nothing if it released nothing, what it released under a Rényi rule where the
// plan does not stay spent whole, and all that it reserved otherwise.
func TestEnds(t *testing.T) {
	half := []privacy.Entry{{Purpose: "sum", Count: 1, Event: privacy.Gaussian{Sigma: 20, Sensitivity: 1, Unit: about.Unit, Neighbouring: about.Neighbouring}}}
	for _, c := range []struct {
		rule     Rule
		order    float64
		released []privacy.Entry
		whole    bool
		want     float64
	}{
		{Sum, 0, half, false, 0.5}, {Sum, 0, nil, false, 0}, {Renyi, 12, half, false, 12.0 / 800}, {Renyi, 12, nil, false, 0},
		{Renyi, 12, half, true, 12.0 / 200}, {Renyi, 12, nil, true, 0},
	} {
		path := made(t, c.rule, c.order, 0)
		plan := planOf(10, 0.5, 1e-6)
		plan.Whole = c.whole
		if _, err := reserve(path, plan); err != nil {
			t.Fatal(err)
		}
		for range 2 { // twice is once
			if err := Change(path, func(b *File) error { return b.End(1, "", c.released, nil) }); err != nil {
				t.Fatal(err)
			}
		}
		b, err := Read(path)
		if err != nil {
			t.Fatal(err)
		}
		if spent, _, err := b.Spent(); err != nil || math.Abs(spent-c.want) > 1e-8 {
			t.Errorf("%s, released %d: spent %v, want %v, %v", c.rule, len(c.released), spent, c.want, err)
		}
	}
}

// TestBytes holds the bytes of a budget of every rule, from its first line to those of two runs that ended.
func TestBytes(t *testing.T) {
	for _, c := range []struct {
		rule         Rule
		order, slack float64
		want         string
	}{
		{Sum, 0, 0, "79df5dc6e7fdc7e791e8f1c3ea7f2001ba8c4cead111af805970ae85d3611d30"},
		{Approximate, 0, 4.9e-6, "4a56fc46a300bfb3ab8510a0299f28f870211aa7e4645d16c065a9bba122f5a9"},
		{Renyi, 12, 0, "2939d50ae4c2f94f3329b8d7a62a7b89c1b018f99a2ede598abf7cb4bd4c8549"},
	} {
		path := made(t, c.rule, c.order, c.slack)
		for _, released := range [][]privacy.Entry{nil, planOf(120, 0.1, 1e-6).Releases} {
			id, err := reserve(path, planOf(60, 0.1, 1e-6))
			nil0(t, err)
			nil0(t, Change(path, func(b *File) error { return b.End(id, "", released, nil) }))
		}
		text, err := os.ReadFile(path)
		nil0(t, err)
		if got := fmt.Sprintf("%x", sha256.Sum256(text)); got != c.want {
			t.Errorf("%s: SHA-256 %s, want %s, of\n%s", c.rule, got, c.want, text)
		}
	}
}

// Processes that reserve at once never overdraw together: the lock is of open files, so goroutines that
// open the file each are as processes are.
func TestAtOnce(t *testing.T) {
	path := made(t, Sum, 0, 0)
	var wg sync.WaitGroup
	var mu sync.Mutex
	ids := map[int]bool{}
	for range 12 {
		wg.Go(func() {
			id, err := reserve(path, planOf(10, 0.5, 1e-6))
			if mu.Lock(); err == nil {
				ids[id] = true
			}
			mu.Unlock()
		})
	}
	wg.Wait()
	if b, err := Read(path); err != nil || len(ids) != 4 || len(b.Reservations) != 4 {
		t.Errorf("%v of %v, %v", ids, b, err)
	}
}

// A file that a kill cut within its last line is the file without that line, and is written on. A
// byte changed in a whole line is found.
func TestCutAndChanged(t *testing.T) {
	path := made(t, Sum, 0, 0)
	for range 2 {
		if _, err := reserve(path, planOf(10, 0.5, 1e-6)); err != nil {
			t.Fatal(err)
		}
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	last := bytes.LastIndexByte(text[:len(text)-1], '\n') + 1
	for cut := last; cut < len(text); cut += 1 + (len(text)-cut)/9 {
		if err := os.WriteFile(path, text[:cut], 0o644); err != nil {
			t.Fatal(err)
		}
		if id, err := reserve(path, planOf(10, 0.5, 1e-6)); err != nil || id != 2 {
			t.Fatalf("cut at %d: %d, %v", cut, id, err)
		}
		if now, _ := os.ReadFile(path); !bytes.Equal(now, text) {
			t.Fatalf("cut at %d: %s", cut, now)
		}
	}
	for at := range text {
		bad := bytes.Clone(text)
		bad[at] ^= 1
		if err := os.WriteFile(path, bad, 0o644); err != nil {
			t.Fatal(err)
		}
		b, err := Read(path)
		if err == nil && !(at == len(text)-1 && len(b.Reservations) == 1) { // the last newline: half a line
			t.Fatalf("byte %d changed to %q: %+v", at, bad[at], b.Reservations)
		}
	}
}

// Terms that no budget can have, and runs that are not those of a reservation.
func TestRefused(t *testing.T) {
	ok := Terms{Epsilon: 1, Delta: 1e-5, Unit: about.Unit, Neighbouring: about.Neighbouring, Rule: Sum}
	for i, change := range []func(*Terms){
		func(t *Terms) { t.Epsilon = math.Inf(1) }, func(t *Terms) { t.Epsilon = 0 }, func(t *Terms) { t.Delta = 1 }, func(t *Terms) { t.Unit = "x" },
		func(t *Terms) { t.Rule = "most" }, func(t *Terms) { t.Order = 3 }, func(t *Terms) { t.Slack = 1e-6 },
		func(t *Terms) { t.Rule, t.Order = Renyi, 1 }, func(t *Terms) { t.Rule, t.Slack = Approximate, 1e-4 }, func(t *Terms) { t.Rule = Approximate },
	} {
		x := ok
		change(&x)
		if err := Create(filepath.Join(t.TempDir(), fmt.Sprint(i)), x); err == nil {
			t.Errorf("change %d was accepted", i)
		}
	}
	path := made(t, Sum, 0, 0)
	if _, err := reserve(path, planOf(10, 0.5, 1e-6)); err != nil {
		t.Fatal(err)
	}
	mine := Reservation{Task: "t", Config: "c", SHA256: "abc", Mark: NewMark()}
	for name, c := range map[string]struct {
		id int
		r  Reservation
	}{"no such": {2, mine}, "zero": {0, mine}, "another configuration": {1, Reservation{Task: "t", Config: "x", SHA256: "abc"}},
		"other data": {1, Reservation{Task: "t", Config: "c", SHA256: "x"}}} {
		if err := Change(path, func(b *File) error {
			return b.Continue(c.id, c.r, Standing{Marks: []string{""}}, planOf(10, 0.5, 1e-6), func(string) error { return nil })
		}); err == nil {
			t.Error(name + " was accepted")
		}
	}
	if err := Change(path, func(b *File) error {
		return b.Continue(1, mine, Standing{Marks: []string{""}}, planOf(10, 0.5, 1e-6), func(string) error { return nil })
	}); err != nil {
		t.Error(err)
	}
	other := Change(path, func(b *File) error {
		_, err := b.Reserve(Reservation{Data: "e", SHA256: "other"}, planOf(10, 0.5, 1e-6))
		return err
	})
	var no *Refusal
	if !errors.As(other, &no) {
		t.Errorf("other data: %v", other)
	}
}

// All sums of a stream reserve what a single normal release of their sensitivity does, under every rule.
func TestStreamsReserve(t *testing.T) {
	stream := privacy.CorrelatedGaussian{NoiseMultiplier: 30, Sensitivity: 3, Unit: about.Unit,
		Neighbouring:  about.Neighbouring,
		Design:        correlated.Design{Name: correlated.NameTree, Steps: 365},
		Participation: correlated.Participation{Times: 1, Apart: 1}}
	for _, rule := range []Rule{Sum, Renyi} {
		order := 0.0
		if rule == Renyi {
			order = 12
		}
		var spent [2]float64
		for i, e := range []privacy.Event{stream, planOf(10, 0.5, 1e-6).Releases[0].Event} {
			path, plan := made(t, rule, order, 0), planOf(10, 0.5, 1e-6)
			plan.Releases[0].Event = e
			if _, err := reserve(path, plan); err != nil {
				t.Fatal(rule, err)
			}
			b, err := Read(path)
			if err == nil {
				spent[i], _, err = b.Spent()
			}
			if err != nil || !(spent[i] > 0) {
				t.Errorf("%s: spent %v, %v", rule, spent[i], err)
			}
		}
		if math.Abs(spent[0]-spent[1]) > 1e-12*spent[1] {
			t.Errorf("%s: %v reserved for sums, and %v for a release", rule, spent[0], spent[1])
		}
	}
	stream.Sensitivity = 2.9
	plan := planOf(10, 0.5, 1e-6)
	plan.Releases[0].Event = stream
	if _, err := reserve(made(t, Sum, 0, 0), plan); err == nil || !strings.Contains(err.Error(), "sensitivity is 2.9") {
		t.Errorf("a sensitivity that is too small: %v", err)
	}
}
