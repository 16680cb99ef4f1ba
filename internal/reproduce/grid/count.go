package grid

import (
	"privrec/internal/printed"
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
