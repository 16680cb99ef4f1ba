package lists

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"slices"
	"unicode/utf8"

	"privrec/internal/dataset"
	"privrec/internal/dataset/format"
	"privrec/internal/dataset/parquet"
)

// readParquet reads a Parquet file.
func readParquet(ctx context.Context, path string, kind Kind, ids *IDs) (*File, error) {
	in, err := os.Open(path)
	if err != nil {
		return nil, &dataset.Error{File: path, Msg: "cannot open", Err: err}
	}
	defer in.Close()
	sum := sha256.New()
	size, err := io.Copy(sum, in)
	if err != nil {
		return nil, &dataset.Error{File: path, Msg: "cannot read", Err: err}
	}
	f := &File{Path: path, Digest: hex.EncodeToString(sum.Sum(nil)), Form: "Parquet"}
	if err := f.parquet(ctx, in, size, kind, ids); err != nil {
		return nil, placed(ctx, path, err)
	}
	return f, nil
}

// placed returns an error of package parquet as a *dataset.Error.
func placed(ctx context.Context, path string, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if e := (*dataset.Error)(nil); errors.As(err, &e) {
		return err
	}
	if e := (*parquet.ColumnError)(nil); errors.As(err, &e) {
		return &dataset.Error{File: path, Line: int(e.Row), Field: e.Column, Msg: e.Err.Error()}
	}
	return &dataset.Error{File: path, Msg: err.Error()}
}

func (f *File) parquet(ctx context.Context, in io.ReaderAt, size int64, kind Kind, ids *IDs) error {
	p, err := parquet.Open(in, size)
	if err != nil {
		return err
	}
	header := make([]string, len(p.Columns))
	for i, c := range p.Columns {
		header[i] = c.Name
	}
	fail := func(field, msg, hint string) error {
		return &dataset.Error{File: f.Path, Field: field, Msg: msg, Hint: hint}
	}
	inLists := make([]bool, len(header))
	for i, c := range p.Columns {
		inLists[i] = c.InLists
	}
	r, err := (&parser{kind: kind, ids: ids, file: f}).begin(header, inLists, fail)
	if err != nil {
		return err
	}
	c := r.c
	var columns []int
	at := func(column int, number bool) (int, error) {
		if column < 0 {
			return -1, nil
		}
		switch k := p.Columns[column].Kind; {
		case column == c.time && k == parquet.Time:
		case number && k != parquet.Int && k != parquet.Float && k != parquet.Floats:
			return 0, fail(header[column], "holds "+p.Columns[column].Type+", want numbers", "")
		case !number && k != parquet.Int && k != parquet.Text:
			return 0, fail(header[column], "holds "+p.Columns[column].Type+", want whole numbers or text",
				"ids of floating-point numbers come from a table with gaps: convert them")
		}
		columns = append(columns, column)
		return len(columns) - 1, nil
	}
	var places [6]int
	for i, column := range []int{c.user, c.item, c.rank, c.time, c.score, c.relevance} {
		if places[i], err = at(column, i >= 2); err != nil {
			return err
		}
	}
	for _, column := range c.places[min(1, len(c.places)):] { // the first one is the column of items
		if _, err := at(column, false); err != nil {
			return err
		}
	}
	c.orders = slices.DeleteFunc(c.orders,
		func(i int) bool { return p.Columns[i].Kind != parquet.Int && p.Columns[i].Kind != parquet.Float })
	seen, read := newSeen(header, c), len(columns)
	columns = append(columns, c.orders...)
	if p.Rows > maxRows {
		return fmt.Errorf("more than %d rows", maxRows)
	}
	var user, item []byte
	one := func(n int64, v []parquet.Value, items parquet.Column) error {
		row := Row{Line: int32(n), Score: 1, Rank: r.place}
		bad := func(i int, msg string) error {
			return &dataset.Error{File: f.Path, Line: int(n), Field: header[columns[i]], Msg: msg}
		}
		for i := range v {
			if v[i].Null {
				return bad(i, "empty")
			}
		}
		user = v[places[0]].ID(user[:0], p.Columns[c.user])
		item = v[places[1]].ID(item[:0], items)
		for i, id := range [][]byte{user, item} {
			switch {
			case format.NoID(id) != "":
				return bad(places[i], format.NoID(id))
			case !utf8.Valid(id):
				return bad(places[i], "invalid UTF-8")
			}
		}
		for i, place := range places[2:] {
			if place < 0 {
				continue
			}
			column := p.Columns[columns[place]]
			x := number(column, v[place])
			switch {
			case math.IsNaN(x) || math.IsInf(x, 0):
				return bad(place, fmt.Sprintf("not a finite number: %v", x))
			case i > 1:
				row.Score = x
			case i == 1 && (column.Kind == parquet.Time || column.Kind == parquet.Int && !column.Unsigned()):
				if why := r.clock.Mixed(v[place].Int); why != "" {
					return bad(place, why)
				}
				r.clock.AddWhole(v[place].Int)
			case i == 1:
				if !r.clock.AddFloat(x) {
					return bad(place, fmt.Sprintf("%v is not a time", x))
				}
				if why := r.clock.Mixed(int64(x)); why != "" {
					return bad(place, why)
				}
			case x != math.Trunc(x) || math.Abs(x) > 1<<53:
				return bad(place, fmt.Sprintf("rank %v is not a whole number", x))
			default:
				row.Rank = int64(x)
			}
		}
		if f.Rated {
			row.Score = liked(row.Score)
		}
		if kind == Recommended && row.Score <= leastScore {
			f.Fillers++
			return nil
		}
		if len(f.Rows) == maxRows {
			return bad(places[1], fmt.Sprintf("more than %d items", maxRows))
		}
		row.User, row.Item = ids.Users.ID(user), ids.Items.ID(item)
		f.Rows = append(f.Rows, row)
		return nil
	}
	var unlisted []parquet.Value
	err = p.Read(ctx, columns, func(n int64, v []parquet.Value) error {
		for k, x := range v[read:] {
			seen.value(k, number(p.Columns[c.orders[k]], x), !x.Null)
		}
		if v = v[:read]; !r.listed {
			return one(n, v, p.Columns[c.item])
		}
		if c.places != nil { // v has the user and the places
			r.place = 0
			for k, x := range v[1:] {
				of := p.Columns[columns[1+k]]
				if x.Null || of.Kind == parquet.Text && format.Missing(x.Text) {
					f.Gaps++
					continue
				}
				if r.ordered() {
					r.place++
				}
				if err := one(n, []parquet.Value{v[0], x}, of); err != nil {
					return err
				}
			}
			return nil
		}
		length := len(v[places[1]].Items)
		if length == 1 && v[places[1]].Items[0].Null {
			f.Empty++
			return nil
		}
		for k := range length {
			unlisted = unlisted[:0]
			for i, x := range v {
				if column := p.Columns[columns[i]]; column.InLists {
					if l := max(len(x.Items), len(x.List)); l != length {
						return &dataset.Error{File: f.Path, Line: int(n), Field: column.Name,
							Msg: fmt.Sprintf("a list of %d values, beside one of %d", l, length)}
					}
					if column.Kind == parquet.Floats {
						x = parquet.Value{Null: x.Null, Float: x.List[k]}
					} else {
						x = x.Items[k]
					}
				}
				unlisted = append(unlisted, x)
			}
			if r.ordered() {
				r.place = int64(k + 1)
			}
			if err := one(n, unlisted, p.Columns[c.item]); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	if c.time >= 0 {
		if err := f.times(&r.clock, header[c.time]); err != nil {
			return err
		}
	}
	return seen.none(f.Path)
}

// number returns a value as a floating-point number.
func number(c parquet.Column, v parquet.Value) float64 {
	switch {
	case c.Kind == parquet.Float || c.Kind == parquet.Floats:
		return v.Float
	case c.Unsigned():
		return float64(uint64(v.Int))
	}
	return float64(v.Int)
}
