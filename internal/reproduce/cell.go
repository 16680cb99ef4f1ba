package reproduce

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"privrec/internal/dataset"
	"privrec/internal/system"
)

// Cell is one printed number, or one number of ours that a paper does not print, with all that
// stands behind it. Numbers are in Unit, as the paper prints them. A pointer is nil where there
// is no such number. A cell holds no time and no machine.
type Cell struct {
	Paper   string `json:"paper,omitempty"`
	Grid    string `json:"grid"` // as in "dipsgnn-table2"
	Table   int    `json:"table,omitempty"`
	Figure  int    `json:"figure,omitempty"`
	Profile string `json:"profile"`
	Data    string `json:"data"`               // as printed
	Taken   string `json:"taken"`              // the data set that was taken
	StandIn bool   `json:"stand_in,omitempty"` // generated in place of the paper's
	Method  string `json:"method"`
	Setting string `json:"setting,omitempty"`
	Metric  string `json:"metric"`  // as package metrics names it
	Heading string `json:"heading"` // of the metric in the paper

	Axis string   `json:"axis,omitempty"` // of a figure
	At   *float64 `json:"at,omitempty"`   // value on it
	Unit string   `json:"unit"`           // percent, share or count

	Printed    *float64 `json:"printed"`
	Again      bool     `json:"again,omitempty"` // the printed number is that of an earlier cell, read in another way
	Ours       *float64 `json:"ours"`            // mean over the seeds
	SD         *float64 `json:"sd"`              // sample standard deviation over the seeds, from two on
	Low        *float64 `json:"low"`             // 95 % interval of the mean over the seeds, from three on
	High       *float64 `json:"high"`            // likewise
	Difference *float64 `json:"difference"`      // ours less the paper's, where the two may be compared
	Seeds      int      `json:"seeds"`           // with results
	SeedsOf    int      `json:"seeds_of"`        // that the profile asks for

	Floor     *float64           `json:"floor"` // the highest of the same protocol
	FloorName string             `json:"floor_name,omitempty"`
	Floors    map[string]float64 `json:"floors,omitempty"` // by name, of the runs themselves

	Level string `json:"level,omitempty"` // of the weakest result; empty without results
	State Status `json:"state"`           // of the runs
	// Status says how ours and the printed number stand to each other. Empty: nothing can be
	// said, and Why says the reason.
	Status   string   `json:"status,omitempty"`
	Margin   *float64 `json:"margin"`             // beyond which a difference is more than chance
	Basis    string   `json:"basis,omitempty"`    // of the margin
	Cause    string   `json:"cause,omitempty"`    // code of the cause of a difference
	Why      string   `json:"why,omitempty"`      // a sentence
	Evidence string   `json:"evidence,omitempty"` // the result that shows the cause, beside ours and the printed number

	ClaimedEpsilon   *float64 `json:"claimed_epsilon"`   // may be +Inf, which JSON has as "inf"
	AccountedEpsilon *float64 `json:"accounted_epsilon"` // likewise
	ClaimedUnit      string   `json:"claimed_unit,omitempty"`
	AccountedUnit    string   `json:"accounted_unit,omitempty"` // the row's unit of privacy, else the worst

	Runs    []string `json:"runs"`              // base names of the directories of the finished runs
	Epochs  string   `json:"epochs,omitempty"`  // that ran, as the table of runs has them
	Commits string   `json:"commits,omitempty"` // of the programs behind the results
}

// plainCell is a cell without methods.
type plainCell Cell

// epsilons are the keys of a cell that may be infinite.
type epsilons struct {
	*plainCell
	Claimed   *orInf `json:"claimed_epsilon"`
	Accounted *orInf `json:"accounted_epsilon"`
}

// orInf is a number that JSON has as "inf" where it is infinite.
type orInf float64

func (x orInf) MarshalJSON() ([]byte, error) {
	if math.IsInf(float64(x), 1) {
		return []byte(`"inf"`), nil
	}
	return json.Marshal(float64(x))
}

func (x *orInf) UnmarshalJSON(b []byte) error {
	if string(b) == `"inf"` {
		*x = orInf(math.Inf(1))
		return nil
	}
	return json.Unmarshal(b, (*float64)(x))
}

// MarshalJSON writes an infinite epsilon as "inf".
func (c Cell) MarshalJSON() ([]byte, error) {
	return json.Marshal(epsilons{(*plainCell)(&c), (*orInf)(c.ClaimedEpsilon), (*orInf)(c.AccountedEpsilon)})
}

// UnmarshalJSON reads what MarshalJSON writes.
func (c *Cell) UnmarshalJSON(b []byte) error {
	in := epsilons{plainCell: (*plainCell)(c)}
	if err := json.Unmarshal(b, &in); err != nil {
		return err
	}
	c.ClaimedEpsilon, c.AccountedEpsilon = (*float64)(in.Claimed), (*float64)(in.Accounted)
	return nil
}

// cells makes the cells of a table or figure: for each row, or point of a row, one a metric.
func (g *Grid) cells(rows []*summary) (out []Cell, err error) {
	err = system.Together(len(rows), func(i int) error { return g.cellsOf(rows[i], rows) })
	for _, s := range rows {
		out = append(out, s.cells...)
	}
	return out, err
}

// cellsOf makes the cells of one of the rows of a table.
func (g *Grid) cellsOf(s *summary, rows []*summary) error {
	row := s.entry.row
	base := Cell{
		Paper: g.Paper, Grid: g.Name, Table: g.Table, Figure: g.Figure, Profile: s.entry.size, Unit: g.Unit,
		Data: s.entry.data.Printed, Taken: s.entry.name, StandIn: s.standIn(),
		Method: row.Method, Setting: row.Variant, Again: row.Again, Epochs: s.epochs(), Commits: s.commits(),
		Seeds: len(s.results), SeedsOf: len(s.runs), State: s.status(), Runs: []string{},
	}
	if p := row.point; p != nil {
		base.Setting, base.Axis, base.At = p.setting, p.axis.Name, pointer(p.value)
	}
	for _, r := range s.runs {
		if r.Status == Done {
			base.Runs = append(base.Runs, filepath.Base(r.Dir))
		}
	}
	s.guarantees(&base)
	for i, col := range s.columns {
		c := base
		c.Metric, c.Heading, c.Printed = g.Metrics[i].Name, g.Metrics[i].Printed, row.printed(i)
		if len(s.results) > 0 {
			c.Level, c.Ours = s.level.String(), g.inUnit(col.mean)
		}
		if len(s.results) > 1 {
			c.SD = g.inUnit(col.sd)
		}
		c.Low, c.High, c.Difference = g.inUnit(col.lo), g.inUnit(col.hi), g.inUnit(col.delta)
		name, floor := highestFloor(s, rows, i)
		c.Floor, c.FloorName = g.inUnit(floor), name
		for n, f := range col.floors {
			if c.Floors == nil {
				c.Floors = map[string]float64{}
			}
			c.Floors[n] = *g.inUnit(f)
		}
		if row.gain {
			c.Why = gainWhy
			s.cells = append(s.cells, c)
			continue
		}
		if err := g.judge(&c, s, i); err != nil {
			return err
		}
		if err := g.explainCell(&c, s, rows, i); err != nil {
			return err
		}
		s.cells = append(s.cells, c)
	}
	return nil
}

// pointer returns a pointer to x, or nil for no number.
func pointer(x float64) *float64 {
	if math.IsNaN(x) {
		return nil
	}
	return &x
}

// inUnit writes a number of a summary in the grid's unit: percent, or a count.
func (g *Grid) inUnit(x float64) *float64 {
	if g.Unit == share {
		x /= 100
	}
	return pointer(x)
}

// inPercent returns a number of the cell in percent, a count as it is. It is NaN for no number.
func (c *Cell) inPercent(x *float64) float64 {
	switch {
	case x == nil:
		return math.NaN()
	case c.Unit == share:
		return 100 * *x
	}
	return *x
}

// comparable reports whether a printed number is there and may stand beside results of ours: the
// data are the paper's, with the authors' split or the same counts, as far as there are results.
// Counts may stand there whatever they are, since they say what the level is.
func (c *Cell) comparable() bool {
	return c.Printed != nil && !c.StandIn && (c.Unit == count || c.Level == "" || c.Level == dataset.LevelA.String() ||
		c.Level == dataset.LevelB.String())
}

// full returns the setting with the value on the axis.
func (c *Cell) full() string {
	if c.At == nil {
		return c.Setting
	}
	return strings.TrimPrefix(fmt.Sprintf("%s, %s %s", c.Setting, c.Axis, strconv.FormatFloat(*c.At, 'g', -1, 64)),
		", ")
}

// guarantees enters the epsilons, of the worst seed. What is claimed of the rows' own data counts
// before what is claimed of user features.
func (s *summary) guarantees(c *Cell) {
	lines, _ := s.accounts()
	for _, l := range lines {
		if !math.IsNaN(l.claimed) && (c.ClaimedEpsilon == nil || c.ClaimedUnit == featuresUnit) {
			c.ClaimedEpsilon, c.ClaimedUnit = pointer(l.claimed), l.unit
		}
		if unit := s.entry.row.UnitOf; l.unit == featuresUnit || unit != "" && l.unit != unit && l.unit != wholeRun {
			continue
		}
		if c.AccountedEpsilon == nil || l.accounted > *c.AccountedEpsilon {
			c.AccountedEpsilon, c.AccountedUnit = pointer(l.accounted), l.unit
		}
	}
}

// highestFloor returns the highest floor of a metric, in percent, and its name, among the
// floors of all rows of the same protocol. It returns NaN where the row has no results.
func highestFloor(s *summary, rows []*summary, metric int) (name string, floor float64) {
	floor = math.NaN()
	for _, o := range rows {
		if o != s && !sameProtocol(s, o) {
			continue
		}
		for n, f := range o.columns[metric].floors {
			if math.IsNaN(floor) || cmp.Or(cmp.Compare(f, floor), strings.Compare(name, n)) > 0 {
				name, floor = n, f
			}
		}
	}
	return name, floor
}

// sameProtocol reports whether two rows were measured alike: on the same data with the same seeds,
// with equal floors in every metric. Floors that only one of them has are left out, but at least
// two must be there in both: the random floor alone is equal for different test rows.
func sameProtocol(a, b *summary) bool {
	seed := func(r *result) uint64 { return r.seed }
	if a.entry.name != b.entry.name || len(a.results) == 0 ||
		!slices.Equal(each(a.results, seed), each(b.results, seed)) {
		return false
	}
	shared := 0
	for name := range a.columns[0].floors {
		if _, ok := b.columns[0].floors[name]; !ok {
			continue
		}
		shared++
		for i := range a.columns {
			x, y := a.columns[i].floors[name], b.columns[i].floors[name]
			if math.Abs(x-y) > 1e-9*max(1, math.Abs(x)) {
				return false
			}
		}
	}
	return shared >= 2
}

// each returns f of every element.
func each[T, U any](list []T, f func(T) U) []U {
	out := make([]U, len(list))
	for i, x := range list {
		out[i] = f(x)
	}
	return out
}
