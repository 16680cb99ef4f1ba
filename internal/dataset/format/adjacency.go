package format

import (
	"bytes"
	"context"
	"slices"
	"strconv"

	"privrec/internal/dataset"
)

// ReadAdjacency reads lines `user item item ...` with single spaces, the form in which LightGCN publishes its splits.
// Ids are integers from 0, and a user has one line. A user without items is accepted and dropped, since published test
// files have such lines. An item named twice gives two rows, which a recipe can dedupe. There are no times: rows keep
// file order.
func ReadAdjacency(ctx context.Context, path string) (*dataset.Log, error) {
	return ReadFile(ctx, path, parseAdjacency)
}

func parseAdjacency(in *Input) (*dataset.Log, error) {
	var b dataset.Builder
	lineOf := map[string]int{}
	for {
		line, err := in.line()
		if ignoreEOF(err) != nil {
			return nil, err
		}
		if err != nil {
			return in.Finish(&b)
		}
		line = bytes.TrimRight(line, " ")
		name, rest, _ := bytes.Cut(line, []byte(" "))
		if _, err := in.ID("user", name); err != nil {
			if i := bytes.IndexAny(line, "\t,;"); i >= 0 {
				err.(*dataset.Error).Hint = "numbers must stand between single spaces, this line uses " +
					dataset.Quote(line[i:i+1])
			}
			return nil, err
		}
		if first, ok := lineOf[string(name)]; ok {
			return nil, in.Fail("user", "user "+dataset.Quote(name)+" has a second line", "the first is line "+
				strconv.Itoa(first))
		}
		lineOf[string(name)] = in.num
		if len(rest) == 0 {
			continue
		}
		user := b.Users.ID(name)
		for more := true; more; {
			var item []byte
			item, rest, more = bytes.Cut(rest, []byte(" "))
			if _, err := in.ID("item", item); err != nil {
				return nil, err
			}
			b.UserOf, b.ItemOf = append(b.UserOf, user), append(b.ItemOf, b.Items.ID(item))
		}
	}
}

// ReadSequences reads a table of two columns, "user" and "items", separated by a tab. The
// second column lists the user's items, oldest first, with single spaces. Ids are any text
// without spaces, and a user has one line. There are no times: rows keep the order of the list.
func ReadSequences(ctx context.Context, path string) (*dataset.Log, error) {
	return ReadFile(ctx, path, parseSequences)
}

func parseSequences(in *Input) (*dataset.Log, error) {
	s := &Splitter{Sep: "\t"}
	names, err := in.header(s)
	if err != nil {
		return nil, err
	}
	if want := []string{"user", "items"}; !slices.Equal(names, want) {
		return nil, in.Fail("", "the header is not user and items, separated by a tab",
			"a user's items are in one column, oldest first, separated by spaces")
	}
	var b dataset.Builder
	lineOf := map[int32]int{}
	err = in.EachRow(s, names, func(v [][]byte) error {
		name, err := in.Token("user", v[0])
		if err != nil {
			return err
		}
		user := b.Users.ID(name)
		if first, ok := lineOf[user]; ok {
			return in.Fail("user", "user "+dataset.Quote(name)+" has a second line", "the first is line "+
				strconv.Itoa(first))
		}
		lineOf[user] = in.num
		rest, more := v[1], true
		for more {
			var item []byte
			item, rest, more = bytes.Cut(rest, []byte(" "))
			if len(item) == 0 {
				return in.Fail("items", "empty item",
					"items are separated by single spaces, and every line has at least one")
			}
			b.Add(user, b.Items.ID(item))
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return in.Finish(&b)
}
