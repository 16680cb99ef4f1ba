package claims

import (
	"slices"
)

// Paper is the claims of one paper, as a file holds them.
type Paper struct {
	Name   string   `yaml:"paper" limit:"filled"`
	About  []string `yaml:"notes"` // how the sentences were turned into tests
	Claims []Claim  `yaml:"claims"`
}

// Claim states a sentence of a paper, in our words, that results can support or contradict.
type Claim struct {
	ID    string `yaml:"id" limit:"filled"`
	Text  string `yaml:"text" limit:"filled"`
	Where string `yaml:"where"` // section, table or figure of the paper that states it
	// grid whose lines the parts compare; left out in the file of a grid, which means that grid
	Grid  string `yaml:"grid"`
	Parts []Part `yaml:"parts"` // statements that must all hold
	Lacks string `yaml:"lacks"` // why no grid can test the claim; it has no parts then
}

// Part makes one statement about lines, on every data set of the grid that has them.
type Part struct {
	// Says names the statement:
	//
	//	rises    every line is higher at the end of its axis than at its beginning, and falls nowhere
	//	falls    the same downwards
	//	above    the first line is above every other, at every value that both have; with By it is
	//	         more than that share above (below zero: it may be that share below)
	//	below    the first line is below every other; with By by more than that share of the other
	//	reaches  every line is above the share By
	//	ordered  every line is above the one after it
	//	near     the first line and every other differ by less than the share By of the other
	//	gains    the mean over data sets of the first line's relative gain over the second, of the
	//	         third's over the fourth and so on, is above By
	//	widens   the first line gains on the second between the ends of the axis
	//	peaks    every line is highest at the value At
	//	dips     every line is lowest there
	//	keeps    from the beginning to the end of the axis, or to the values At, every line loses at
	//	         most Share of what it was
	//	loses    it loses at least that
	//	epsilon  what the runs account for one Unit is at most the epsilon that is claimed
	Says string `yaml:"says"`
	// methods with their variants; floor stands for the highest floor of the first line
	Lines  []string  `yaml:"lines"`
	Grids  []string  `yaml:"grids"`  // grids that have the lines; empty: the claim's
	Axis   string    `yaml:"axis"`   // axis of the lines, needed where the grid has several
	Metric string    `yaml:"metric"` // metric, as the grid names it; empty: its first
	Data   []string  `yaml:"data"`   // data sets that the part is about; empty: all
	At     []float64 `yaml:"at"`
	Share  float64   `yaml:"share"`
	By     float64   `yaml:"by"`
	Ends   bool      `yaml:"ends"` // for says: rises or falls. Compare only the first value with the last
	// for says: above, below, ordered or near. More than half of the differences are enough
	Most   bool        `yaml:"most"`
	P      float64     `yaml:"p"`      // level of significance that the claim states for the differences; 0: 0.05
	Except []Exception `yaml:"except"` // values left out; for says: above or below
	// Claimed is the claimed epsilon; 0: the one that the runs state. unit is a unit of the account.
	Claimed float64 `yaml:"claimed"`
	Unit    string  `yaml:"unit"`
	// for says: epsilon. All noise is drawn before the training, so its length changes nothing
	Before bool `yaml:"before"`
}

// Exception leaves a value of a data set out of a part.
type Exception struct {
	Data string  `yaml:"data"`
	At   float64 `yaml:"at"`
}

// Floor names the highest floor of the first line's runs in a part.
const Floor = "floor"

// About reports whether a line of a claim is of a grid.
func (c *Claim) About(grid string) bool {
	return len(c.Parts) > 0 && slices.ContainsFunc(c.Parts, func(p Part) bool {
		return len(p.Grids) == 0 && c.Grid == grid || slices.Contains(p.Grids, grid)
	})
}

// Of reports whether all lines of a claim are of one grid.
func (c *Claim) Of(grid string) bool {
	return c.Grid == grid && !slices.ContainsFunc(c.Parts, func(p Part) bool {
		return slices.ContainsFunc(p.Grids, func(g string) bool { return g != grid })
	})
}

// Lines lists the lines of a grid that the parts of a claim name, each once.
func (c *Claim) Lines(grid string) (out []string) {
	for _, p := range c.Parts {
		for k, name := range p.Lines {
			of := c.Grid
			if len(p.Grids) > 0 {
				of = p.Grids[k]
			}
			if of == grid && name != Floor && !slices.Contains(out, name) {
				out = append(out, name)
			}
		}
	}
	return out
}

// grid returns the grid of a line, or nil.
func (p *Part) grid(line int, c *Claim, grids []*Grid) *Grid {
	if len(p.Grids) > 0 {
		return find(grids, p.Grids[line])
	}
	return find(grids, c.Grid)
}
