package format

import (
	"bytes"
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"privrec/internal/dataset"
	"privrec/internal/dataset/compress"
	"privrec/internal/system"
)

// Form names how a file of interactions is laid out.
type Form string

// The forms of files that are read and written a user at a time.
const (
	TSV    Form = "tsv"   // header and tabs
	CSV    Form = "csv"   // header and commas, quotes where needed
	Atomic Form = "inter" // RecBole's: tabs, header of name:type
	Lines  Form = "lines" // user item item ... with single spaces, no header
)

// Forms returns all forms.
func Forms() []Form { return []Form{TSV, CSV, Atomic, Lines} }

// Separator returns the byte between the fields of a form.
func (f Form) Separator() byte {
	switch f {
	case CSV:
		return ','
	case Lines:
		return ' '
	}
	return '\t'
}

// Of returns the form that the name of a file stands for, without .gz and .zst: .tsv, .csv, .inter, and .txt for lines.
// ok is false for other names.
func Of(path string) (f Form, ok bool) {
	name := strings.TrimSuffix(strings.TrimSuffix(path, ".gz"), ".zst")
	switch filepath.Ext(name) {
	case ".tsv":
		return TSV, true
	case ".csv":
		return CSV, true
	case ".inter":
		return Atomic, true
	case ".txt":
		return Lines, true
	}
	return "", false
}

// Stream reads interactions one by one, in memory that does not grow with the file. Rows of a user must be together, in
// order of time if the file has times. Stream does not notice a user who occurs again further on; the caller must, see
// Together. The compression is recognised by the first bytes of the file. Only one goroutine may use a Stream.
//
//	for s.Next() {
//		... s.User, s.Item
//	}
//	err := s.Err()
type Stream struct {
	User   []byte // id, valid until Next
	Item   []byte // id, valid until Next; nil on a line that names a user and no item
	Time   int64  // in whole units, 0 if the file has none
	Starts bool   // first row of a user

	// Together makes Next fail on a user who occurs again, if both places are near the beginning: so it refuses a log
	// in order of time at once.
	Together bool

	Left []string // sentences on columns that are not read, or are read under unusual names

	cursor
	names   []string
	at      [3]int         // columns of user, item, time; -1: none
	ended   map[string]int // lines of the first users whose rows have begun; nil: they are not kept any more
	checked int            // rows since the context was last checked
	last    []byte         // user of the row before
	part    []byte         // digits of the time after its point
	rest    []byte         // of a line that names items
	more    bool           // rest has items
}

// OpenStream opens a file. A table has the columns user_id, item_id and, if there are times, timestamp; other columns
// are ignored.
func OpenStream(ctx context.Context, path string, form Form) (*Stream, error) {
	in, err := openInput(ctx, path)
	if err != nil {
		return nil, err
	}
	s := &Stream{cursor: cursor{in: in, form: form}}
	if err := s.header(); err != nil {
		in.Close()
		return nil, err
	}
	return s, nil
}

func (s *Stream) header() error {
	if s.form == Lines {
		return nil
	}
	var err error
	if s.split, s.names, err = s.in.columns(s.form); err != nil {
		return err
	}
	s.Left = nil
	for i, m := range []Meaning{User, Item, Time} {
		if s.at[i], err = m.Column(s.names, s.in.Fail); err != nil {
			return err
		}
		if s.at[i] < 0 && m != Time {
			return s.in.MissingColumn(string(m), s.names)
		}
		if s.at[i] >= 0 && !m.Usual(s.names[s.at[i]]) {
			s.Left = append(s.Left, m.Taken(s.names[s.at[i]]))
		}
	}
	for i, name := range s.names {
		if !slices.Contains(s.at[:], i) {
			s.Left = append(s.Left, "the column "+name+" is not read")
		}
	}
	return nil
}

// columns reads the header of a table and returns its columns.
func (in *Input) columns(form Form) (s *Splitter, names []string, err error) {
	switch form {
	case Atomic:
		names, _, err = in.atomicHeader()
		return &Splitter{Sep: "\t"}, names, err
	case TSV, CSV:
		return Table{Sep: string(form.Separator())}.Open(in)
	}
	return nil, nil, fmt.Errorf("unknown form %q, want one of %v", form, Forms())
}

// Next moves to the next interaction, and in Lines also to a user without any. It returns false
// at the end and after an error.
func (s *Stream) Next() bool {
	if s.err != nil {
		return false
	}
	s.checked++
	if s.checked&1023 == 0 && s.in.ctx.Err() != nil {
		s.err = s.in.ctx.Err()
		return false
	}
	if s.more {
		s.Starts = false
		s.err = s.item()
		return s.err == nil
	}
	line, ok := s.line("no interactions in the file")
	if !ok {
		return false
	}
	if s.form == Lines {
		s.err = s.history(line)
	} else {
		s.err = s.row(line)
	}
	return s.err == nil
}

// row reads a row of a table.
func (s *Stream) row(line []byte) (err error) {
	v, err := s.split.split(s.in, line)
	if err != nil {
		return err
	}
	if len(v) != len(s.names) {
		return s.split.wrongCount(s.in, len(v), len(s.names), s.names)
	}
	if s.User, err = s.in.Token("user_id", v[s.at[0]]); err != nil {
		return err
	}
	if s.Item, err = s.in.Token("item_id", v[s.at[1]]); err != nil {
		return err
	}
	s.Starts = s.rows == 1 || !bytes.Equal(s.User, s.last)
	if s.Starts {
		s.last = append(s.last[:0], s.User...)
		if err := s.begins(); err != nil {
			return err
		}
	}
	if s.at[2] < 0 {
		return nil
	}
	return s.time(v[s.at[2]])
}

// mostEnded is the number of users that are remembered, to notice one who occurs again.
const mostEnded = 1 << 16

// begins returns an error for a user who occurs again, as far as the first users are remembered.
func (s *Stream) begins() error {
	if s.rows == 1 && s.Together {
		s.ended = map[string]int{}
	}
	if s.ended == nil {
		return nil
	}
	if line, again := s.ended[string(s.User)]; again {
		return s.in.Fail("user_id",
			fmt.Sprintf("the user of line %d comes again: the rows of a user must stand together", line), s.Sort())
	}
	if s.ended[string(s.User)] = s.in.num; len(s.ended) == mostEnded {
		s.ended = nil
	}
	return nil
}

// Sort returns advice on how to put the rows of a user together: for a table a shell command.
func (s *Stream) Sort() string {
	if s.form == Lines {
		return "join the two lines"
	}
	by := []sortKey{{s.at[0], s.names[s.at[0]], false}}
	if s.at[2] >= 0 {
		by = append(by, sortKey{s.at[2], s.names[s.at[2]], true})
	}
	const beam = "; privrec-beam perturbs logs that are too large to sort"
	return "sort the file by user, then time: " + s.sorted(by...) + beam
}

// sortKey is a column that a table is sorted by.
type sortKey struct {
	at      int
	name    string
	numbers bool
}

// sorted returns a shell command that sorts a table by columns, the first one first.
func (c *cursor) sorted(by ...sortKey) string {
	path := system.ShellQuote(c.in.file)
	if strings.HasSuffix(c.in.file, ".parquet") {
		var names []string
		for _, k := range by {
			names = append(names, strconv.Quote(k.name))
		}
		code := fmt.Sprintf("import pandas; pandas.read_parquet(%q).sort_values([%s], "+
			"kind=\"stable\").to_parquet(\"SORTED.parquet\")",
			c.in.file, strings.Join(names, ", "))
		return "python3 -c " + system.ShellQuote(code)
	}
	sep := "'" + c.split.Sep + "'"
	if c.split.Sep == "\t" {
		sep = `$'\t'`
	}
	keys := ""
	for _, k := range by {
		keys += fmt.Sprintf(" -k%d,%d", k.at+1, k.at+1)
		if k.numbers {
			keys += "n"
		}
	}
	cat := "cat"
	switch compress.Of(c.in.file) {
	case compress.Gzip:
		cat = "zcat"
	case compress.Zstd:
		cat = "zstdcat"
	}
	return fmt.Sprintf(`%s %s | (read -r h; echo "$h"; LC_ALL=C sort -s -t %s%s) > SORTED`, cat, path, sep, keys)
}

// time reads a time, whole or decimal. It fails on a time before that of the user's last row.
func (s *Stream) time(b []byte) error {
	t, part, err := s.in.instant("timestamp", b)
	if err != nil {
		return err
	}
	if !s.Starts && (t < s.Time || t == s.Time && bytes.Compare(part, s.part) < 0) {
		return s.in.Fail("timestamp", fmt.Sprintf("%s is before %s of the row above, and both are of user %s",
			decimal(t, part), decimal(s.Time, s.part), dataset.Quote(s.User)),
			"rows of a user must be in order of time: sort the file by user and time")
	}
	s.Time, s.part = t, append(s.part[:0], part...)
	return nil
}

// decimal returns a time as it was read.
func decimal(whole int64, part []byte) string {
	if len(part) == 0 {
		return strconv.FormatInt(whole, 10)
	}
	return fmt.Sprintf("%d.%s", whole, part)
}

// history reads the user of a line and the first item.
func (s *Stream) history(line []byte) error {
	line = bytes.TrimRight(line, " ")
	s.User, s.rest, s.more = bytes.Cut(line, []byte{' '})
	s.Starts, s.Item = true, nil
	if why := NoID(s.User); why != "" && len(s.User) > 0 {
		return s.in.Fail("user", why, "every line needs a user")
	}
	if len(s.User) == 0 || bytes.IndexByte(line, '\t') >= 0 {
		hint := ""
		if bytes.HasPrefix(line, []byte("user_id")) {
			hint = "this is the header of a table: its form is tsv, csv or inter, not lines"
		}
		return s.in.Fail("user", "not a user and items separated by single spaces: "+dataset.Quote(line), hint)
	}
	if err := s.in.noTable(line); err != nil {
		return err
	}
	if s.more {
		return s.item()
	}
	return nil
}

// item reads the next item of a line.
func (s *Stream) item() error {
	s.Item, s.rest, s.more = bytes.Cut(s.rest, []byte{' '})
	if len(s.Item) == 0 {
		return s.in.Fail("item", "two spaces in a row", "a line is: user item item ... between single spaces")
	}
	if why := NoID(s.Item); why != "" {
		return s.in.Fail("item", why, "leave out the item that is missing")
	}
	return nil
}
