package privacy

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"privrec/internal/privacy/chain"
)

func must[T any](t *testing.T) func(v T, err error) T {
	return func(v T, err error) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

func ok(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// epoch records what one epoch of training with 4 steps releases.
func epoch(t *testing.T, l *Ledger, from, to int) {
	t.Helper()
	for range to - from {
		ok(t, l.Record("aggregate", gauss, 100))
		ok(t, l.Record("labels", bare, 1))
	}
}

func run(t *testing.T, path string) {
	t.Helper()
	l := must[*Ledger](t)(CreateLedger(path, Research, nil))
	ok(t, l.Record("features", ldp, 6))
	ok(t, l.Flush("setup"))
	ok(t, l.Bound("aggregate", 78))
	for e := range 3 {
		epoch(t, l, 0, 4)
		ok(t, l.Flush(fmt.Sprint("epoch ", e)))
	}
	ok(t, l.Close())
}

func read1(t *testing.T, path string) []byte {
	t.Helper()
	return must[[]byte](t)(os.ReadFile(path))
}

func TestLedgerFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "ledger.jsonl")
	run(t, path)
	b := read1(t, path)
	if n := bytes.Count(b, []byte("\n")); n != 9 {
		t.Errorf("%d lines, want header, features, two for each of three epochs and the end:\n%s", n, b)
	}
	first, _, _ := strings.Cut(string(b), "\n")
	if !strings.HasPrefix(first, `{"ledger":"privrec/2","noise":"research noise","chain":"`) {
		t.Errorf("header %s", first)
	}
	l := must[*Ledger](t)(Reading{}.File(path))
	entries := l.Entries()
	want := []Entry{{"setup", "features", 6, 0, ldp}}
	for e := range 3 {
		p := fmt.Sprint("epoch ", e)
		want = append(want, Entry{p, "aggregate", 400, 78, gauss}, Entry{p, "labels", 4, 0, bare})
	}
	if d := cmp.Diff(want, entries); d != "" {
		t.Error(d)
	}
	if c := entries[1].Charged(); c != 78 {
		t.Errorf("charged %d, want the 78 that one unit takes part in", c)
	}
	if c := entries[2].Charged(); c != 4 {
		t.Errorf("charged %d, want all 4", c)
	}
	if _, err := CreateLedger(path, Research, nil); err == nil {
		t.Error("an existing ledger was overwritten")
	}
}

// The bytes do not depend on who records first.
func TestLedgerOrder(t *testing.T) {
	var files [2][]byte
	for i := range files {
		path := filepath.Join(t.TempDir(), "ledger.jsonl")
		l := must[*Ledger](t)(CreateLedger(path, Secure, nil))
		var wg sync.WaitGroup
		for w := range 8 {
			wg.Add(1)
			go func() {
				defer wg.Done()
				for j := range 100 {
					e := allEvents[(j*(w+1)+i*5)%len(allEvents)]
					if err := l.Record("p", e, 2); err != nil {
						t.Error(err)
					}
				}
			}()
		}
		wg.Wait()
		for _, e := range allEvents { // bring all counts to the same number
			for _, have := range l.Entries() {
				if cmp.Equal(have.Event, e) {
					ok(t, l.Record("p", e, 1000-have.Count))
				}
			}
		}
		ok(t, l.Close())
		files[i] = read1(t, path)
	}
	if !bytes.Equal(files[0], files[1]) {
		t.Errorf("two orders, two files:\n%s\n%s", files[0], files[1])
	}
}

// Killed at any record and resumed from the last checkpoint, the file is the
// one of a run that was never killed.
func TestLedgerResume(t *testing.T) {
	dir := t.TempDir()
	whole := filepath.Join(dir, "whole")
	run(t, whole)
	want := read1(t, whole)
	for checkpoint := range 12 { // in steps over the three epochs
		for lost := range 5 { // steps done after it, then lost
			path := filepath.Join(dir, fmt.Sprint(checkpoint, "-", lost))
			l := must[*Ledger](t)(CreateLedger(path, Research, nil))
			ok(t, l.Record("features", ldp, 6))
			ok(t, l.Flush("setup"))
			ok(t, l.Bound("aggregate", 78))
			var st LedgerState
			for step := range checkpoint + lost + 1 {
				if step == checkpoint {
					st = must[LedgerState](t)(l.State())
				}
				stepOf(t, l, step)
			}
			_, err := l.file.WriteAt([]byte(`{"period":"half a li`), l.size) // the kill
			ok(t, err)
			ok(t, l.file.Close())
			l = must[*Ledger](t)(ResumeLedger(path, st, nil))
			again := must[LedgerState](t)(l.State())
			if d := cmp.Diff(st, again); d != "" {
				t.Fatalf("the state changed by resuming:\n%s", d)
			}
			for step := checkpoint; step < 12; step++ {
				stepOf(t, l, step)
			}
			ok(t, l.Close())
			if got := read1(t, path); !bytes.Equal(got, want) {
				t.Fatalf("checkpoint %d, %d steps lost:\n%s\nwant\n%s", checkpoint, lost, got, want)
			}
		}
	}
}

func stepOf(t *testing.T, l *Ledger, step int) {
	t.Helper()
	if step >= 12 {
		return
	}
	epoch(t, l, step, step+1)
	if step%4 == 3 {
		ok(t, l.Flush(fmt.Sprint("epoch ", step/4)))
	}
}

func TestResumeRefuses(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "a")
	run(t, path)
	l := must[*Ledger](t)(Reading{}.File(path))
	st := must[LedgerState](t)(l.State())
	whole := int64(len(read1(t, path)))
	for name, bad := range map[string]LedgerState{
		"the end":     {Offset: whole, Chain: st.Chain},
		"longer than": {Offset: whole + 1, Chain: st.Chain},
		"cut off":     {Offset: st.Offset - 1, Chain: st.Chain},
		"not the led": {Offset: st.Offset, Chain: "0123456789abcdef"},
		"pending":     {Offset: st.Offset, Chain: st.Chain, Pending: []string{"{}"}},
		"negative":    {Offset: -1},
		"bound":       {Offset: st.Offset, Chain: st.Chain, PerUnit: map[string]int64{"p": 0}},
		"bound of":    {Offset: st.Offset, Chain: st.Chain, PerUnit: map[string]int64{"": 1}},
	} {
		before := read1(t, path)
		if _, err := ResumeLedger(path, bad, nil); err == nil {
			t.Errorf("%s: accepted", name)
		}
		if !bytes.Equal(before, read1(t, path)) {
			t.Errorf("%s: the file was changed", name)
		}
	}
	if _, err := ResumeLedger(filepath.Join(dir, "none"), st, nil); err == nil {
		t.Error("a missing file was resumed")
	}
}

// Any changed byte, any cut and any lost line is refused, with its line.
func TestReadRefuses(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a")
	run(t, path)
	good := read1(t, path)
	if _, err := (Reading{}).Parse(bytes.NewReader(good)); err != nil {
		t.Fatal(err)
	}
	line := 1
	for i := range good {
		bad := bytes.Clone(good)
		bad[i] ^= 1
		_, err := Reading{}.Parse(bytes.NewReader(bad))
		if err == nil || !strings.Contains(err.Error(), fmt.Sprintf("line %d:", line)) {
			t.Fatalf("byte %d of line %d changed: %v", i, line, err)
		}
		if good[i] == '\n' {
			line++
		}
		if i > 0 && good[i-1] != '\n' {
			if _, err := (Reading{}).Parse(bytes.NewReader(good[:i])); err == nil {
				t.Fatalf("cut at byte %d: accepted", i)
			}
		}
	}
	lines := bytes.SplitAfter(good, []byte("\n"))
	for i := range lines[:len(lines)-1] { // the last one, which closes the ledger, included
		bad := bytes.Join(append(append([][]byte{}, lines[:i]...), lines[i+1:]...), nil)
		if _, err := (Reading{}).Parse(bytes.NewReader(bad)); err == nil {
			t.Errorf("line %d lost: accepted", i+1)
		}
	}
	for _, s := range []string{"", "\n", "{}\n", strings.Repeat("x", chain.MaxLine+2)} {
		if _, err := (Reading{}).Parse(strings.NewReader(s)); err == nil || !strings.Contains(err.Error(), "line 1") {
			t.Errorf("%.10q: %v", s, err)
		}
	}
}

// A line whose check is right and whose content is not.
func TestReadRefusesSealedNonsense(t *testing.T) {
	header, chain := header{version, Research, nil}.line()
	for _, body := range []string{
		`{"period":"","purpose":"p","count":1,"event":{"kind":"exponential","epsilon":1}}`,
		`{"period":"","purpose":"p","count":0,"event":{"kind":"pure-ldp","epsilon":1,"unit":"user"}}`,
		`{"period":"","purpose":"","count":1,"event":{"kind":"pure-ldp","epsilon":1,"unit":"user"}}`,
		`{"period":"","purpose":"p","count":1,"per_unit":-1,"event":{"kind":"pure-ldp","epsilon":1,"unit":"user"}}`,
		`{"period":"","purpose":"p","count":1}`, `{"period":"","purpose":"p","count":1,"event":null}`,
		`{"period":"","purpose":"p","count":1,"event":{"kind":"pure-ldp","epsilon":1.0,"unit":"user"}}`,
		`{"purpose":"p","period":"","count":1,"event":{"kind":"pure-ldp","epsilon":1,"unit":"user"}}`,
		`{"period":"","purpose":"p","count":1,"note":"","event":{"kind":"pure-ldp","epsilon":1,"unit":"user"}}`,
	} {
		line, _ := (*Key)(nil).form().Seal(chain, []byte(body))
		if _, err := (Reading{}).Parse(bytes.NewReader(append(bytes.Clone(header), line...))); err == nil || !strings.Contains(err.Error(), "line 2") {
			t.Errorf("%s: %v", body, err)
		}
	}
	for _, h := range []string{`{"ledger":"privrec/3","noise":"secure"}`, `{"ledger":"privrec/2","noise":"none"}`, `{"ledger":"privrec/2","noise":"secure","key":""}`, `{"noise":"secure","ledger":"privrec/1"}`} {
		line, _ := (*Key)(nil).form().Seal("", []byte(h))
		if _, err := (Reading{}).Parse(bytes.NewReader(line)); err == nil {
			t.Errorf("%s: accepted", h)
		}
	}
}

func TestLedgerMisuse(t *testing.T) {
	if _, err := NewLedger("loud"); err == nil {
		t.Error("unknown noise accepted")
	}
	l := must[*Ledger](t)(NewLedger(Research))
	for name, err := range map[string]error{
		"no purpose": l.Record("", gauss, 1), "no count": l.Record("p", gauss, 0), "negative": l.Record("p", gauss, -1),
		"invalid": l.Record("p", Gaussian{}, 1), "nil": l.Record("p", nil, 1), "bound": l.Bound("p", 0), "bound of": l.Bound("", 1),
	} {
		if err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
	if len(l.Entries()) != 0 {
		t.Error("a refused event was recorded")
	}
	ok(t, l.Record("p", gauss, 1<<62))
	if l.Record("p", gauss, 1<<62) == nil {
		t.Error("an overflowing count was accepted")
	}
	path := filepath.Join(t.TempDir(), "closed")
	f := must[*Ledger](t)(CreateLedger(path, Research, nil))
	ok(t, f.Record("p", gauss, 1))
	ok(t, f.Close())
	if l := must[*Ledger](t)(Reading{}.File(path)); len(l.Entries()) != 1 || l.Entries()[0].Period != "end" {
		t.Errorf("closing lost the open period: %v", l.Entries())
	}
	memory := must[*Ledger](t)(NewLedger(Research))
	ok(t, memory.Close())
	for name, l := range map[string]*Ledger{"file": f, "memory": memory} {
		refusesAll(t, name, l)
		ok(t, l.Close()) // again: nothing left to do
	}
}

// refusesAll checks that a ledger that is closed or failed takes nothing more.
func refusesAll(t *testing.T, name string, l *Ledger) {
	t.Helper()
	before := l.Entries()
	_, state := l.State()
	for what, err := range map[string]error{"record": l.Record("p", gauss, 1), "bound": l.Bound("p", 1), "flush": l.Flush("later"), "state": state} {
		if err == nil {
			t.Errorf("%s: %s: accepted", name, what)
		}
	}
	if d := cmp.Diff(before, l.Entries()); d != "" {
		t.Errorf("%s: the entries changed:\n%s", name, d)
	}
}

// A full disk: the write fails, and so does everything after it.
func TestLedgerWriteFails(t *testing.T) {
	path := filepath.Join(t.TempDir(), "full")
	l := must[*Ledger](t)(CreateLedger(path, Research, nil))
	ok(t, l.file.Close())
	ok(t, l.Record("p", gauss, 1))
	if l.Flush("a") == nil || l.Flush("b") == nil {
		t.Error("a failed write went unnoticed")
	}
	refusesAll(t, "full", l)
	path = filepath.Join(t.TempDir(), "unsynced")
	l = must[*Ledger](t)(CreateLedger(path, Research, nil))
	ok(t, l.file.Close())
	if _, err := l.State(); err == nil {
		t.Error("a checkpoint of lines that may not be on disk")
	}
	refusesAll(t, "unsynced", l)
}

func FuzzParseLedger(f *testing.F) {
	header, chain := header{version, Research, nil}.line()
	f.Add(header)
	for _, e := range allEvents {
		body, err := Entry{"epoch 1", "p", 3, 2, e}.marshal()
		if err != nil {
			f.Fatal(err)
		}
		line, _ := (*Key)(nil).form().Seal(chain, body)
		f.Add(append(bytes.Clone(header), line...))
		f.Add(body)
	}
	for _, body := range []string{
		`{"holding":{"unit":"user","of":"cell","most":101}}`, `{"holding":null}`, `{"assumption":{"what":"the number of edges","why":"it sets the rate"}}`, `{"assumption":{"what":"a","why":""}}`, `{"end":{"entries":0}}`, `{"end":{"entries":7}}`,
		`{"period":"now","purpose":"p","count":1,"event":{"kind":"pure-ldp","epsilon":1,"unit":"user"}}`,
	} {
		line, _ := (*Key)(nil).form().Seal(chain, []byte(body))
		f.Add(append(bytes.Clone(header), line...))
		f.Add([]byte(body))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		// Whole files hardly ever pass their checks: fuzz the entry parser with
		// the same bytes.
		if e, err := parseEntry(b); err == nil {
			if again, err := e.marshal(); err != nil || !bytes.Equal(again, b) {
				t.Fatalf("%q was accepted and is written as %q (%v)", b, again, err)
			}
		}
		if h, err := parseHolding(b); err == nil {
			if again, err := h.marshal(); err != nil || !bytes.Equal(again, b) {
				t.Fatalf("%q was accepted and is written as %q (%v)", b, again, err)
			}
		}
		if a, err := parseAssumption(b); err == nil {
			if again, err := a.marshal(); err != nil || !bytes.Equal(again, b) {
				t.Fatalf("%q was accepted and is written as %q (%v)", b, again, err)
			}
		}
		if n, err := parseEnd(b); err == nil {
			if again, err := marshalEnd(n); err != nil || !bytes.Equal(again, b) {
				t.Fatalf("%q was accepted and is written as %q (%v)", b, again, err)
			}
		}
		l, err := Reading{Unfinished: true}.Parse(bytes.NewReader(b))
		if err == nil && !l.closed && l.offset != int64(len(b)) {
			t.Fatalf("%d of %d bytes read", l.offset, len(b))
		}
		// As the ledger of a run that has ended it is refused, unless it is closed or old.
		if _, strict := (Reading{}).Parse(bytes.NewReader(b)); err == nil && (strict == nil) != (l.closed || l.head.version == oldVersion) {
			t.Fatalf("closed: %v, version %s, read as finished: %v", l.closed, l.head.version, strict)
		}
	})
}

// A checkpoint is read from a file that may have been changed: what is
// accepted comes back as the same state, what is refused leaves the file alone.
func FuzzResumeLedger(f *testing.F) {
	dir := f.TempDir()
	path := filepath.Join(dir, "a")
	l, err := CreateLedger(path, Research, nil)
	if err != nil {
		f.Fatal(err)
	}
	for i, e := range allEvents {
		state, err := l.State()
		if err != nil {
			f.Fatal(err)
		}
		b, err := json.Marshal(state)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b)
		if err := errors.Join(l.Record("p", e, int64(i+1)), l.Bound("p", int64(i+1))); err != nil {
			f.Fatal(err)
		}
		if i%3 == 2 {
			if err := l.Flush("a period"); err != nil {
				f.Fatal(err)
			}
		}
	}
	if err := l.Close(); err != nil {
		f.Fatal(err)
	}
	whole, err := os.ReadFile(path)
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		var st LedgerState
		if json.Unmarshal(b, &st) != nil {
			return
		}
		file, err := os.CreateTemp(dir, "")
		if err != nil {
			t.Fatal(err)
		}
		defer os.Remove(file.Name())
		_, err = file.Write(whole)
		if err := errors.Join(err, file.Close()); err != nil {
			t.Fatal(err)
		}
		l, err := ResumeLedger(file.Name(), st, nil)
		if err != nil {
			if left := read1(t, file.Name()); !bytes.Equal(left, whole) {
				t.Fatalf("refused (%v) and cut to %d of %d bytes", err, len(left), len(whole))
			}
			return
		}
		again, err := l.State()
		if err != nil {
			t.Fatalf("%+v was accepted and has no state: %v", st, err)
		}
		if again.Offset != st.Offset || again.Chain != st.Chain || len(again.Pending) > len(st.Pending) || len(again.PerUnit) != len(st.PerUnit) {
			t.Fatalf("%+v came back as %+v", st, again)
		}
		if err := l.Close(); err != nil {
			t.Fatal(err)
		}
		if _, err := (Reading{}).File(file.Name()); err != nil {
			t.Fatalf("%+v was accepted and left a ledger that cannot be read: %v", st, err)
		}
	})
}
