package printed

import "fmt"

// Sentence holds a number in a paper's sentence. If the paper prints what it should agree with, one of gain, same,
// best and columns names that.
type Sentence struct {
	Where   string   `yaml:"where" limit:"filled"`
	About   string   `yaml:"about" limit:"filled"` // what the number is, in our words
	Value   Number   `yaml:"value"`
	Unit    string   `yaml:"unit"`
	Gain    *Gain    `yaml:"gain"`    // mean gain of one method over another
	Same    *Cell    `yaml:"same"`    // a number of a table
	Best    *Best    `yaml:"best"`    // the best number of some tables
	Columns *Columns `yaml:"columns"` // how many columns a table has
	States  *Stated  `yaml:"states"`  // a statistic of a data set that no table prints
}

// Gain names the mean relative gain of a method over another, in the cells of one table.
type Gain struct {
	Table   int      `yaml:"table"`
	Method  string   `yaml:"method"`
	Over    string   `yaml:"over"`
	Metrics []string `yaml:"metrics"` // columns; empty: all
	Data    []string `yaml:"data"`    // data sets; empty: all
	Setting Setting  `yaml:"setting"` // setting of the rows
}

// Cell names one number of a table of data sets.
type Cell struct {
	Table  int    `yaml:"table"`
	Metric string `yaml:"metric"`
	Data   string `yaml:"data"`
}

// Best names the best number of a metric on a data set in some tables.
type Best struct {
	Tables []int  `yaml:"tables"`
	Metric string `yaml:"metric"`
	Data   string `yaml:"data"`
}

// Columns names a table whose columns are counted.
type Columns struct {
	Table int `yaml:"table"`
}

// Stated names a statistic of a data set.
type Stated struct {
	Data   string `yaml:"data"`
	Metric string `yaml:"metric"`
}

// stated lists the statistics of data that stand in a sentence alone.
func (f *File) stated() (out []Value) {
	for i, s := range f.Sentences {
		if s.States != nil {
			out = append(out, Value{
				Paper: f.Paper, Where: s.Where, Kind: DataSets, Line: f.Line(fmt.Sprintf("sentences.%d", i)),
				Data: s.States.Data, Taken: f.Data[s.States.Data],
				Column: s.States.Metric, Metric: f.Metrics[s.States.Metric], Number: s.Value,
			})
		}
	}
	return out
}
