package matrix

import (
	"math"
	"path/filepath"
	"slices"

	"privrec/internal/dataset"
	"privrec/internal/reproduce/roster"
	"privrec/internal/stats"
)

// What a cell says in a word.
const (
	Leaks     = "leaks"
	NotTold   = "not told from the floor"
	Protected = "protected"
	BelowIt   = "below the floor"
)

// Meaning explains the words in a sentence for readers.
const Meaning = "leaks: the whole 95 % interval of the gain is above 0; not told from the floor: it contains 0; " +
	"protected: likewise, while the same attack on the twin without the defence leaks; " +
	"below the floor: it is below 0, so that the attack finds less than an attacker who sees no model. What is not " +
	"told from the floor may still leak to a stronger attack"

// Cell is what one attack finds in one model, beyond its best floor. Numbers are shares; a pointer
// is nil where there is no such number, and Why then says the reason. A cell holds no time.
type Cell struct {
	Attack  string   `json:"attack"`
	Model   string   `json:"model"`
	Defence string   `json:"defence"`
	Data    string   `json:"data"` // that are taken
	Metric  string   `json:"metric"`
	Row     string   `json:"row"` // of the attack's result
	Value   *float64 `json:"value"`
	Floor   *float64 `json:"floor"` // the best
	Over    string   `json:"floor_name,omitempty"`
	Gain    *float64 `json:"gain"`
	Low     *float64 `json:"low"` // 95 % interval; of several seeds the lowest and the highest end
	High    *float64 `json:"high"`
	Verdict string   `json:"verdict,omitempty"`
	Why     string   `json:"why,omitempty"` // there is no number

	Sees    string `json:"sees,omitempty"`
	Budget  string `json:"guess_budget,omitempty"`
	About   string `json:"asked_about,omitempty"`
	Level   string `json:"level,omitempty"`
	Seeds   int    `json:"seeds"`
	SeedsOf int    `json:"seeds_of"`

	State roster.Status `json:"state,omitempty"` // of the runs; empty: none is made
	Runs  []string      `json:"runs"`            // base names of the directories of the attacks
}

// cell makes the cell of a row and an attack, from the runs of that attack on that row.
func (m *Matrix) cell(a *Attack, r *Row, data string, runs []roster.Run) (Cell, error) {
	c := Cell{Attack: a.Name, Model: r.Model, Defence: r.Defence, Data: data, Metric: a.Metric, Row: a.Row,
		Why: r.without(a.Name), SeedsOf: len(runs), Runs: []string{}}
	if c.Why != "" {
		return c, nil
	}
	var all []finding
	for i := range runs {
		x := &runs[i]
		if x.Status == roster.Done {
			f, err := a.read(x.Dir)
			if err != nil {
				return c, err
			}
			all, c.Runs = append(all, f), append(c.Runs, filepath.Base(x.Dir))
			continue
		}
		if c.State == "" {
			c.State, c.Why = x.Status, why(x)
		}
	}
	if len(all) == 0 {
		return c, nil
	}
	if c.State == "" {
		c.State, c.Why = roster.Done, ""
	}
	c.Seeds, c.Why = len(all), ""
	var values, floors, gains, lows, highs []float64
	for _, f := range all {
		values, floors, gains = append(values, f.Value), append(floors, f.Floor), append(gains, f.Gain)
		lows, highs = append(lows, f.Interval[0]), append(highs, f.Interval[1])
	}
	value, floor, gain := stats.Mean(values), stats.Mean(floors), stats.Mean(gains)
	lo, hi := slices.Min(lows), slices.Max(highs)
	c.Value, c.Floor, c.Gain, c.Low, c.High = &value, &floor, &gain, &lo, &hi
	first := all[0]
	c.Row, c.Over, c.Sees, c.Budget, c.About = first.Row, first.Over, first.Sees, first.Budget, first.About
	level := first.level
	for _, f := range all {
		level = max(level, f.level)
	}
	c.Level = levelText(level)
	switch {
	case lo > 0:
		c.Verdict = Leaks
	case hi < 0:
		c.Verdict = BelowIt
	default:
		c.Verdict = NotTold
	}
	return c, nil
}

func levelText(l dataset.Level) string {
	if l == 0 {
		return ""
	}
	return l.String()
}

// why says in words why a run has no result. It names no directory, so that equal results in two
// folders have equal words.
func why(r *roster.Run) string {
	switch r.Status {
	case roster.LeftOut:
		return r.Problem
	case roster.Failed:
		return "failed"
	case roster.NoData:
		return "data missing"
	}
	return "not made yet"
}

// protect says of the cells of a defence where the twin's leak is gone.
func (m *Matrix) protect(cells [][]Cell) {
	for i := range m.Rows {
		r := &m.Rows[i]
		if r.Defence == None {
			continue
		}
		t := m.twin(r)
		if t == nil {
			continue
		}
		at := slices.IndexFunc(m.Rows, func(o Row) bool { return o.label() == t.label() })
		for k := range cells[i] {
			if cells[i][k].Verdict == NotTold && cells[at][k].Verdict == Leaks {
				cells[i][k].Verdict = Protected
			}
		}
	}
}

// shade is how much of what an attack could find at most beyond the floor it does find. It is 0
// where the interval contains 0.
func (c *Cell) shade() float64 {
	if c.Gain == nil || c.Verdict == NotTold || c.Verdict == Protected {
		return 0
	}
	room := 1 - *c.Floor
	if *c.Gain < 0 {
		room = *c.Floor
	}
	if !(room > 0) {
		return 0
	}
	return math.Max(-1, math.Min(1, *c.Gain/room))
}
