package lists

import (
	"bytes"
	"slices"
	"strings"

	"privrec/internal/dataset/format"
)

// names are the names that a column may have, without RecBole's types.
var names = map[string][]string{
	"user_id":   {"user_id", "user", "userid", "uid"},
	"item_id":   {"item_id", "item", "itemid", "iid"},
	"rank":      {"rank"},
	"score":     {"score", "prediction"},
	"relevance": {"relevance"},
	"timestamp": {"timestamp", "time"},
}

// isTable reports whether a line is a header: it names a user or an item between tabs or commas.
func isTable(line []byte) bool {
	for _, f := range bytes.Split(line, []byte(separator(line))) {
		name := bare(string(bytes.Trim(f, `" `)))
		if slices.Contains(names["user_id"], name) || slices.Contains(names["item_id"], name) {
			return true
		}
	}
	return false
}

// separator returns the tab of a line that has one, and else the comma.
func separator(line []byte) string {
	if bytes.IndexByte(line, '\t') >= 0 {
		return "\t"
	}
	return ","
}

// bare returns a name in lower case without the type that RecBole adds.
func bare(name string) string {
	name, _, _ = strings.Cut(name, ":")
	return strings.ToLower(name)
}

// columns says where the columns of a table are; -1: the table has none.
type columns struct{ user, item, rank, score, relevance, time int }

// find finds the columns of a kind. fail makes the error for a column that is missing or is there twice.
func find(kind Kind, header []string, fail func(field, msg, hint string) error) (c columns, err error) {
	at := func(field string) int {
		found := -1
		for i, h := range header {
			switch {
			case !slices.Contains(names[field], strings.ToLower(h)):
			case found < 0:
				found = i
			case err == nil:
				err = fail(field, "the columns "+header[found]+" and "+h+" both mean it", "keep one of them")
			}
		}
		return found
	}
	c = columns{at("user_id"), at("item_id"), -1, -1, -1, -1}
	switch kind {
	case Recommended:
		c.rank, c.score = at("rank"), at("score")
	case Truth:
		c.relevance = at("relevance")
	case History:
		c.time = at("timestamp")
	}
	for _, need := range []struct {
		field string
		at    int
	}{{"user_id", c.user}, {"item_id", c.item}} {
		if need.at < 0 && err == nil {
			err = fail(need.field, "column is missing", "the columns are "+strings.Join(header, ", ")+"; it may be called "+strings.Join(names[need.field], ", "))
		}
	}
	return c, err
}

// table reads a table with a header.
func (p *parser) table(first []byte) error {
	s, header, err := format.Table{Sep: separator(first)}.Open(p.in)
	if err != nil {
		return err
	}
	c, err := find(p.kind, header, p.in.Fail)
	if err != nil {
		return err
	}
	p.file.Ranked, p.file.Scored, p.file.Graded, p.file.Timed = c.rank >= 0, c.score >= 0, c.relevance >= 0, c.time >= 0
	return p.in.EachRow(s, header, func(v [][]byte) (err error) {
		rank, score := int64(0), 1.0
		for _, at := range []int{c.rank, c.time} {
			if at < 0 {
				continue
			}
			if rank, err = p.in.Timestamp(header[at], v[at]); err != nil { // a whole number, also as 1.0
				return err
			}
		}
		for _, at := range []int{c.score, c.relevance} {
			if at < 0 {
				continue
			}
			if score, err = p.in.Float(header[at], v[at]); err != nil {
				return err
			}
		}
		return p.add(v[c.user], v[c.item], rank, score)
	})
}
