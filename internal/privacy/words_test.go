package privacy_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"log"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"privrec/internal/privacy"
)

// A budget is refused by the name of the field and its range, and kept by JSON.
func TestBudgetRanges(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	for want, values := range map[string][]float64{
		"epsilon is %v, want positive and finite":  {0, math.Copysign(0, -1), -1, -5e-324, nan, inf, -inf},
		"delta is %v, want at least 0 and below 1": {1, math.Nextafter(0, -1), -1, 1e300, nan, inf, -inf},
	} {
		for _, v := range values {
			b := privacy.Budget{Epsilon: v, Delta: 1e-5}
			if strings.HasPrefix(want, "delta") {
				b = privacy.Budget{Epsilon: 1, Delta: v}
			}
			if err := b.Validate(); err == nil || err.Error() != fmt.Sprintf(want, v) {
				t.Errorf("%+v: %v", b, err)
			}
		}
	}
	for _, b := range []privacy.Budget{{Epsilon: 5e-324}, {Epsilon: math.MaxFloat64, Delta: math.Nextafter(1, 0)}, {Epsilon: 1. / 3, Delta: 5e-324}} {
		var back privacy.Budget
		if err := errors.Join(b.Validate(), json.Unmarshal(must(json.Marshal(b)), &back)); err != nil || back != b {
			t.Errorf("%+v comes back as %+v, %v", b, back, err)
		}
	}
	if text := string(must(json.Marshal(privacy.Budget{Epsilon: 2, Delta: 1e-5}))); text != `{"epsilon":2,"delta":0.00001}` {
		t.Errorf("a budget is written as %s", text)
	}
}

// One unit pays for the releases that it is in, never for more than there are, and
// for all of them while nothing is known: any bound can only lower the price.
func TestChargedIsTheLeastThatIsKnown(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		e := privacy.Entry{Count: rapid.Int64Range(1, math.MaxInt64).Draw(t, "count"), PerUnit: rapid.Int64Range(0, math.MaxInt64).Draw(t, "bound")}
		got := e.Charged()
		if got < 1 || got > e.Count || e.PerUnit == 0 && got != e.Count || e.PerUnit > 0 && got > e.PerUnit || got != e.Count && got != e.PerUnit {
			t.Fatalf("%+v: %d", e, got)
		}
		looser := e
		if looser.PerUnit++; e.PerUnit > 0 && e.PerUnit < math.MaxInt64 && looser.Charged() < got {
			t.Fatalf("a looser bound charges %d, below %d", looser.Charged(), got)
		}
	})
}

// A bound is of a purpose and of the periods from the open one on: it neither
// reaches back nor over to another purpose, and the last one counts.
func TestBoundsReachForward(t *testing.T) {
	l := must(privacy.NewLedger(privacy.Research))
	period := func(name string) {
		check(t, errors.Join(l.Record("a", normal, 10), l.Record("b", normal, 10), l.Record("a", spread, 10), l.Flush(name)))
	}
	period("1")
	check(t, l.Bound("a", 3))
	period("2")
	check(t, errors.Join(l.Bound("a", 4), l.Bound("a", 6)))
	period("3")
	check(t, errors.Join(l.Record("a", normal, 10), l.Bound("a", 2), l.Bound("b", 50))) // while the period is open
	period("4")
	got := map[string][]int64{}
	for _, e := range l.Entries() {
		key := e.Period + e.Purpose
		got[key] = append(got[key], e.Count, e.PerUnit, e.Charged())
	}
	want := map[string][]int64{
		"1a": {10, 0, 10, 10, 0, 10}, "1b": {10, 0, 10}, "2a": {10, 3, 3, 10, 3, 3}, "2b": {10, 0, 10},
		"3a": {10, 6, 6, 10, 6, 6}, "3b": {10, 0, 10}, "4a": {20, 2, 2, 10, 2, 2}, "4b": {10, 50, 10},
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}

// Texts with some bytes changed: whatever is accepted is a valid event that has one
// canonical text, which reads as itself.
func TestMutatedTexts(t *testing.T) {
	accepted, tried := 0, 0
	rapid.Check(t, func(t *rapid.T) {
		w := rapid.SampledFrom(wire).Draw(t, "event")
		text := []byte(w.text)
		for range rapid.IntRange(1, 3).Draw(t, "changes") {
			i := rapid.IntRange(0, len(text)-1).Draw(t, "at")
			with := rapid.SampledFrom([]string{"", "0", "1", "9", "e", "-", ".", ",", `"`, "{", "}", "[", "]", " ", "\x00", "\xff", "K", ":", "null"}).Draw(t, "with")
			text = append(append(append([]byte(nil), text[:i]...), with...), text[i+1:]...)
		}
		tried++
		e, err := privacy.UnmarshalEvent(text)
		if err != nil {
			return
		}
		accepted++
		canonical, err := privacy.MarshalEvent(e)
		if err != nil || e.Validate() != nil {
			t.Fatalf("%s is read as %#v: %v, %v", text, e, err, e.Validate())
		}
		again, err := privacy.UnmarshalEvent(canonical)
		if err != nil || !cmp.Equal(again, e) || string(must(privacy.MarshalEvent(again))) != string(canonical) {
			t.Fatalf("%s is read as %#v and %s as %#v: %v", text, e, canonical, again, err)
		}
	})
	t.Logf("%d of %d texts were accepted", accepted, tried)
}

// Texts that are made to cost: none takes long, none is accepted, each is an error.
func TestHostileTexts(t *testing.T) {
	const many = 1 << 19
	for name, text := range map[string]string{
		"brackets":        strings.Repeat("[", many),
		"braces":          strings.Repeat(`{"kind":`, many/8),
		"open events":     strings.Repeat(`{"kind":"composed","events":[`, 1<<14),
		"a long kind":     `{"kind":"` + strings.Repeat("k", many) + `"}`,
		"a long number":   `{"kind":"pure-ldp","unit":"user","epsilon":` + strings.Repeat("9", many) + `}`,
		"a long key":      `{"kind":"pure-ldp","` + strings.Repeat("k", many) + `":1}`,
		"arrays of names": `{"kind":"pure-ldp","unit":["user"],"epsilon":[[[[1]]]]}`,
		"wide and empty":  `{"kind":"composed","events":[` + strings.Repeat("{},", many/4) + `{}]}`,
	} {
		if e, err := privacy.UnmarshalEvent([]byte(text)); err == nil || e != nil {
			t.Errorf("%s: accepted as %T", name, e)
		}
		if _, err := (privacy.Reading{}).Parse(strings.NewReader(text)); err == nil || !strings.HasPrefix(err.Error(), "line 1: ") {
			t.Errorf("%s as a ledger: %.100v", name, err)
		}
	}
}

// A run that was killed goes back to its checkpoint, cuts off what it wrote since
// and counts on.
func ExampleResumeLedger() {
	folder, err := os.MkdirTemp("", "ledger")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(folder)
	path := filepath.Join(folder, "privacy.jsonl")
	release := privacy.Gaussian{Sigma: 4, Sensitivity: 1, Unit: privacy.Edge, Neighbouring: privacy.AddRemove}

	l := must(privacy.CreateLedger(path, privacy.Research, nil))
	if err := l.Record("aggregate", release, 10); err != nil {
		log.Fatal(err)
	}
	checkpoint := must(l.State())
	// Ten more, which the checkpoint does not know, and the end of the epoch.
	if err := errors.Join(l.Record("aggregate", release, 10), l.Close()); err != nil {
		log.Fatal(err)
	}

	l = must(privacy.ResumeLedger(path, checkpoint, nil))
	// The ten are made again: the same numbers, since noise is keyed.
	if err := errors.Join(l.Record("aggregate", release, 10), l.Flush("epoch 1"), l.Close()); err != nil {
		log.Fatal(err)
	}
	for _, e := range must(privacy.Reading{}.File(path)).Entries() {
		fmt.Println(e.Period, e.Purpose, e.Count)
	}
	// Output: epoch 1 aggregate 20
}

// One unit is in a few of the releases only: the accountant charges those.
func ExampleLedger_Bound() {
	l := must(privacy.NewLedger(privacy.Research))
	release := privacy.Gaussian{Sigma: 4, Sensitivity: 1, Unit: privacy.Edge, Neighbouring: privacy.AddRemove}
	if err := errors.Join(l.Bound("aggregate", 3), l.Record("aggregate", release, 1000), l.Flush("epoch 1")); err != nil {
		log.Fatal(err)
	}
	e := l.Entries()[0]
	fmt.Println(e.Count, "releases, one unit pays for", e.Charged())
	// Output: 1000 releases, one unit pays for 3
}

// A ledger file whose noise was edited.
func ExampleReading_Parse() {
	folder, err := os.MkdirTemp("", "ledger")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(folder)
	path := filepath.Join(folder, "privacy.jsonl")
	l := must(privacy.CreateLedger(path, privacy.Research, nil))
	release := privacy.Laplace{Scale: 2, Sensitivity: 1, Unit: privacy.User, Neighbouring: privacy.Replace}
	if err := errors.Join(l.Record("counts", release, 1), l.Close()); err != nil {
		log.Fatal(err)
	}
	text := string(must(os.ReadFile(path)))
	_, err = privacy.Reading{}.Parse(strings.NewReader(strings.Replace(text, `"scale":2`, `"scale":9`, 1)))
	fmt.Println(err)
	// Output: line 2: its check does not match: the line, or one before it, was changed or lost
}
