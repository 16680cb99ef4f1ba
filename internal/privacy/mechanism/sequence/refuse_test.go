package sequence

import (
	"math"
	"slices"
	"strings"
	"testing"

	"privrec/internal/privacy"
	"privrec/internal/privacy/mechanism"
	"privrec/internal/privacy/mechanism/mechanismtest"
	"privrec/internal/rng"
)

// The ends of the range, where they are asked for.
func TestSequenceLimits(t *testing.T) {
	bits := mechanism.Keyed(rng.Seed(4).Stream("seq"))
	for _, v := range []Variant{SDPPaper, SDPFixed, RR} {
		m := Mechanism{Purpose: "seq", Variant: v, Epsilon: math.Inf(1), Items: 30, Length: 5, Limits: true}
		rows, l := someRows(50, 30, 5), mechanismtest.Ledger(t)
		clean := slices.Clone(rows)
		if err := Perturb(m, l, bits, nil, rows, 2); err != nil || !slices.Equal(rows, clean) {
			t.Errorf("%s: not the identity (%v)", v, err)
		}
		if u, ok := l.Entries()[0].Event.(privacy.Unprotected); !ok || !strings.Contains(u.Why, "infinite") || u.Unit != "" {
			t.Errorf("%s: ledger %v", v, l.Entries())
		}
		if m.UserEvent() != m.Event() {
			t.Errorf("%s: user event %v", v, m.UserEvent())
		}
		m.Epsilon, l = 0, mechanismtest.Ledger(t)
		if err := Perturb(m, l, bits, nil, rows, 2); err != nil || slices.Equal(rows, clean) {
			t.Errorf("%s: not uniform (%v)", v, err)
		}
		if e, ok := l.Entries()[0].Event.(privacy.PureLDP); !ok || !(e.Epsilon > 0 && e.Epsilon < 1e-19) {
			t.Errorf("%s: ledger %v", v, l.Entries())
		}
		if e := m.UserEvent().(privacy.PureLDP); e.Unit != privacy.User || e.Epsilon > 1e-19 || e.Validate() != nil {
			t.Errorf("%s: user event %v", v, e)
		}
	}
}

func TestSequenceEvents(t *testing.T) {
	m := Mechanism{Purpose: "seq", Epsilon: 10, Items: 500, Length: 101}
	for v, want := range map[Variant]privacy.Event{
		SDPPaper: privacy.PureLDP{Epsilon: 20, Unit: privacy.Cell},
		SDPFixed: privacy.PureLDP{Epsilon: 10, Unit: privacy.Cell},
		RR:       privacy.SelfComposed{Count: 2, Event: privacy.RandomizedResponse{Epsilon: 10, Categories: 501, Unit: privacy.Cell}},
	} {
		if m.Variant = v; m.Event() != want || want.Validate() != nil {
			t.Errorf("%s: %v, want %v", v, m.Event(), want)
		}
		if m.UserEvent() != (privacy.PureLDP{Epsilon: 1010, Unit: privacy.User}) {
			t.Errorf("%s: user %v", v, m.UserEvent())
		}
	}
}

func TestSequencesRefuse(t *testing.T) {
	good := Mechanism{Purpose: "seq", Variant: SDPFixed, Epsilon: 1, Items: 9, Length: 3}
	with := func(change func(m *Mechanism)) Mechanism { m := good; change(&m); return m }
	bits := mechanism.Keyed(rng.Seed(1).Stream("seq"))
	secure, err := privacy.NewLedger(privacy.Secure)
	if err != nil {
		t.Fatal(err)
	}
	row := func(ids ...int32) []int32 { return ids }
	for name, c := range map[string]struct {
		m       Mechanism
		l       *privacy.Ledger
		b       mechanism.Bits
		users   []uint64
		rows    []int32
		workers int
		want    string
	}{
		"no purpose":         {with(func(m *Mechanism) { m.Purpose = "" }), mechanismtest.Ledger(t), bits, nil, row(0, 1, 2), 1, "purpose"},
		"no variant":         {with(func(m *Mechanism) { m.Variant = "" }), mechanismtest.Ledger(t), bits, nil, row(0, 1, 2), 1, "variant"},
		"no epsilon":         {with(func(m *Mechanism) { m.Epsilon = 0 }), mechanismtest.Ledger(t), bits, nil, row(0, 1, 2), 1, "epsilon"},
		"NaN":                {with(func(m *Mechanism) { m.Epsilon = math.NaN(); m.Limits = true }), mechanismtest.Ledger(t), bits, nil, row(0, 1, 2), 1, "epsilon"},
		"negative":           {with(func(m *Mechanism) { m.Epsilon = -1; m.Limits = true }), mechanismtest.Ledger(t), bits, nil, row(0, 1, 2), 1, "epsilon"},
		"infinite":           {with(func(m *Mechanism) { m.Epsilon = math.Inf(1) }), mechanismtest.Ledger(t), bits, nil, row(0, 1, 2), 1, "epsilon"},
		"twice is infinite":  {with(func(m *Mechanism) { m.Epsilon = 1e308; m.Variant = SDPPaper }), mechanismtest.Ledger(t), bits, nil, row(0, 1, 2), 1, "epsilon"},
		"no items":           {with(func(m *Mechanism) { m.Items = 0 }), mechanismtest.Ledger(t), bits, nil, row(0, 0, 0), 1, "items"},
		"too many items":     {with(func(m *Mechanism) { m.Items = 1 << 40 }), mechanismtest.Ledger(t), bits, nil, row(0, 0, 0), 1, "items"},
		"no length":          {with(func(m *Mechanism) { m.Length = 0 }), mechanismtest.Ledger(t), bits, nil, nil, 1, "length"},
		"too long":           {with(func(m *Mechanism) { m.Length = 1 << 30 }), mechanismtest.Ledger(t), bits, nil, nil, 1, "length"},
		"share":              {with(func(m *Mechanism) { m.Share = 2 }), mechanismtest.Ledger(t), bits, nil, row(0, 1, 2), 1, "share"},
		"no ledger":          {good, nil, bits, nil, row(0, 1, 2), 1, "ledger"},
		"no ledger, secret":  {good, nil, mechanism.Secret(), nil, row(0, 1, 2), 1, "ledger"},
		"no bits":            {good, mechanismtest.Ledger(t), mechanism.Bits{}, nil, row(0, 1, 2), 1, "random bits"},
		"keyed and secure":   {good, secure, bits, nil, row(0, 1, 2), 1, "secure"},
		"ragged":             {good, mechanismtest.Ledger(t), bits, nil, row(0, 1, 2, 3), 1, "rows of 3"},
		"above the items":    {good, mechanismtest.Ledger(t), bits, nil, row(0, 1, 10), 1, "holds 10"},
		"below zero":         {good, mechanismtest.Ledger(t), bits, nil, row(0, -1, 2), 1, "holds -1"},
		"an item twice":      {good, mechanismtest.Ledger(t), bits, nil, row(0, 0, 0, 4, 0, 4), 2, "cells 0 and 2 hold the same item 4"},
		"rr above the items": {with(func(m *Mechanism) { m.Variant = RR }), mechanismtest.Ledger(t), bits, nil, row(0, 1, 10), 1, "holds 10"},
		"too few users":      {good, mechanismtest.Ledger(t), bits, []uint64{1}, row(0, 1, 2, 0, 1, 2), 1, "1 users for 2 rows"},
		"a user twice":       {good, mechanismtest.Ledger(t), bits, []uint64{4, 4}, row(0, 1, 2, 0, 1, 2), 1, "ascend"},
		"the largest user":   {good, mechanismtest.Ledger(t), bits, []uint64{math.MaxUint64}, row(0, 1, 2), 1, "want less"},
		"no workers":         {good, mechanismtest.Ledger(t), bits, nil, row(0, 1, 2), 0, "workers"},
	} {
		before := slices.Clone(c.rows)
		err := Perturb(c.m, c.l, c.b, c.users, c.rows, c.workers)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want it to name %q", name, err, c.want)
		}
		if !slices.Equal(before, c.rows) || c.l != nil && len(c.l.Entries()) != 0 {
			t.Errorf("%s: refused after something was done", name)
		}
	}
	l := mechanismtest.Ledger(t)
	if err := Perturb(good, l, bits, nil, nil, 2); err != nil || len(l.Entries()) != 0 {
		t.Errorf("no rows: %v, %v", err, l.Entries())
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	rows := row(0, 1, 2)
	if err := Perturb(good, l, bits, nil, rows, 1); err == nil || !slices.Equal(rows, row(0, 1, 2)) {
		t.Errorf("a closed ledger: %v, %v", err, rows)
	}
	if _, err := good.Open(l, bits); err == nil {
		t.Error("opened on a closed ledger")
	}
	if _, err := with(func(m *Mechanism) { m.Items = -1 }).Open(mechanismtest.Ledger(t), bits); err == nil {
		t.Error("opened without items")
	}
}

// Samplers of one run never share a user, and a user never comes twice.
func TestSamplersRefuse(t *testing.T) {
	m := Mechanism{Purpose: "seq", Variant: SDPPaper, Epsilon: 1, Items: 9, Length: 3}
	run, err := m.Open(mechanismtest.Ledger(t), mechanism.Keyed(rng.Seed(1).Stream("seq")))
	if err != nil {
		t.Fatal(err)
	}
	s, err := run.Sampler(10, 20)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range [][2]uint64{{0, 11}, {19, 25}, {12, 13}, {0, 100}, {5, 5}, {6, 5}} {
		if _, err := run.Sampler(r[0], r[1]); err == nil {
			t.Errorf("users from %d to %d: accepted", r[0], r[1])
		}
	}
	row := []int32{0, 0, 5}
	for _, c := range []struct {
		user uint64
		ok   bool
	}{{9, false}, {20, false}, {12, true}, {12, false}, {11, false}, {13, true}} {
		row[0], row[1], row[2] = 0, 0, 5
		if err := s.Row(c.user, row); (err == nil) != c.ok {
			t.Errorf("user %d: %v", c.user, err)
		}
	}
	if err := s.Row(15, []int32{1, 2}); err == nil {
		t.Error("a short row was accepted")
	}
	if err := s.Row(15, []int32{1, 2, 1}); err == nil {
		t.Error("an item twice was accepted")
	}
	if err := run.Finish(); err != nil {
		t.Error(err)
	}
	if err := s.Row(16, row); err == nil {
		t.Error("a row after the end was accepted")
	}
	if _, err := run.Sampler(30, 40); err == nil {
		t.Error("a sampler after the end")
	}
	if run.Finish() == nil {
		t.Error("finished twice")
	}
	empty, err := m.Open(mechanismtest.LedgerFor(t, mechanism.Secret().Noise()), mechanism.Secret())
	if err != nil || empty.Finish() != nil {
		t.Error("a run without rows")
	}
}
