package format

import (
	"bytes"
	"context"
	"strconv"

	"privrec/internal/dataset"
)

// ReadAdjacency reads lines `user item item ...` with single spaces, as LightGCN publishes its
// splits. Ids are integers from 0, and a user has one line. A user without items is accepted
// and dropped, since published test files have such lines. An item named twice gives two rows,
// which a recipe can dedupe. There are no times: rows keep file order.
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
				err.(*dataset.Error).Hint = "numbers must stand between single spaces, this line uses " + dataset.Quote(line[i:i+1])
			}
			return nil, err
		}
		if first, ok := lineOf[string(name)]; ok {
			return nil, in.Fail("user", "user "+dataset.Quote(name)+" has a second line", "the first is line "+strconv.Itoa(first))
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
