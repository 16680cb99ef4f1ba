package lists

import (
	"bytes"
	"context"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"privrec/internal/dataset"
	"privrec/internal/dataset/format"
	"privrec/internal/dataset/parquet"
)

// Read returns the rows of a file of a kind. Its users and items get numbers from ids.
func Read(ctx context.Context, path string, kind Kind, ids *IDs) (*File, error) {
	var f *File
	var err error
	if parquet.IsNamed(path) {
		f, err = readParquet(ctx, path, kind, ids)
	} else {
		f, err = format.ReadFile(ctx, path, func(in *format.Input) (*File, error) { return parse(in, kind, ids) })
	}
	if err != nil {
		return nil, err
	}
	if len(f.Rows) == 0 {
		msg := "no rows in the file"
		if f.Fillers > 0 {
			msg = fmt.Sprintf("all %d rows have the score of a filler, and none an item", f.Fillers)
		}
		return nil, &dataset.Error{File: path, Msg: msg}
	}
	if kind == Truth {
		return f, f.oneJudgement(ids)
	}
	if kind == Recommended && f.Ranked {
		if err := f.distinctRanks(ids); err != nil || !f.Scored {
			return f, err
		}
		return f, f.agree(ids)
	}
	if kind == Recommended && f.Scored {
		return f, f.trueScores(ids)
	}
	return f, nil
}

// parse reads an open text file.
func parse(in *format.Input, kind Kind, ids *IDs) (*File, error) {
	first, err := in.FirstLine()
	if err != nil {
		return nil, err
	}
	f := &File{Path: in.Path()}
	p := &parser{in: in, kind: kind, ids: ids, file: f}
	switch {
	case isJSON(first):
		f.Form, err = "JSON lines", p.jsonLines()
	case isTable(first):
		f.Form, err = "table", p.table(first)
	case kind != Recommended && bytes.Contains(first, []byte("::")):
		f.Form, err = "ratings.dat", p.ratings(bytes.Count(first, []byte("::"))+1)
	case kind == Recommended && isRun(first):
		f.Form, err = "TREC run", p.run()
	case kind == Truth && isQrels(first):
		f.Form, err = "TREC qrels", p.qrels()
	default:
		hint := hints[kind]
		if v := bytes.Split(first, []byte("\t")); kind == Recommended && len(v) == 3 && isNumber(v[2]) {
			hint = `it has no header: where its columns are user, item and score, as in files of Elliot, (printf 'user_id\titem_id\tscore\n'; cat FILE) > NEW mends it`
		}
		return nil, &dataset.Error{File: in.Path(), Line: 1, Msg: "not a form that is read: " + dataset.Quote(first),
			Hint: hint}
	}
	if err != nil {
		return nil, err
	}
	f.Digest, err = in.Digest()
	return f, err
}

// hints holds how a file of each kind begins.
var hints = map[Kind]string{
	Recommended: "a header with user_id and item_id, rank and score if there are any, between tabs or commas; or " +
		"JSON lines; or a TREC run: user Q0 item rank score name; or Parquet",
	Truth: "a header with user_id and item_id between tabs or commas; or TREC qrels: user 0 item relevance; or " +
		"ratings.dat: user::item::rating::time; or JSON lines; or Parquet",
	History: "a header with user_id and item_id, timestamp if there is one, between tabs or commas; or " +
		"ratings.dat: user::item::rating::time; or JSON lines; or Parquet",
	Training: "a header with user_id and item_id between tabs or commas; or ratings.dat: " +
		"user::item::rating::time; or JSON lines; or Parquet",
}

// parser reads the rows of one file.
type parser struct {
	in   *format.Input
	kind Kind
	ids  *IDs
	file *File

	clock format.Clock // of the rows of histories
}

// leastScore is the smallest 32-bit float, which programs write if a list has no more items.
const leastScore = -math.MaxFloat32

// add appends a row of the current line.
func (p *parser) add(user, item []byte, rank int64, score float64) error {
	if p.kind == Recommended && score <= leastScore {
		p.file.Fillers++
		return nil
	}
	if _, err := p.in.Token("user", user); err != nil {
		return err
	}
	if _, err := p.in.Token("item", item); err != nil {
		return err
	}
	if len(p.file.Rows) == maxRows {
		return p.in.Fail("", fmt.Sprintf("more than %d rows", maxRows), "")
	}
	p.file.Rows = append(p.file.Rows, Row{p.ids.Users.ID(user), p.ids.Items.ID(item), int32(p.in.Line()), rank, score})
	return nil
}

// ratings reads user::item::rating::time. The rating says what is relevant in a truth, and the time orders histories.
// Other fields are not read.
func (p *parser) ratings(fields int) error {
	names := append([]string{"user", "item"}, make([]string, max(0, fields-2))...)
	for i := 2; i < len(names); i++ {
		names[i] = "field " + strconv.Itoa(i+1)
	}
	timed := p.kind == History && fields == 4
	if timed {
		p.file.Timed, names[3] = true, "time"
	}
	if p.file.Rated = p.kind == Truth && fields >= 3; p.file.Rated {
		names[2] = "rating"
	}
	for i := 2; i < len(names); i++ {
		if strings.HasPrefix(names[i], "field ") {
			p.file.Unread = append(p.file.Unread, names[i])
		}
	}
	err := p.in.EachRow(&format.Splitter{Sep: "::"}, names, func(v [][]byte) (err error) {
		if timed {
			if err = p.clock.Add(p.in, "time", v[3]); err != nil {
				return err
			}
		}
		score := 1.0
		if p.file.Rated {
			if score, err = p.in.Float("rating", v[2]); err != nil {
				return err
			}
			score = liked(score)
		}
		return p.add(v[0], v[1], 0, score)
	})
	if err == nil && timed {
		err = p.file.times(&p.clock, "time")
	}
	return err
}

// run reads a TREC run. Its rank must be a whole number, and is not used.
func (p *parser) run() error {
	p.file.Scored = true
	return p.eachWords([]string{"user", "Q0", "item", "rank", "score", "name"}, func(v [][]byte) error {
		if _, err := p.in.Integer("rank", v[3]); err != nil {
			return err
		}
		score, err := p.in.Float("score", v[4])
		if err != nil {
			return err
		}
		return p.add(v[0], v[2], 0, score)
	})
}

// qrels reads TREC qrels.
func (p *parser) qrels() error {
	p.file.Graded = true
	return p.eachWords([]string{"user", "0", "item", "relevance"}, func(v [][]byte) error {
		relevance, err := p.in.Integer("relevance", v[3])
		if err != nil {
			return err
		}
		return p.add(v[0], v[2], 0, float64(relevance))
	})
}

// eachWords calls row for every line, split at white space.
func (p *parser) eachWords(names []string, row func(v [][]byte) error) error {
	return p.in.EachRow(&format.Splitter{Sep: "\n"}, []string{"line"}, func(line [][]byte) error {
		v := bytes.Fields(line[0])
		if len(v) != len(names) {
			return p.in.Fail("", fmt.Sprintf("%d fields instead of %d (%s)", len(v), len(names),
				strings.Join(names, ", ")), "")
		}
		return row(v)
	})
}

func isRun(line []byte) bool {
	v := bytes.Fields(line)
	return len(v) == 6 && isInteger(v[3]) && isNumber(v[4])
}

func isQrels(line []byte) bool {
	v := bytes.Fields(line)
	return len(v) == 4 && isInteger(v[3])
}

func isInteger(b []byte) bool {
	_, err := strconv.ParseInt(string(b), 10, 64)
	return err == nil
}

func isNumber(b []byte) bool {
	_, err := strconv.ParseFloat(string(b), 64)
	return err == nil
}

// oneJudgement returns an error if a truth has two relevances for an item of a user.
func (f *File) oneJudgement(ids *IDs) error {
	if !f.Graded && !f.Rated {
		return nil
	}
	first := map[[2]int32]int{}
	for i, r := range f.Rows {
		at, ok := first[[2]int32{r.User, r.Item}]
		if !ok {
			first[[2]int32{r.User, r.Item}] = i
			continue
		}
		if was := f.Rows[at]; was.Score != r.Score {
			field, is := "relevance", "relevance"
			if f.Rated {
				field, is = "rating", "a rating that makes its relevance"
			}
			return f.Fail(r, field, fmt.Sprintf("user %s has item %s with %s %v here and %v on line %d",
				dataset.Quote([]byte(ids.Users.IDs[r.User])), dataset.Quote([]byte(ids.Items.IDs[r.Item])), is, r.Score,
				was.Score, was.Line),
				"keep the judgement that counts")
		}
	}
	return nil
}

// distinctRanks returns an error if a list has a rank twice.
func (f *File) distinctRanks(ids *IDs) error {
	order := make([]int32, len(f.Rows))
	for i := range order {
		order[i] = int32(i)
	}
	slices.SortFunc(order, func(a, b int32) int {
		x, y := f.Rows[a], f.Rows[b]
		if x.User != y.User {
			return int(x.User) - int(y.User)
		}
		switch {
		case x.Rank < y.Rank:
			return -1
		case x.Rank > y.Rank:
			return 1
		}
		return int(a) - int(b)
	})
	var bad *Row
	var first Row
	for i := 1; i < len(order); i++ {
		x, y := f.Rows[order[i-1]], f.Rows[order[i]]
		if x.User == y.User && x.Rank == y.Rank && (bad == nil || y.Line < bad.Line) {
			bad, first = &f.Rows[order[i]], x
		}
	}
	if bad == nil {
		return nil
	}
	return f.Fail(*bad, "rank", fmt.Sprintf("the list of user %s has rank %d twice",
		dataset.Quote([]byte(ids.Users.IDs[bad.User])), bad.Rank),
		fmt.Sprintf("the first is line %d; leave the column out where scores order the lists", first.Line))
}
