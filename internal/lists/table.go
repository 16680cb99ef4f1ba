package lists

import (
	"bytes"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"privrec/internal/dataset"
	"privrec/internal/dataset/format"
)

// isTable reports whether a line is a header: it names a user or an item between tabs, commas or semicolons.
func isTable(line []byte) bool {
	return slices.ContainsFunc(bytes.Split(line, []byte(separator(line))), func(f []byte) bool {
		name := string(bytes.Trim(f, `" `))
		return format.User.Means(name) || format.Item.Means(name)
	})
}

// separator returns the separator of a line: the tab or the :: if it has one, the semicolon if it has no comma, and
// else the comma.
func separator(line []byte) string {
	switch {
	case bytes.IndexByte(line, '\t') >= 0:
		return "\t"
	case bytes.Contains(line, []byte("::")):
		return "::"
	case bytes.IndexByte(line, ',') < 0 && bytes.IndexByte(line, ';') >= 0:
		return ";"
	}
	return ","
}

// columns holds the positions of a table's columns; -1: the table has none.
type columns struct {
	user, item, rank, score, relevance, time int

	places []int // columns of the first item of a list, the second and so on, where no column is item
	unread []int // columns that nothing above is
	orders []int // of these, the ones that could be meant to order lists that have neither rank nor score
}

// used returns the columns that are read of every row.
func (c columns) used() (at []int) {
	for _, i := range []int{c.user, c.item, c.rank, c.score, c.relevance, c.time} {
		if i >= 0 {
			at = append(at, i)
		}
	}
	return at
}

// find returns the columns of a kind. fail makes the error for a column that is missing or occurs twice.
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
	if c.item < 0 && err == nil {
		if c.places = numbered(header); c.places != nil { // a place of a list has no value beside its item
			c = columns{user: c.user, item: c.places[0], rank: -1, score: -1, relevance: -1, time: -1, places: c.places}
		}
	}
	for _, need := range []struct {
		is format.Meaning
		at int
	}{{format.User, c.user}, {format.Item, c.item}} {
		if need.at < 0 && err == nil {
			err = fail(string(need.is), "column is missing", "the columns are "+strings.Join(header, ", ")+
				"; it may be called "+need.is.Spelled())
		}
	}
	for i, name := range header {
		if slices.Contains(c.used(), i) || slices.Contains(c.places, i) {
			continue
		}
		c.unread = append(c.unread, i)
		ordered := c.places != nil || c.rank >= 0 || c.score >= 0
		if kind == Recommended && !ordered && !format.Counts(name) && !format.Time.Means(name) {
			c.orders = append(c.orders, i)
		}
	}
	return c, err
}

// reads records which columns a table has.
func (f *File) reads(kind Kind, header []string, c columns) {
	f.Ranked, f.Scored, f.Graded, f.Timed = c.rank >= 0, c.score >= 0, c.relevance >= 0, c.time >= 0
	if c.places != nil {
		f.Taken = append(f.Taken,
			fmt.Sprintf("the columns %s to %s are read as the items of a list, the first one best",
				header[c.places[0]], header[c.places[len(c.places)-1]]))
	}
	if f.Rated = f.Graded && format.Rating.Means(header[c.relevance]); f.Rated {
		f.Graded = false
	}
	for _, x := range []struct {
		is format.Meaning
		at int
	}{
		{format.User, c.user}, {format.Item, c.item}, {format.Rank, c.rank},
		{format.Score, c.score}, {format.Relevance, c.relevance}, {format.Time, c.time},
	} {
		if x.at >= 0 && !x.is.Usual(header[x.at]) && (x.at != c.item || c.places == nil) {
			f.Taken = append(f.Taken, x.is.Taken(header[x.at]))
		}
	}
	for _, i := range c.unread {
		f.Unread = append(f.Unread, header[i])
	}
}

// numbered returns the columns of a header that are named by a word for items, or no word, and the numbers 1, 2, 3 and
// so on, or 0, 1, 2, in their order, as in rec_1 to rec_20; nil if there are fewer than two.
func numbered(header []string) []int {
	at := map[string]map[int]int{}
	var words []string
	for i, h := range header {
		word := strings.TrimRight(h, "0123456789")
		n, err := strconv.Atoi(h[len(word):])
		if err != nil || strconv.Itoa(n) != h[len(word):] || word != "" && !format.Item.Means(word) {
			continue
		}
		if at[word] == nil {
			at[word], words = map[int]int{}, append(words, word)
		}
		at[word][n] = i
	}
	if len(words) != 1 {
		return nil
	}
	var places []int
	columns := at[words[0]]
	first := 1
	if _, ok := columns[0]; ok {
		first = 0
	}
	for n := first; n < first+len(columns); n++ {
		i, ok := columns[n]
		if !ok {
			return nil
		}
		places = append(places, i)
	}
	if len(places) < 2 {
		return nil
	}
	return places
}

// rows reads the rows of a table whose columns are known.
type rows struct {
	*parser
	header  []string
	inLists []bool // which columns hold lists
	c       columns
	seen    *seen
	listed  bool  // a row holds a list of items
	place   int64 // of an item in the list that its row holds, from 1; 0: it has none
}

// begin returns a reader of rows after finding the columns of a table. inLists says which ones hold lists.
func (p *parser) begin(header []string, inLists []bool, fail func(field, msg, hint string) error) (*rows, error) {
	c, err := find(p.kind, header, fail)
	if err != nil {
		return nil, err
	}
	if inLists[c.user] {
		return nil, fail(header[c.user], "holds lists of users", "a row is about one user")
	}
	r := &rows{parser: p, header: header, inLists: inLists, c: c, listed: c.places != nil || inLists[c.item]}
	for _, at := range c.used() {
		if inLists[at] && (!r.listed || c.places != nil) {
			return nil, fail(header[at], "holds lists, and "+header[c.item]+" does not",
				"a list has a value for each item of a row")
		}
	}
	p.file.reads(p.kind, header, c)
	if r.ordered() {
		p.file.Ranked, r.c.orders = true, nil
	}
	r.seen = newSeen(header, r.c)
	return r, nil
}

// ordered reports whether the place of an item within its row is its rank.
func (r *rows) ordered() bool {
	return r.listed && r.kind == Recommended && r.c.rank < 0 && r.c.score < 0
}

// table reads a table with a header.
func (p *parser) table(first []byte) error {
	s, header, err := format.Table{Sep: separator(first)}.Open(p.in)
	if err != nil {
		return err
	}
	r, err := p.begin(header, make([]bool, len(header)), p.in.Fail)
	if err != nil {
		return err
	}
	add := r.one
	if r.c.places != nil {
		add = r.wide
	}
	if err := p.in.EachRow(s, header, add); err != nil {
		return err
	}
	return r.end()
}

// one reads a row that is one item.
func (r *rows) one(v [][]byte) (err error) {
	c, rank, score := &r.c, r.place, 1.0
	if c.rank >= 0 {
		if rank, err = r.in.Whole(r.header[c.rank], "rank", v[c.rank]); err != nil {
			return err
		}
	}
	if c.time >= 0 {
		if err = r.clock.Add(r.in, r.header[c.time], v[c.time]); err != nil {
			return err
		}
	}
	for _, at := range []int{c.score, c.relevance} {
		if at < 0 {
			continue
		}
		if score, err = r.in.Float(r.header[at], v[at]); err != nil {
			return err
		}
	}
	if r.file.Rated {
		score = liked(score)
	}
	for k, at := range c.orders {
		x, err := strconv.ParseFloat(string(v[at]), 64)
		r.seen.value(k, x, err == nil)
	}
	return r.add(v[c.user], v[c.item], rank, score)
}

// wide reads a row that holds a list with one item per column. Empty columns have no item.
func (r *rows) wide(v [][]byte) error {
	var items [][]byte
	for _, at := range r.c.places {
		if format.Missing(v[at]) {
			r.file.Gaps++
			continue
		}
		items = append(items, v[at])
	}
	lists := make([][][]byte, len(v))
	lists[r.c.item] = items
	return r.many(v, lists, len(items))
}

// many reads a row that holds length items: the value of a column for item k is entry k of its list, if it has one.
func (r *rows) many(v [][]byte, lists [][][]byte, length int) error {
	row := make([][]byte, len(v))
	for k := range length {
		copy(row, v)
		for at, list := range lists {
			if k < len(list) {
				row[at] = list[k]
			}
		}
		if r.ordered() {
			r.place = int64(k + 1)
		}
		if err := r.one(row); err != nil {
			return err
		}
	}
	return nil
}

// end finishes the file.
func (r *rows) end() error {
	if r.c.time >= 0 {
		if err := r.file.times(&r.clock, r.header[r.c.time]); err != nil {
			return err
		}
	}
	return r.seen.none(r.file.Path)
}

// times sets the time of every row.
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

// seen observes columns that are not read, of lists that have neither rank nor score.
type seen struct {
	names   []string
	first   []float64
	rows    int64
	numbers []bool // every value is a number
	differ  []bool // not all values are the same
}

func newSeen(header []string, c columns) *seen {
	s := &seen{first: make([]float64, len(c.orders)), numbers: make([]bool, len(c.orders)),
		differ: make([]bool, len(c.orders))}
	for k, i := range c.orders {
		s.names, s.numbers[k] = append(s.names, header[i]), true
	}
	return s
}

// value records the value of column k in the next row.
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

// none returns an error if a column that is not read has numbers that could order the lists.
func (s *seen) none(path string) error {
	for k, name := range s.names {
		if s.numbers[k] && s.differ[k] {
			return &dataset.Error{File: path, Field: name,
				Msg: "the lists have neither ranks nor scores, and this column of numbers is not read",
				Hint: "call it score if its largest number is best, or rank if its smallest is; leave it out where " +
					"the order of the file counts"}
		}
	}
	return nil
}
