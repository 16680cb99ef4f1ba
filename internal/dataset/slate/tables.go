package slate

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"

	"privrec/internal/dataset"
	"privrec/internal/dataset/format"
)

// The tables extracted from the authors' pickles have ten shown items and five clicks a pair.
const (
	tableT = 10
	tableL = 5
)

// tables reads the extracted tables of one data set from its folder, in a fixed order, and
// keeps their digests.
type tables struct {
	ctx     context.Context
	folder  string
	vocab   int      // tokens of vocab.tsv are 0..vocab-1
	items   []string // their ids in the authors' dictionary
	digests []string
}

// pairRow holds a row of a table of pairs as in the file. Unknown items were deleted, so lists may be short.
type pairRow struct {
	seq              int64 // number of the pair among all; -1 when shuffling lost it
	user             string
	complete         bool
	slate, behaviour []int32
}

// find returns the path of a table, plain or compressed. It fails if there are several forms of the table with
// different content.
func find(ctx context.Context, folder, name string) (string, error) {
	found := ""
	for _, ext := range []string{"", ".gz", ".zst"} {
		p := filepath.Join(folder, name+ext)
		st, err := os.Stat(p)
		switch {
		case err != nil:
			continue
		case st.IsDir():
			return "", &dataset.Error{File: p, Msg: "is a directory, not a data file"}
		case !st.Mode().IsRegular():
			return "", &dataset.Error{File: p, Msg: "is not a regular file"}
		case found == "":
			found = p
			continue
		}
		same, err := format.SameLines(ctx, found, p)
		if err != nil {
			return "", err
		}
		if !same {
			return "", notTheSame(found, p)
		}
	}
	if found != "" {
		return found, nil
	}
	return "", &dataset.Error{File: folder, Msg: fmt.Sprintf("looked for %s (plain, .gz or .zst)", name),
		Err: dataset.ErrNotFound}
}

// read opens one table and calls row for each of its lines.
func (t *tables) read(name string, columns []string, row func(in *format.Rows, v [][]byte) error) error {
	path, err := find(t.ctx, t.folder, name)
	if err != nil {
		return err
	}
	in, err := openTable(t.ctx, path, format.TSV, columns...)
	if err != nil {
		return err
	}
	defer in.Close()
	if err := each(in, func(v [][]byte) error { return row(in, v) }); err != nil {
		return err
	}
	digest, err := in.Digest()
	t.digests = append(t.digests, digest)
	return err
}

// vocabulary reads the tokens and their ids.
func (t *tables) vocabulary(name string) error {
	return t.read(name, []string{"token", "dict_id", "raw_item"}, func(in *format.Rows, v [][]byte) error {
		_, err := integer(in, "token", v[0], int64(t.vocab), int64(t.vocab))
		t.vocab, t.items = t.vocab+1, append(t.items, string(v[1]))
		return err
	})
}

// owners returns the user of every pair, in the order before the split.
func (t *tables) owners(name string) ([]int32, error) {
	var users []int32
	err := t.read(name, []string{"seq_id", "user"}, func(in *format.Rows, v [][]byte) error {
		if _, err := integer(in, "seq_id", v[0], int64(len(users)), int64(len(users))); err != nil {
			return err
		}
		u, err := integer(in, "user", v[1], 0, 1<<30)
		users = append(users, int32(u))
		return err
	})
	return users, err
}

// pairs reads a table of validation or test pairs.
func (t *tables) pairs(name string) ([]pairRow, error) {
	var rows []pairRow
	err := t.read(name, []string{"seq_id", "user", "complete", "exposure", "history"},
		func(in *format.Rows, v [][]byte) (err error) {
			r := pairRow{user: string(v[1])}
			if r.seq, err = integer(in, "seq_id", v[0], -1, 1<<30); err != nil {
				return err
			}
			if len(v[1]) == 0 {
				return in.Fail("user", "empty", "a user that is not known is -1")
			}
			complete, err := integer(in, "complete", v[2], 0, 1)
			if err != nil {
				return err
			}
			if r.slate, err = t.tokens(in, "exposure", v[3], tableT); err != nil {
				return err
			}
			if r.behaviour, err = t.tokens(in, "history", v[4], tableL); err != nil {
				return err
			}
			r.complete = len(r.slate) == tableT && len(r.behaviour) == tableL
			if r.complete != (complete == 1) {
				return in.Fail("complete", fmt.Sprintf("is %d, but there are %d shown and %d clicked items", complete,
					len(r.slate), len(r.behaviour)), "")
			}
			rows = append(rows, r)
			return nil
		})
	return rows, err
}

// tokens returns a list of at most `most` items.
func (t *tables) tokens(in *format.Rows, field string, b []byte, most int) ([]int32, error) {
	list, err := integers(in, make([]int32, 0, most), field, b, int64(FirstItem), int64(t.vocab-1))
	if err == nil && len(list) > most {
		err = in.Fail(field, fmt.Sprintf("%d items, more than %d", len(list), most), "")
	}
	return list, err
}

// trainRow is a training pair whose slate was rebuilt.
type trainRow struct {
	user             int32
	slate, behaviour []int32
}

// training reads the rebuilt training pairs. It fails on an owner that is not below users.
func (t *tables) training(name string, users int) ([]trainRow, error) {
	var rows []trainRow
	last := int64(-1)
	err := t.read(name, []string{"row", "user", "exposure_approx", "history"}, func(in *format.Rows, v [][]byte) error {
		row, err := integer(in, "row", v[0], last+1, 1<<30)
		if err != nil {
			return err
		}
		last = row
		u, err := integer(in, "user", v[1], 0, int64(users-1))
		if err != nil {
			return err
		}
		r := trainRow{user: int32(u)}
		if r.slate, err = t.tokens(in, "exposure_approx", v[2], tableT); err != nil {
			return err
		}
		if r.behaviour, err = t.tokens(in, "history", v[3], tableL); err != nil {
			return err
		}
		if len(r.slate) != tableT || len(r.behaviour) != tableL {
			return in.Fail("", fmt.Sprintf("%d shown and %d clicked items, training pairs have %d and %d", len(r.slate),
				len(r.behaviour), tableT, tableL), "")
		}
		rows = append(rows, r)
		return nil
	})
	return rows, err
}

// logged reads, for each user, the shown items and the clicked ones that are in a slate.
func (t *tables) logged(name string) (users []string, shown, clicked [][]int32, err error) {
	err = t.read(name, []string{"user", "shown_in_order", "clicked_set"}, func(in *format.Rows, v [][]byte) error {
		if _, err := integer(in, "user", v[0], int64(len(users)), int64(len(users))); err != nil {
			return err
		}
		s, err := integers(in, nil, "shown_in_order", v[1], int64(FirstItem), int64(t.vocab-1))
		if err != nil {
			return err
		}
		c, err := integers(in, []int32{}, "clicked_set", v[2], int64(FirstItem), int64(t.vocab-1))
		if err != nil {
			return err
		}
		slices.Sort(c)
		users, shown, clicked = append(users, strconv.Itoa(len(users))), append(shown, s),
			append(clicked, slices.Compact(c))
		return nil
	})
	return users, shown, clicked, err
}
