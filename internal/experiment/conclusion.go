package experiment

import (
	"fmt"
	"math"
	"strings"
)

// things maps the names of what an account leaves open to words for readers.
var things = map[string]string{
	"attacker":        "what the attacker was trained on",
	"attributes":      "the attributes in the attack's training",
	"auxiliary rows":  "the auxiliary domain's rows",
	"backward":        "the backward pass",
	"behaviours":      "the clicks in the attack's training",
	"catalogue":       "the list of items",
	"edges":           "the interactions",
	"eval_noise_off":  "recommendations made without noise",
	"existence":       "which cells hold a rating",
	"features":        "user features",
	"interactions":    "the ratings",
	"labels":          "training labels",
	"loss_noise":      "most of the gradient",
	"minimum":         "a training that ends at no exact minimum",
	"negatives":       "the drawn negatives",
	"no noise":        "what is released without noise",
	"no_noise":        "the aggregation",
	"no_perturbation": "user features",
	"overlap":         "what slates of one user share",
	"range":           "the range of numbers",
	"rated":           "which items a user rated",
	"readout":         "the readout of the raw sequence",
	"selection":       "the choice of the epoch",
	"sequences":       "the sequences",
	"slates":          "the slates",
	"statistics":      "the statistics of ratings",
	"unselected":      "the features that are not sent",
	"users_vectors":   "users' vectors",
}

// Thing returns words for readers for the name of something that an account leaves open.
func Thing(name string) string {
	if words, ok := things[name]; ok {
		return words
	}
	return strings.ReplaceAll(name, "_", " ")
}

// mostNamed is the largest number of open things that a conclusion names; it counts the rest.
const mostNamed = 4

// Things returns a phrase that lists what an account leaves open, such as "training labels and the backward pass".
func Things(names []string) string {
	var list []string
	for _, n := range names {
		list = append(list, Thing(n))
	}
	if more := len(list) - mostNamed; more > 1 {
		list = append(list[:mostNamed], fmt.Sprintf("%d more", more))
	}
	if len(list) < 2 {
		return strings.Join(list, "")
	}
	return strings.Join(list[:len(list)-1], ", ") + " and " + list[len(list)-1]
}

// Conclusion returns one sentence on how much of its claim the account supports: nothing if anything is open, otherwise
// the epsilon of every unit. The sentence has neither a capital letter nor a full stop, so it can follow other words.
func (a *Account) Conclusion() string {
	open := Names(a.Unbounded)
	if a.Noise == Unknown {
		return "nothing is known and nothing is claimed: another program trained the model"
	}
	if a.Claimed == nil && len(open) > 0 {
		return "nothing is claimed, and nothing protects " + Things(open)
	}
	said := "nothing is claimed"
	if a.Claimed != nil {
		said = "claimed " + short(float64(a.Claimed.Eps))
	}
	if len(open) > 0 || math.IsInf(float64(a.Total), 1) {
		said += "; this run gives no guarantee"
		if len(open) > 0 {
			said += ": nothing protects " + Things(open)
		}
		return said
	}
	if a.Claimed != nil {
		said += " for one " + a.Claimed.Unit
	}
	var units []string
	for _, u := range a.Units {
		units = append(units, fmt.Sprintf("%s for one %s", short(float64(u.Total)), u.Unit))
	}
	if len(units) == 0 {
		units = []string{short(float64(a.Total))}
	}
	return said + "; accounted " + strings.Join(units, ", ")
}

// Conclude returns a sentence on the metric of a run's first row against its best floor, followed by the run's
// guarantee. The account may be nil. The sentence has neither a capital letter nor a full stop.
func Conclude(task, metric string, rows, floors []Scores, a *Account) string {
	text := "no result"
	if len(rows)+len(floors) == 0 && IsImported(task) {
		text = "nothing is measured: no truth was given"
	}
	if len(rows) > 0 {
		if x, ok := rows[0].Values[metric]; ok {
			text = fmt.Sprintf("%s %.4g %%", metric, 100*x) + against(metric, x, floors)
		}
	}
	if a != nil {
		text += "; " + a.Conclusion()
	}
	return text
}

// against returns a phrase that compares a value with the best floor of its metric, if there is one.
func against(metric string, x float64, floors []Scores) string {
	best, name := math.Inf(-1), ""
	for _, f := range floors {
		if y, ok := f.Values[metric]; ok && y > best {
			best, name = y, f.Name
		}
	}
	switch {
	case math.IsInf(best, -1):
		return ""
	case x <= best:
		return fmt.Sprintf(", not above %.4g %% of the best floor (%s)", 100*best, name)
	}
	return fmt.Sprintf(", against %.4g %% of the best floor (%s)", 100*best, name)
}

// short writes an epsilon with four digits.
func short(eps float64) string {
	if math.IsInf(eps, 1) {
		return "infinity"
	}
	return fmt.Sprintf("%.4g", eps)
}
