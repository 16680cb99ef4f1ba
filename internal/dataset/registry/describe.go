package registry

import (
	"cmp"
	"context"
	"encoding/csv"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"privrec/internal/dataset"
	"privrec/internal/dataset/format"
)

// Description describes the files of a set before any recipe.
type Description struct {
	Set                Set
	Hash               string // see dataset.Log
	StandIn            bool   // rows are synthetic
	Users, Items, Rows int    // of the interactions as they are read
	Files              []FileForm
}

// FileForm describes a file of a set and the form of its rows.
type FileForm struct {
	dataset.File
	Name    string       // inside the set's folder, with slashes
	Rows    RowForm      // how a row is written
	Sep     string       // between the fields of a row; of Histories a run of spaces
	Columns []FileColumn // none for a file that has no rows, as ColumnsFile
}

// RowForm names how the rows of a file are written.
type RowForm string

// The forms of rows.
const (
	WithHeader RowForm = "header"     // fields, and their names in the first line
	Bare       RowForm = "bare"       // fields without a header
	Histories  RowForm = "histories"  // a user and their items, without a header
	Objects    RowForm = "json lines" // a JSON object a line
	NoRows     RowForm = "none"
)

// FileColumn describes a field of a file's rows.
type FileColumn struct {
	Name   string
	Header string // as the header has it, with a type where it has types; Name where there is no header
	Role   string // user, item, rating, time, feature, or "" if no model reads it
	Type   string // text, integer or number, of all its values; ids are text
	List   bool   // several values, with single spaces between them
}

// Describe reads the files of a set and returns a description of them. A stand-in, which has no files, is an error.
func Describe(ctx context.Context, name string, opts Options) (*Description, error) {
	set, err := Find(name)
	if err != nil {
		return nil, err
	}
	if set.StandIn != nil {
		return nil, &dataset.Error{File: name, Msg: "a stand-in is generated and has no files to describe",
			Hint: "write it as files with: privrec data synth " + set.StandIn.Name + " --out DIR"}
	}
	layout, files, err := set.locate(ctx, opts.Dir)
	if err != nil {
		return nil, err
	}
	log, _, err := readLayout(ctx, name, layout, files)
	if err != nil {
		return nil, err
	}
	d := &Description{Set: set, Hash: log.Hash, StandIn: log.StandIn, Users: len(log.UserIDs), Items: len(log.ItemIDs),
		Rows: log.Len()}
	var c Columns
	for _, f := range files {
		if plainBase(f.Path) == ColumnsFile {
			if c, err = readColumns(ctx, f.Path); err != nil {
				return nil, err
			}
		}
	}
	folder := filepath.Join(cmp.Or(opts.Dir, os.Getenv("PRIVREC_DATA")), set.Name)
	for _, f := range files {
		rel, err := filepath.Rel(folder, f.Path)
		if err != nil {
			return nil, &dataset.Error{File: f.Path, Msg: "cannot find the path within its folder", Err: err}
		}
		form := formOf(plainBase(f.Path))
		form.File, form.Name = f, filepath.ToSlash(rel)
		if err := form.read(ctx); err != nil {
			return nil, err
		}
		form.roles(usualNames(name, c), c.Features)
		d.Files = append(d.Files, form)
	}
	return d, nil
}

// formOf returns the form of a file: by its name if it has no header, else that of a table with one.
func formOf(base string) FileForm {
	bare := func(f movieLensFormat) FileForm {
		return FileForm{Rows: Bare, Sep: f.sep, Columns: columns(f.names)}
	}
	switch base {
	case ColumnsFile:
		return FileForm{Rows: NoRows}
	case "ratings.dat":
		return bare(ratingsDat)
	case "users.dat":
		return bare(usersDat)
	case "u.data":
		return bare(uData)
	case "u.user":
		return bare(uUser)
	case "behaviors.tsv":
		f := bare(movieLensFormat{"\t", mindBehaviors})
		f.Columns[3].List, f.Columns[4].List = true, true
		return f
	case "inter_impression.csv":
		return bare(movieLensFormat{",", zhihuImpression})
	case "train.txt", "test.txt", "Beauty.txt":
		return FileForm{Rows: Histories, Columns: []FileColumn{
			{Name: "user", Header: "user", Role: "user"}, {Name: "items", Header: "items", Role: "item", List: true},
		}}
	}
	switch ext := filepath.Ext(base); {
	case strings.HasSuffix(base, "review.json"):
		return FileForm{Rows: Objects, Columns: columns(yelpReview)}
	case ext == ".json":
		return FileForm{Rows: Objects, Columns: columns(yelpUser)}
	case ext == ".csv" && strings.HasPrefix(base, "ratings_"):
		return bare(amazonRatings)
	case ext == ".csv":
		return FileForm{Rows: WithHeader, Sep: ","}
	}
	return FileForm{Rows: WithHeader, Sep: "\t"}
}

// columns returns columns with these names.
func columns(names []string) (out []FileColumn) {
	for _, n := range names {
		out = append(out, FileColumn{Name: n, Header: n})
	}
	return out
}

// read reads the header, where there is one, and the types of all values.
func (f *FileForm) read(ctx context.Context) (err error) {
	var rows *format.Rows
	switch f.Rows {
	case Bare:
		var names []string
		for _, c := range f.Columns {
			names = append(names, c.Name)
		}
		rows, err = format.OpenColumns(ctx, f.Path, f.Sep, names...)
	case WithHeader:
		if f.Columns, err = f.header(ctx); err != nil {
			return err
		}
		form := format.TSV
		switch base := plainBase(f.Path); {
		case f.Sep == ",":
			form = format.CSV
		case strings.HasSuffix(base, ".inter"), strings.HasSuffix(base, ".user"):
			form = format.Atomic
		}
		if rows, err = format.OpenRows(ctx, f.Path, form); err == nil {
			for i, name := range rows.Columns {
				f.Columns[i].Name = name
			}
		}
	default:
		for i := range f.Columns {
			f.Columns[i].Type = fixedTypes[f.Columns[i].Name]
		}
		return nil
	}
	if err != nil {
		return err
	}
	defer rows.Close()
	kinds := make([]kindOfValues, len(f.Columns))
	for rows.Next() {
		for i, v := range rows.Fields {
			kinds[i].add(v)
		}
	}
	for i := range kinds {
		f.Columns[i].Type = kinds[i].String()
	}
	return rows.Err()
}

// fixedTypes holds the types of fields that are not determined from values: those of Yelp's objects, and of histories.
var fixedTypes = map[string]string{
	"user": "text", "items": "text",
	"user_id": "text", "business_id": "text", "stars": "number", "date": "text",
	"review_count": "integer", "useful": "integer", "funny": "integer", "cool": "integer", "fans": "integer",
	"average_stars": "number",
}

// header returns the columns as named in the first line.
func (f *FileForm) header(ctx context.Context) ([]FileColumn, error) {
	rows, err := format.OpenColumns(ctx, f.Path, "\x00", "line") // no text has a zero byte: a field is a line
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	if !rows.Next() {
		return nil, rows.Err()
	}
	line := string(rows.Fields[0])
	if f.Sep != "," {
		return columns(strings.Split(line, f.Sep)), nil
	}
	names, err := csv.NewReader(strings.NewReader(line)).Read()
	if err != nil {
		return nil, &dataset.Error{File: f.Path, Line: 1, Msg: "cannot read the header", Err: err}
	}
	return columns(names), nil
}

// kindOfValues accumulates what the values of a column have in common.
type kindOfValues struct{ some, gaps, real, text bool }

// add takes in a value. A number in an unusual notation, such as 007, is text.
func (k *kindOfValues) add(v []byte) {
	if k.text {
		return
	}
	s := string(v)
	if s == "" {
		k.gaps = true
		return
	}
	k.some = true
	if n, err := strconv.ParseInt(s, 10, 64); err == nil && strconv.FormatInt(n, 10) == s {
		return
	}
	_, err := strconv.ParseFloat(s, 64)
	k.real = true
	k.text = err != nil || strings.Trim(s, "0123456789+-.eE") != "" || len(s) > 1 && s[0] == '0' && s[1] != '.'
}

// String returns text, integer or number. Whole numbers with gaps are numbers, since the integers
// of most programs have no gap.
func (k kindOfValues) String() string {
	switch {
	case k.text || !k.some:
		return "text"
	case k.real || k.gaps:
		return "number"
	}
	return "integer"
}

// usualNames returns the names that a column of each role has. c has the names of own columns.
func usualNames(set string, c Columns) map[string][]string {
	if IsOwn(set) {
		return map[string][]string{
			"user": {cmp.Or(c.User, "user_id")}, "item": {cmp.Or(c.Item, "item_id")},
			"rating": {cmp.Or(c.Rating, "rating")}, "time": {cmp.Or(c.Timestamp, "timestamp")},
		}
	}
	return map[string][]string{
		"user":   {"user", "user_id", "session"},
		"item":   {"item", "items", "item_id", "business_id", "answer", "impressions"},
		"rating": {"rating", "stars"},
		"time":   {"timestamp", "time", "time_stamp", "date", "impression timestamp"},
	}
}

// roles sets the role of each column. In a file of users, columns with no other role are features: those in features,
// or all.
func (f *FileForm) roles(names map[string][]string, features []string) {
	log := false
	for i := range f.Columns {
		col := &f.Columns[i]
		for role, of := range names {
			if slices.Contains(of, col.Name) {
				col.Role = role
			}
		}
		switch col.Role {
		case "item":
			log, col.Type = true, "text"
			base := plainBase(f.Path)
			col.List = col.List || base == "sequences.tsv" || base == "sessions.tsv"
		case "user":
			col.Type = "text"
		case "rating":
			col.Type = "number"
		}
	}
	for i := range f.Columns {
		if col := &f.Columns[i]; !log && col.Role == "" && (len(features) == 0 || slices.Contains(features, col.Name)) {
			col.Role = "feature"
		}
	}
}
