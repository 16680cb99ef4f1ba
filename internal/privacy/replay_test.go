package privacy_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"privrec/internal/privacy"
	"privrec/internal/privacy/accountant"
)

// op is one thing that a run does to its ledger.
type op struct {
	record privacy.Event
	name   string // purpose, or the period that is closed if there is no event
	n      int64  // count, or a bound if there is no event and n > 0
}

func (o op) do(l *privacy.Ledger) error {
	switch {
	case o.record != nil:
		return l.Record(o.name, o.record, o.n)
	case o.n > 0:
		return l.Bound(o.name, o.n)
	}
	return l.Flush(o.name)
}

// script is a run with every kind of release that a record may make under
// AddRemove, alike ones within a period and over periods, and an open end.
func script() []op {
	sampled := privacy.Sampled{Event: normal, Rate: 0.02, Method: privacy.Poisson}
	grid := privacy.DiscreteGaussian{Sigma: 90, Sensitivity: 2, Dimension: 5, Unit: privacy.Record, Neighbouring: privacy.AddRemove}
	steps := privacy.DiscreteLaplace{Scale: 700, Sensitivity: 3, Unit: privacy.Record, Neighbouring: privacy.AddRemove}
	choice := privacy.Exponential{Epsilon: 0.01, Unit: privacy.Record, Neighbouring: privacy.AddRemove}
	return []op{
		{record: spread, name: "counts", n: 2}, {name: "setup"},
		{name: "sums", n: 3}, {record: normal, name: "sums", n: 4}, {record: sampled, name: "steps", n: 30}, {record: normal, name: "sums", n: 4}, {name: "epoch 1"},
		{record: sampled, name: "steps", n: 30}, {record: privacy.Parallel{Events: []privacy.Event{normal, spread}}, name: "shards", n: 2},
		{name: "sums", n: 5}, {record: normal, name: "sums", n: 4}, {name: "epoch 2"}, {name: "an empty period"},
		{record: privacy.Composed{Events: []privacy.Event{grid, privacy.SelfComposed{Event: steps, Count: 3}}}, name: "evaluation", n: 1},
		{record: choice, name: "best", n: 9}, {name: "evaluation"}, {record: normal, name: "release", n: 1},
	}
}

// price is the guarantee of entries by the Rényi bound, and, of those that are
// Gaussian, by the closed form.
func price(t testing.TB, entries []privacy.Entry) accountant.Result {
	t.Helper()
	a := must(accountant.New(accountant.RDP, privacy.Record, privacy.AddRemove))
	check(t, accountant.ChargeLedger(a, entries))
	return must(a.Spent(1e-6))
}

func play(t testing.TB, l *privacy.Ledger, ops []op) {
	t.Helper()
	for _, o := range ops {
		check(t, o.do(l))
	}
}

// A run that stops anywhere, with any part of what it wrote after its checkpoint on
// file and torn, and goes on from any checkpoint before that: the same bytes, the
// same entries, the same epsilon to the last bit.
func TestResumeAnywhere(t *testing.T) {
	dir, ops := t.TempDir(), script()
	path := filepath.Join(dir, "whole")
	l := must(privacy.CreateLedger(path, privacy.Secure, nil))
	states := make([][]byte, 0, len(ops)+1)
	for _, o := range ops {
		states = append(states, must(json.Marshal(must(l.State()))))
		check(t, o.do(l))
	}
	states = append(states, must(json.Marshal(must(l.State()))))
	inMemory := l.Entries()
	check(t, l.Close())
	file := must(os.ReadFile(path))
	want := must(privacy.Reading{}.File(path)).Entries()
	epsilon := price(t, want)
	if last := len(inMemory) - 1; inMemory[last].Period != "" || want[last].Period != "end" || !cmp.Equal(inMemory[:last], want[:last]) {
		t.Errorf("in memory %v, on file %v", inMemory, want)
	}
	if got := price(t, inMemory); !cmp.Equal(got, epsilon) || !(epsilon.Epsilon > 0.5 && epsilon.Epsilon < 50) {
		t.Errorf("priced in memory %+v, from the file %+v", got, epsilon)
	}
	resumes := 0
	for i, saved := range states {
		var st privacy.LedgerState
		check(t, json.Unmarshal(saved, &st))
		for tail := int(st.Offset); tail <= len(file); tail += 1 + (len(file)-int(st.Offset))/11 {
			torn := filepath.Join(dir, "torn")
			check(t, os.WriteFile(torn, file[:tail], 0o644))
			l := must(privacy.ResumeLedger(torn, st, nil))
			if again := must(json.Marshal(must(l.State()))); !bytes.Equal(again, saved) {
				t.Fatalf("checkpoint %d: %s became %s", i, saved, again)
			}
			if l.Noise() != privacy.Secure {
				t.Fatalf("checkpoint %d: the mark is %q", i, l.Noise())
			}
			play(t, l, ops[i:])
			check(t, l.Close())
			if got := must(os.ReadFile(torn)); !bytes.Equal(got, file) {
				t.Fatalf("checkpoint %d, %d bytes on file:\n%s\nwant\n%s", i, tail, got, file)
			}
			resumes++
		}
		if got := price(t, must(privacy.Reading{}.File(filepath.Join(dir, "torn"))).Entries()); !cmp.Equal(got, epsilon) {
			t.Errorf("checkpoint %d: priced %+v, want %+v", i, got, epsilon)
		}
	}
	if resumes < 120 {
		t.Errorf("%d resumes", resumes)
	}
}

// Faulty ways to go on are caught by the comparison that the real one passes: a
// run that forgets its open period, that does its steps again on top of it, that
// drops its bounds, or that counts the steps before the checkpoint twice.
func TestResumesThatForget(t *testing.T) {
	dir, ops := t.TempDir(), script()
	reference := must(privacy.NewLedger(privacy.Secure))
	play(t, reference, ops)
	want := reference.Entries()
	for name, fault := range map[string]struct {
		state func(*privacy.LedgerState)
		again int // steps before the checkpoint that are done again
	}{
		"nothing":                 {state: func(*privacy.LedgerState) {}},
		"forgets the open period": {state: func(s *privacy.LedgerState) { s.Pending = nil }},
		"drops the bounds":        {state: func(s *privacy.LedgerState) { s.PerUnit = nil }},
		"a looser bound":          {state: func(s *privacy.LedgerState) { s.PerUnit["sums"]++ }},
		"repeats a step":          {state: func(*privacy.LedgerState) {}, again: 1},
		"half of a count": {state: func(s *privacy.LedgerState) {
			s.Pending[1] = strings.Replace(s.Pending[1], `"count":4`, `"count":2`, 1)
		}},
	} {
		path := filepath.Join(dir, name)
		l := must(privacy.CreateLedger(path, privacy.Secure, nil))
		const at = 5 // in the first epoch
		play(t, l, ops[:at])
		st := must(l.State())
		check(t, l.Close())
		fault.state(&st)
		resumed := must(privacy.ResumeLedger(path, st, nil))
		play(t, resumed, ops[at-fault.again:])
		if same := cmp.Equal(resumed.Entries(), want); same != (name == "nothing") {
			t.Errorf("%s: the entries are the same: %v", name, same)
		}
		check(t, resumed.Close())
	}
}

// Random ledgers cost the same in memory, read from their file and resumed in the
// middle, to the bit and under each method that knows their events.
func TestReplayPricesTheSame(t *testing.T) {
	dir, n := t.TempDir(), 0
	rapid.Check(t, func(t *rapid.T) {
		n++
		path := filepath.Join(dir, fmt.Sprint(n))
		memory, file := must(privacy.NewLedger(privacy.Research)), must(privacy.CreateLedger(path, privacy.Research, nil))
		draw := rapid.Custom(func(t *rapid.T) op {
			purpose := rapid.SampledFrom([]string{"a", "b"}).Draw(t, "purpose")
			switch rapid.IntRange(0, 5).Draw(t, "op") {
			case 0:
				return op{name: rapid.SampledFrom([]string{"1", "2", ""}).Draw(t, "period")}
			case 1:
				return op{name: purpose, n: rapid.Int64Range(1, 20).Draw(t, "bound")}
			}
			g := privacy.Gaussian{Sigma: rapid.Float64Range(0.5, 50).Draw(t, "sigma"), Sensitivity: 1, Unit: privacy.Record, Neighbouring: privacy.AddRemove}
			if rapid.Bool().Draw(t, "usual") {
				g = normal
			}
			return op{record: g, name: purpose, n: rapid.Int64Range(1, 50).Draw(t, "count")}
		})
		ops := rapid.SliceOfN(draw, 1, 30).Draw(t, "ops")
		cut := rapid.IntRange(0, len(ops)-1).Draw(t, "cut")
		for i, o := range ops {
			if i == cut {
				st := must(file.State())
				check2(t, file.Close()) // writes the open period, which the resume cuts off
				file = must(privacy.ResumeLedger(path, st, nil))
			}
			check2(t, errors.Join(o.do(memory), o.do(file)))
		}
		check2(t, errors.Join(memory.Close(), file.Close()))
		read := must(privacy.Reading{}.File(path)).Entries()
		if d := cmp.Diff(memory.Entries(), read); d != "" {
			t.Fatal(d)
		}
		// Nothing is lost or made up, whatever was merged and cut.
		var recorded, held int64
		for _, o := range ops {
			if o.record != nil {
				recorded += o.n
			}
		}
		for _, e := range read {
			held += e.Count
		}
		if recorded != held {
			t.Fatalf("%d releases were recorded, %d are held", recorded, held)
		}
		for _, m := range accountant.Methods() {
			if m == accountant.PLD && n%20 != 0 { // the slowest
				continue
			}
			var got [2]accountant.Result
			for i, entries := range [][]privacy.Entry{memory.Entries(), read} {
				a := must(accountant.New(m, privacy.Record, privacy.AddRemove))
				check2(t, accountant.ChargeLedger(a, entries))
				r, err := a.Spent(1e-5)
				check2(t, err)
				got[i] = r
			}
			if !cmp.Equal(got[0], got[1]) {
				t.Fatalf("%s: %+v in memory, %+v from the file", m, got[0], got[1])
			}
		}
		// What is charged is the bounded count of every period: by hand.
		mu2 := 0.0
		for _, e := range read {
			g := e.Event.(privacy.Gaussian)
			charged := e.Count
			if e.PerUnit > 0 && e.PerUnit < charged {
				charged = e.PerUnit
			}
			mu2 += float64(charged) / (g.Sigma * g.Sigma)
		}
		a := must(accountant.New(accountant.Analytic, privacy.Record, privacy.AddRemove))
		check2(t, accountant.ChargeLedger(a, read))
		got, want := must(a.Spent(1e-5)).Epsilon, must(accountant.Exact(math.Sqrt(mu2), 1e-5))
		if math.Abs(got-want) > 1e-12*want {
			t.Fatalf("charged epsilon %v, by hand %v", got, want)
		}
	})
}

func check2(t *rapid.T, err error) {
	if err != nil {
		t.Fatal(err)
	}
}

// Everything at once, from many goroutines: what was accepted is on file, once;
// every state that was taken on the way can be resumed.
func TestConcurrentUse(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "busy")
	l := must(privacy.CreateLedger(path, privacy.Research, nil))
	const workers, each = 6, 120
	var accepted, flushed atomic.Int64
	states := make(chan privacy.LedgerState, workers*each)
	var wg sync.WaitGroup
	for w := range workers {
		wg.Go(func() {
			for i := range each {
				event := privacy.Event(normal)
				if i%3 == 0 {
					event = spread
				}
				if err := l.Record(fmt.Sprint("purpose ", i%2), event, int64(w+1)); err != nil {
					t.Error(err)
					return
				}
				accepted.Add(int64(w + 1))
				switch (i + w) % 17 {
				case 0:
					if err := l.Flush(fmt.Sprint("period ", flushed.Add(1))); err != nil {
						t.Error(err)
					}
				case 5:
					if err := l.Bound("purpose 1", int64(i+1)); err != nil {
						t.Error(err)
					}
				case 9:
					if st, err := l.State(); err != nil {
						t.Error(err)
					} else if i%4 == 0 {
						states <- st
					}
				case 13:
					for _, e := range l.Entries() {
						if e.Count < 1 || e.Event == nil {
							t.Errorf("half an entry: %+v", e)
						}
					}
				}
			}
		})
	}
	wg.Wait()
	check(t, l.Close())
	close(states)
	file := must(os.ReadFile(path))
	held := int64(0)
	for _, e := range must(privacy.Reading{}.File(path)).Entries() {
		held += e.Count
	}
	if held != accepted.Load() {
		t.Errorf("%d releases were accepted, %d are on file", accepted.Load(), held)
	}
	taken := 0
	for st := range states {
		taken++
		copied := filepath.Join(dir, fmt.Sprint("state ", taken))
		check(t, os.WriteFile(copied, file, 0o644))
		r, err := privacy.ResumeLedger(copied, st, nil)
		if err != nil {
			t.Errorf("a state that was taken while others wrote: %v", err)
			continue
		}
		if again := must(r.State()); !cmp.Equal(again, st) {
			t.Errorf("resumed as %+v, saved as %+v", again, st)
		}
		check(t, r.Close())
	}
	if taken == 0 {
		t.Error("no state was taken")
	}
}

// What a closed ledger still has: its entries, its mark, and refusals that say so.
// Entries are copies: changing them changes nothing.
func TestAfterClose(t *testing.T) {
	for name, l := range map[string]*privacy.Ledger{
		"in memory": must(privacy.NewLedger(privacy.Secure)),
		"on file":   must(privacy.CreateLedger(filepath.Join(t.TempDir(), "a"), privacy.Secure, nil)),
	} {
		check(t, l.Record("sums", normal, 3))
		entries := l.Entries()
		entries[0].Count, entries[0].Event = 99, nil
		check(t, l.Close())
		if e := l.Entries(); len(e) != 1 || e[0].Count != 3 || e[0].Event != privacy.Event(normal) || e[0].Period != "end" || l.Noise() != privacy.Secure {
			t.Errorf("%s: %+v", name, e)
		}
		_, state := l.State()
		for what, err := range map[string]error{"record": l.Record("sums", normal, 1), "bound": l.Bound("sums", 1), "flush": l.Flush("x"), "state": state} {
			if err == nil || err.Error() != "ledger: closed" {
				t.Errorf("%s: %s after the end: %v", name, what, err)
			}
		}
		check(t, l.Close())
	}
	// A ledger that was read goes on in memory, from the same check.
	path := filepath.Join(t.TempDir(), "b")
	file, st := small(t, path)
	read := must(privacy.Reading{}.File(path))
	if got := must(read.State()); got.Chain != st.Chain || got.Offset != st.Offset {
		t.Errorf("state %+v, want %+v", got, st)
	}
	check(t, errors.Join(read.Record("more", spread, 1), read.Close()))
	if got := must(os.ReadFile(path)); !bytes.Equal(got, file) {
		t.Error("recording on a ledger that was read changed its file")
	}
	if n := len(read.Entries()); n != 4 {
		t.Errorf("%d entries, want the 3 that were read and a new one", n)
	}
}

// Where a file cannot be opened or made, the error says which, and is the
// system's own.
func TestLedgerErrorsWrap(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "a")
	small(t, path)
	_, create := privacy.CreateLedger(path, privacy.Research, nil)
	_, read := privacy.Reading{}.File(filepath.Join(dir, "none"))
	_, resume := privacy.ResumeLedger(filepath.Join(dir, "none"), privacy.LedgerState{}, nil)
	_, folder := privacy.Reading{}.File(dir)
	for name, c := range map[string]struct {
		err, is error
		names   string
	}{
		"create": {create, os.ErrExist, path}, "read": {read, os.ErrNotExist, "none"}, "resume": {resume, os.ErrNotExist, "none"}, "folder": {folder, nil, dir},
	} {
		if c.err == nil || c.is != nil && !errors.Is(c.err, c.is) || !strings.HasPrefix(c.err.Error(), "ledger: ") || !strings.Contains(c.err.Error(), c.names) {
			t.Errorf("%s: %v", name, c.err)
		}
	}
	broken := errors.New("the disk is gone")
	if _, err := (privacy.Reading{}).Parse(failing{broken}); !errors.Is(err, broken) {
		t.Errorf("a reader that fails: %v", err)
	}
}

type failing struct{ err error }

func (f failing) Read([]byte) (int, error) { return 0, f.err }
