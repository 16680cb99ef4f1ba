package terms

import "privrec/internal/privacy"

// continuous returns a normal release that is at most as private as the discrete normal release e, see
// [privacy.DiscreteGaussian.Continuous]. ok is false for other events, for those that it refuses, and in one dimension,
// where the discrete law has an exact price.
func continuous(e privacy.Event) (normal privacy.Event, ok bool) {
	l, ok := privacy.LawOf(e).(privacy.DiscreteGaussian)
	if !ok || l.OnLine() {
		return e, false
	}
	about, known := privacy.About(e)
	if !known {
		return e, false
	}
	g, ok := l.Continuous()
	if !ok {
		return e, false
	}
	return g.Group(1, about), true
}

// OnSamples returns an event with its discrete normal releases on samples replaced by normal ones that cost no less,
// for every subject and sampling: see continuous. A sample of rate 1 counts as a sample too: a run with releases over
// samples and over all records states both as samples, and has one account. Releases under Replace stay as they are,
// since the bounds on their samples need more than a distance.
func OnSamples(e privacy.Event) privacy.Event { return onSamples(e, false) }

func onSamples(e privacy.Event, sampled bool) privacy.Event {
	if e == nil {
		return nil
	}
	form := e.Form()
	sampled = sampled || form.Way == privacy.OnSample
	inner := form.Events
	if form.Event != nil {
		inner = []privacy.Event{form.Event}
	}
	if len(inner) == 0 {
		if s, ok := privacy.About(e); !sampled || !ok || s.Neighbouring == privacy.Replace {
			return e
		}
		n, _ := continuous(e)
		return n
	}
	list := make([]privacy.Event, len(inner))
	for i, x := range inner {
		list[i] = onSamples(x, sampled)
	}
	return privacy.WithEvents(e, list...)
}
