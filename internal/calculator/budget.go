package calculator

import (
	"fmt"
	"strings"

	"privrec/internal/privacy/budget"
	"privrec/internal/report"
	"privrec/internal/run"
)

// BudgetDefaults fills in parameters of a budget's filter that were not given: a slack of a tenth of delta, and for a
// Rényi filter the order that leaves most budget after a single normal release.
func BudgetDefaults(t *budget.Terms) error {
	switch {
	case t.Rule == budget.Approximate && t.Slack == 0:
		t.Slack = t.Delta / 10
	case t.Rule == budget.Renyi && t.Order == 0:
		return run.Usagef("take the order that decides in a typical run, as privrec account rdp prints it; 1 + 2 "+
			"ln(1/delta)/epsilon is near it",
			"--filter renyi wants an --order, which is fixed from now on")
	}
	return nil
}

// CreateBudget creates the file of a budget and returns its state to show.
func CreateBudget(path string, t budget.Terms) (run.Result, error) {
	if err := BudgetDefaults(&t); err != nil {
		return nil, err
	}
	if err := budget.Create(path, t); err != nil {
		return nil, run.Usagef("", "%v", err)
	}
	return ShowBudget(path)
}

// ShowBudget returns the state of a budget, with the spending of each run.
func ShowBudget(path string) (run.Result, error) {
	b, err := budget.Read(path)
	if err != nil {
		return nil, run.Usagef("name a file that privrec account budget create made", "%v", err)
	}
	spent, limit, err := b.Spent()
	if err != nil {
		return nil, err
	}
	t := b.Terms
	p := &page{title: "Privacy budget " + path}
	p.add("epsilon", t.Epsilon, "epsilon", fmt.Sprintf("%.6g", t.Epsilon))
	p.add("delta", t.Delta, "delta", fmt.Sprintf("%.6g", t.Delta))
	p.add("unit", t.Unit, "unit", fmt.Sprintf("one %s (%s)", t.Unit, t.Neighbouring))
	p.add("neighbouring", t.Neighbouring, "", "")
	data, sha := t.Data, t.SHA256
	if sha == "" && len(b.Reservations) > 0 {
		data, sha = b.Reservations[0].Data, b.Reservations[0].SHA256
	}
	shown := data
	if sha == "" {
		shown += "; the first run says which data exactly"
	} else {
		shown += fmt.Sprintf(" (%.12s)", sha)
	}
	p.add("data", data, "data", shown)
	p.add("sha256", sha, "", "")
	p.add("filter", t.Rule, "filter", string(t.Rule))
	p.add("order", t.Order, "", "")
	p.add("slack", t.Slack, "", "")
	what := "epsilon"
	if t.Rule == budget.Renyi {
		what = fmt.Sprintf("divergence at order %v", t.Order)
	}
	p.add("spent", spent, "spent", fmt.Sprintf("%s %.6g of %.6g", what, spent, limit))
	p.add("limit", limit, "", "")
	p.add("left", max(0, limit-spent), "left", fmt.Sprintf("%.6g", max(0, limit-spent)))
	lines := []spending{}
	table := &report.Table{Name: "runs", Title: "What runs reserved, and what still counts",
		Columns: []report.Column{{Name: "number"}, {Name: "task"}, {Name: "run"},
			{Name: "state"}, {Name: "resumed"}, {Name: "epsilon", Format: "%.6g"}, {Name: "delta", Format: "%.6g"},
			{Name: "divergence", Format: "%.6g"}}}
	for _, r := range b.Reservations {
		state := string(r.State)
		if r.State == budget.Begun {
			state = "begun"
		}
		lines = append(lines, spending{r.ID, r.Run, r.Task, r.Config, state, r.Attempt, r.Releases, r.Reserved, r.Held})
		table.Add(r.ID, r.Task, r.Run, state, r.Attempt, r.Held.Epsilon, r.Held.Delta, r.Held.Divergence)
	}
	p.add("runs", lines, "", "")
	if len(lines) > 0 {
		p.table = table
	}
	p.statement = strings.TrimSpace(
		fmt.Sprintf("all runs that spend from it are together (%.6g, %.6g)-differentially private for one %s (%s), "+
			"also where the next run is chosen after the results of those before; what is spent so far is no smaller "+
			"guarantee",
			t.Epsilon, t.Delta, t.Unit, t.Neighbouring))
	return Budget{p}, nil
}

// Budget holds the answer to how much of a budget is left.
type Budget struct{ *page }

// spending holds a run's reservation, in JSON.
type spending struct {
	ID     int         `json:"id"`
	Run    string      `json:"run"`
	Task   string      `json:"task"`
	Config string      `json:"config_sha256"`
	State  string      `json:"state"`
	Went   int         `json:"resumed"`  // times
	Shown  int64       `json:"releases"` // that its ledger is known to list
	Asked  budget.Cost `json:"reserved"`
	Holds  budget.Cost `json:"holds"`
}
