package accountant

import (
	"fmt"
	"math"
	"slices"

	"privrec/internal/privacy"
	"privrec/internal/privacy/accountant/terms"
)

// restater restates events about other units and relations as events about the unit and relation of
// an account:
//
//   - A release about a unit that contains the account's unit: a change of the contained unit is an
//     exchange of the whole. A user with one edge more is that user with other data. Under Replace the
//     release costs what it says. Under AddRemove or ZeroOut it costs twice that, since the old user
//     goes and the new one comes.
//   - A release about a unit that the account's unit contains: a change of the whole is a change of a
//     group, as many as the ledger says that one unit holds. Their number is taken as known, and so is
//     which users there are: an exchange under Replace is one by one. If a local randomiser says of
//     every possible edge or interaction whether it is there, twice as many answers change: those of
//     the old user and those of the new one. Units that touch the account's unit without being
//     contained in it, such as the edges of an interaction, change with more than that unit, and their
//     number is not used.
//   - Units that are apart: nothing.
//   - All others: the cost is not known, so the release counts as unprotected.
//
// What is unprotected about any unit that is not apart is unprotected here.
type restater struct {
	privacy.Subject
	most    map[privacy.Unit]int64 // how many of these units one unit of the account holds; 0: not known
	samples bool                   // keep sampling where the law of an exchange on a sample is known
	moved   bool                   // noise about edges or interactions themselves exchanges one for another
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

// forEntries returns the restater with its fields set for the entries of a ledger.
func (x restater) forEntries(entries []privacy.Entry) restater {
	for _, e := range entries {
		for _, leaf := range privacy.Leaves(e.Event) {
			s, ok := privacy.About(leaf)
			x.moved = x.moved || ok && s.Unit == x.Unit && !privacy.Local(leaf) && x.Neighbouring == privacy.Replace
		}
	}
	return x
}

// changesTwoAnswers reports whether a release is a local randomiser and a change of the account's unit changes two of
// its answers.
func (x restater) changesTwoAnswers(e privacy.Event) bool {
	s, ok := privacy.About(e)
	return ok && privacy.Local(e) && (s.Unit == privacy.Edge || s.Unit == privacy.Interaction) &&
		(s.Unit != x.Unit || x.moved)
}

// flatten returns the cost of a ledger entry for one unit of the account. The list is empty for an entry about other
// data.
func (x restater) flatten(e privacy.Entry) (terms.List, error) {
	if e.Event == nil || e.Event.Validate() != nil || e.Count < 1 || x.direct(e.Event) {
		return terms.Flatten(e.Event, e.Charged(), x.Unit, x.Neighbouring)
	}
	e.Event = terms.OnSamples(e.Event)
	event, err := x.restate(e.Event, e.Purpose)
	if err != nil || event == nil {
		return terms.List{}, err
	}
	return terms.Restated(event, x.charged(e, event), x.Unit, x.Neighbouring)
}

// charged returns how many releases of an entry one unit of the account may change. Each step of a
// group is in PerUnit of them, and different steps may be in different ones. Gaussians cost most
// where all steps are in the same releases, since squares of distances add up. For randomized
// responses it makes no difference.
func (x restater) charged(e privacy.Entry, restated privacy.Event) int64 {
	size := int64(1)
	for _, leaf := range privacy.Leaves(e.Event) {
		s, ok := privacy.About(leaf)
		if !ok {
			continue
		}
		if k, _ := x.group(s, x.changesTwoAnswers(leaf)); k > size {
			size = k
		}
	}
	n := e.Charged()
	if size == 1 || onlyNormal(restated, true) {
		return n
	}
	if n > math.MaxInt64/size {
		return e.Count
	}
	return min(e.Count, n*size)
}

// direct reports whether every part of an event is about the unit and relation of the account.
func (x restater) direct(e privacy.Event) bool {
	for _, s := range privacy.Subjects(e) {
		if s != x.Subject && !(s.Neighbouring == "" && (s.Unit == "" || s.Unit == x.Unit)) {
			return false
		}
	}
	return !slices.ContainsFunc(privacy.Leaves(e), x.changesTwoAnswers)
}

// group returns how many changes of a release's unit make one change of the account's unit; 0 with a reason if that is
// not known. twice says that each change alters two of the release's answers.
func (x restater) group(s privacy.Subject, twice bool) (size int64, why string) {
	steps, most := s.Neighbouring.Steps(x.Neighbouring), int64(1)
	switch {
	case s.Unit == x.Unit:
	case s.Unit.Contains(x.Unit):
		steps = s.Neighbouring.Steps(privacy.Replace)
	case !x.Unit.Contains(s.Unit):
		return 0, fmt.Sprintf("what noise about one %s costs one %s is not known", s.Unit, x.Unit)
	default:
		if most = x.most[s.Unit]; most == 0 {
			return 0, fmt.Sprintf("one %s's %ss are not bounded in this ledger", x.Unit, s.Unit)
		}
	}
	if twice {
		steps *= 2
	}
	if steps == 0 {
		return 0, fmt.Sprintf("noise about one %s under %s says nothing about one %s under %s", s.Unit, s.Neighbouring,
			x.Unit, x.Neighbouring)
	}
	if most > math.MaxInt64/steps {
		return math.MaxInt64, ""
	}
	return most * steps, ""
}

// restate returns an event restated about the account's unit and relation, or nil if it is about other data. An event
// that cannot be restated is returned as Unprotected, under the name of its purpose, with the reason.
func (x restater) restate(e privacy.Event, purpose string) (privacy.Event, error) {
	form := e.Form()
	switch form.Way {
	case privacy.WithoutNoise:
		if u, _ := privacy.AsUnprotected(e); u.Unit.Apart(x.Unit) {
			return nil, nil
		}
		return e, nil
	case privacy.Repeated:
		inner, err := x.restate(form.Event, purpose)
		if inner == nil || err != nil {
			return nil, err
		}
		return privacy.WithEvents(e, inner), nil
	case privacy.InSequence:
		return x.compose(form.Events, purpose)
	case privacy.InParallel:
		if x.direct(e) {
			return e, nil
		}
		// An exchange may move a unit to another branch, and a group may be in all of them.
		return x.compose(form.Events, purpose)
	case privacy.OnSample:
		return x.sampled(e, form, purpose)
	}
	return x.release(e, x.Subject, purpose)
}

// compose returns the composition of the restated events; nil if all are about other data.
func (x restater) compose(events []privacy.Event, purpose string) (privacy.Event, error) {
	var list []privacy.Event
	for _, e := range events {
		inner, err := x.restate(e, purpose)
		if err != nil {
			return nil, err
		}
		if inner != nil {
			list = append(list, inner)
		}
	}
	if len(list) == 0 {
		return nil, nil
	}
	return privacy.Composed{Events: list}, nil
}

// release returns one release restated about a subject.
func (x restater) release(e privacy.Event, as privacy.Subject, purpose string) (privacy.Event, error) {
	s, _ := privacy.About(e)
	if s == as && !x.changesTwoAnswers(e) {
		return e, nil
	}
	if s.Unit.Apart(x.Unit) {
		return nil, nil
	}
	size, why := x.group(s, x.changesTwoAnswers(e))
	if size == 0 {
		return privacy.Unprotected{What: purpose, Why: why}, nil
	}
	return privacy.Group(e, size, as)
}

// sampled returns a sampled event restated. On one sample, its releases move as they do without sampling, and the
// sample itself shows nothing more. So without sampling they cost at least as much (hockey-stick divergences are
// jointly convex). That needs samples of both data sets that differ in the group alone. Poisson samples do; samples of
// a fixed size do if the number of units stays the same.
//
// For Gaussians on a sample where one unit is exchanged, the law is known. It is that of Replace, where each vector of
// the unit is at most as long as the sensitivity under AddRemove, half of the distance between the two vectors.
func (x restater) sampled(e privacy.Event, form privacy.Form, purpose string) (privacy.Event, error) {
	of := form.Event
	switch {
	case x.direct(e):
		return e, nil
	case form.Rate == 1:
		return x.restate(of, purpose)
	}
	if x.samples && x.keepsSample(of, form.Method) {
		inner, err := x.exchanged(of, purpose)
		return privacy.WithEvents(e, inner), err
	}
	if form.Method == privacy.WithoutReplacement {
		for _, s := range privacy.Subjects(of) {
			if s.Neighbouring != "" && !s.Unit.Apart(x.Unit) && !x.keepsCount(s) {
				return privacy.Unprotected{What: purpose,
					Why: fmt.Sprintf("samples of a fixed size are drawn otherwise if there is one %s less: what "+
						"noise on them costs one %s is not known", s.Unit, x.Unit)}, nil
			}
		}
	}
	return x.restate(of, purpose)
}

// keepsCount reports whether the number of a release's units stays the same when the account's unit changes.
func (x restater) keepsCount(s privacy.Subject) bool {
	if s.Unit == x.Unit {
		return x.Neighbouring != privacy.AddRemove
	}
	return s.Unit.Contains(x.Unit) || s.Neighbouring != privacy.AddRemove
}

// keepsSample reports whether an event on a sample has a known law when the change of the account's unit exchanges one
// of its units.
func (x restater) keepsSample(e privacy.Event, method privacy.Sampling) bool {
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

// exchanged returns the releases on a sample, restated for an exchange of the account's unit.
func (x restater) exchanged(e privacy.Event, purpose string) (privacy.Event, error) {
	switch form := e.Form(); form.Way {
	case privacy.Repeated:
		inner, err := x.exchanged(form.Event, purpose)
		return privacy.WithEvents(e, inner), err
	case privacy.InSequence:
		var list []privacy.Event
		for _, inner := range form.Events {
			r, err := x.exchanged(inner, purpose)
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
	one, normal := privacy.LawOf(e).(privacy.Gaussian)
	two, moved := privacy.LawOf(r).(privacy.Gaussian)
	if normal && moved {
		two.Norm = one.Sensitivity // the length of the vector that one unit adds
		return two.Group(1, as), nil
	}
	return r, nil
}

// onlyNormal reports whether an event is a sequence of normal releases only. If responses is set, randomized responses
// may be among them.
func onlyNormal(e privacy.Event, responses bool) bool {
	switch form := e.Form(); form.Way {
	case privacy.Single:
		switch l := privacy.LawOf(e).(type) {
		case privacy.Gaussian:
			return true
		case privacy.ResponseLaw:
			return responses && !l.Bound
		}
	case privacy.Repeated:
		return onlyNormal(form.Event, responses)
	case privacy.InSequence:
		return !slices.ContainsFunc(form.Events, func(e privacy.Event) bool { return !onlyNormal(e, responses) })
	}
	return false
}

func gaussians(e privacy.Event) bool { return onlyNormal(e, false) }
