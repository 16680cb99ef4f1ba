// Package features reads and writes tables of users and their features as records of perturb: one
// row for each user, with statistics of the user's ratings in front where a second file has these.
// Numbers become cells in [-1, 1], categories one-hot cells. Records come in the order of the ids,
// whatever the order of the rows.
package features

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"

	"privrec/internal/dataset"
	"privrec/internal/dataset/format"
	"privrec/internal/perturb"
	"privrec/internal/run"
)

// Names of the columns that every table has.
const (
	userColumn   = "user_id"
	ratingColumn = "rating"
)

// Statistics says how a user's ratings become cells.
type Statistics struct {
	Names  []string // of the cells
	Levels int      // ratings are whole numbers from 1 to Levels
	// Of writes the cells of a user with counts[r] ratings of level r; counts[0] is 0.
	Of func(counts []int, row []float64) error
}

// Source describes the input and the form of the output.
type Source struct {
	Attributes     string // table of users and their features
	AttributesForm format.Form
	Columns        []Column

	Ratings     string // table with the columns user_id and rating; empty: none
	RatingsForm format.Form
	Statistics  *Statistics // of the ratings; nil: none

	Missing bool // an empty field is no value: all cells are 0
	OutForm format.Form
}

// Reader reads users in the order of their ids. It is the Records of a job.
type Reader struct {
	Users, Ratings, Empty int64 // rows of each table, and empty fields

	src     Source
	width   int
	rows    *format.Rows
	at      []int // columns of the features
	user    int
	ratings *format.Rows
	rated   [2]int // columns of user and rating
	spill   func() (*os.File, error)
	joined  *join // nil before the first record
}

// Open opens the tables and checks their headers. Nothing is read yet.
func Open(ctx context.Context, src Source) (_ *Reader, err error) {
	r := &Reader{src: src}
	defer func() {
		if err != nil {
			r.Close()
		}
	}()
	if err := Check(src.Columns); err != nil {
		return nil, err
	}
	if _, err := r.header(); err != nil {
		return nil, err
	}
	if src.Statistics != nil {
		r.width += len(src.Statistics.Names)
	}
	if r.rows, err = format.OpenRows(ctx, src.Attributes, src.AttributesForm); err != nil {
		return nil, err
	}
	if r.user, err = r.rows.Column(userColumn); err != nil {
		return nil, err
	}
	for _, c := range src.Columns {
		i, err := r.rows.Column(c.Name)
		if err != nil {
			return nil, err
		}
		r.at = append(r.at, i)
		r.width += c.Width()
	}
	if src.Ratings == "" {
		return r, nil
	}
	if r.ratings, err = format.OpenRows(ctx, src.Ratings, src.RatingsForm); err != nil {
		return nil, err
	}
	for i, name := range []string{userColumn, ratingColumn} {
		if r.rated[i], err = r.ratings.Column(name); err != nil {
			return nil, err
		}
	}
	return r, nil
}

// Say reports the columns of the tables that are not read.
func (r *Reader) Say(p run.Progress) {
	perturb.Unread(p, r.src.Attributes, r.rows.Unread(append(slices.Clone(r.at), r.user)...))
	if r.ratings != nil {
		perturb.Unread(p, r.src.Ratings, r.ratings.Unread(r.rated[:]...))
	}
}

// Spill sets the function that creates nameless files for rows beyond memory; they hold true rows. Call it before the
// first record is read.
func (r *Reader) Spill(file func() (*os.File, error)) { r.spill = file }

// Length returns the number of cells of a row.
func (r *Reader) Length() int { return r.width }

// Digest returns the digest of the table of features.
func (r *Reader) Digest() (string, error) { return r.rows.Digest() }

// RatingsDigest returns the digest of the table of ratings, "" without one.
func (r *Reader) RatingsDigest() (string, error) {
	if r.ratings == nil {
		return "", nil
	}
	return r.ratings.Digest()
}

// Close releases the files.
func (r *Reader) Close() {
	if r.joined != nil {
		r.joined.close()
	}
	if r.rows != nil {
		r.rows.Close()
	}
	if r.ratings != nil {
		r.ratings.Close()
	}
}

// Read reads the next user. The first call reads both files to their ends and reports any fault of a row. Later calls
// report users who occur twice or in one file alone.
func (r *Reader) Read(b *perturb.Block[float64]) (ok bool, err error) {
	if r.joined == nil {
		if r.joined, err = r.sort(); err != nil {
			return false, err
		}
	}
	return r.joined.next(b)
}

// attributes puts every row of the table of features into a sorter: its line, then its cells.
func (r *Reader) attributes(to *perturb.Sorter) error {
	row := make([]float64, r.width)
	for r.rows.Next() {
		id, err := userOf(r.rows, r.user, r.src.OutForm, r.src.Attributes)
		if err != nil {
			return err
		}
		cells := row[:0]
		for k, c := range r.src.Columns {
			if cells, err = r.cells(cells, c, r.at[k]); err != nil {
				return err
			}
		}
		r.Users++
		line := r.rows.Line()
		if err := to.Add(id, func(dst []byte) []byte { return appendCells(dst, line, cells) }); err != nil {
			return err
		}
	}
	return r.rows.Err()
}

// cells appends the cells of one field.
func (r *Reader) cells(cells []float64, c Column, at int) ([]float64, error) {
	if len(r.rows.Fields[at]) == 0 && r.src.Missing {
		r.Empty++
	}
	return c.cells(cells, r.rows, at, r.src.Missing)
}

// Accepts returns nil if a field of a row is a value of the column or, with missing, if it is empty.
func (c Column) Accepts(rows *format.Rows, at int, missing bool) error {
	_, err := c.cells(nil, rows, at, missing)
	return err
}

// cells appends the cells of a field of a row.
func (c Column) cells(cells []float64, rows *format.Rows, at int, missing bool) ([]float64, error) {
	field := rows.Fields[at]
	if len(field) == 0 {
		if !missing {
			return nil, rows.Fail(c.Name, "empty: the user has no value",
				"--missing sends it as no value, which is hidden like any other")
		}
		return append(cells, make([]float64, c.Width())...), nil
	}
	if c.Levels != nil && c.Borders == nil {
		for i, l := range c.Levels {
			if l == string(field) {
				return oneHot(cells, c, i), nil
			}
		}
		return nil, rows.Fail(c.Name, fmt.Sprintf("%s is not one of the declared levels %v", dataset.Quote(field),
			c.Levels), "--category declares all levels, also those that no user has")
	}
	x, err := rows.Float(at)
	if err != nil {
		return nil, err
	}
	if c.Borders != nil {
		g, err := c.groups(x)
		if err != nil {
			return nil, err
		}
		return oneHot(cells, c, int(g.Codes[0])), nil
	}
	if x < c.Low || x > c.High {
		return nil, rows.Fail(c.Name, fmt.Sprintf("%v is outside the declared range %v..%v", x, c.Low, c.High),
			"--number declares a public range that holds for all users")
	}
	return append(cells, c.scale(x)), nil
}

func oneHot(cells []float64, c Column, on int) []float64 {
	for i := range c.Levels {
		v := 0.0
		if i == on {
			v = 1
		}
		cells = append(cells, v)
	}
	return cells
}

// levels puts every rating into a sorter: its line, then its level.
func (r *Reader) levels(to *perturb.Sorter) error {
	for r.ratings.Next() {
		id, err := userOf(r.ratings, r.rated[0], r.src.OutForm, r.src.Ratings)
		if err != nil {
			return err
		}
		x, err := r.ratings.Float(r.rated[1])
		if err != nil {
			return err
		}
		if level := int(x); float64(level) != x || level < 1 || level > r.src.Statistics.Levels {
			return r.ratings.Fail(ratingColumn, fmt.Sprintf("%v is not a whole number from 1 to %d", x,
				r.src.Statistics.Levels), "")
		}
		r.Ratings++
		line := r.ratings.Line()
		if err := to.Add(id, func(dst []byte) []byte { return appendLevel(dst, line, int(x)) }); err != nil {
			return err
		}
	}
	return r.ratings.Err()
}

// userOf returns the user of a row. It fails on an id that the output cannot hold, in whichever row.
func userOf(rows *format.Rows, at int, out format.Form, file string) ([]byte, error) {
	id := rows.Fields[at]
	if why := format.NoID(id); why != "" {
		return nil, rows.Fail(userColumn, why, "every row needs a user")
	}
	_, err := out.AppendField(nil, id)
	return id, perturb.Placed(err, file, userColumn, rows.Line())
}

// sort reads both tables.
func (r *Reader) sort() (_ *join, err error) {
	j := &join{src: &r.src, rows: perturb.NewSorter(r.spill), row: make([]float64, r.width)}
	defer func() {
		if err != nil {
			err = errors.Join(err, j.close())
		}
	}()
	if err := r.attributes(j.rows); err != nil {
		return nil, err
	}
	if r.ratings != nil {
		j.ratings = perturb.NewSorter(r.spill)
		if err := r.levels(j.ratings); err != nil {
			return nil, err
		}
	}
	j.begin()
	return j, nil
}
