package printed

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"privrec/internal/config"
)

// Units of numbers.
const (
	Percent = "percent"
	Share   = "share"
	Count   = "count"
	Plain   = "number"
)

var units = []string{Percent, Share, Count, Plain}

// families are the metrics of ranked lists; each has a cut-off, as in Recall@20.
var families = []string{"Recall", "HR", "Hit", "MRR", "NDCG", "Precision", "F1"}

// others are the metrics without a cut-off, and the statistics of data sets.
var others = []string{
	"micro F1", "MAP", "AUC", "RMSE",
	"users", "items", "interactions", "impressions", "clicks", "pairs", "mean length", "density", "features",
	"dimensions",
}

var ranked = regexp.MustCompile(`^([A-Za-z0-9]+)@([1-9][0-9]*)$`)

// Family returns the metric without its cut-off, and the cut-off, 0 where it has none. A hit
// rate is HR, whatever the paper calls it.
func (m Metric) Family() (string, int) {
	at := ranked.FindStringSubmatch(m.Is)
	if at == nil {
		return m.Is, 0
	}
	k, err := strconv.Atoi(at[2])
	if err != nil {
		return m.Is, 0
	}
	if at[1] == "Hit" {
		return "HR", k
	}
	return at[1], k
}

// check reports every problem of a file by its line.
func (f File) check(doc *config.Document) (*File, error) {
	f.doc = doc
	v := config.NewChecker(doc)
	v.Declared(f)
	for name, m := range f.Metrics {
		family, k := m.Family()
		known := k > 0 && (slices.Contains(families, family)) || k == 0 && slices.Contains(others, m.Is)
		v.Check(known, "metrics."+name+".is", "%q is no metric; known are %s with a cut-off as in Recall@20, and %s",
			m.Is, strings.Join(families, ", "), strings.Join(others, ", "))
		v.OneOf("metrics."+name+".unit", m.Unit, units...)
	}
	v.Check(len(f.Blocks) > 0, "blocks", "must have at least one")
	for private, without := range f.Twins {
		v.Check(f.has(private), "twins."+private, "%q is a method of no row and of no figure", private)
		v.Check(f.has(without), "twins."+private, "%q is a method of no row and of no figure", without)
		v.Check(private != without, "twins."+private, "must be another method")
	}
	for i := range f.Blocks {
		f.checkBlock(v, i)
	}
	for i := range f.Sentences {
		f.checkSentence(v, i)
	}
	if err := v.Err(); err != nil {
		return nil, err
	}
	return &f, nil
}

// checkBlock reports what is wrong with a block.
func (f *File) checkBlock(v *config.Checker, i int) {
	b, at := &f.Blocks[i], func(key string) string { return fmt.Sprintf("blocks.%d.%s", i, key) }
	v.Check(b.Table >= 0, at("table"), "must be at least 0, got %d", b.Table)
	v.Check(b.Figure >= 0, at("figure"), "must be at least 0, got %d", b.Figure)
	names := 0
	for _, has := range []bool{b.Table != 0, b.Figure != 0, b.ID != ""} {
		if has {
			names++
		}
	}
	v.Check(names == 1, at("id"), "a block has one of table, figure and id, got %d of them", names)
	for j := range i {
		v.Check(f.Blocks[j].Name() != b.Name(), at("where"), "%s is block %d already", b.Name(), j+1)
	}
	for j, c := range b.Columns {
		_, ok := f.Metrics[c]
		v.Check(ok, at(fmt.Sprintf("columns.%d", j)), "%q is not among the file's metrics", c)
		v.Check(!slices.Contains(b.Columns[:j], c), at(fmt.Sprintf("columns.%d", j)), "%q is there already", c)
	}
	v.Check((b.Kind == Drawn) == (len(b.Rows) == 0), at("rows"),
		"a table has rows, and a figure without printed numbers has none")
	v.Check((b.Kind == Drawn) == (len(b.Drawn) > 0), at("drawn"),
		"a figure says what is drawn, and a table has nothing drawn")
	v.Check(b.Test == nil || len(b.Improvements) > 0, at("test"), "there are no improvements that it could be of")
	for data := range b.Tested {
		has := slices.ContainsFunc(b.Rows, func(r Row) bool { return or(r.Data, b.Data) == data })
		v.Check(has, at("tested."+data), "%q has no row in that table", data)
	}
	seen := map[string]int{}
	for j := range b.Rows {
		f.checkRow(v, b, b.Rows[j], at(fmt.Sprintf("rows.%d", j)))
		key := fmt.Sprint(or(b.Rows[j].Data, b.Data), "|", or(b.Rows[j].Method, b.Method), "|", b.Rows[j].Setting)
		first, twice := seen[key]
		v.Check(!twice, at(fmt.Sprintf("rows.%d", j)), "the same data, method and setting as row %d", first+1)
		seen[key] = j
	}
	for j, r := range b.Improvements {
		at := at(fmt.Sprintf("improvements.%d", j))
		f.checkRow(v, b, r, at)
		v.Check(r.Over != "", at+".over", "must name the method that the improvement is over")
	}
}

// has reports whether a row or a curve is of a method.
func (f *File) has(method string) bool {
	for i := range f.Blocks {
		b := &f.Blocks[i]
		if slices.ContainsFunc(b.Rows, func(r Row) bool { return or(r.Method, b.Method) == method }) ||
			slices.ContainsFunc(b.Drawn, func(c Curve) bool { return slices.Contains(c.Methods, method) }) {
			return true
		}
	}
	return false
}

// checkRow reports what is wrong with a row, or with an improvement.
func (f *File) checkRow(v *config.Checker, b *Block, r Row, at string) {
	v.Check(len(r.Values) == len(b.Columns), at+".values",
		"%d numbers for %d columns; write a dash where the paper prints one", len(r.Values), len(b.Columns))
	v.Check(or(r.Data, b.Data) != "", at+".data", "must name the data set")
	v.Check(b.Kind != Results || or(r.Method, b.Method) != "", at+".method", "must name the method")
}

// checkSentence reports what is wrong with a number in a sentence.
func (f *File) checkSentence(v *config.Checker, i int) {
	s, at := &f.Sentences[i], fmt.Sprintf("sentences.%d.", i)
	v.OneOf(at+"unit", s.Unit, units...)
	v.Check(s.Value.Value != nil, at+"value", "must be a number")
	table := func(key string, n int) *Block {
		b := f.Block(n)
		v.Check(b != nil, at+key, "there is no table %d", n)
		return b
	}
	column := func(key string, b *Block, name string) {
		v.Check(b == nil || slices.Contains(b.Columns, name), at+key, "%q is no column of that table", name)
	}
	if g := s.Gain; g != nil {
		b := table("gain.table", g.Table)
		for j, m := range g.Metrics {
			column(fmt.Sprintf("gain.metrics.%d", j), b, m)
		}
		for _, m := range []struct{ key, name string }{{"method", g.Method}, {"over", g.Over}} {
			has := b == nil || slices.ContainsFunc(b.Rows, func(r Row) bool { return or(r.Method, b.Method) == m.name })
			v.Check(has, at+"gain."+m.key, "%q has no row in that table", m.name)
		}
	}
	if c := s.Same; c != nil {
		column("same.metric", table("same.table", c.Table), c.Metric)
	}
	if s.Best != nil {
		v.Check(len(s.Best.Tables) > 0, at+"best.tables", "must name at least one")
		for j, n := range s.Best.Tables {
			column("best.metric", table(fmt.Sprintf("best.tables.%d", j), n), s.Best.Metric)
		}
	}
	if s.Columns != nil {
		table("columns.table", s.Columns.Table)
	}
	if s.States != nil {
		_, ok := f.Metrics[s.States.Metric]
		v.Check(ok, at+"states.metric", "%q is not among the file's metrics", s.States.Metric)
	}
}
