package printed

import (
	"maps"
	"slices"
	"strings"

	"privrec/internal/config"
)

// File is the transcription of one paper, or of the reference results.
type File struct {
	// name of the paper on the command line; "reference" for published results of others
	Paper    string             `yaml:"paper" limit:"filled"`
	Cite     string             `yaml:"cite" limit:"filled"`
	Year     int                `yaml:"year" limit:"1950..2100"`
	Seeds    int                `yaml:"seeds" limit:"0..1000"` // number of runs behind a printed mean; 0: not stated
	Data     map[string]string  `yaml:"data"`                  // registered names of data sets, by printed name
	Defaults map[string]Setting `yaml:"defaults"`              // setting of a method, if a block does not say otherwise
	// Sees names the data that a method sees, if the printed name covers more, as for a method of one domain among
	// methods of two: by method, then by printed name.
	Sees map[string]map[string]string `yaml:"sees"`
	// Twins names the method that is a private method without its noise, by the private one. No table has to print it.
	Twins     map[string]string `yaml:"twins"`
	Metrics   map[string]Metric `yaml:"metrics"` // metrics, by printed heading of the column
	Blocks    []Block           `yaml:"blocks"`
	Sentences []Sentence        `yaml:"sentences"`

	doc *config.Document
}

// Reference is the Paper of the file with published results of other works.
const Reference = "reference"

// Setting says under which conditions a number was measured, as in {eps: 5, L: 3}.
type Setting map[string]Word

// String returns the setting as "L 3, eps 5".
func (s Setting) String() string {
	var parts []string
	for _, k := range slices.Sorted(maps.Keys(s)) {
		parts = append(parts, k+" "+string(s[k]))
	}
	return strings.Join(parts, ", ")
}

// Metric names the measure of a column, with its unit.
type Metric struct {
	Is      string  `yaml:"is"`      // as Recall@20, micro F1, users
	Unit    string  `yaml:"unit"`    // percent, share, count (whole, not rounded) or number
	Lower   bool    `yaml:"lower"`   // lower is better
	Setting Setting `yaml:"setting"` // that the column has and the others do not
	Tested  Tested  `yaml:"tested"`  // where it is over other cases than its tables say
}

// Kinds of blocks.
const (
	Results  = "results"  // metrics of methods
	DataSets = "data"     // statistics of data sets
	Features = "features" // sizes of features
	Drawn    = "figure"   // curves without printed numbers
)

// Block transcribes a printed table or figure, or one table of the reference results.
type Block struct {
	Table  int    `yaml:"table"`
	Figure int    `yaml:"figure"`
	ID     string `yaml:"id"`                   // name of a reference table
	Where  string `yaml:"where" limit:"filled"` // section, table or file that prints it
	Year   int    `yaml:"year"`                 // year of a reference table; 0: that of the file
	Origin string `yaml:"origin"`               // who ran a reference table
	About  string `yaml:"about"`
	Kind   string `yaml:"kind" limit:"results|data|features|figure"`
	// how many items in a list can count as found: one, many, or "inferred one" where the paper does not say; empty:
	// unknown
	Relevant string  `yaml:"relevant" limit:"one|many|inferred one?"`
	Data     string  `yaml:"data"`    // data set of every row that names none
	Method   string  `yaml:"method"`  // method of every row that names none
	Setting  Setting `yaml:"setting"` // setting of every row
	// numbers of users, items and interactions, as the source states them
	Counts       map[string]Word   `yaml:"counts"`
	Tested       map[string]Tested `yaml:"tested"`  // cases of one run behind a mean, by data set
	Columns      []string          `yaml:"columns"` // columns, by their keys in metrics
	Rows         []Row             `yaml:"rows"`
	Test         *Test             `yaml:"test"` // test behind the stars of the improvements
	Improvements []Row             `yaml:"improvements"`
	Drawn        []Curve           `yaml:"drawn"` // curves of a figure
}

// Row holds one method on one data set under one setting, or one improvement in percent.
type Row struct {
	Data    string   `yaml:"data"`
	Method  string   `yaml:"method"`
	Setting Setting  `yaml:"setting"`
	Over    string   `yaml:"over"` // method over which the row is an improvement
	Values  []Number `yaml:"values"`
	Best    bool     `yaml:"best"`   // printed in bold type, as the best
	Copied  string   `yaml:"copied"` // source that the row was copied from, where the paper says so
	Note    string   `yaml:"note"`
}

// Test names a test of significance that a table states.
type Test struct {
	Name  string `yaml:"name"`
	Below Number `yaml:"p_below"` // stated upper bound of the p-values
}

// Curve names what a figure draws without printing numbers: methods on data sets along an axis.
type Curve struct {
	Data    []string `yaml:"data"`
	Methods []string `yaml:"methods"`
	Axis    string   `yaml:"axis"`   // name of the axis; empty: bars
	Values  []Number `yaml:"values"` // values on the axis; empty: not stated
	Setting Setting  `yaml:"setting"`
}

// Name returns "Table 2", "Figure 3" or the name of a reference table.
func (b *Block) Name() string {
	switch {
	case b.Table > 0:
		return "Table " + itoa(b.Table)
	case b.Figure > 0:
		return "Figure " + itoa(b.Figure)
	}
	return b.ID
}

// Line returns the line of the file that holds what a key path names, as "blocks.1.rows.0".
func (f *File) Line(path string) int { return f.doc.Errorf(path, "").Line }

// Name returns the name of the file.
func (f *File) Name() string { return f.doc.File() }

// Block returns the table of a number, or nil.
func (f *File) Block(table int) *Block {
	for i := range f.Blocks {
		if f.Blocks[i].Table == table && table > 0 {
			return &f.Blocks[i]
		}
	}
	return nil
}
