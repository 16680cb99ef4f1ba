package eventlog

import (
	"fmt"
	"slices"

	"privrec/internal/dataset"
	"privrec/internal/privacy"
)

// mostChoices is the largest number of separate contradictions between a log and the stated values.
const mostChoices = 5

// meanings returns the interpretations of plans: each plan as stated, or as its log shows it. Plans contradicted by the
// same evidence change together. The first meaning is the one as stated.
func (s *search) meanings(plans []plan) (all []Meaning, err error) {
	var choices []string
	for _, p := range plans {
		if p.other != nil && !slices.Contains(choices, p.evidence) {
			choices = append(choices, p.evidence)
		}
	}
	if len(choices) > mostChoices {
		return nil, &dataset.Error{File: s.file.path,
			Msg: fmt.Sprintf("has logs that contradict the sampling in %d ways, want at most %d", len(choices),
				mostChoices), Hint: "state the sampling as the log shows it, or account for the trainings in files " +
				"of their own"}
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

// move puts a training that states no relation of its own under that of the account. If a record is blanked, an average
// of several records does not match one of a sample without that record, so nothing amplifies it.
func (p *plan) move(to privacy.Neighbouring) {
	if !p.training || p.event.Neighbours != "" || p.relation == to {
		return
	}
	p.relation = to
	if to == privacy.ZeroOut && or(p.event.log().Microbatch, 1) > 1 {
		p.rate = 1
	}
}
