package lists

import (
	"bytes"
	"slices"
	"strconv"
	"strings"

	"privrec/internal/dataset"
	"privrec/internal/dataset/format"
)

// isTable reports whether a line is a header: it names a user or an item between tabs or commas.
func isTable(line []byte) bool {
	return slices.ContainsFunc(bytes.Split(line, []byte(separator(line))), func(f []byte) bool {
		name := string(bytes.Trim(f, `" `))
		return format.User.Means(name) || format.Item.Means(name)
	})
}

// separator returns the tab of a line that has one, and else the comma.
func separator(line []byte) string {
	if bytes.IndexByte(line, '\t') >= 0 {
		return "\t"
	}
	return ","
}

// columns says where the columns of a table are; -1: the table has none.
type columns struct {
	user, item, rank, score, relevance, time int

	unread []int // columns that nothing above is
	orders []int // of these, the ones that could be meant to order lists that have neither rank nor score
}

// find finds the columns of a kind. fail makes the error for a column that is missing or is there twice.
func find(kind Kind, header []string, fail func(field, msg, hint string) error) (c columns, err error) {
	at := func(m format.Meaning) int {
		if err != nil {
			return -1
		}
		i := -1
		i, err = m.Column(header, fail)
		return i
	}
	c = columns{user: at(format.User), item: at(format.Item), rank: -1, score: -1, relevance: -1, time: -1}
	switch kind {
	case Recommended:
		c.rank, c.score = at(format.Rank), at(format.Score)
	case Truth:
		c.relevance = at(format.Relevance)
	case History:
		c.time = at(format.Time)
	}
	for _, need := range []struct {
		is format.Meaning
		at int
	}{{format.User, c.user}, {format.Item, c.item}} {
		if need.at < 0 && err == nil {
			err = fail(string(need.is), "column is missing", "the columns are "+strings.Join(header, ", ")+"; it may be called "+need.is.Spelled())
		}
	}
	for i, name := range header {
		if slices.Contains([]int{c.user, c.item, c.rank, c.score, c.relevance, c.time}, i) {
			continue
		}
		c.unread = append(c.unread, i)
		if kind == Recommended && c.rank < 0 && c.score < 0 && !format.Counts(name) && !format.Time.Means(name) {
			c.orders = append(c.orders, i)
		}
	}
	return c, err
}

// reads notes what a table has.
func (f *File) reads(kind Kind, header []string, c columns) {
	f.Ranked, f.Scored, f.Graded, f.Timed = c.rank >= 0, c.score >= 0, c.relevance >= 0, c.time >= 0
	if f.Rated = f.Graded && format.Rating.Means(header[c.relevance]); f.Rated {
		f.Graded = false
	}
	for _, x := range []struct {
		is format.Meaning
		at int
	}{{format.User, c.user}, {format.Item, c.item}, {format.Rank, c.rank}, {format.Score, c.score}, {format.Relevance, c.relevance}, {format.Time, c.time}} {
		if x.at >= 0 && !x.is.Usual(header[x.at]) {
			f.Taken = append(f.Taken, x.is.Taken(header[x.at]))
		}
	}
	for _, i := range c.unread {
		f.Unread = append(f.Unread, header[i])
	}
}

// table reads a table with a header.
func (p *parser) table(first []byte) error {
	s, header, err := format.Table{Sep: separator(first)}.Open(p.in)
	if err != nil {
		return err
	}
	c, err := find(p.kind, header, p.in.Fail)
	if err != nil {
		return err
	}
	p.file.reads(p.kind, header, c)
	seen := newSeen(header, c)
	err = p.in.EachRow(s, header, func(v [][]byte) (err error) {
		rank, score := int64(0), 1.0
		if c.rank >= 0 {
			if rank, err = p.in.Whole(header[c.rank], "rank", v[c.rank]); err != nil {
				return err
			}
		}
		if c.time >= 0 {
			if err = p.clock.Add(p.in, header[c.time], v[c.time]); err != nil {
				return err
			}
		}
		for _, at := range []int{c.score, c.relevance} {
			if at < 0 {
				continue
			}
			if score, err = p.in.Float(header[at], v[at]); err != nil {
				return err
			}
		}
		if p.file.Rated {
			score = liked(score)
		}
		for k, at := range c.orders {
			x, err := strconv.ParseFloat(string(v[at]), 64)
			seen.value(k, x, err == nil)
		}
		return p.add(v[c.user], v[c.item], rank, score)
	})
	if err != nil {
		return err
	}
	if c.time >= 0 {
		if err := p.file.times(&p.clock, header[c.time]); err != nil {
			return err
		}
	}
	return seen.none(p.file.Path)
}

// times gives every row its time.
func (f *File) times(c *format.Clock, column string) error {
	f.perUnit = c.PerUnit()
	times, err := c.Times(f.Path, column, f.perUnit)
	for i, t := range times {
		f.Rows[i].Rank = t
	}
	return err
}

// liked returns the relevance of an item with a rating: 1 above 0, else 0.
func liked(rating float64) float64 {
	if rating > 0 {
		return 1
	}
	return 0
}

// seen looks at columns that are not read, of lists that have neither rank nor score.
type seen struct {
	names   []string
	first   []float64
	rows    int64
	numbers []bool // every value is a number
	differ  []bool // not all values are the same
}

func newSeen(header []string, c columns) *seen {
	s := &seen{first: make([]float64, len(c.orders)), numbers: make([]bool, len(c.orders)), differ: make([]bool, len(c.orders))}
	for k, i := range c.orders {
		s.names, s.numbers[k] = append(s.names, header[i]), true
	}
	return s
}

// value notes the value of column k in the next row.
func (s *seen) value(k int, x float64, number bool) {
	if k == 0 {
		s.rows++
	}
	if s.rows == 1 {
		s.first[k] = x
	}
	s.numbers[k] = s.numbers[k] && number
	s.differ[k] = s.differ[k] || x != s.first[k]
}

// none fails where a column that is not read has numbers that could order the lists.
func (s *seen) none(path string) error {
	for k, name := range s.names {
		if s.numbers[k] && s.differ[k] {
			return &dataset.Error{File: path, Field: name, Msg: "the lists have neither ranks nor scores, and this column of numbers is not read",
				Hint: "call it score if its largest number is best, or rank if its smallest is; leave it out where the order of the file counts"}
		}
	}
	return nil
}
