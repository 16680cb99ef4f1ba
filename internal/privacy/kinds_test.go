package privacy

import (
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// unheard is a kind of event that the program does not have, of pure noise.
type unheard struct {
	Epsilon      float64      `json:"epsilon"`
	Unit         Unit         `json:"unit"`
	Neighbouring Neighbouring `json:"neighbouring"`
}

func (unheard) Kind() string     { return "unheard" }
func (unheard) Form() Form       { return Form{Way: Single} }
func (e unheard) About() Subject { return Subject{e.Unit, e.Neighbouring} }
func (e unheard) Law() Law       { return ResponseLaw{e.Epsilon, 2, true} }

func (e unheard) Validate() error {
	return first("unheard", positive("epsilon", e.Epsilon), e.Unit.Validate(), e.Neighbouring.Validate())
}

func (e unheard) Group(size int64, s Subject) Event {
	return unheard{timesUp(e.Epsilon, size), s.Unit, s.Neighbouring}
}

func (unheard) read(b []byte, _ int) (Event, error) {
	var v struct {
		Kind string `json:"kind"`
		unheard
	}
	err := strict(b, &v)
	return v.unheard, err
}

// A new kind of event needs its own type and one entry in the list of kinds: a ledger
// records it, nested too, and reads it back; without the entry it is unknown there.
func TestNewKindOfEvent(t *testing.T) {
	before := kinds
	t.Cleanup(func() { kinds = before })
	kinds = append(slices.Clone(kinds), unheard{})
	stair := unheard{0.5, Edge, AddRemove}
	events := []Event{stair, Sampled{SelfComposed{stair, 3}, 0.25, Poisson}, Parallel{[]Event{stair, gauss}, true}}
	path := filepath.Join(t.TempDir(), "ledger.jsonl")
	l, err := CreateLedger(path, Research, nil)
	ok(t, err)
	for i, e := range events {
		ok(t, l.Record("abc"[i:i+1], e, 2))
	}
	ok(t, l.Flush("1"))
	ok(t, l.Close())
	holdsEvents(t, path, events)
	group, err := Group(stair, 3, Subject{User, Replace})
	if want := (unheard{1.5, User, Replace}); err != nil || group != want {
		t.Errorf("a group is %+v, %v", group, err)
	}
	for _, e := range events {
		if s := Subjects(e); len(s) == 0 || s[0] != (Subject{Edge, AddRemove}) {
			t.Errorf("%+v is about %v", e, s)
		}
	}
	kinds = before
	if _, err := (Reading{}).File(path); err == nil || !strings.Contains(err.Error(), `unknown event kind "unheard"`) {
		t.Errorf("without its entry: %v", err)
	}
}

// Every kind is in the list once, and what all events are tried with has each of them.
func TestKindsAreAll(t *testing.T) {
	tried := map[string]bool{}
	for _, e := range allEvents {
		tried[e.Kind()] = true
	}
	for _, k := range kinds {
		if !tried[k.Kind()] {
			t.Errorf("kind %q is twice in kinds, or no event of it is in allEvents, in event_test.go", k.Kind())
		}
		delete(tried, k.Kind())
	}
	if len(tried) > 0 {
		t.Errorf("not in the list: %v", tried)
	}
}

// source returns the text of a source file.
func source(t *testing.T, path string) string {
	t.Helper()
	b, err := os.ReadFile(path)
	ok(t, err)
	return string(b)
}

// Every type with a law is in the list of kinds, and in the files that the compiler does not ask for it.
func TestReleasesAreEntered(t *testing.T) {
	listed := map[string]bool{}
	for _, k := range kinds {
		listed[reflect.TypeOf(k).Name()] = true
	}
	files, err := filepath.Glob("*.go")
	ok(t, err)
	releases := regexp.MustCompile(`(?m)^func \((?:\w+ )?([A-Z]\w*)\) Law\(\) Law `)
	found := 0
	for _, path := range files {
		for _, m := range releases.FindAllStringSubmatch(source(t, path), -1) {
			found++
			if !listed[m[1]] {
				t.Errorf("%s: %s is not in kinds, in law.go", path, m[1])
			}
			for _, in := range []string{"reference/price.go", "reference/draw.go"} {
				if !regexp.MustCompile(`privacy\.` + m[1] + `\b`).MatchString(source(t, in)) {
					t.Errorf("%s: %s is not in %s", path, m[1], in)
				}
			}
		}
	}
	if found < 8 {
		t.Errorf("only %d releases found", found)
	}
}

// An event is a release with a law, or open, or made up of parts by which it can be
// made up again.
func TestForms(t *testing.T) {
	for _, e := range allEvents {
		f := e.Form()
		_, single := About(e)
		_, open := AsUnprotected(e)
		if single != (f.Way == Single) || open != (f.Way == WithoutNoise) || (LawOf(e) != nil) != single {
			t.Errorf("%+v: form %+v, law %v, a release: %v, open: %v", e, f, LawOf(e), single, open)
		}
		if nests := !single && !open; nests != (len(nested(e)) > 0) || nests != (f.Event != nil || len(f.Events) > 0) {
			t.Errorf("%+v has the form %+v and the parts %v", e, f, nested(e))
		}
		if d := cmp.Diff(e, WithEvents(e, nested(e)...)); d != "" {
			t.Errorf("made up again: %s", d)
		}
	}
	other := []Event{lap}
	for _, c := range []struct{ e, want Event }{
		{Composed{[]Event{gauss, rr}}, Composed{other}}, {SelfComposed{gauss, 7}, SelfComposed{lap, 7}},
		{Parallel{[]Event{gauss}, true}, Parallel{other, true}}, {Sampled{gauss, 0.5, WithoutReplacement}, Sampled{lap, 0.5, WithoutReplacement}},
		{gauss, gauss}, {bare, bare},
	} {
		if d := cmp.Diff(c.want, WithEvents(c.e, other...)); d != "" {
			t.Errorf("%+v with another part: %s", c.e, d)
		}
	}
	want := []Form{{Way: InSequence, Events: other}, {Way: Repeated, Event: lap, Count: 7}, {Way: InParallel, Events: other, Fixed: true}, {Way: OnSample, Event: lap, Rate: 0.5, Method: Poisson}}
	got := []Form{Composed{other}.Form(), SelfComposed{lap, 7}.Form(), Parallel{other, true}.Form(), Sampled{lap, 0.5, Poisson}.Form()}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}

// The law of a release says what the release does, and a normal law is that of an event.
func TestLaws(t *testing.T) {
	for _, c := range []struct {
		e    Event
		want Law
	}{
		{sum, Gaussian{2, 1, 0.5, "", ""}}, {lap, Laplace{2, 1, "", ""}},
		{dg, DiscreteGaussian{1024, 1040, 64, "", ""}}, {dl, DiscreteLaplace{512, 256, "", ""}},
		{ldp, ResponseLaw{20, 2, true}}, {rr, ResponseLaw{3, 2, false}}, {exp, Exponential{0.5, "", ""}},
		{sums, Gaussian{8, 5, 0, "", ""}},
		{bare, nil}, {Composed{[]Event{gauss}}, nil},
	} {
		if got := LawOf(c.e); got != c.want {
			t.Errorf("the law of %+v is %+v, want %+v", c.e, got, c.want)
		}
	}
	if got := (Gaussian{2, 1, 0.5, "", ""}).Group(1, sum.About()); got != sum {
		t.Errorf("the release of a law is %+v, want %+v", got, sum)
	}
	for l, want := range map[DiscreteGaussian]bool{{3, 5, 1, "", ""}: true, {3, 1, 9, "", ""}: true,
		{3, 1.4, 9, "", ""}: true, {3, 1.5, 9, "", ""}: false, {3, 2, 2, "", ""}: false} {
		if l.OnLine() != want {
			t.Errorf("%+v on a line: %v", l, !want)
		}
	}
}

// holdsEvents reads a ledger and compares its events.
func holdsEvents(t *testing.T, path string, want []Event) {
	t.Helper()
	l, err := Reading{}.File(path)
	ok(t, err)
	var got []Event
	for _, e := range l.Entries() {
		got = append(got, e.Event)
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}
