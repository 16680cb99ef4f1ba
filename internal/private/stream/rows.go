package stream

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"privrec/internal/dataset/format"
)

// table opens a table with a header, by the end of its name.
func table(ctx context.Context, path string) (*format.Rows, error) {
	form, ok := format.OfInput(path)
	if !ok || form != format.TSV && form != format.CSV {
		return nil, fmt.Errorf("%s: want a table, whose name ends in .tsv, .csv or .parquet, or these with .gz or .zst",
			path)
	}
	return format.OpenRows(ctx, path, form)
}

// rowsOf holds the rows of a file.
type rowsOf struct {
	items  map[string][]int32 // of each user, in the order of the file, without those outside the catalogue
	all    map[string]int     // rows of each user, with them
	digest string             // SHA-256 of the file
	left   []string           // sentences on columns that are not read, or have unusual names
}

// readRows reads a table with the columns user_id and item_id.
func readRows(ctx context.Context, path string, number map[string]int32) (*rowsOf, error) {
	in, err := table(ctx, path)
	if err != nil {
		return nil, err
	}
	defer in.Close()
	r := &rowsOf{items: map[string][]int32{}, all: map[string]int{}}
	at := [2]int{}
	for k, is := range []format.Meaning{format.User, format.Item} {
		if at[k], err = is.Column(in.Columns, in.Fail); err != nil {
			return nil, err
		}
		if at[k] < 0 {
			return nil, in.Fail(string(is), format.NoColumn, "")
		}
		if column := in.Columns[at[k]]; !is.Usual(column) {
			r.left = append(r.left, is.Taken(column))
		}
	}
	if unread := in.Unread(at[:]...); len(unread) > 0 {
		r.left = append(r.left, "not read: "+strings.Join(unread, ", "))
	}
	for in.Next() {
		for k, i := range at {
			why := format.NoID(in.Fields[i])
			if len(in.Fields[i]) == 0 {
				why = "it is empty"
			}
			if why != "" {
				return nil, in.Fail(in.Columns[at[k]], "no id: "+why, "")
			}
		}
		user := string(in.Fields[at[0]])
		r.all[user]++
		if i, ok := number[string(in.Fields[at[1]])]; ok {
			r.items[user] = append(r.items[user], i)
		}
	}
	if err := in.Err(); err != nil {
		return nil, err
	}
	r.digest, err = in.Digest()
	return r, err
}

// ReadItems reads a catalogue: a table with the column item_id and, for public weights, count. counts is nil without
// the latter.
func ReadItems(ctx context.Context, path string) (ids []string, counts []float64, err error) {
	in, err := table(ctx, path)
	if err != nil {
		return nil, nil, err
	}
	defer in.Close()
	id, err := format.Item.Column(in.Columns, in.Fail)
	if err != nil {
		return nil, nil, err
	}
	if id < 0 {
		return nil, nil, in.Fail(string(format.Item), format.NoColumn, "")
	}
	count := -1
	for i, name := range in.Columns {
		if name == "count" {
			count = i
		}
	}
	seen := map[string]bool{}
	for in.Next() {
		name := string(in.Fields[id])
		if name == "" || seen[name] {
			return nil, nil, in.Fail(in.Columns[id], fmt.Sprintf("%.40q is there twice, or is empty", name), "")
		}
		seen[name] = true
		ids = append(ids, name)
		if count < 0 {
			continue
		}
		n, err := in.Float(count)
		if err != nil {
			return nil, nil, err
		}
		if n < 0 {
			return nil, nil, in.Fail("count", fmt.Sprintf("%v, want 0 or more", n), "")
		}
		counts = append(counts, n)
	}
	return ids, counts, in.Err()
}

// number returns the index of each item.
func (c *Catalogue) number() map[string]int32 {
	n := make(map[string]int32, len(c.IDs))
	for i, id := range c.IDs {
		n[id] = int32(i)
	}
	return n
}

// text returns the catalogue as a table: the ids, and the weight of each item in the matrix, 0 of others.
func (c *Catalogue) text() string {
	weight := make([]float64, len(c.IDs))
	for k, i := range c.Rows {
		weight[i] = c.Weights[k]
	}
	var b strings.Builder
	b.WriteString("item_id\tweight\n")
	for i, id := range c.IDs {
		b.WriteString(id + "\t" + strconv.FormatFloat(weight[i], 'g', -1, 64) + "\n")
	}
	return b.String()
}

// readCatalogue reads what text wrote.
func readCatalogue(ctx context.Context, path string) (*Catalogue, error) {
	in, err := table(ctx, path)
	if err != nil {
		return nil, err
	}
	defer in.Close()
	weight, err := in.Column("weight")
	if err != nil {
		return nil, err
	}
	c := &Catalogue{}
	for in.Next() {
		w, err := in.Float(weight)
		if err != nil {
			return nil, err
		}
		if w > 0 {
			c.Rows, c.Weights = append(c.Rows, int32(len(c.IDs))), append(c.Weights, w)
		}
		c.IDs = append(c.IDs, string(in.Fields[0]))
	}
	if err := in.Err(); err != nil {
		return nil, err
	}
	return c, c.Check()
}
