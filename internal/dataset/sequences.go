package dataset

import (
	"bytes"
	"context"
	"slices"
)

// ReadSequences reads a table of two columns between a tab, "user" and "items", whose
// second column lists the user's items oldest first between single spaces. Ids are any
// text without spaces; a user has one line. There are no times: rows keep the order of
// the list.
func ReadSequences(ctx context.Context, path string) (*Log, error) {
	return readFile(ctx, path, parseSequences)
}

func parseSequences(in *input) (*Log, error) {
	s := &splitter{sep: "\t"}
	names, err := in.header(s)
	if err != nil {
		return nil, err
	}
	if want := []string{"user", "items"}; !slices.Equal(names, want) {
		return nil, in.fail("", "the header is not user and items between a tab", "a user's items stand in one column, oldest first, between spaces")
	}
	var b logBuilder
	lineOf := map[int32]int{}
	err = in.eachRow(s, names, func(v [][]byte) error {
		name, err := in.token("user", v[0])
		if err != nil {
			return err
		}
		user := b.users.id(name)
		if first, ok := lineOf[user]; ok {
			return in.fail("user", "user "+Quote(name)+" has a second line", "the first is line "+itoa(first))
		}
		lineOf[user] = in.num
		rest, more := v[1], true
		for more {
			var item []byte
			item, rest, more = bytes.Cut(rest, []byte(" "))
			if len(item) == 0 {
				return in.fail("items", "empty item", "items stand between single spaces, and every line has one at least")
			}
			b.add(user, b.items.id(item))
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return in.finish(&b)
}
