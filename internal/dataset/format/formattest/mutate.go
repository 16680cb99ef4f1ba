package formattest

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode/utf16"

	"privrec/internal/dataset/format"
	"privrec/internal/rng"
)

// Sheet holds a small valid table. Its columns are named by their meanings.
type Sheet struct {
	Header []format.Meaning
	Rows   [][]string
	// Also maps columns that have no Meaning of their own to other names, as shown_at.
	Also map[format.Meaning][]string
	// Numbers lists columns of numbers that have no Meaning of their own, as age.
	Numbers []format.Meaning
	// Bare is set if the file has no line of names.
	Bare bool
	// Once is set if a repeated row is a fault.
	Once bool
	// Write writes a form that is not a text table, such as JSON Lines or Parquet; nil: fields with separators.
	Write func(names []string, rows [][]string) []byte
}

// Verdict holds a reader's result for a file: the rows as text, in the order in which they count, and its sentences on
// columns, rows and values that it leaves out or reads in another way.
type Verdict struct {
	Rows string
	Said []string
}

// Read reads the file at path.
type Read func(path string) (Verdict, error)

// mutant is a file that is changed before it is written.
type mutant struct {
	header []string
	names  []string         // the header before any change
	means  []format.Meaning // of the columns
	rows   [][]string
	sep    string
	quoted bool
	end    string
	again  int  // line at which the header is repeated; 0: none
	final  bool // the last line has an end
	bare   bool // without the line of names
	write  func(names []string, rows [][]string) []byte
	encode []func([]byte) []byte
	did    []string
	tell   []string // columns without a meaning, which a reader must name
	free   bool     // rows may differ without a word: the file now says something else
}

// Mutants changes a valid file in n ways drawn from seed, each by one or two changes, and runs a reader on each. The
// reader must either refuse the file with an error that names it, read the same rows, or say what it left out. ext is
// the end of the file's name. It returns how many files were refused, were read the same, and were read with a remark.
func (s Sheet) Mutants(t *testing.T, seed uint64, n int, ext, sep string, read Read) (refused, same, said int) {
	t.Helper()
	dir := t.TempDir()
	put := func(i int, b []byte) string {
		folder := filepath.Join(dir, strconv.Itoa(i))
		if err := os.Mkdir(folder, 0o700); err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(folder, "mutant"+ext)
		if err := os.WriteFile(path, b, 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	whole := s.mutant(sep)
	right, err := read(put(-1, whole.bytes()))
	if err != nil {
		t.Fatalf("the right file: %v", err)
	}
	stream := rng.Seed(seed).Stream("mutants")
	draws := &stream
	for i := range n {
		m := s.mutant(sep)
		for range 1 + draws.IntN(2) {
			s.change(m, draws)
		}
		if strings.Join(m.rows[len(m.rows)-1], "") == "" && len(m.rows[len(m.rows)-1]) < 2 {
			m.free = true // a blank line at the end
		}
		path := put(i, m.bytes())
		got, err := read(path)
		os.RemoveAll(filepath.Dir(path))
		switch {
		case err != nil:
			if refused++; !strings.Contains(err.Error(), "mutant") {
				t.Errorf("%v: the error does not name the file: %v", m.did, err)
			}
		case !m.told(got.Said):
			t.Errorf("%v: read without a word of %v: %v", m.did, m.tell, got.Said)
		case got.Rows == right.Rows:
			same++
		case m.free:
			said++
		case slices.ContainsFunc(got.Said, func(x string) bool { return !slices.Contains(right.Said, x) }):
			said++
		default:
			t.Errorf("%v: read without a word as\n%s\nin place of\n%s\nfile:\n%.600q", m.did, got.Rows, right.Rows,
				m.bytes())
		}
		if t.Failed() && i > 200 {
			break
		}
	}
	return refused, same, said
}

func (s Sheet) mutant(sep string) *mutant {
	m := &mutant{sep: sep, end: "\n", final: true, bare: s.Bare, write: s.Write}
	for _, h := range s.Header {
		m.header, m.means = append(m.header, string(h)), append(m.means, h)
	}
	m.names = slices.Clone(m.header)
	for _, r := range s.Rows {
		m.rows = append(m.rows, slices.Clone(r))
	}
	return m
}

// told reports whether sentences name the columns without a meaning, as far as they are still there.
func (m *mutant) told(said []string) bool {
	text := strings.ToLower(strings.Join(said, "\n"))
	for _, name := range m.tell {
		there := slices.ContainsFunc(m.header,
			func(h string) bool { return strings.HasPrefix(strings.ToLower(h), name) })
		if there && !m.bare && !strings.Contains(text, name) {
			return false
		}
	}
	return true
}

// bytes returns the content of the file.
func (m *mutant) bytes() []byte {
	out := m.table()
	if m.write != nil {
		out = m.form()
	}
	for _, f := range m.encode {
		out = f(out)
	}
	return out
}

// lines returns the lines of the file: the names, if it has them, and the rows.
func (m *mutant) lines() [][]string {
	lines := append([][]string{m.header}, m.rows...)
	if m.again > 0 {
		again := m.header
		if m.bare {
			again = m.names
		}
		lines = slices.Insert(lines, min(m.again, len(lines)), again)
	}
	if m.bare {
		lines = lines[1:]
	}
	return lines
}

// form returns the content in a form that is not a text table.
func (m *mutant) form() []byte {
	rows := m.lines()
	if !m.bare {
		rows = rows[1:]
	}
	out := m.write(m.header, rows)
	if !m.final {
		out = bytes.TrimSuffix(out, []byte("\n"))
	}
	return bytes.ReplaceAll(out, []byte("\n"), []byte(m.end))
}

// table returns the content as fields with separators between them.
func (m *mutant) table() []byte {
	var b bytes.Buffer
	lines := m.lines()
	for i, fields := range lines {
		for k, f := range fields {
			if k > 0 {
				b.WriteString(m.sep)
			}
			if m.quoted {
				f = `"` + f + `"`
			}
			b.WriteString(f)
		}
		if i < len(lines)-1 || m.final {
			b.WriteString(m.end)
		}
	}
	return b.Bytes()
}

// spellings holds other names of columns, as other programs write them.
var spellings = map[format.Meaning][]string{
	format.User:   {"user", "userId", "User-ID", "uid", "reviewerID", "USER_ID", "customer_id"},
	format.Item:   {"item", "itemId", "movieId", "ISBN", "iid", "asin", "ITEM_ID"},
	format.Rating: {"Rating", "stars", "overall", "Book-Rating"},
	format.Time:   {"time", "ts", "Timestamp", "unixReviewTime"},
	format.Score:  {"prediction", "est", "Score", "pred"}, format.Rank: {"position", "Rank"},
	format.Relevance: {"rel", "Relevance"},
}

// change applies one random change.
func (s Sheet) change(m *mutant, r *rng.Stream) {
	column := r.IntN(len(m.header))
	row := r.IntN(len(m.rows))
	numbers := func(names ...format.Meaning) []format.Meaning { return append(names, s.Numbers...) }
	of := func(names ...format.Meaning) int { // a column that means one of them, and its values are still there
		var at []int
		for i, h := range m.means {
			if slices.Contains(names, h) {
				at = append(at, i)
			}
		}
		if len(at) == 0 {
			return -1
		}
		return at[r.IntN(len(at))]
	}
	each := func(at int, f func(string) string) {
		for _, x := range m.rows {
			if at < len(x) {
				x[at] = f(x[at])
			}
		}
	}
	did := func(format string, args ...any) { m.did = append(m.did, fmt.Sprintf(format, args...)) }
	number := func() int { // a column of numbers that the row has
		at := of(numbers(format.Time, format.Rating, format.Score, format.Rank, format.Relevance)...)
		if at >= len(m.rows[row]) {
			return -1
		}
		return at
	}
	switch r.IntN(42) {
	case 0:
		m.header[column] = strings.ToUpper(m.header[column])
		did("large letters in column %d", column)
	case 1:
		if names := append(slices.Clone(spellings[m.means[column]]), s.Also[m.means[column]]...); len(names) > 0 {
			m.header[column] = names[r.IntN(len(names))]
		}
		did("column %d called %s", column, m.header[column])
	case 2:
		m.header[column], m.tell = "mystery", append(m.tell, "mystery")
		did("column %d called mystery", column)
	case 3:
		m.header, m.means = append(m.header, m.header[column]), append(m.means, m.means[column])
		for i := range m.rows {
			if len(m.rows[i]) > 0 {
				m.rows[i] = append(m.rows[i], m.rows[i][min(column, len(m.rows[i])-1)])
			}
		}
		m.free = m.free || m.bare
		did("column %d twice", column)
	case 4:
		at := of(numbers(format.Time, format.Rating, format.Rank, format.Relevance)...)
		if at >= 0 {
			m.free = true // a file without them says so
			m.header, m.means = slices.Delete(m.header, at, at+1), slices.Delete(m.means, at, at+1)
			for i, x := range m.rows {
				if at < len(x) {
					m.rows[i] = slices.Delete(x, at, at+1)
				}
			}
		}
		did("without column %d", at)
	case 5:
		m.header, m.means, m.tell = append(m.header, "remark"), append(m.means, ""), append(m.tell, "remark")
		for i := range m.rows {
			m.rows[i] = append(m.rows[i], "x"+strconv.Itoa(i))
		}
		m.free = m.free || m.bare
		did("a further column")
	case 6:
		for i := range m.header {
			if !strings.Contains(m.header[i], ":") {
				m.header[i] += ":token"
			}
		}
		did("types in the header")
	case 7:
		m.header[column] += ":float"
		did("a type on column %d", column)
	case 8:
		order := r.Perm(len(m.header))
		ragged := slices.ContainsFunc(m.rows, func(x []string) bool { return len(x) != len(order) })
		m.free = m.free || m.bare || m.write != nil && ragged // a form without separators has no such rows
		m.header, m.means = pick(m.header, order), pick(m.means, order)
		for i, x := range m.rows {
			if len(x) == len(order) {
				m.rows[i] = pick(x, order)
			}
		}
		did("columns in another order")
	case 9:
		if of(format.Time, format.Score, format.Rank) >= 0 {
			r.Shuffle(len(m.rows), func(i, j int) { m.rows[i], m.rows[j] = m.rows[j], m.rows[i] })
		}
		did("rows in another order")
	case 10:
		if at := of(numbers(format.Time, format.Rank, format.Rating)...); at >= 0 {
			each(at, func(x string) string { return x + ".0" })
		}
		did("whole numbers with .0")
	case 11:
		if at := of(numbers(format.Time, format.Score)...); at >= 0 {
			each(at, func(x string) string {
				v, err := strconv.ParseFloat(x, 64)
				if err != nil {
					return x
				}
				return strconv.FormatFloat(v, 'e', -1, 64)
			})
		}
		did("numbers with exponents")
	case 12:
		m.quoted = true
		did("quotes")
	case 13:
		m.encode = append(m.encode, func(b []byte) []byte { return append([]byte("\xef\xbb\xbf"), b...) })
		did("a byte order mark")
	case 14:
		m.encode = append(m.encode, func(b []byte) []byte {
			out := []byte{0xff, 0xfe}
			for _, u := range utf16.Encode([]rune(string(b))) {
				out = append(out, byte(u), byte(u>>8))
			}
			return out
		})
		did("UTF-16")
	case 15:
		if at := of(format.User, format.Item); at >= 0 && at < len(m.rows[row]) {
			m.rows[row][at] = "caf\xe9"
		}
		did("Latin-1")
	case 16:
		m.end = "\r"
		did("CR")
	case 17:
		m.end = "\r\n"
		did("CRLF")
	case 18:
		m.final = false
		did("no last line end")
	case 19:
		if len(m.rows[row]) > 0 {
			m.rows[row][0] += "\x00"
		}
		did("NUL")
	case 20:
		m.sep = []string{"\t", ",", ";", "::", " ", "|"}[r.IntN(6)]
		did("separator %q", m.sep)
	case 21:
		at := of(numbers(format.Time, format.Rating, format.Score, format.Rank, format.Relevance)...)
		if at >= 0 && at < len(m.rows[row]) {
			m.rows[row][at] = []string{"NaN", "NA", "", "null", `\N`, "None"}[r.IntN(6)]
		}
		did("a missing value in column %d", at)
	case 22:
		m.rows[row] = m.rows[row][:max(0, len(m.rows[row])-1)]
		did("a short row")
	case 23:
		m.rows[row] = append(m.rows[row], "more")
		takes := len(m.rows[row]) == len(m.header) || len(s.Header) == 1 && s.Write == nil // the place of a value
		m.free = m.free || takes
		did("a long row")
	case 24:
		m.again = row + 1
		did("the header twice")
	case 25:
		if at := of(format.User, format.Item); at >= 0 && at < len(m.rows[row]) {
			m.rows[row][at] = []string{"", "NaN", " "}[r.IntN(3)]
		}
		did("an id missing")
	case 26:
		if at := of(format.Score); at >= 0 && at < len(m.rows[row]) {
			m.rows = append(m.rows, slices.Clone(m.rows[row]))
			m.rows[len(m.rows)-1][at] = "-3.4028234663852886e+38"
			if i := of(format.Item); i >= 0 && i < len(m.rows[row]) {
				m.rows[len(m.rows)-1][i] = "-1"
			}
		}
		did("a filler")
	case 27:
		m.encode = append(m.encode, func(b []byte) []byte {
			var z bytes.Buffer
			w := gzip.NewWriter(&z)
			w.Write(b)
			w.Close()
			return z.Bytes()
		})
		did("gzip under a plain name")
	case 28:
		if at := of(format.Time); at >= 0 {
			each(at, func(x string) string { return x + ".25" })
		}
		did("times with fractions")
	case 29:
		m.rows = slices.Insert(m.rows, row, []string{"# remark"})
		did("a line of remarks")
	case 30:
		if at := of(format.User, format.Item); at >= 0 && at < len(m.rows[row]) {
			m.rows[row][at] = []string{"-1", "NULL", "null", "None"}[r.IntN(4)]
		}
		did("an id missing, by a word")
	case 31:
		if at := of(format.Time, format.Shown, format.Clicked); at >= 0 && at < len(m.rows[row]) {
			if v, err := strconv.ParseInt(m.rows[row][at], 10, 64); err == nil {
				m.rows[row][at] = strconv.FormatInt(v*1000, 10)
			}
		}
		did("a time in milliseconds")
	case 32:
		m.rows = slices.Insert(m.rows, row, slices.Clone(m.rows[row]))
		m.free = m.free || !s.Once
		did("a row twice")
	case 33:
		m.bare = true
		did("no header")
	case 34:
		m.encode = append(m.encode, func(b []byte) []byte {
			return bytes.ReplaceAll(b, []byte("\n"), []byte(m.sep+"\n"))
		})
		did("separators at the ends")
	case 35:
		m.bare, m.again = true, row+2
		did("the header in the middle")
	case 36:
		m.encode = append(m.encode, inserted(row, "\n"))
		did("a blank line")
	case 37:
		m.encode = append(m.encode, func(b []byte) []byte { return append([]byte("Export of 2026-01-01\n"), b...) })
		did("a title")
	case 38:
		if at := number(); at >= 0 {
			v := m.rows[row][at]
			spelt := []string{"+" + v, " " + v, v + " ", "0" + v, v + "e400", "0x" + v, v + "%", v + "_0", "1," + v}
			m.rows[row][at] = spelt[r.IntN(len(spelt))]
		}
		did("a number in another spelling")
	case 39:
		m.encode = append(m.encode, inserted(row+1, "\xef\xbb\xbf"))
		did("a byte order mark inside")
	case 40:
		m.encode = append(m.encode, func(b []byte) []byte {
			out := []byte(nil)
			if column > 0 {
				out = []byte{0xfe, 0xff}
			}
			for _, u := range utf16.Encode([]rune(string(b))) {
				out = append(out, byte(u>>8), byte(u))
			}
			return out
		})
		did("UTF-16 of the other order, or without a mark")
	case 41:
		m.header[column] += []string{"\u200b", "\u00a0", " "}[r.IntN(3)]
		did("an invisible character in the name of column %d", column)
	}
}

// inserted returns a change that inserts a text at the beginning of a line, counted from 0.
func inserted(line int, text string) func([]byte) []byte {
	return func(b []byte) []byte {
		at := 0
		for range line {
			i := bytes.IndexByte(b[at:], '\n')
			if i < 0 {
				break
			}
			at += i + 1
		}
		return slices.Insert(bytes.Clone(b), at, []byte(text)...)
	}
}

// pick returns the elements of v in another order.
func pick[T any](v []T, order []int32) []T {
	out := make([]T, len(v))
	for i, at := range order {
		out[i] = v[at]
	}
	return out
}
