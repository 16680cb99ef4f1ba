package printed

import (
	"fmt"
	"maps"
	"strconv"
)

// Value is one printed number with all that belongs to it.
type Value struct {
	Paper       string
	Block       string // "Table 2", "Figure 3", or the name of a reference table
	Table       int
	Figure      int
	Where       string // section, page or file
	Kind        string // of the block
	Data        string // as printed
	Taken       string // registered name of the data set; empty: none
	Method      string
	Setting     Setting // of method, block, row and column together
	Column      string  // printed heading
	Metric      Metric
	Number      Number
	Seeds       int    // runs behind a mean; 0: not stated, or no mean
	Improvement bool   // of Method over Over, in percent
	Over        string // of an improvement
	Test        *Test  // of an improvement
	Line        int    // in the file

	Row, At int // index of the row in its block, and of the column
}

// Place returns the place of the number as "Table 2, Gowalla, RDP-GCF (L 3), Recall@20".
func (v Value) Place() string {
	return v.RowPlace() + ", " + v.Column
}

// RowPlace returns the place of the number's row.
func (v Value) RowPlace() string {
	text := v.Block
	if v.Data != "" {
		text += ", " + v.Data
	}
	if v.Method != "" {
		text += ", " + v.Method
	}
	own := maps.Clone(v.Setting)
	for k := range v.Metric.Setting {
		delete(own, k)
	}
	if len(own) > 0 {
		text += " (" + own.String() + ")"
	}
	return text
}

// Values lists every number of the tables: those of rows, then those of improvements, block by
// block. A dash and a word such as OOM are in it, without a value.
func (f *File) Values() []Value {
	var out []Value
	for i := range f.Blocks {
		b := &f.Blocks[i]
		for j := range b.Rows {
			out = append(out, f.row(i, j, b.Rows[j], false)...)
		}
		for j := range b.Improvements {
			out = append(out, f.row(i, j, b.Improvements[j], true)...)
		}
	}
	return out
}

// row lists the numbers of one row, or of one improvement.
func (f *File) row(block, index int, r Row, improvement bool) []Value {
	b, list := &f.Blocks[block], "rows"
	if improvement {
		list = "improvements"
	}
	v := Value{
		Paper: f.Paper, Block: b.Name(), Table: b.Table, Figure: b.Figure, Where: b.Where, Kind: b.Kind,
		Data: or(r.Data, b.Data), Method: or(r.Method, b.Method), Row: index,
		Improvement: improvement, Over: r.Over,
		Line: f.Line(fmt.Sprintf("blocks.%d.%s.%d", block, list, index)),
	}
	v.Taken = f.Data[v.Data]
	if b.Kind == Results {
		v.Seeds = f.Seeds
	}
	if improvement {
		v.Test = b.Test
	}
	var out []Value
	for at, n := range r.Values {
		v.At, v.Column, v.Number = at, b.Columns[at], n
		v.Metric = f.Metrics[v.Column]
		v.Setting = Setting{}
		for _, s := range []Setting{f.Defaults[v.Method], b.Setting, r.Setting, v.Metric.Setting} {
			maps.Copy(v.Setting, s)
		}
		if improvement {
			v.Metric.Unit, v.Metric.Lower = Percent, false
		}
		out = append(out, v)
	}
	return out
}

// Values lists every number of several files.
func Values(files []*File) []Value {
	var out []Value
	for _, f := range files {
		out = append(out, f.Values()...)
	}
	return out
}

func or(a, b string) string {
	if a != "" {
		return a
	}
	return b
}

func itoa(n int) string { return strconv.Itoa(n) }
