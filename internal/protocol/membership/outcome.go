package membership

import (
	"fmt"

	"privrec/internal/experiment"
	"privrec/internal/protocol/target"
	"privrec/internal/report"
)

// DataSummary identifies the data of a run.
type DataSummary struct {
	experiment.Data
	Users      int `json:"users"`      // attacked
	Candidates int `json:"candidates"` // users, or their interactions
	Members    int `json:"members"`
}

// Threat describes the attacker's knowledge and means.
type Threat struct {
	Level      string   `json:"level"`
	Sees       []string `json:"sees"`
	Knows      string   `json:"knows"`
	NonMembers string   `json:"non_members"`
	Strangers  string   `json:"strangers,omitempty"` // at the level of users
	K          int      `json:"k"`                   // items of a list
	Models     int      `json:"models"`              // that the attacker trained
	Guesses    int      `json:"guesses"`
}

// found returns the questions of the attack with their candidates, and the texts of results and pages.
func (p *plan) found(ways []target.Way) *target.Found {
	level, a := p.on.level, p.Attack
	data := DataSummary{Data: p.Of.Data, Users: p.on.Count, Candidates: len(p.on.Positive)}
	for _, m := range p.on.Positive {
		if m {
			data.Members++
		}
	}
	t := Threat{Level: level, Sees: a.Sees, K: a.K, Models: p.models, Guesses: a.Guesses, NonMembers: a.NonMembers,
		Knows: "the histories of the users, among them the candidates; " +
			"the model's task and configuration where it trains models"}
	q := target.Question{Candidates: p.on.Candidates, Users: p.on.users,
		About: fmt.Sprintf("%d %ss, %d of them members", data.Candidates, level, data.Members)}
	q.Asked, q.Measure = target.Detections("member "+level+"s", a.Guesses)
	f := &target.Found{Ways: ways, Questions: []target.Question{q}, Budget: fmt.Sprintf("%d guesses", a.Guesses),
		Subject: fmt.Sprintf("Membership of %ss in the training of", level),
		Heading: fmt.Sprintf("Membership of %ss, percent", level), Positives: "members",
		TableNote: fmt.Sprintf("right guesses: of the %d most certain; %.1f %% of the candidates are members",
			a.Guesses, 100*float64(data.Members)/float64(data.Candidates)),
		Facts: []report.Fact{
			{Label: "asked about", Value: fmt.Sprintf("%d %ss of %d users", data.Candidates, level, data.Users),
				Note: fmt.Sprintf("%d are members; the others: %s", data.Members, t.NonMembers)},
			{Label: "threat", Value: fmt.Sprintf("sees %v, trains %d models", t.Sees, t.Models), Note: "knows " +
				t.Knows},
			{Label: "guess budget", Value: fmt.Sprintf("%d guesses", t.Guesses),
				Note: fmt.Sprintf("lists of %d items", t.K)},
		}}
	if t.Models > 0 {
		f.Budget += fmt.Sprintf(", %d models of its own", t.Models)
	}
	if level == LevelInteraction {
		f.PerUser = "AUC among a user's rows"
		if p.sees(SeesLists) {
			f.Notes = append(f.Notes, "what lists give away by leaving out a user's own items "+
				"is the doing of the service: it needs no training at all")
		}
	}
	if level == LevelUser {
		t.Strangers = a.Strangers
		f.Notes = append(f.Notes, fmt.Sprintf("users whom the model does not know are shown: %s. "+
			"A model with a vector for each user has none that is trained for them, "+
			"so that trained from untrained is told, not memorised from not", t.Strangers))
	}
	if p.Imported != nil {
		if p.on.unlisted > 0 {
			const none = "%d users have rows and no list: they are not attacked"
			f.Notes = append(f.Notes, fmt.Sprintf(none, p.on.unlisted))
		}
		f.Notes = append(f.Notes, experiment.RemarksOn(p.Imported)...)
	}
	f.Data, f.Threat = data, t
	return f
}
