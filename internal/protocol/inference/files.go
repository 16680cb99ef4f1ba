package inference

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"privrec/internal/dataset"
	"privrec/internal/dataset/format"
)

// openTable opens a table with a header line. The ending of its name gives the format.
func openTable(ctx context.Context, path string) (*format.Rows, error) {
	form, ok := format.OfInput(path)
	if !ok || form == format.Lines {
		return nil, &dataset.Error{File: path, Msg: "not the name of a table",
			Hint: "a table of fields with a header line ends in .tsv, .csv or .inter, and in .gz or .zst where it is " +
				"compressed, or in .parquet"}
	}
	return format.OpenRows(ctx, path, form)
}

// field returns a field, and an error if it is empty.
func field(r *format.Rows, column int) (string, error) {
	if len(r.Fields[column]) == 0 {
		return "", r.Fail(r.Columns[column], "is empty", "")
	}
	return string(r.Fields[column]), nil
}

// ofLists reads a file of recommendations, one row an item: user, rank from 1, and item. It keeps the first depth items
// of a list.
func ofLists(ctx context.Context, path string, depth int) (*source, error) {
	r, err := openTable(ctx, path)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	var at [3]int
	for i, name := range []string{"user", "rank", "item"} {
		if at[i], err = r.Column(name); err != nil {
			return nil, err
		}
	}
	s := &source{lists: map[string][]string{},
		Target: Target{Name: strings.TrimSuffix(filepath.Base(path), filepath.Ext(path)), Level: dataset.LevelC}}
	length := map[string]int{}
	for r.Next() {
		user, err := field(r, at[0])
		if err != nil {
			return nil, err
		}
		item, err := field(r, at[2])
		if err != nil {
			return nil, err
		}
		rank, err := r.Int(at[1])
		if err != nil {
			return nil, err
		}
		list := s.lists[user]
		if rank != int64(length[user]+1) {
			return nil, r.Fail("rank", fmt.Sprintf("user %q has rank %d after %d items", user, rank, length[user]),
				"ranks of a user begin with 1 and ascend by 1, best first")
		}
		length[user]++
		if slices.Contains(list, item) {
			return nil, r.Fail(r.Columns[at[2]], fmt.Sprintf("user %q is recommended item %q twice", user, item), "")
		}
		if len(list) < depth {
			s.lists[user] = append(list, item)
		}
	}
	if err := r.Err(); err != nil {
		return nil, err
	}
	s.hash, err = r.Digest()
	return s, err
}

// readHad reads a file of interactions, one row an item: user and item. A repeated row counts once.
func readHad(ctx context.Context, path string) (had map[string][]string, hash string, err error) {
	r, err := openTable(ctx, path)
	if err != nil {
		return nil, "", err
	}
	defer r.Close()
	var at [2]int
	for i, name := range []string{"user", "item"} {
		if at[i], err = r.Column(name); err != nil {
			return nil, "", err
		}
	}
	had, seen := map[string][]string{}, map[[2]string]bool{}
	for r.Next() {
		user, err := field(r, at[0])
		if err != nil {
			return nil, "", err
		}
		item, err := field(r, at[1])
		if err != nil {
			return nil, "", err
		}
		if k := [2]string{user, item}; !seen[k] {
			seen[k] = true
			had[user] = append(had[user], item)
		}
	}
	if err := r.Err(); err != nil {
		return nil, "", err
	}
	hash, err = r.Digest()
	return had, hash, err
}
