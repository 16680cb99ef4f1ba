package format

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"privrec/internal/dataset"
)

// ReadInter reads a RecBole atomic interaction file: tab separated, with a header of name:type
// that has user_id:token and item_id:token and may have rating:float and timestamp:float. Other
// columns are ignored.
func ReadInter(ctx context.Context, path string) (*dataset.Log, error) {
	return ReadFile(ctx, path, parseInter)
}

func parseInter(in *Input) (*dataset.Log, error) { return Table{}.inter(in) }

// ReadInter reads a RecBole atomic interaction file whose columns have the names in t. If t names a rating or a time,
// that column must be present.
func (t Table) ReadInter(ctx context.Context, path string) (*dataset.Log, error) {
	return ReadFile(ctx, path, t.inter)
}

func (t Table) inter(in *Input) (*dataset.Log, error) {
	names, types, err := in.atomicHeader()
	if err != nil {
		return nil, err
	}
	if t, err = t.known(in, names); err != nil {
		return nil, err
	}
	if err := t.typesOf(in, names, types); err != nil {
		return nil, err
	}
	return t.rows(in, &Splitter{Sep: "\t"}, names)
}

// typesOf returns an error if the columns of interactions have wrong types.
func (t Table) typesOf(in *Input, names, types []string) error {
	for _, col := range [][2]string{{t.user(), "token"}, {t.item(), "token"}, {cmp.Or(t.Rating, "rating"), "float"},
		{cmp.Or(t.Time, "timestamp"), "float"}} {
		if i := slices.Index(names, col[0]); i >= 0 && types[i] != col[1] {
			return in.Fail(col[0], "type is "+strconv.Quote(types[i])+", want "+strconv.Quote(col[1]), "write "+col[0]+
				":"+col[1]+" in the header")
		}
	}
	return nil
}

// ReadUserAtomic reads a RecBole atomic user file with a user_id:token column. Token columns
// become categorical, float columns numeric. kinds overrides the kind of a column, since
// MovieLens-100K's age is declared a token but is in years. ReadUserAtomic fails on columns of
// type token_seq and float_seq.
func ReadUserAtomic(ctx context.Context, path string, kinds map[string]dataset.Kind) (*dataset.Features, error) {
	return Table{Kinds: kinds}.ReadUserAtomic(ctx, path)
}

// ReadUserAtomic reads a RecBole atomic user file. The column of users has the name in t, and the kinds of t replace
// those of the header.
func (t Table) ReadUserAtomic(ctx context.Context, path string) (*dataset.Features, error) {
	return ReadFile(ctx, path, t.userAtomic)
}

func (t Table) userAtomic(in *Input) (*dataset.Features, error) {
	names, types, err := in.atomicHeader()
	if err != nil {
		return nil, err
	}
	user, err := in.column(t.user(), names)
	if err != nil {
		return nil, err
	}
	of := map[string]dataset.Kind{}
	for i, n := range names {
		switch types[i] {
		case "token":
			of[n] = dataset.Categorical
		case "float":
			of[n] = dataset.Numeric
		default:
			return nil, in.Fail(n, "a user feature of type "+types[i]+" is not supported",
				"drop the column, or give one value a user")
		}
		if k, ok := t.Kinds[n]; ok {
			of[n] = k
		}
	}
	fb := NewFeatureBuilder(slices.Delete(slices.Clone(names), user, user+1), of)
	var rest [][]byte
	err = in.EachRow(&Splitter{Sep: "\t"}, names, func(v [][]byte) error {
		rest = append(append(rest[:0], v[:user]...), v[user+1:]...)
		return fb.Add(in, v[user], rest)
	})
	if err != nil {
		return nil, err
	}
	return fb.Features(in)
}

// atomicTypes holds the types of RecBole's columns.
var atomicTypes = []string{"token", "float", "token_seq", "float_seq"}

// untyped returns the names of a table's header without RecBole's types, if every name has one.
func (t Table) untyped(in *Input, names []string) ([]string, error) {
	plain, types := make([]string, len(names)), make([]string, len(names))
	for i, n := range names {
		at := strings.LastIndexByte(n, ':')
		if at < 1 || !slices.Contains(atomicTypes, n[at+1:]) || strings.ContainsAny(n[:at], ":\t,;|") {
			// several columns in one
			return names, nil
		}
		plain[i], types[i] = n[:at], n[at+1:]
	}
	return plain, t.typesOf(in, plain, types)
}

// atomicHeader reads the name:type header.
func (in *Input) atomicHeader() (names, types []string, err error) {
	cols, err := in.header(&Splitter{Sep: "\t"})
	if err != nil {
		return nil, nil, err
	}
	if len(cols) == 1 && strings.Count(cols[0], ":") > 1 {
		return nil, nil, in.Fail("", "one column in the header: "+dataset.Quote([]byte(cols[0])),
			"columns of a RecBole file are separated by tabs")
	}
	for _, c := range cols {
		name, typ, ok := strings.Cut(c, ":")
		if !ok {
			return nil, nil, in.Fail(c, "header has no type",
				"a RecBole header reads user_id:token, item_id:token, rating:float, ... separated by tabs")
		}
		if !slices.Contains(atomicTypes, typ) {
			return nil, nil, in.Fail(name, "unknown type "+strconv.Quote(typ), "types are "+
				strings.Join(atomicTypes, ", "))
		}
		names, types = append(names, name), append(types, typ)
	}
	if err := in.noDuplicates(names); err != nil {
		return nil, nil, err
	}
	return names, types, nil
}

// header reads the first line.
func (in *Input) header(s *Splitter) ([]string, error) {
	line, err := in.line()
	if err != nil {
		if ignoreEOF(err) == nil {
			return nil, &dataset.Error{File: in.file, Msg: "file is empty"}
		}
		return nil, err
	}
	if s.Sep == "," && s.quotes && bytes.IndexByte(line, ',') < 0 && bytes.IndexByte(line, ';') >= 0 {
		s.Sep = ";" // as programs write CSV where the comma is the decimal point
	}
	fields, err := s.split(in, line)
	if err != nil {
		return nil, err
	}
	if len(fields) > 1 { // an item of a list of items may be called as its column
		in.head = bytes.Clone(line)
	}
	names := make([]string, len(fields))
	for i, f := range fields {
		if !s.quotes && inQuotes(f) {
			return nil, in.Fail("", "a name in quotes: "+dataset.Quote(f),
				"only tables with commas or semicolons have quotes: write it without, or with commas as .csv")
		}
		if len(fields) == 1 && bytes.Contains(f, []byte("::")) {
			return nil, in.Fail("", "one column in the header: "+dataset.Quote(f),
				"its columns are separated by ::, which a table has as tabs or commas")
		}
		if names[i] = strings.TrimSpace(string(f)); names[i] == "" {
			if i == 0 && len(fields) > 1 {
				return nil, in.Fail("", "the first column has no name",
					"write the file without it if it counts rows: pandas with index=False, R with row.names=FALSE")
			}
			return nil, in.Fail("", fmt.Sprintf("column %d has no name", i+1), "")
		}
	}
	return names, nil
}

// noDuplicates returns an error for a header that names a column twice.
func (in *Input) noDuplicates(names []string) error {
	for i, n := range names {
		if j := slices.Index(names, n); j < i {
			return in.Fail(n, fmt.Sprintf("duplicate header column (columns %d and %d)", j+1, i+1), "")
		}
	}
	return nil
}

// NoColumn is the message of an error about a column that a table lacks.
const NoColumn = "column is missing from the header"

// MissingColumn returns an error that says which columns the header has.
func (in *Input) MissingColumn(name string, names []string) error {
	hint := "the header has " + strings.Join(names, ", ")
	if len(names) == 1 {
		switch {
		case strings.Contains(names[0], "\t"):
			hint += "; its columns are separated by tabs: name it .tsv"
		case strings.Contains(names[0], ","):
			hint += "; its columns are separated by commas: name it .csv"
		case strings.Contains(names[0], ";"):
			hint += "; its columns are separated by semicolons: name it .csv"
		default:
			hint += "; is the separator right?"
		}
	}
	return in.Fail(name, NoColumn, hint)
}
