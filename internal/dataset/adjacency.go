package dataset

import (
	"bytes"
	"context"
)

// ReadAdjacency reads lines `user item item ...` between single spaces, as LightGCN
// publishes its splits: ids are integers from 0, a user has one line. A user without
// items is accepted and dropped (published test files have such lines), and an item
// named twice is two rows: Dedupe is the recipe's to ask for. There are no times: rows
// keep file order.
func ReadAdjacency(ctx context.Context, path string) (*Log, error) {
	return readFile(ctx, path, parseAdjacency)
}

func parseAdjacency(in *input) (*Log, error) {
	var b logBuilder
	lineOf := map[string]int{}
	for {
		line, err := in.line()
		if ignoreEOF(err) != nil {
			return nil, err
		}
		if err != nil {
			return in.finish(&b)
		}
		line = bytes.TrimRight(line, " ")
		name, rest, _ := bytes.Cut(line, []byte(" "))
		if _, err := in.id("user", name); err != nil {
			if i := bytes.IndexAny(line, "\t,;"); i >= 0 {
				err.(*Error).Hint = "numbers must stand between single spaces, this line uses " + Quote(line[i:i+1])
			}
			return nil, err
		}
		if first, ok := lineOf[string(name)]; ok {
			return nil, in.fail("user", "user "+Quote(name)+" has a second line", "the first is line "+itoa(first))
		}
		lineOf[string(name)] = in.num
		if len(rest) == 0 {
			continue
		}
		user := b.users.id(name)
		for more := true; more; {
			var item []byte
			item, rest, more = bytes.Cut(rest, []byte(" "))
			if _, err := in.id("item", item); err != nil {
				return nil, err
			}
			b.userOf, b.itemOf = append(b.userOf, user), append(b.itemOf, b.items.id(item))
		}
	}
}
