package format

import (
	"bytes"
	"context"
	"slices"
	"strconv"

	"privrec/internal/dataset"
)

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
		return nil, in.Fail("", "the header is not user and items, separated by a tab", "a user's items are in one column, oldest first, separated by spaces")
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
			return in.Fail("user", "user "+dataset.Quote(name)+" has a second line", "the first is line "+strconv.Itoa(first))
		}
		lineOf[user] = in.num
		rest, more := v[1], true
		for more {
			var item []byte
			item, rest, more = bytes.Cut(rest, []byte(" "))
			if len(item) == 0 {
				return in.Fail("items", "empty item", "items are separated by single spaces, and every line has at least one")
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
