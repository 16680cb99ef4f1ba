package reproduce

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"privrec/internal/config"
	"privrec/internal/printed"
	"privrec/internal/run"
)

// Count counts data and trains nothing: the data set after one step of its recipe. It becomes a row of the grid.
type Count struct {
	Data   string `yaml:"data"`                   // a data set of the grid
	Label  string `yaml:"counted" limit:"filled"` // what is counted, as in "after truncation"
	About  string `yaml:"about"`                  // a sentence for the table's notes
	Recipe string `yaml:"recipe"`                 // recipe, for a set of one domain
	// step of the recipe, by the end of its name; or a domain; or "feature" and its name. Empty: the first
	Step      string     `yaml:"step"`
	SmokeStep string     `yaml:"smoke_step"` // step of generated data, if its name differs
	Set       []string   `yaml:"set"`        // keys to change in every size
	Smoke     []string   `yaml:"smoke"`      // keys to change in size smoke
	Printed   []*float64 `yaml:"printed"`    // as in rows
	// PrintedAs names the row as in rows. Its own words have no method.
	PrintedAs printed.Setting `yaml:"printed_as"`
	Again     bool            `yaml:"again"` // as in rows
}

// counting is the task of rows that count.
const counting = "measure data"

// notInData stands where a data set does not have what a column counts.
const notInData = "not in the data"

// countRows makes rows of what the grid counts.
func (g *Grid) countRows(v *config.Checker) {
	v.Check(len(g.Counts) == 0 || len(g.Rows) == 0, "statistics", "must not be there beside rows")
	v.Check(len(g.Counts) == 0 == (g.Unit != count), "statistics",
		"a grid has statistics if its unit is %s, and no others", count)
	for i, c := range g.Counts {
		r := Row{Method: c.Label, About: c.About, Data: c.Data, Evaluation: c.Step, SmokeEvaluation: c.SmokeStep,
			Place: fmt.Sprintf("statistics.%d", i), Printed: c.Printed, PrintedAs: c.PrintedAs, Again: c.Again,
			Setting: Setting{Task: counting, Set: c.Set, Smoke: c.Smoke}}
		if c.Recipe != "" {
			r.Set = append([]string{"data.recipe=" + c.Recipe}, c.Set...)
		}
		g.Rows = append(g.Rows, r)
	}
}

// own returns the user's overrides that are for this grid. A grid that counts trains nothing, so
// it leaves out those of keys that only other tasks have, as train.epochs; a key that no task has
// stays, and is an error.
func (g *Grid) own(sets []string) (out []string) {
	if g.Unit != count {
		return sets
	}
	has := func(t run.Task, key string) bool {
		return slices.ContainsFunc(t.Keys(), func(k config.Key) bool { return k.Path == key })
	}
	for _, s := range sets {
		key, _, _ := strings.Cut(s, "=")
		key = strings.TrimSpace(key)
		mine, others := false, false
		for _, t := range g.tasks {
			if t.String() == counting {
				mine = mine || has(t, key)
			} else {
				others = others || has(t, key)
			}
		}
		if mine || !others {
			out = append(out, s)
		}
	}
	return out
}

// scale returns what a result is multiplied by to be shown: shares are shown in percent, counts
// as they are.
func (g *Grid) scale() float64 {
	if g.Unit == count {
		return 1
	}
	return 100
}

// text writes a number of a row for a table cell.
func (s *summary) text(x float64, sign string) string { return inText(s.unit, x, sign) }

// inText writes a number for a table cell: with two decimals, or where the unit is count, whole
// numbers in full and others with four digits. No number is "-".
func inText(unit string, x float64, sign string) string {
	switch {
	case unit != count || math.IsNaN(x):
		return decimals(x, sign)
	case x == 0:
		return "0"
	case x == math.Trunc(x):
		return fmt.Sprintf("%"+sign+".0f", x)
	}
	return fmt.Sprintf("%"+sign+".4g", x)
}

// steps says, for a grid that counts, of which step each printed number is. It looks at rows that
// stand for the same line of the paper, and says nothing where one step has all its numbers.
func (g *Grid) steps(rows []*summary) (out []string) {
	if g.Unit != count {
		return nil
	}
	for _, first := range rows {
		if first.entry.row.Again {
			continue
		}
		of := []*summary{first}
		for _, s := range rows {
			if s.entry.row.Again && s.entry.row.repeats(*first.entry.row) {
				of = append(of, s)
			}
		}
		of = slices.DeleteFunc(of, func(s *summary) bool { return len(s.results) == 0 || s.standIn() })
		if len(of) > 1 {
			out = append(out, g.stepsOf(of)...)
		}
	}
	return out
}

// stepsOf compares the printed numbers of one line with several steps.
func (g *Grid) stepsOf(of []*summary) []string {
	var parts []string
	whole := slices.Repeat([]bool{true}, len(of))
	for k, m := range g.Metrics {
		p := of[0].entry.row.printed(k)
		if p == nil {
			continue
		}
		var steps []string
		for n, s := range of {
			if equals(s.columns[k].mean, *p) {
				steps = append(steps, s.entry.row.Label())
			} else {
				whole[n] = false
			}
		}
		word := strings.Join(steps, ", or ")
		if len(steps) == 0 {
			word = "at no step here"
		}
		parts = append(parts, fmt.Sprintf("%s %s: %s", m.Printed, strconv.FormatFloat(*p, 'f', -1, 64), word))
	}
	if slices.Contains(whole, true) {
		return nil
	}
	return []string{fmt.Sprintf("%s: no step has all printed numbers; %s", of[0].entry.data.Printed,
		strings.Join(parts, "; "))}
}

// equals reports whether x is a printed number to the digits that it is printed with.
func equals(x, printed float64) bool {
	return strconv.FormatFloat(x, 'f', digitsAfter(printed), 64) == strconv.FormatFloat(printed, 'f', -1, 64)
}
