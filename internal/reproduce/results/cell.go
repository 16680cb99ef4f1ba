package results

import (
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"strings"

	"privrec/internal/dataset"
	"privrec/internal/reproduce/grid"
	"privrec/internal/reproduce/roster"
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

	Level string        `json:"level,omitempty"` // of the weakest result; empty without results
	State roster.Status `json:"state"`           // of the runs
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

// pointer returns a pointer to x, or nil for no number.
func pointer(x float64) *float64 {
	if math.IsNaN(x) {
		return nil
	}
	return &x
}

// orNaN returns the number that x points to, or NaN for nil.
func orNaN(x *float64) float64 {
	if x == nil {
		return math.NaN()
	}
	return *x
}

// inUnit writes a number in percent, or a count, in the grid's unit. It returns nil for no number.
func inUnit(g *grid.Grid, x float64) *float64 {
	if g.Unit == grid.UnitShare {
		x /= 100
	}
	return pointer(x)
}

// inPercent returns a number of the cell in percent, a count as it is. It is NaN for no number.
func (c *Cell) inPercent(x *float64) float64 {
	if c.Unit == grid.UnitShare {
		return 100 * orNaN(x)
	}
	return orNaN(x)
}

// text writes a number of the cell for a table: in percent with two decimals, or a count. No number is "-".
func (c *Cell) text(x *float64, sign string) string { return InText(c.Unit, c.inPercent(x), sign) }

// floor returns a floor of the runs themselves in percent, a count as it is; 0 where they have none of the name.
func (c *Cell) floor(name string) float64 {
	x := c.Floors[name]
	return c.inPercent(&x)
}

// paper returns the printed number where ours may stand beside it, or nil.
func (c *Cell) paper() *float64 {
	if c.comparable() {
		return c.Printed
	}
	return nil
}

// comparable reports whether a printed number is there and may stand beside results of ours: the
// data are the paper's, with the authors' split or the same counts, as far as there are results.
// Counts may stand there whatever they are, since they say what the level is.
func (c *Cell) comparable() bool {
	return c.Printed != nil && !c.StandIn && (c.Unit == grid.UnitCount || c.Level == "" ||
		c.Level == dataset.LevelA.String() || c.Level == dataset.LevelB.String())
}

// full returns the setting with the value on the axis.
func (c *Cell) full() string {
	if c.At == nil {
		return c.Setting
	}
	return strings.TrimPrefix(fmt.Sprintf("%s, %s %s", c.Setting, c.Axis, strconv.FormatFloat(*c.At, 'g', -1, 64)),
		", ")
}
