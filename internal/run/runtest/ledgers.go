package runtest

import (
	"bytes"
	"encoding/json"
	"errors"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"privrec/internal/privacy"
	"privrec/internal/privacy/accountant"
	"privrec/internal/run"
)

// delta is the delta of the accounts that are compared.
const delta = 1e-6

// moment is the content of a run directory at one time.
type moment struct {
	place   string
	ledger  []byte // nil: none
	state   string // state of the ledger, in the checkpoint; "": no checkpoint
	entries ledgerEntries
}

func (m moment) same(o moment) bool { return bytes.Equal(m.ledger, o.ledger) && m.state == o.state }

// onDisk reads a run directory.
func onDisk(t *testing.T, dir string) (m moment) {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(dir, "ledger.jsonl"))
	if err == nil {
		l, err := privacy.Reading{Unfinished: true}.Parse(bytes.NewReader(b))
		if err != nil {
			t.Fatal(err)
		}
		m.ledger, m.entries = b, l.Entries()
	} else if !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
	_, meta, err := run.ReadSafetensors(filepath.Join(dir, "checkpoint", "checkpoint.safetensors"))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
	if err == nil {
		if m.state = meta["ledger"]; m.state == "" {
			t.Fatalf("%s: a checkpoint of a run without a ledger", dir)
		}
	}
	return m
}

// check fails the test unless the ledger has every unprotected entry of the finished one and
// every release that its checkpoint has.
func (m moment) check(t *testing.T, final ledgerEntries, units []unit) {
	t.Helper()
	if m.state == "" && m.ledger == nil {
		return // the run keeps no files yet
	}
	if m.ledger == nil {
		t.Errorf("%s: a checkpoint without a ledger", m.place)
		return
	}
	for _, u := range units {
		if final.open(u.of) && !m.entries.open(u.of) {
			t.Errorf("%s: the finished run says that its epsilon for one %s is infinite, this ledger does not:\n%s",
				m.place, u.of, m.ledger)
		}
	}
	if m.state == "" {
		return
	}
	shown := m.shown(t)
	have := m.entries.counts(t)
	for key, n := range shown.counts(t) {
		if have[key] < n {
			t.Errorf("%s: the checkpoint shows %d releases of %s, the ledger has %d", m.place, n, key, have[key])
		}
	}
	for _, u := range units {
		if final.open(u.of) {
			continue
		}
		if got, least := m.entries.epsilon(t, u), shown.epsilon(t, u); got < least {
			t.Errorf("%s: the ledger comes to epsilon %v for one %s, its checkpoint to %v", m.place, got, u.of, least)
		}
	}
}

// shown returns the releases at the time of the checkpoint: the lines written by then and the period that was open.
func (m moment) shown(t *testing.T) ledgerEntries {
	t.Helper()
	var st privacy.LedgerState
	if err := json.Unmarshal([]byte(m.state), &st); err != nil {
		t.Fatal(err)
	}
	if st.Offset > int64(len(m.ledger)) {
		t.Fatalf("%s: the ledger has %d bytes, but its checkpoint was made at %d", m.place, len(m.ledger), st.Offset)
	}
	l, err := privacy.Reading{Unfinished: true}.Parse(bytes.NewReader(m.ledger[:st.Offset]))
	if err != nil {
		t.Fatalf("%s: %v", m.place, err)
	}
	written := len(l.Entries())
	for _, p := range st.Pending {
		var e struct {
			Purpose string
			Count   int64
			Event   json.RawMessage
		}
		err := json.Unmarshal([]byte(p), &e)
		event, bad := privacy.UnmarshalEvent(e.Event)
		if err := errors.Join(err, bad); err != nil {
			t.Fatalf("%s: %v", m.place, err)
		}
		if err := l.Record(e.Purpose, event, e.Count); err != nil {
			t.Fatalf("%s: %v", m.place, err)
		}
	}
	all := l.Entries()
	for i := written; i < len(all); i++ {
		all[i].PerUnit = st.PerUnit[all[i].Purpose] // a checkpoint has it by purpose
	}
	return all
}

// ledgerEntries holds the entries of a ledger.
type ledgerEntries []privacy.Entry

// unit names a unit in a ledger, with its relation of neighbours.
type unit struct {
	of       privacy.Unit
	relation privacy.Neighbouring
}

// units lists the units of the entries, each with one relation; records if the entries name no unit.
func (es ledgerEntries) units() []unit {
	found := map[privacy.Unit]privacy.Neighbouring{}
	for _, e := range es {
		for _, s := range privacy.Subjects(e.Event) {
			if was := found[s.Unit]; s.Unit != "" && was == "" {
				found[s.Unit] = s.Neighbouring
			}
		}
	}
	if len(found) == 0 {
		found[privacy.Record] = ""
	}
	var all []unit
	for _, of := range slices.Sorted(maps.Keys(found)) {
		u := unit{of, found[of]}
		if u.relation == "" { // only unprotected
			u.relation = privacy.AddRemove
		}
		all = append(all, u)
	}
	return all
}

// open reports whether anything about the unit is unprotected.
func (es ledgerEntries) open(of privacy.Unit) (open bool) {
	for _, e := range es {
		for _, s := range privacy.Subjects(e.Event) {
			open = open || s.Neighbouring == "" && !s.Unit.Apart(of) // is unprotected
		}
	}
	return open
}

// counts returns the numbers of releases by purpose and event.
func (es ledgerEntries) counts(t *testing.T) map[string]int64 {
	t.Helper()
	n := map[string]int64{}
	for _, e := range es {
		b, err := privacy.MarshalEvent(e.Event)
		if err != nil {
			t.Fatal(err)
		}
		n[e.Purpose+" "+string(b)] += e.Count
	}
	return n
}

// epsilon returns the accounted epsilon of the entries for one unit.
func (es ledgerEntries) epsilon(t *testing.T, u unit) float64 {
	t.Helper()
	a, err := accountant.New(accountant.RDP, u.of, u.relation)
	if err != nil {
		t.Fatal(err)
	}
	if err := accountant.ChargeLedger(a, es); err != nil {
		t.Fatal(err)
	}
	r, err := a.Spent(delta)
	if err != nil {
		t.Fatal(err)
	}
	return r.Epsilon
}

// declaredFirst fails the test unless all declared entries come before all releases.
func declaredFirst(t *testing.T, entries ledgerEntries) {
	t.Helper()
	released := false
	for _, e := range entries {
		if declared := e.Period == "before the run"; declared && released {
			t.Errorf("%+v is declared after a release", e)
		} else if !declared {
			released = true
		}
	}
}

// declaredAll fails the test unless the account of a finished run, privacy.json, names the same
// unprotected entries as the beginning of its ledger, item for item. Those about user features
// are in another list of the account.
func declaredAll(t *testing.T, dir string, entries ledgerEntries) {
	t.Helper()
	type item struct{ What, Why string }
	said := ReadJSON[struct{ Unbounded []item }](t, dir, "privacy.json", false).Unbounded
	var declared []item
	for _, e := range entries {
		if u, ok := privacy.AsUnprotected(e.Event); ok && e.Period == "before the run" && u.Unit != privacy.Feature {
			declared = append(declared, item{u.What, u.Why})
		}
	}
	if !slices.Equal(said, declared) {
		t.Errorf("privacy.json names as unprotected %q, but the ledger began with %q", said, declared)
	}
}
