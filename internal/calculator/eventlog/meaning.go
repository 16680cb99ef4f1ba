package eventlog

import (
	"fmt"
	"slices"

	"privrec/internal/dataset"
	"privrec/internal/privacy"
)

// mostChoices is how many times a log may contradict what is stated, each in its own way.
const mostChoices = 5

// meanings returns what plans may mean: each is as stated, or as its log shows it. Those of which the same evidence
// says so go together. The first meaning is the one as stated.
func (s *search) meanings(plans []plan) (all []Meaning, err error) {
	var choices []string
	for _, p := range plans {
		if p.other != nil && !slices.Contains(choices, p.evidence) {
			choices = append(choices, p.evidence)
		}
	}
	if len(choices) > mostChoices {
		return nil, &dataset.Error{File: s.file.path, Msg: fmt.Sprintf("has logs that contradict the sampling in %d ways, want at most %d", len(choices), mostChoices), Hint: "state the sampling as the log shows it, or account for the trainings in files of their own"}
	}
	said := map[string]bool{}
	for chosen := range 1 << len(choices) {
		list := slices.Clone(plans)
		relation := s.file.relation()
		for i, p := range list {
			if p.other == nil || chosen>>slices.Index(choices, p.evidence)&1 == 0 {
				continue
			}
			list[i] = *p.other
			if relation.Steps(list[i].relation) > 0 {
				relation = list[i].relation
			}
		}
		for i := range list {
			list[i].move(relation)
			if key := fmt.Sprint(list[i].at); !said[key] {
				said[key] = s.subject(list[i].at, &list[i], relation)
			}
		}
		m := Meaning{Relation: relation}
		if m.Ledger, err = s.file.ledger(list, s.without); err != nil {
			return nil, err
		}
		all = append(all, m)
	}
	return all, nil
}

// move makes a training that states no relation of its own one under that of the account. A record that is blanked
// leaves averages of several records apart from those without its draw, which nothing amplifies.
func (p *plan) move(to privacy.Neighbouring) {
	if !p.training || p.event.Neighbours != "" || p.relation == to {
		return
	}
	p.relation = to
	if to == privacy.ZeroOut && or(p.event.log().Microbatch, 1) > 1 {
		p.rate = 1
	}
}
