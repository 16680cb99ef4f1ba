package accountant

import (
	"fmt"
	"math"
	"slices"

	"privrec/internal/privacy"
	"privrec/internal/privacy/accountant/terms"
)

// restater states events about other units and relations as what they are about the
// unit and relation of an account:
//
//   - A release about a unit that contains the account's: a change of the part is an
//     exchange of the whole. A user's edge more is that user with other data. Under
//     Replace the release costs what it says; under AddRemove or ZeroOut twice, since
//     the old user goes and the new one comes.
//   - A release about a part of the account's unit: a change of the whole is one of a
//     group of its parts, as many as the ledger says that one unit holds. The number
//     of parts, and that there is such a user, are taken as known: an exchange under
//     Replace is part by part. Where a local randomiser tells of each edge or
//     interaction that there may be whether it is there, twice as many answers change:
//     those of the old user and those of the new one. What a unit holds that does not
//     contain it, such as the edges of an interaction, changes with more than itself
//     and is not used.
//   - Units that are apart: nothing.
//   - All others: nothing is known of the cost, so that it is unprotected.
//
// What is unprotected about any unit that is not apart is unprotected here.
type restater struct {
	privacy.Subject
	most    map[privacy.Unit]int64 // of its parts, how many one unit holds; 0: not known
	samples bool                   // keep samples where the law of an exchange on them is known
	moved   bool                   // an edge or interaction is exchanged for another, in noise about it
}

func newRestater(s privacy.Subject, held []privacy.Holding) restater {
	x := restater{Subject: s, most: map[privacy.Unit]int64{privacy.Feature: 1}, samples: true}
	for _, h := range held {
		if h.Unit == s.Unit {
			x.most[h.Of] = max(x.most[h.Of], h.Most)
		}
	}
	return x
}

// of returns the restater for the entries of a ledger.
func (x restater) of(entries []privacy.Entry) restater {
	for _, e := range entries {
		for _, leaf := range privacy.Leaves(e.Event) {
			s, ok := privacy.About(leaf)
			x.moved = x.moved || ok && s.Unit == x.Unit && !privacy.Local(leaf) && x.Neighbouring == privacy.Replace
		}
	}
	return x
}

// answers reports whether a release is a local randomiser of which two answers change
// where the account's unit does.
func (x restater) answers(e privacy.Event) bool {
	s, ok := privacy.About(e)
	return ok && privacy.Local(e) && (s.Unit == privacy.Edge || s.Unit == privacy.Interaction) && (s.Unit != x.Unit || x.moved)
}

// list is what one unit of the account pays for an entry of a ledger; an empty list
// for an entry that is about other data.
func (x restater) list(e privacy.Entry) (terms.List, error) {
	if e.Event == nil || e.Event.Validate() != nil || e.Count < 1 || x.direct(e.Event) {
		return terms.Flatten(e.Event, e.Charged(), x.Unit, x.Neighbouring)
	}
	event, err := x.restate(e.Event, e.Purpose)
	if err != nil || event == nil {
		return terms.List{}, err
	}
	return terms.Restated(event, x.charged(e, event), x.Unit, x.Neighbouring)
}

// charged is how many releases of an entry one unit of the account may change. Each
// step of a group is in PerUnit of them, perhaps of others than the step before. Of
// Gaussians it costs most where all are in the same, since squares of distances add
// up, and of randomised responses it makes no difference.
func (x restater) charged(e privacy.Entry, restated privacy.Event) int64 {
	size := int64(1)
	for _, leaf := range privacy.Leaves(e.Event) {
		s, ok := privacy.About(leaf)
		if !ok {
			continue
		}
		if k, _ := x.group(s, x.answers(leaf)); k > size {
			size = k
		}
	}
	n := e.Charged()
	if size == 1 || plain(restated, true) {
		return n
	}
	if n > math.MaxInt64/size {
		return e.Count
	}
	return min(e.Count, n*size)
}

// direct reports whether all of an event is about the unit and relation of the account.
func (x restater) direct(e privacy.Event) bool {
	for _, s := range privacy.Subjects(e) {
		if s != x.Subject && !(s.Neighbouring == "" && (s.Unit == "" || s.Unit == x.Unit)) {
			return false
		}
	}
	return !slices.ContainsFunc(privacy.Leaves(e), x.answers)
}

// group returns how many changes of what a release is about one change of the
// account's unit is; 0 with a reason where that is not known. twice says that each
// changes two of its answers.
func (x restater) group(s privacy.Subject, twice bool) (size int64, why string) {
	steps, most := s.Neighbouring.Steps(x.Neighbouring), int64(1)
	switch {
	case s.Unit == x.Unit:
	case s.Unit.Contains(x.Unit):
		steps = s.Neighbouring.Steps(privacy.Replace)
	case !x.Unit.Contains(s.Unit):
		return 0, fmt.Sprintf("there is noise about one %s, and what that costs one %s is not known", s.Unit, x.Unit)
	default:
		if most = x.most[s.Unit]; most == 0 {
			return 0, fmt.Sprintf("one %s's %ss are not bounded in this ledger", x.Unit, s.Unit)
		}
	}
	if twice {
		steps *= 2
	}
	if steps == 0 {
		return 0, fmt.Sprintf("noise about one %s under %s says nothing of one %s under %s", s.Unit, s.Neighbouring, x.Unit, x.Neighbouring)
	}
	if most > math.MaxInt64/steps {
		return math.MaxInt64, ""
	}
	return most * steps, ""
}

// restate returns an event as it is about the account's unit and relation; nil where
// it is about other data. What has no such form comes back as Unprotected, under the
// name of its purpose, with the reason.
func (x restater) restate(e privacy.Event, purpose string) (privacy.Event, error) {
	form := e.Form()
	switch form.Way {
	case privacy.WithoutNoise:
		if u, _ := privacy.AsUnprotected(e); u.Unit.Apart(x.Unit) {
			return nil, nil
		}
		return e, nil
	case privacy.Repeated:
		part, err := x.restate(form.Event, purpose)
		if part == nil || err != nil {
			return nil, err
		}
		return privacy.WithEvents(e, part), nil
	case privacy.InSequence:
		return x.all(form.Events, purpose)
	case privacy.InParallel:
		if x.direct(e) {
			return e, nil
		}
		// An exchange may move a unit from part to part, and a group be in all of them.
		return x.all(form.Events, purpose)
	case privacy.OnSample:
		return x.sampled(e, form, purpose)
	}
	return x.release(e, x.Subject, purpose)
}

// all composes what several events are; nil where all are about other data.
func (x restater) all(events []privacy.Event, purpose string) (privacy.Event, error) {
	var list []privacy.Event
	for _, e := range events {
		part, err := x.restate(e, purpose)
		if err != nil {
			return nil, err
		}
		if part != nil {
			list = append(list, part)
		}
	}
	if len(list) == 0 {
		return nil, nil
	}
	return privacy.Composed{Events: list}, nil
}

// release states one release as about a subject.
func (x restater) release(e privacy.Event, as privacy.Subject, purpose string) (privacy.Event, error) {
	s, _ := privacy.About(e)
	if s == as && !x.answers(e) {
		return e, nil
	}
	if s.Unit.Apart(x.Unit) {
		return nil, nil
	}
	size, why := x.group(s, x.answers(e))
	if size == 0 {
		return privacy.Unprotected{What: purpose, Why: why}, nil
	}
	return privacy.Group(e, size, as)
}

// sampled states a sampled event. On one sample, its releases move as they do without
// sampling, and which sample it is tells nothing more than that: without sampling they
// cost at least as much (hockey-stick divergences are jointly convex). That needs
// samples of both data sets that differ in the group alone, as Poisson samples do;
// those of a fixed size do where the number of units is the same.
//
// Of Gaussians on a sample of units, one of which is exchanged, the law is known: that
// of Replace, where both vectors that the unit adds are no longer than the sensitivity
// under AddRemove, half of the distance between them.
func (x restater) sampled(e privacy.Event, form privacy.Form, purpose string) (privacy.Event, error) {
	of := form.Event
	switch {
	case x.direct(e):
		return e, nil
	case form.Rate == 1:
		return x.restate(of, purpose)
	}
	if x.samples && x.keeps(of, form.Method) {
		inner, err := x.exchanged(of, purpose)
		return privacy.WithEvents(e, inner), err
	}
	if form.Method == privacy.WithoutReplacement {
		for _, s := range privacy.Subjects(of) {
			if s.Neighbouring != "" && !s.Unit.Apart(x.Unit) && !x.asMany(s) {
				return privacy.Unprotected{What: purpose, Why: fmt.Sprintf("samples of a fixed size are others where there is a %s less: what noise on them costs one %s is not known", s.Unit, x.Unit)}, nil
			}
		}
	}
	return x.restate(of, purpose)
}

// asMany reports whether a change of the account's unit leaves the number of a
// release's units as it is.
func (x restater) asMany(s privacy.Subject) bool {
	if s.Unit == x.Unit {
		return x.Neighbouring != privacy.AddRemove
	}
	return s.Unit.Contains(x.Unit) || s.Neighbouring != privacy.AddRemove
}

// keeps reports whether an event on a sample has a known law where one of its units
// is exchanged, as the account's change does.
func (x restater) keeps(e privacy.Event, method privacy.Sampling) bool {
	_, single := privacy.About(e)
	if !gaussians(e) && (!single || method == privacy.Poisson) {
		return false
	}
	for _, s := range privacy.Subjects(e) {
		one := s.Unit == x.Unit || s.Unit.Contains(x.Unit)
		size, _ := x.group(s, false)
		switch {
		case !one || size == 0:
			return false
		case s.Unit == x.Unit && x.Neighbouring != privacy.Replace:
			return false
		case s.Neighbouring == privacy.Replace:
		case s.Neighbouring != privacy.AddRemove || method != privacy.Poisson:
			return false
		}
	}
	return true
}

// exchanged states the releases on a sample as about the account's unit exchanged.
func (x restater) exchanged(e privacy.Event, purpose string) (privacy.Event, error) {
	switch form := e.Form(); form.Way {
	case privacy.Repeated:
		part, err := x.exchanged(form.Event, purpose)
		return privacy.WithEvents(e, part), err
	case privacy.InSequence:
		var list []privacy.Event
		for _, part := range form.Events {
			r, err := x.exchanged(part, purpose)
			if err != nil {
				return nil, err
			}
			list = append(list, r)
		}
		return privacy.WithEvents(e, list...), nil
	}
	as := privacy.Subject{Unit: x.Unit, Neighbouring: privacy.Replace}
	r, err := x.release(e, as, purpose)
	if s, _ := privacy.About(e); err != nil || s.Neighbouring != privacy.AddRemove {
		return r, err
	}
	one, normal := privacy.LawOf(e).(privacy.NormalLaw)
	two, moved := privacy.LawOf(r).(privacy.NormalLaw)
	if normal && moved {
		two.Norm = one.Sensitivity // what one unit adds
		return two.Release(as), nil
	}
	return r, nil
}

// plain reports whether an event is releases of a normal law one after the other and
// nothing else, or where wanted randomised responses too.
func plain(e privacy.Event, responses bool) bool {
	switch form := e.Form(); form.Way {
	case privacy.Single:
		switch l := privacy.LawOf(e).(type) {
		case privacy.NormalLaw:
			return true
		case privacy.ResponseLaw:
			return responses && !l.Bound
		}
	case privacy.Repeated:
		return plain(form.Event, responses)
	case privacy.InSequence:
		return !slices.ContainsFunc(form.Events, func(e privacy.Event) bool { return !plain(e, responses) })
	}
	return false
}

func gaussians(e privacy.Event) bool { return plain(e, false) }
