package privacy

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var (
	openLabels  = Unprotected{What: "labels", Why: "the gradient of a pair exists because the pair does"}
	openFeature = Unprotected{What: "range", Why: "scaled by the data", Unit: Feature}
	publicEdges = Assumption{What: "the number of edges", Why: "it sets the rate"}
)

// onFile reads the ledger as it lies on disk.
func onFile(t *testing.T, path string) *Ledger {
	t.Helper()
	return must[*Ledger](t)(Reading{Unfinished: true}.File(path))
}

// A declaration is on file before anything else can be, and needs no Flush.
func TestDeclareIsOnFileAtOnce(t *testing.T) {
	path := filepath.Join(t.TempDir(), "ledger.jsonl")
	l := must[*Ledger](t)(CreateLedger(path, Research, nil))
	ok(t, l.Declare(Declaration{WithoutNoise: []Unprotected{openLabels, openFeature, openLabels}, Public: []Assumption{publicEdges, publicEdges}}))
	read := onFile(t, path)
	want := []Entry{{"before the run", "unprotected", 1, 0, openLabels}, {"before the run", "unprotected", 1, 0, openFeature}}
	if d := cmp.Diff(want, read.Entries()); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff([]Assumption{publicEdges}, read.Assumptions()); d != "" {
		t.Error(d)
	}
	if n := read.Line(0); n != 3 {
		t.Errorf("the first entry is on line %d, want 3: header and assumption come before it", n)
	}
}

// What a declaration does not cover is refused, wherever it is inside an event; what it
// covers, and what is protected, is taken.
func TestDeclareRefusesWhatComesLater(t *testing.T) {
	open := func(u Unit) Unprotected { return Unprotected{What: "x", Why: "y", Unit: u} }
	for _, c := range []struct {
		name     string
		declared []Unprotected
		event    Event
		taken    bool
	}{
		{"nothing declared", nil, open(""), false},
		{"another unit declared", []Unprotected{openFeature}, open(User), false},
		{"every unit, where one is declared", []Unprotected{openFeature}, open(""), false},
		{"the unit declared", []Unprotected{openFeature}, open(Feature), true},
		{"all units declared", []Unprotected{openLabels}, open(User), true},
		{"inside a composition", []Unprotected{openFeature}, Composed{Events: []Event{ldp, open(User)}}, false},
		{"inside a repetition", []Unprotected{openFeature}, SelfComposed{Event: open(User), Count: 2}, false},
		{"inside parts", []Unprotected{openFeature}, Parallel{Events: []Event{open(User)}}, false},
		{"with noise", nil, ldp, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			l := must[*Ledger](t)(NewLedger(Research))
			ok(t, l.Declare(Declaration{WithoutNoise: c.declared}))
			before := len(l.Entries())
			err := l.Record("p", c.event, 1)
			if (err == nil) != c.taken {
				t.Fatalf("taken: %v (%v), want %v", err == nil, err, c.taken)
			}
			if err != nil && !strings.Contains(err.Error(), `"x" is unprotected, and the run did not declare that before its first release`) {
				t.Error(err)
			}
			if got := len(l.Entries()) - before; (got == 1) != c.taken {
				t.Errorf("%d entries more", got)
			}
		})
	}
}

// A declaration that comes after a release is refused, and so is a second one.
func TestDeclareComesFirst(t *testing.T) {
	l := must[*Ledger](t)(NewLedger(Research))
	ok(t, l.Record("p", ldp, 1))
	for range 2 { // in the open period, then on a line
		if err := l.Declare(Declaration{}); err == nil || !strings.Contains(err.Error(), "there are releases already") {
			t.Errorf("declared after a release: %v", err)
		}
		ok(t, l.Flush("a"))
	}
	l = must[*Ledger](t)(NewLedger(Research))
	ok(t, l.Declare(Declaration{}))
	if err := l.Declare(Declaration{}); err == nil {
		t.Error("declared twice")
	}
	for _, d := range []Declaration{{WithoutNoise: []Unprotected{{}}}, {Public: []Assumption{{}}}, {Public: []Assumption{{What: "\xff"}}}} {
		l = must[*Ledger](t)(NewLedger(Research))
		if err := l.Declare(d); err == nil {
			t.Errorf("%v was declared", d)
		}
		if len(l.Entries())+len(l.Assumptions()) > 0 {
			t.Errorf("%v: a refused declaration left entries", d)
		}
	}
}

// A resumed ledger that declared before takes the declaration without a byte more; one
// that did not gets its lines, and keeps the period that was open.
func TestDeclareOnResume(t *testing.T) {
	d := Declaration{WithoutNoise: []Unprotected{openLabels}, Public: []Assumption{publicEdges}}
	for _, declared := range []bool{true, false} {
		path := filepath.Join(t.TempDir(), "ledger.jsonl")
		l := must[*Ledger](t)(CreateLedger(path, Research, nil))
		if declared {
			ok(t, l.Declare(d))
		}
		ok(t, l.Record("a", ldp, 1))
		ok(t, l.Flush("epoch 1"))
		ok(t, l.Record("a", ldp, 2))
		st := must[LedgerState](t)(l.State())
		before := read1(t, path)
		ok(t, l.file.Close()) // the kill

		l = must[*Ledger](t)(ResumeLedger(path, st, nil))
		if got := read1(t, path); string(got) != string(before) {
			t.Errorf("declared %v: resuming alone changed the file to\n%s", declared, got)
		}
		ok(t, l.Declare(d))
		if got := read1(t, path); declared && string(got) != string(before) {
			t.Errorf("declaring again changed the file to\n%s", got)
		}
		wanted := []Entry{{"before the run", "unprotected", 1, 0, openLabels}, {"epoch 1", "a", 1, 0, ldp}}
		if !declared {
			wanted[0], wanted[1] = wanted[1], wanted[0]
		}
		under := Entry{underWay, "a", 2, 0, ldp}
		if diff := cmp.Diff(append(wanted, under), onFile(t, path).Entries()); diff != "" {
			t.Errorf("declared %v, on file: %s", declared, diff)
		}
		ok(t, l.Record("a", ldp, 3))
		ok(t, l.Flush("epoch 2"))
		ok(t, l.Close())
		if diff := cmp.Diff(append(wanted, Entry{"epoch 2", "a", 5, 0, ldp}), onFile(t, path).Entries()); diff != "" {
			t.Errorf("declared %v, in the end: %s", declared, diff)
		}
		if diff := cmp.Diff([]Assumption{publicEdges}, onFile(t, path).Assumptions()); diff != "" {
			t.Error(diff)
		}
	}
}

// A declaration that a resumed ledger lacks is written before what the killed run listed
// after its checkpoint, and none of that goes from the file, until it is written again.
func TestDeclareOnResumeKeepsWhatIsOnFile(t *testing.T) {
	d := Declaration{WithoutNoise: []Unprotected{openFeature}, Public: []Assumption{publicEdges}}
	run := func(l *Ledger, from int) {
		for i := from; i < 4; i++ {
			ok(t, l.Record("a", ldp, int64(i+1)))
			ok(t, l.Flush(fmt.Sprint("epoch ", i+1)))
		}
	}
	for _, k := range []*Key{nil, must[*Key](t)(NewKey(make([]byte, 16)))} {
		for _, end := range []string{"closed", "at a period's end", "within a period"} {
			path := filepath.Join(t.TempDir(), "ledger.jsonl")
			l := must[*Ledger](t)(CreateLedger(path, Research, k))
			ok(t, l.Record("a", ldp, 1))
			ok(t, l.Flush("epoch 1"))
			st := must[LedgerState](t)(l.State())
			run(l, 1)
			switch end {
			case "closed":
				ok(t, l.Close())
			case "within a period":
				ok(t, l.Record("b", ldp, 7))
				ok(t, l.Sync())
			}
			read := func() []Entry { return must[*Ledger](t)(Reading{Key: k, Unfinished: true}.File(path)).Entries() }
			want := read()
			want = slices.Insert(want, 1, Entry{declaredPeriod, declaredPurpose, 1, 0, openFeature})

			l = must[*Ledger](t)(ResumeLedger(path, st, k))
			ok(t, l.Declare(d))
			if diff := cmp.Diff(want, read()); diff != "" {
				t.Errorf("%s: declared on resume: %s", end, diff)
			}
			run(l, 1)
			if diff := cmp.Diff(want, read()); diff != "" {
				t.Errorf("%s: written again: %s", end, diff)
			}
			ok(t, l.Close())
			if diff := cmp.Diff(want[:5], read()); diff != "" {
				t.Errorf("%s: in the end: %s", end, diff)
			}
		}
	}
}

// After Sync and State the file holds the open period, whatever became of earlier
// ones; the finished file does not show when it was called.
func TestSync(t *testing.T) {
	file := func(every int) string {
		path := filepath.Join(t.TempDir(), "ledger.jsonl")
		l := must[*Ledger](t)(CreateLedger(path, Research, nil))
		for i := range 12 {
			ok(t, l.Record(strings.Repeat("a", 1+i%3), ldp, int64(i+1)))
			if every > 0 && i%every == 0 {
				if i%2 == 0 {
					ok(t, l.Sync())
				} else {
					must[LedgerState](t)(l.State())
				}
				count := func(entries []Entry) (n int64) {
					for _, e := range entries {
						n += e.Count
					}
					return n
				}
				if got, want := count(onFile(t, path).Entries()), int64((i+1)*(i+2)/2); got != want {
					t.Errorf("every %d, after record %d: %d releases on file, want %d", every, i, got, want)
				}
			}
			if i%5 == 4 {
				ok(t, l.Flush("e")) // shorter than the name under which the period stood
			}
		}
		ok(t, l.Close())
		return string(read1(t, path))
	}
	want := file(0)
	for _, every := range []int{1, 2, 3, 5} {
		if got := file(every); got != want {
			t.Errorf("synced every %d records:\n%s\nwant\n%s", every, got, want)
		}
	}
}
