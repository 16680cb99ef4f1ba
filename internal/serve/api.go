package serve

import (
	"math"
	"time"

	"privrec/internal/privacy"
)

// listed holds the answer of /api/runs.json.
type listed struct {
	Runs  []entry  `json:"runs"`
	Pages []string `json:"pages"` // of reports
	Cut   bool     `json:"cut"`   // the folder is larger than is looked at
}

// entry holds a run as data. Values are shares.
type entry struct {
	Name      string          `json:"name"`
	Task      string          `json:"task"`
	State     string          `json:"state"`
	Problem   string          `json:"problem,omitempty"`
	Seed      uint64          `json:"seed"`
	Method    string          `json:"method,omitempty"`
	Setting   string          `json:"setting,omitempty"`
	Data      string          `json:"data,omitempty"`
	Recipe    string          `json:"recipe,omitempty"`
	Level     string          `json:"evidence_level,omitempty"`
	Metric    string          `json:"metric,omitempty"`
	Value     *float64        `json:"value"`
	Interval  *[2]float64     `json:"interval,omitempty"`
	Floor     *float64        `json:"floor"`
	FloorName string          `json:"floor_name,omitempty"`
	Claimed   *privacy.Number `json:"claimed_epsilon"`
	Unit      string          `json:"claimed_unit,omitempty"`
	Accounted *privacy.Number `json:"accounted_epsilon"` // for the unit of the claim
	Worst     *privacy.Number `json:"worst_epsilon"`
	WorstUnit string          `json:"worst_unit,omitempty"`
	Started   *time.Time      `json:"started"`
	Seconds   float64         `json:"seconds"`
}

// listing returns the answer to a query.
func listing(q query, f *found) listed {
	l := listed{Runs: []entry{}, Pages: f.Pages, Cut: f.Cut}
	if l.Pages == nil {
		l.Pages = []string{}
	}
	for _, r := range q.choose(f.Runs) {
		v := r.value(q.Metric)
		e := entry{
			Name: r.Name, Task: r.Task, State: r.State, Problem: r.Problem, Seed: r.Seed, Method: r.Method,
			Setting: r.Setting,
			Data:    r.Data, Recipe: r.Recipe, Level: level(r.Level), Metric: v.Metric, Value: finite(v.Value),
			Interval: v.Interval,
			Floor:    finite(v.Floor), FloorName: v.FloorName, Seconds: r.Seconds,
		}
		if p := r.epsilons(); p != nil {
			e.Claimed, e.Unit, e.Accounted, e.Worst, e.WorstUnit = p.Claimed, p.Unit, &p.Accounted, &p.Worst,
				p.WorstUnit
		}
		if !r.Started.IsZero() {
			e.Started = &r.Started
		}
		l.Runs = append(l.Runs, e)
	}
	return l
}

// finite returns nil for NaN and infinities.
func finite(x float64) *float64 {
	if math.IsNaN(x) || math.IsInf(x, 0) {
		return nil
	}
	return &x
}
