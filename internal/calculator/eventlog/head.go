package eventlog

import (
	"cmp"
	"fmt"

	"privrec/internal/privacy"
)

// head finds faults in what the file says about all of its events.
func (s *search) head() {
	f := s.file
	s.delta()
	s.tuning()
	if n := f.Noise; n != nil {
		s.noise(n)
	}
	if c := f.Claim; c != nil && c.Unit != "" && c.Unit != f.Unit {
		s.fault("claim-of-other-unit", "claim.unit", Counted,
			fmt.Sprintf("What is the epsilon for one %s? The claimed one is for one %s.", f.Unit, c.Unit),
			"the claimed epsilon %v is for one %s, the guarantee is wanted for one %s", c.Epsilon, c.Unit, f.Unit)
	}
	s.end()
}

// delta compares delta with the number of units.
func (s *search) delta() {
	f := s.file
	n := f.units()
	if n == 0 {
		return
	}
	for _, x := range []struct {
		field string
		v     float64
	}{{"delta", cmp.Or(s.asked, or(f.Delta, 0))}, {"claim.delta", or(f.Claim, Claim{}).Delta}} {
		if x.v >= 1/float64(n) {
			s.fault("delta-too-large", x.field, Counted,
				fmt.Sprintf("What is epsilon at a delta well below one over the %d %ss?", n, f.Unit),
				"delta is %v, and one over the %d %ss is %.3g: publishing one of them whole would be allowed", x.v, n,
				f.Unit, 1/float64(n))
			return
		}
	}
}

// units returns how many of the file's unit there are; 0 if unknown.
func (f *File) units() int64 {
	if f.Records != nil {
		return *f.Records
	}
	for _, e := range f.Events {
		if l := e.log(); l.Records != nil && cmp.Or(e.SampledUnit, e.Unit, f.Unit) == f.Unit {
			return *l.Records
		}
	}
	return 0
}

func (s *search) tuning() {
	t := s.file.Tuning
	if t == nil {
		return
	}
	if t.Runs > 1 && t.Rows == "private" && (t.Counted == "" || t.Counted == "nothing") {
		s.fault("tuning-not-counted", "tuning", Opens,
			fmt.Sprintf("How were the settings chosen among %d trainings? Each of them read the private rows, so "+
				"each is a release, or their number must be random (privrec account selection).", t.Runs),
			"%d trainings were compared on private rows, and only one is counted", t.Runs)
	}
	if t.Runs == 0 && t.Rows == "private" && (t.Counted == "" || t.Counted == "nothing") {
		s.fault("tuning-not-counted", "tuning", Opens,
			"How many trainings were compared? Each of them read the private rows, so each is a release, or their "+
				"number must be random (privrec account selection).",
			"settings were chosen by private rows, nothing counts that, and the file does not say among how many "+
				"trainings")
	}
	if n := s.file.trainings(); t.Counted == "as-events" && int64(n) < t.Runs {
		s.fault("tuning-not-counted", "tuning", Opens, "Where are the events of the other trainings?",
			"%d trainings are said to be counted as events, and the file has the events of %d", t.Runs, n)
	}
	if t.Epoch == "private" {
		s.fault("epoch-not-counted", "tuning.epoch", Opens,
			"Which rows decided when training ended? Take the last epoch, or add noise to that choice and count it.",
			"the epoch was chosen by private rows, and no event counts that")
	}
	if t.Epoch == "counted" && len(s.file.Events) == 1 {
		s.fault("epoch-not-counted", "tuning.epoch", Opens, "Which event is the choice of the epoch?",
			"the choice of the epoch is said to be counted, and the file has no other event")
	}
}

// trainings returns the number of events that may be one training each: those of DP-SGD, or all if there is none.
func (f *File) trainings() (n int) {
	for _, e := range f.Events {
		if e.Mechanism == dpSGD {
			n++
		}
	}
	if n == 0 {
		return len(f.Events)
	}
	return n
}

func (s *search) noise(n *Noise) {
	switch n.Seed {
	case "published":
		s.fault("seed-published", "noise.seed", Opens,
			"Who has the seed of the noise? Train again with numbers that have none.",
			"the seed of the noise is published: it can be computed and taken off again")
	case "secret":
		s.fault("seeded-noise", "noise.seed", Counted,
			"Where is the seed of the noise kept, and who could guess it? Numbers from the operating system have none.",
			"the noise of what was released comes from a seed: the guarantee holds against those who cannot find it")
	}
	if n.Numbers == "float" {
		s.fault("float-noise", "noise.numbers", Counted,
			"Can the noise be drawn on a grid, exactly? Opacus has secure_mode, this program run.secure.",
			"the noise was drawn in floating point: its last digits tell the value beneath (Mironov 2012), so the "+
				"guarantee holds on paper only")
	}
}

// end compares the events with the end that the file states.
func (s *search) end() {
	f := s.file
	if f.End == nil {
		return
	}
	if n := f.End.Events; n != nil && int64(len(f.Events)) < *n {
		s.fault("missing-events", "end.events", Counted, "Where is the rest of the log?",
			"the file says that it has %d events, and has %d: the account is of these, and the true one at least that",
			*n, len(f.Events))
	}
	last, dated := parseTime(f.End.At)
	for i, e := range f.Events {
		at, ok := parseTime(e.At)
		late := dated && ok && at.After(last)
		why := fmt.Sprintf("is of %s, after the stated end, %s", e.At, f.End.At)
		if n := f.End.Events; !late && n != nil && int64(i) >= *n {
			late, why = true, fmt.Sprintf("is one more than the %d that the file says it has", *n)
		}
		if !late && f.ended >= 0 && i >= f.ended {
			late, why = true, "stands behind the line that ends the log"
		}
		if late {
			s.found = append(s.found, Fault{Name: "after-end", File: f.path, Line: f.places[i].line("mechanism"),
				Event: e.title(i), Effect: Counted,
				Message: "this release " + why + ": it is counted",
				Ask: "Is the model trained further, or are the data still answered from? Every release after the " +
					"end costs more."})
		}
	}
}

// subject reports whether neighbours and units differ from those of the account, and records such faults.
func (s *search) subject(i int, p *plan, relation privacy.Neighbouring) bool {
	e, err := p.release()
	if err != nil {
		return false // the account fails with it
	}
	f := s.file
	for _, about := range privacy.Subjects(e) {
		mine := about.Unit == f.Unit || f.Unit.Contains(about.Unit) && f.held(about.Unit)
		switch {
		case mine && about.Neighbouring.Steps(relation) == 0:
			s.at(i, "neighbours", "mixed-neighbours", Counted,
				fmt.Sprintf("Is the guarantee for a %s that is there or not, or for one with another value? State "+
					"neighbours: replace for the second.", f.Unit),
				"noise about one %s under %s says nothing under %s, the neighbours of this file: epsilon is infinite",
				about.Unit, about.Neighbouring, relation)
			return true
		case mine || about.Unit.Contains(f.Unit):
		case about.Unit.Apart(f.Unit):
			s.remarks = append(s.remarks,
				fmt.Sprintf("%s is about one %s, which is other data than one %s, and left out", p.name, about.Unit,
					f.Unit))
			return true
		default:
			s.at(i, "unit", "mixed-unit", Counted,
				fmt.Sprintf("How many %ss has one %s at most? State it under holds, and see that the data were cut "+
					"to it.", about.Unit, f.Unit),
				"this release is about one %s, the guarantee is wanted for one %s, and nothing says how many of them "+
					"one has: epsilon is infinite", about.Unit, f.Unit)
			return true
		}
	}
	return false
}

// held reports whether the file says how many of a unit one of its own unit has.
func (f *File) held(of privacy.Unit) bool {
	if of == privacy.Feature {
		return true
	}
	for _, h := range f.Holds {
		if h.Unit == f.Unit && h.Of == of {
			return true
		}
	}
	return false
}
