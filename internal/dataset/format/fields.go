package format

import (
	"bytes"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"privrec/internal/dataset"
)

// Splitter splits lines into fields. It reuses the slice that it returns.
type Splitter struct {
	Sep    string // one byte, or MovieLens' "::"
	quotes bool   // fields may be "quoted" as in CSV
	fields [][]byte
}

// split returns the fields of line, valid until the next call.
func (s *Splitter) split(in *Input, line []byte) ([][]byte, error) {
	s.fields = s.fields[:0]
	if s.quotes && bytes.IndexByte(line, '"') >= 0 {
		return s.splitQuoted(in, line)
	}
	if len(s.Sep) == 1 {
		c := s.Sep[0]
		for {
			i := bytes.IndexByte(line, c)
			if i < 0 {
				break
			}
			s.fields = append(s.fields, line[:i])
			line = line[i+1:]
		}
	} else {
		sep := []byte(s.Sep)
		for {
			i := bytes.Index(line, sep)
			if i < 0 {
				break
			}
			s.fields = append(s.fields, line[:i])
			line = line[i+len(sep):]
		}
	}
	s.fields = append(s.fields, line)
	return s.fields, nil
}

// splitQuoted returns the fields of a line with quotes by RFC 4180: "" inside quotes is a quote. It fails on a quoted
// line end, because every message here is about one line.
func (s *Splitter) splitQuoted(in *Input, line []byte) ([][]byte, error) {
	sep := s.Sep[0]
	for {
		if len(line) == 0 || line[0] != '"' {
			i := bytes.IndexByte(line, sep)
			field := line
			if i >= 0 {
				field = line[:i]
			}
			if bytes.IndexByte(field, '"') >= 0 {
				return nil, in.Fail("", fmt.Sprintf("field %d has a quote inside an unquoted value %s", len(s.fields)+1,
					dataset.Quote(field)), "quote the whole field and double the quotes in it")
			}
			s.fields = append(s.fields, field)
			if i < 0 {
				return s.fields, nil
			}
			line = line[i+1:]
			continue
		}
		var field []byte
		rest := line[1:]
		for {
			i := bytes.IndexByte(rest, '"')
			if i < 0 {
				return nil, in.Fail("", fmt.Sprintf("field %d has an opening quote and no closing one",
					len(s.fields)+1), "a quoted field must end on its own line")
			}
			field = append(field, rest[:i]...)
			rest = rest[i+1:]
			if len(rest) == 0 || rest[0] != '"' {
				break
			}
			field, rest = append(field, '"'), rest[1:]
		}
		s.fields = append(s.fields, field)
		if len(rest) == 0 {
			return s.fields, nil
		}
		if rest[0] != sep {
			return nil, in.Fail("", fmt.Sprintf("field %d has text after its closing quote", len(s.fields)), "")
		}
		line = rest[1:]
	}
}

// inQuotes reports whether a field is in quotes.
func inQuotes(b []byte) bool { return len(b) > 1 && b[0] == '"' && b[len(b)-1] == '"' }

// noTable returns an error if a line of a user and items is the header of a table, or has ids in quotes as in CSV.
func (in *Input) noTable(line []byte) error {
	first := line
	if i := bytes.IndexAny(line, " ,;|"); i >= 0 {
		first = line[:i]
	}
	if len(first) > 0 && first[0]|0x20 == 'u' && bare(string(first)) == "userid" {
		return in.Fail("user", "the header of a table: "+dataset.Quote(line),
			"lines have none: remove it, or name the file by its form, .tsv or .csv")
	}
	if bytes.IndexByte(line, '"') < 0 {
		return nil
	}
	for field := range bytes.SplitSeq(line, []byte{' '}) {
		if inQuotes(field) {
			return in.Fail("", "an id in quotes: "+dataset.Quote(field),
				"write lines without quotes: here they would be part of the id")
		}
	}
	return nil
}

// wrongCount returns the error for a line with too few or too many fields.
func (s *Splitter) wrongCount(in *Input, got, want int, names []string) error {
	msg := fmt.Sprintf("%d fields instead of %d (%s)", got, want, strings.Join(names, ", "))
	if got == 1 {
		msg = "one field" + strings.TrimPrefix(msg, "1 fields")
	}
	field, hint := "", ""
	switch {
	case got == 1:
		for _, other := range []string{"::", "\t", ",", "|", ";"} {
			if other != s.Sep && bytes.Contains(s.fields[0], []byte(other)) {
				hint = fmt.Sprintf("the separator should be %q, this line seems to use %q", s.Sep, other)
				break
			}
		}
		if hint == "" {
			hint = fmt.Sprintf("the separator should be %q", s.Sep)
		}
	case got < want:
		field, hint = names[got], "the line is short; was the file cut?"
	}
	return in.Fail(field, msg, hint)
}

// Integer returns the decimal int64 in a field, with an optional minus sign.
func (in *Input) Integer(field string, b []byte) (int64, error) {
	digits := b
	if len(b) > 0 && b[0] == '-' {
		digits = b[1:]
	}
	if len(digits) == 0 || len(digits) > 19 {
		return 0, in.notInteger(field, b)
	}
	var v uint64
	for _, c := range digits {
		if c < '0' || c > '9' {
			return 0, in.notInteger(field, b)
		}
		v = v*10 + uint64(c-'0')
	}
	if v > math.MaxInt64 {
		return 0, in.notInteger(field, b)
	}
	if len(digits) < len(b) {
		return -int64(v), nil
	}
	return int64(v), nil
}

func (in *Input) notInteger(field string, b []byte) error {
	return in.notNumber(field, b, "not a 64-bit integer: ")
}

// notNumber returns the error for a field that is not a number. For a date its hint is the number that the date stands
// for.
func (in *Input) notNumber(field string, b []byte, why string) *dataset.Error {
	for _, layout := range dateLayouts {
		if t, err := time.Parse(layout, string(b)); err == nil {
			return in.bad(field, "a date in place of a number: "+dataset.Quote(b),
				fmt.Sprintf("write times as numbers; in Unix seconds, of UTC, this one is %d", t.Unix()))
		}
	}
	return in.bad(field, why+dataset.Quote(b), "")
}

// dateLayouts holds those of ISO 8601, also with a space in place of the T; seconds may have a fraction.
var dateLayouts = []string{
	"2006-01-02", "2006-01-02T15:04:05", "2006-01-02 15:04:05", "2006-01-02T15:04", "2006-01-02 15:04",
	"2006-01-02T15:04:05Z07:00", "2006-01-02 15:04:05Z07:00",
}

// ID returns an id unchanged, after checking that it is a number, 0 or more, of at most 31 bits, as its format
// requires.
func (in *Input) ID(field string, b []byte) ([]byte, error) {
	v, err := in.Integer(field, b)
	switch {
	case err != nil:
		return nil, in.Fail(field, "not an id: "+dataset.Quote(b),
			"ids of this format are integers from 0 to 2147483647")
	case v < 0:
		return nil, in.Fail(field, "negative id "+dataset.Quote(b), "")
	case v > math.MaxInt32:
		return nil, in.Fail(field, "id "+dataset.Quote(b)+" is too large",
			"ids of this format are integers from 0 to 2147483647")
	}
	return b, nil
}

// Token returns an id unchanged that may be any text, after checking it.
func (in *Input) Token(field string, b []byte) ([]byte, error) {
	if why := NoID(b); why != "" {
		return nil, in.Fail(field, why, "every row needs a user and an item")
	}
	return b, nil
}

// NoID returns why a field is not an id: it is blank, or a missing value in the notation of programs; "" if it can be
// an id.
func NoID(b []byte) string {
	switch string(b) {
	case "NaN", "nan", "<NA>":
		return dataset.Quote(b) + " is how pandas writes a missing value"
	case "-1":
		return dataset.Quote(b) + " is how pandas numbers a missing value"
	case "None":
		return dataset.Quote(b) + " is how Python writes a missing value"
	case "NULL", "null":
		return dataset.Quote(b) + " is how databases write a missing value"
	}
	if len(bytes.TrimSpace(b)) == 0 {
		return "empty"
	}
	return ""
}

// float returns the finite decimal number in a field.
func (in *Input) float(field string, b []byte) (float64, error) {
	if len(b) == 1 && b[0] >= '0' && b[0] <= '9' { // most ratings
		return float64(b[0] - '0'), nil
	}
	for _, c := range b {
		if (c < '0' || c > '9') && c != '.' && c != '-' && c != '+' && c != 'e' && c != 'E' {
			return 0, in.notNumber(field, b, "not a finite number: ") // also NaN, Inf, hexadecimal
		}
	}
	v, err := strconv.ParseFloat(string(b), 64)
	if err != nil {
		return 0, in.Fail(field, "not a finite number: "+dataset.Quote(b), "")
	}
	return v, nil
}

// Float returns the finite decimal number in a field.
func (in *Input) Float(field string, b []byte) (float64, error) { return in.float(field, b) }

// Rating returns the number in a field as a float32. It fails if that overflows.
func (in *Input) Rating(field string, b []byte) (float32, error) {
	v, err := in.float(field, b)
	if err == nil && math.Abs(v) > math.MaxFloat32 {
		return 0, in.Fail(field, "rating "+dataset.Quote(b)+" is too large", "")
	}
	return float32(v), err
}

// Timestamp returns the whole number in a field that holds a time, also if it is written as a float, as RecBole does.
func (in *Input) Timestamp(field string, b []byte) (int64, error) {
	return in.whole(field, "timestamp", "give times as whole seconds or milliseconds, so that their order is exact", b)
}

// Whole returns the whole number in a field, also if it is written as a float, as pandas writes a column with gaps.
// what names the number in errors.
func (in *Input) Whole(field, what string, b []byte) (int64, error) {
	return in.whole(field, what, "", b)
}

func (in *Input) whole(field, what, hint string, b []byte) (int64, error) {
	digits := len(bytes.TrimPrefix(b, []byte("-")))
	if digits > 0 && digits <= 19 && !bytes.ContainsAny(b, ".eE+") { // nanoseconds have 19
		return in.Integer(field, b)
	}
	v, err := in.float(field, b)
	if err != nil {
		return 0, err
	}
	if math.Abs(v) > 1<<53 { // whole numbers beyond it are not exact as floats
		return 0, in.Fail(field, what+" "+dataset.Quote(b)+" is too large", "")
	}
	if v != math.Trunc(v) {
		return 0, in.Fail(field, what+" "+dataset.Quote(b)+" is not a whole number", hint)
	}
	return int64(v), nil
}

// instant returns a time as its whole part and its digits after the point, without trailing zeros. It does not round,
// so that times can be put in order.
func (in *Input) instant(field string, b []byte) (whole int64, part []byte, err error) {
	before, after, point := bytes.Cut(b, []byte("."))
	if !point || len(after) > 0 && bytes.IndexFunc(after, func(r rune) bool { return r < '0' || r > '9' }) >= 0 {
		whole, err = in.Timestamp(field, b)
		return whole, nil, err
	}
	if part = bytes.TrimRight(after, "0"); len(part) == 0 {
		whole, err = in.Timestamp(field, before)
		return whole, nil, err
	}
	if whole, err = in.Timestamp(field, before); err != nil || before[0] == '-' {
		bad := in.notNumber(field, b, "not a time: ")
		if bad.Hint == "" {
			bad.Hint = "give times as numbers, decimal ones from 0 on"
		}
		return 0, nil, bad
	}
	return whole, part, nil
}

// AppendField appends an id in the notation of a table of the form: quoted if CSV needs it. It fails on an id that
// contains a separator of the form, with an Error to which the caller adds the place.
func (f Form) AppendField(dst, id []byte) ([]byte, error) {
	bad := "\t"
	switch f {
	case CSV:
		if !bytes.ContainsAny(id, ",\"") {
			return append(dst, id...), nil
		}
		dst = append(dst, '"')
		dst = append(dst, bytes.ReplaceAll(id, []byte(`"`), []byte(`""`))...)
		return append(dst, '"'), nil
	case Lines:
		bad = " \t"
	}
	if bytes.ContainsAny(id, bad) {
		return nil, &dataset.Error{Msg: fmt.Sprintf("id %.40q has a separator of the output's form %q in it", id,
			string(f)), Hint: "--out-form csv quotes what it must"}
	}
	return append(dst, id...), nil
}
