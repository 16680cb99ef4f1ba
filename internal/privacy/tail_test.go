package privacy_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"privrec/internal/privacy"
)

// unfinished reads what a ledger file says while its run has not ended, as the ledger
// itself says it.
func unfinished(t testing.TB, path string) []privacy.Entry {
	t.Helper()
	list := must(privacy.Reading{Unfinished: true}.File(path)).Entries()
	for i := range list {
		if list[i].Period == "now" {
			list[i].Period = ""
		}
	}
	return list
}

// totals counts releases that are alike over all periods.
func totals(t testing.TB, entries []privacy.Entry) map[string]int64 {
	t.Helper()
	n := map[string]int64{}
	for _, e := range entries {
		n[e.Purpose+" "+string(must(privacy.MarshalEvent(e.Event)))] += e.Count
	}
	return n
}

// What was released is on file as soon as it is shown, in the middle of a period
// too, and the file ends as that of a run that showed nothing on its way.
func TestShownIsOnFile(t *testing.T) {
	dir, ops := t.TempDir(), script()
	whole, path := filepath.Join(dir, "whole"), filepath.Join(dir, "shown")
	l := must(privacy.CreateLedger(whole, privacy.Secure, nil))
	play(t, l, ops)
	check(t, l.Close())
	l = must(privacy.CreateLedger(path, privacy.Secure, nil))
	provisional := 0
	for i, o := range ops {
		check(t, o.do(l))
		switch i % 3 {
		case 0:
			check(t, l.Show())
		case 1:
			check(t, l.Sync())
		case 2:
			must(l.State())
		}
		if d := cmp.Diff(l.Entries(), unfinished(t, path)); d != "" {
			t.Fatalf("after step %d the file does not say what was released:\n%s", i, d)
		}
		file := must(os.ReadFile(path))
		provisional += bytes.Count(file, []byte(`{"period":"now"`))
		if _, err := (privacy.Reading{}).File(path); err == nil {
			t.Fatalf("step %d: read as the ledger of a run that has ended:\n%s", i, file)
		}
	}
	check(t, l.Close())
	if got, want := must(os.ReadFile(path)), must(os.ReadFile(whole)); !bytes.Equal(got, want) {
		t.Errorf("%s\nwant\n%s", got, want)
	}
	if provisional < 10 {
		t.Errorf("%d provisional lines", provisional)
	}
}

// A run is killed anywhere after a checkpoint, by a signal that it handles or by one
// that it does not, and goes on from the checkpoint: from then on its file never says
// less than it did when the run was killed, and it ends with the same bytes.
func TestResumedLedgerNeverSaysLess(t *testing.T) {
	dir, ops := t.TempDir(), script()
	whole, path := filepath.Join(dir, "whole"), filepath.Join(dir, "parts")
	l := must(privacy.CreateLedger(whole, privacy.Secure, nil))
	play(t, l, ops)
	check(t, l.Close())
	want := must(os.ReadFile(whole))
	looked := 0
	for saved := range ops {
		for killed := saved; killed <= len(ops); killed++ {
			left := (saved+killed)%2 == 0 // a signal that it handles
			os.Remove(path)
			l := must(privacy.CreateLedger(path, privacy.Secure, nil))
			play(t, l, ops[:saved])
			st := must(l.State())
			for _, o := range ops[saved:killed] {
				check(t, o.do(l))
				check(t, l.Show())
			}
			if left {
				check(t, l.Leave())
			}
			file := must(os.ReadFile(path))
			if !left { // the process is gone; this one still has the file open
				check(t, os.Remove(path))
				check(t, os.WriteFile(path, append(bytes.Clone(file), `{"period":"no`...), 0o644))
				check(t, l.Leave())
			}
			said := totals(t, must(privacy.Reading{Unfinished: true}.Parse(bytes.NewReader(file))).Entries())
			resumed := must(privacy.ResumeLedger(path, st, nil))
			says := func(when string) {
				t.Helper()
				looked++
				now := totals(t, unfinished(t, path))
				for release, n := range said {
					if now[release] < n {
						t.Fatalf("checkpoint %d, killed at %d, %s: %d of %s, %d before the kill", saved, killed, when, now[release], release, n)
					}
				}
			}
			says("resumed")
			for i, o := range ops[saved:] {
				check(t, o.do(resumed))
				says(fmt.Sprint("step ", i))
				if i%2 == killed%2 {
					check(t, resumed.Show())
					says(fmt.Sprint("shown after step ", i))
				}
			}
			check(t, resumed.Close())
			if got := must(os.ReadFile(path)); !bytes.Equal(got, want) {
				t.Fatalf("checkpoint %d, killed at %d:\n%s\nwant\n%s", saved, killed, got, want)
			}
		}
	}
	if looked < 700 {
		t.Errorf("looked %d times", looked)
	}
}

// A bound that is lowered within a period does not make smaller what is on file of
// it, and a file without the lines that a checkpoint holds gets them back before
// anything else happens.
func TestResumeRestoresTheOpenPeriod(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a")
	l := must(privacy.CreateLedger(path, privacy.Research, nil))
	check(t, l.Bound("sums", 9))
	check(t, l.Record("sums", normal, 20))
	check(t, l.Hold(cells(7)))
	st := must(l.State())
	check(t, l.Bound("sums", 2))
	check(t, l.Show())
	if e := unfinished(t, path); len(e) != 1 || e[0].Charged() != 9 {
		t.Errorf("on file %+v, want 9 charged", e)
	}
	check(t, l.Leave())
	check(t, os.Truncate(path, st.Offset))
	l = must(privacy.ResumeLedger(path, st, nil))
	again := must(privacy.Reading{Unfinished: true}.File(path))
	if e := again.Entries(); len(e) != 1 || e[0].Count != 20 || e[0].PerUnit != 9 || !cmp.Equal(again.Holdings(), []privacy.Holding{cells(7)}) {
		t.Errorf("resumed as %+v, %v", e, again.Holdings())
	}
	check(t, l.Close())
	if err := l.Leave(); err != nil {
		t.Errorf("leaving a closed ledger: %v", err)
	}
	if s, closed := l.Seal(); !closed || s.Entries != 1 {
		t.Errorf("%+v, closed %v", s, closed)
	}
	must(privacy.Reading{}.File(path))
}

// Workers record in any order: what a resumed run releases first need not be what the
// killed one did. Until the period ends its file says both, the larger count of each.
func TestResumeKeepsBothOrders(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a")
	l := must(privacy.CreateLedger(path, privacy.Research, nil))
	st := must(l.State())
	check(t, l.Hold(cells(7)))
	check(t, l.Record("sums", normal, 5))
	check(t, l.Record("both", normal, 2))
	check(t, l.Leave())
	l = must(privacy.ResumeLedger(path, st, nil))
	check(t, l.Record("tallies", spread, 1))
	check(t, l.Record("both", normal, 3))
	check(t, l.Show())
	again := must(privacy.Reading{Unfinished: true}.File(path))
	counts := map[string]int64{}
	for _, e := range again.Entries() {
		counts[e.Purpose] = e.Count
	}
	if !cmp.Equal(counts, map[string]int64{"sums": 5, "both": 3, "tallies": 1}) || !cmp.Equal(again.Holdings(), []privacy.Holding{cells(7)}) {
		t.Errorf("on file %v, %v", counts, again.Holdings())
	}
	check(t, l.Close())
	if n := len(must(privacy.Reading{}.File(path)).Entries()); n != 2 {
		t.Errorf("%d entries at the end, want what the resumed run released", n)
	}
}

// A ledger of the version before is read, told from a closed one, and resumed as
// what it is.
func TestVersionBefore(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a")
	open := lines(t, must2(small(t, path)))
	open[0] = strings.Replace(open[0], "privrec/2", "privrec/1", 1)
	old := sealed(documented, open[:4])
	check(t, os.WriteFile(path, old, 0o644))
	l := must(privacy.Reading{}.File(path))
	s, closed := l.Seal()
	if closed || s.Entries != 3 || !strings.HasSuffix(string(old), s.Chain+"\"}\n") {
		t.Errorf("%+v, closed %v", s, closed)
	}
	st := must(l.State())
	r := must(privacy.ResumeLedger(path, st, nil))
	check(t, r.Record("more", spread, 1))
	must(r.State())
	check(t, r.Close())
	now := must(os.ReadFile(path))
	if got, closed := r.Seal(); closed || got.Entries != 4 || !bytes.HasPrefix(now, old) || bytes.Contains(now, []byte(`"now"`)) || !strings.HasSuffix(string(now), got.Chain+"\"}\n") {
		t.Errorf("%+v, closed %v:\n%s", got, closed, now)
	}
	if n := len(must(privacy.Reading{}.File(path)).Entries()); n != 4 {
		t.Errorf("%d entries", n)
	}
}

func must2[A, B any](a A, _ B) A { return a }

// A checkpoint's state is the same with provisional lines on file and without.
func TestStateKnowsNoProvisionalLines(t *testing.T) {
	memory, file := must(privacy.NewLedger(privacy.Secure)), must(privacy.CreateLedger(filepath.Join(t.TempDir(), "a"), privacy.Secure, nil))
	header := must(file.State()).Offset
	for _, o := range script() {
		check(t, o.do(memory))
		check(t, o.do(file))
		check(t, file.Show())
		a, b := must(memory.State()), must(file.State())
		a.Offset += header
		if x, y := must(json.Marshal(a)), must(json.Marshal(b)); !bytes.Equal(x, y) {
			t.Fatalf("in memory %s, on file %s", x, y)
		}
	}
	check(t, file.Close())
}
