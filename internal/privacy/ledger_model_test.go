package privacy

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// model is what a ledger should hold, kept in the plainest way: every record of
// every period one after another.
type model struct {
	periods []modelPeriod // the last one is open
	bounds  map[string]int64
	most    map[Unit]int64 // of every unit, how many a user holds
}

type modelPeriod struct {
	name    string
	records []Entry // unmerged, as recorded
	bounds  map[string]int64
}

// entries merges what is alike within a period and sorts it by purpose and event.
func (m *model) entries() (list []Entry) {
	for i, p := range m.periods {
		bounds := p.bounds
		if i == len(m.periods)-1 {
			bounds = m.bounds
		}
		var merged []Entry
	record:
		for _, r := range p.records {
			for j := range merged {
				if merged[j].Purpose == r.Purpose && cmp.Equal(merged[j].Event, r.Event) {
					merged[j].Count += r.Count
					continue record
				}
			}
			r.Period, r.PerUnit = p.name, bounds[r.Purpose]
			merged = append(merged, r)
		}
		key := func(e Entry) string {
			b, err := MarshalEvent(e.Event)
			if err != nil {
				panic(err)
			}
			return e.Purpose + "\x00" + string(b)
		}
		slices.SortFunc(merged, func(a, b Entry) int { return strings.Compare(key(a), key(b)) })
		list = append(list, merged...)
	}
	return list
}

// holdings lists what is held, by the name of the unit.
func (m *model) holdings() (list []Holding) {
	for _, of := range slices.Sorted(maps.Keys(m.most)) {
		list = append(list, Holding{User, of, m.most[of]})
	}
	return list
}

// asBound gives provisional entries the bounds of those wanted where theirs are looser:
// what is on file of an open period is never made smaller.
func asBound(want, got []Entry) []Entry {
	for i := range got {
		if i < len(want) && got[i].Period == underWay && looser(got[i].PerUnit, want[i].PerUnit) == got[i].PerUnit {
			got[i].PerUnit = want[i].PerUnit
		}
	}
	return got
}

// releasesOf counts releases that are alike over all periods.
func releasesOf(entries []Entry) map[string]int64 {
	n := map[string]int64{}
	for _, e := range entries {
		n[fmt.Sprint(e.Purpose, e.Event)] += e.Count
	}
	return n
}

func (m *model) clone() model {
	c := model{bounds: map[string]int64{}, most: maps.Clone(m.most)}
	for _, p := range m.periods {
		p.records = slices.Clone(p.records)
		c.periods = append(c.periods, p)
	}
	for k, v := range m.bounds {
		c.bounds[k] = v
	}
	return c
}

// Whatever is done to a ledger in whatever order, runs that are killed and resumed
// included, it holds what the plain list holds, in memory and on file.
func TestLedgerAgainstModel(t *testing.T) {
	dir, runs := t.TempDir(), 0
	events := []Event{gauss, lap, ldp, bare, dg, rr}
	rapid.Check(t, func(t *rapid.T) {
		runs++
		path := filepath.Join(dir, fmt.Sprint("ledger ", runs))
		l, err := CreateLedger(path, Secure, nil)
		if err != nil {
			t.Fatal(err)
		}
		now := model{periods: []modelPeriod{{}}, bounds: map[string]int64{}, most: map[Unit]int64{}}
		saved, state, killed := now.clone(), LedgerState{}, false
		if state, err = l.State(); err != nil {
			t.Fatal(err)
		}
		same := func(t *rapid.T) {
			if d := cmp.Diff(now.entries(), l.Entries()); d != "" {
				t.Fatal(d)
			}
			if d := cmp.Diff(now.holdings(), l.Holdings()); d != "" {
				t.Fatal(d)
			}
		}
		purpose := rapid.SampledFrom([]string{"a", "b", "b c", "ä\x00\n\"", "<&>"})
		open := func() *modelPeriod { return &now.periods[len(now.periods)-1] }
		t.Repeat(map[string]func(*rapid.T){
			"record": func(t *rapid.T) {
				e := Entry{Purpose: purpose.Draw(t, "purpose"), Count: rapid.Int64Range(1, 1000).Draw(t, "count"), Event: rapid.SampledFrom(events).Draw(t, "event")}
				if err := l.Record(e.Purpose, e.Event, e.Count); err != nil {
					t.Fatal(err)
				}
				open().records = append(open().records, e)
			},
			"refused": func(t *rapid.T) {
				if l.Record("a", Gaussian{}, 1) == nil || l.Record("a", gauss, 0) == nil || l.Bound("a", -1) == nil {
					t.Fatal("accepted")
				}
			},
			"bound": func(t *rapid.T) {
				p, n := purpose.Draw(t, "purpose"), rapid.Int64Range(1, 50).Draw(t, "bound")
				if err := l.Bound(p, n); err != nil {
					t.Fatal(err)
				}
				now.bounds[p] = n
			},
			"hold": func(t *rapid.T) {
				of, n := rapid.SampledFrom([]Unit{Cell, Edge, Position}).Draw(t, "of"), rapid.Int64Range(1, 9).Draw(t, "most")
				if err := l.Hold(Holding{User, of, n}); err != nil {
					t.Fatal(err)
				}
				now.most[of] = max(now.most[of], n)
			},
			"flush": func(t *rapid.T) {
				open().name = rapid.SampledFrom([]string{"epoch 1", "evaluation", ""}).Draw(t, "period")
				if err := l.Flush(open().name); err != nil {
					t.Fatal(err)
				}
				open().bounds = now.clone().bounds
				now.periods = append(now.periods, modelPeriod{})
			},
			"sync": func(t *rapid.T) {
				if err := l.Sync(); err != nil {
					t.Fatal(err)
				}
				open().name, open().bounds = underWay, now.bounds
				read, err := Reading{Unfinished: true}.File(path)
				if err != nil {
					t.Fatal(err)
				}
				// After a kill the lines of the killed run stay until this one has come
				// as far, so the file may say more.
				if want, got := releasesOf(now.entries()), releasesOf(read.Entries()); killed {
					for release, n := range want {
						if got[release] < n {
							t.Fatalf("on file %d of %s, want at least %d", got[release], release, n)
						}
					}
				} else if d := cmp.Diff(now.entries(), asBound(now.entries(), read.Entries())); d != "" {
					t.Fatalf("on file: %s", d)
				}
				open().name, open().bounds = "", nil
			},
			"checkpoint": func(t *rapid.T) {
				if state, err = l.State(); err != nil {
					t.Fatal(err)
				}
				saved = now.clone()
			},
			"killed": func(t *rapid.T) {
				l.file.Close()
				if l, err = ResumeLedger(path, state, nil); err != nil {
					t.Fatal(err)
				}
				now, killed = saved.clone(), true
				same(t)
			},
			"": same,
		})
		if err := l.Close(); err != nil {
			t.Fatal(err)
		}
		open().name, open().bounds = "end", now.bounds
		read, err := Reading{}.File(path)
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(now.entries(), read.Entries()); d != "" {
			t.Fatalf("on file: %s", d)
		}
		if d := cmp.Diff(now.holdings(), read.Holdings()); d != "" {
			t.Fatalf("held on file: %s", d)
		}
	})
}

// Two ledgers that hold the same have the same bytes, however the records were
// ordered or split; two that differ anywhere have other checks at their ends.
func TestLedgerBytesAreTheContent(t *testing.T) {
	dir := t.TempDir()
	write := func(name string, records ...Entry) []byte {
		path := filepath.Join(dir, name)
		l := must[*Ledger](t)(CreateLedger(path, Research, nil))
		for _, e := range records {
			ok(t, l.Record(e.Purpose, e.Event, e.Count))
		}
		ok(t, l.Close())
		return read1(t, path)
	}
	a, b := Entry{Purpose: "a", Count: 2, Event: gauss}, Entry{Purpose: "b", Count: 3, Event: lap}
	one := Entry{Purpose: "a", Count: 1, Event: gauss}
	want := write("want", a, b)
	for name, records := range map[string][]Entry{"turned": {b, a}, "split": {one, b, one}} {
		if got := write(name, records...); string(got) != string(want) {
			t.Errorf("%s:\n%s\nwant\n%s", name, got, want)
		}
	}
	more := a
	more.Count++
	other := a
	other.Event = Gaussian{gauss.Sigma, gauss.Sensitivity, 0, gauss.Unit, Replace}
	chain := func(b []byte) string { return string(b[bytes.LastIndex(b, []byte(`,"chain":"`)):]) }
	for name, records := range map[string][]Entry{"a count": {more, b}, "a relation": {other, b}, "one less": {b}, "a purpose": {a, {Purpose: "c", Count: 3, Event: lap}}} {
		if chain(write(name, records...)) == chain(want) {
			t.Errorf("%s makes no difference", name)
		}
	}
}

// Workers that record at once lose nothing, and no order shows.
func TestLedgerConcurrency(t *testing.T) {
	l := must[*Ledger](t)(NewLedger(Research))
	const workers, each = 8, 500
	var wg sync.WaitGroup
	for w := range workers {
		wg.Go(func() {
			for i := range each {
				if err := l.Record("aggregate", gauss, 1); err != nil {
					t.Error(err)
				}
				if i%100 == w {
					if _, err := l.State(); err != nil {
						t.Error(err)
					}
					l.Entries()
				}
			}
		})
	}
	wg.Wait()
	if e := l.Entries(); len(e) != 1 || e[0].Count != workers*each {
		t.Errorf("%v, want one entry of %d", e, workers*each)
	}
}

// Files that cannot be used are refused with their names, and what is there is not
// touched.
func TestLedgerFilesRefused(t *testing.T) {
	dir := t.TempDir()
	there := filepath.Join(dir, "there")
	ok(t, os.WriteFile(there, []byte("mine"), 0o600))
	for name, err := range map[string]error{
		"there":  func() error { _, err := CreateLedger(there, Research, nil); return err }(),
		"none":   func() error { _, err := Reading{}.File(filepath.Join(dir, "none")); return err }(),
		"none 2": func() error { _, err := ResumeLedger(filepath.Join(dir, "none 2"), LedgerState{}, nil); return err }(),
		"folder": func() error { _, err := CreateLedger(filepath.Join(dir, "no", "folder"), Secure, nil); return err }(),
		"mark":   func() error { _, err := CreateLedger(filepath.Join(dir, "mark"), "loud", nil); return err }(),
	} {
		if err == nil || !strings.HasPrefix(err.Error(), "ledger: ") && !strings.Contains(err.Error(), "noise") {
			t.Errorf("%s: %v", name, err)
		}
	}
	if string(read1(t, there)) != "mine" {
		t.Error("a file that was there is changed")
	}
	if _, err := os.Stat(filepath.Join(dir, "mark")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a ledger with an unknown mark is on file: %v", err)
	}
	if _, err := (Reading{}).File(there); err == nil || !strings.Contains(err.Error(), there) {
		t.Errorf("the file is not named: %v", err)
	}
	if _, err := ResumeLedger(there, LedgerState{Offset: 4}, nil); err == nil || !strings.Contains(err.Error(), there) {
		t.Errorf("the file is not named: %v", err)
	}
	// A count that overflows only together with what a checkpoint holds.
	path := filepath.Join(dir, "full")
	l := must[*Ledger](t)(CreateLedger(path, Research, nil))
	ok(t, l.Record("p", gauss, 1<<62))
	st := must[LedgerState](t)(l.State())
	ok(t, l.Close())
	before := read1(t, path)
	for name, change := range map[string]func(*LedgerState){
		"overflow":        func(s *LedgerState) { s.Pending = append(s.Pending, s.Pending...) },
		"a pending bound": func(s *LedgerState) { s.PerUnit = map[string]int64{"p": 0} },
		"no purpose":      func(s *LedgerState) { s.PerUnit = map[string]int64{"": 3} },
		"negative":        func(s *LedgerState) { s.Offset = -1 },
		"not an entry":    func(s *LedgerState) { s.Pending = []string{"{}"} },
		"not canonical":   func(s *LedgerState) { s.Pending = []string{" " + s.Pending[0]} },
	} {
		bad := st
		bad.Pending = slices.Clone(st.Pending)
		change(&bad)
		if _, err := ResumeLedger(path, bad, nil); err == nil || string(read1(t, path)) != string(before) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
