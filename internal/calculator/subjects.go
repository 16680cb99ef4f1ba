package calculator

import (
	"fmt"
	"slices"

	"privrec/internal/privacy"
)

// ledgerSubjects holds the units that a ledger is about.
type ledgerSubjects struct {
	list   []privacy.Subject // to account for, in the order in which they appear
	direct []privacy.Subject // of its releases and of what is unprotected, each once
	held   []privacy.Holding
}

// subjectsOf lists the units that a ledger is about, in the order of their first entries, then the units that hold
// them, if the ledger says how many. Entries that are unprotected for every unit add no unit. A ledger with only such
// entries is about records.
func subjectsOf(l *privacy.Ledger) ledgerSubjects {
	s := ledgerSubjects{held: l.Holdings()}
	var units []privacy.Unit
	for _, e := range l.Entries() {
		for _, d := range privacy.Subjects(e.Event) {
			if d.Unit == "" {
				continue
			}
			if !slices.Contains(s.direct, d) {
				s.direct = append(s.direct, d)
			}
			if !slices.Contains(units, d.Unit) {
				units = append(units, d.Unit)
			}
		}
	}
	for _, h := range s.held {
		if h.Unit.Contains(h.Of) && slices.Contains(units, h.Of) && !slices.Contains(units, h.Unit) {
			units = append(units, h.Unit)
		}
	}
	if len(units) == 0 {
		units = []privacy.Unit{privacy.Record}
	}
	for _, u := range units {
		s.list = append(s.list, privacy.Subject{Unit: u, Neighbouring: s.relation(u)})
	}
	return s
}

// relation returns the relation under which a unit can be accounted: that of its releases and of the releases about the
// units that it holds. If they differ it is Replace, under which all have a price. What is unprotected is so under any
// relation.
func (s ledgerSubjects) relation(u privacy.Unit) privacy.Neighbouring {
	r := privacy.Neighbouring("")
	for _, d := range s.direct {
		if d.Neighbouring == "" || d.Unit != u && (!u.Contains(d.Unit) || s.holds(u, d.Unit) == 0) {
			continue
		}
		if r == "" {
			r = d.Neighbouring
		} else if r != d.Neighbouring {
			r = privacy.Replace
		}
	}
	if r == "" {
		return privacy.AddRemove
	}
	return r
}

// holds returns how many of one unit another holds; 0: unknown.
func (s ledgerSubjects) holds(u, of privacy.Unit) int64 {
	if of == privacy.Feature { // the vector of one user
		return 1
	}
	for _, h := range s.held {
		if h.Unit == u && h.Of == of {
			return h.Most
		}
	}
	return 0
}

// subject returns the subject of a unit's account, and false unless the ledger is about the unit, or about one that it
// contains or that contains it.
func (s ledgerSubjects) subject(u privacy.Unit) (privacy.Subject, bool) {
	for _, d := range s.list {
		if u.Contains(d.Unit) || d.Unit.Contains(u) {
			return privacy.Subject{Unit: u, Neighbouring: s.relation(u)}, true
		}
	}
	return privacy.Subject{}, false
}

// remarks returns the assumptions of a unit's account other than the releases about it.
func (s ledgerSubjects) remarks(u privacy.Subject) (all []string) {
	say := func(format string, args ...any) { all = append(all, fmt.Sprintf(format, args...)) }
	var said []privacy.Unit
	for _, d := range s.direct {
		if d.Neighbouring != "" && d.Neighbouring != u.Neighbouring && d.Unit == u.Unit {
			say("the account of one %s is about one exchanged for another: releases about one under %s are charged "+
				"as a group of two", noun(u.Unit), d.Neighbouring)
		}
		if d.Unit == u.Unit || slices.Contains(said, d.Unit) {
			continue
		}
		said = append(said, d.Unit)
		switch most := s.holds(u.Unit, d.Unit); {
		case d.Unit.Apart(u.Unit):
			say("what is about one %s is other data than one %s, and left out of its account", noun(d.Unit),
				noun(u.Unit))
		case u.Unit.Contains(d.Unit) && most == 1:
			say("the account of one %s is that of its one %s", noun(u.Unit), noun(d.Unit))
		case u.Unit.Contains(d.Unit) && most > 0:
			say("the account of one %s is that of a group of %d %s, the most that one holds; how many each holds is "+
				"taken as known", noun(u.Unit), most, nouns(d.Unit))
		}
	}
	return all
}
