package imported

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strconv"

	"privrec/internal/dataset"
	"privrec/internal/experiment"
	"privrec/internal/lists"
	"privrec/internal/run"
)

// ListsConfig describes a model that is known by its lists alone.
type ListsConfig struct {
	Common `yaml:",inline"`
	Recs   string `yaml:"recs"` // file of lists, in any form that privrec evaluate reads
}

// Lists returns the form of models that are known by their lists alone.
func Lists() Form[ListsConfig] {
	return Form[ListsConfig]{
		Name: "lists", Summary: "make a run of the lists that another program's model gives",
		Flags:   []run.Flag{{Name: "recs", Key: "recs", Usage: "file of lists"}},
		Default: func() ListsConfig { return ListsConfig{Common: DefaultCommon()} },
		Common:  func(c *ListsConfig) *Common { return &c.Common },
		Load: func(ctx context.Context, c ListsConfig, ids *lists.IDs) (Parsed, error) {
			return readLists(ctx, c.Recs, ids)
		},
		Kept: func(c *ListsConfig, folder string) { c.Recs = filepath.Join(folder, "lists.tsv.gz") },
	}
}

// parsedLists holds a file of lists as read.
type parsedLists struct {
	*lists.File
	ids  *lists.IDs
	file dataset.File
}

func readLists(ctx context.Context, path string, ids *lists.IDs) (Parsed, error) {
	if path == "" {
		return nil, &run.UsageError{Message: "no file of lists is named", Fix: "name it with --recs"}
	}
	f, err := lists.Read(ctx, path, lists.Recommended, ids)
	if err != nil {
		return nil, err
	}
	file, err := fileOf(f)
	return &parsedLists{f, ids, file}, err
}

// Files implements Parsed.
func (p *parsedLists) Files() []dataset.File { return []dataset.File{p.file} }

// Number implements Parsed. It refuses an item that a list holds twice. It also refuses lists whose users or items are
// hardly ever in the training rows, since ids are then written in two ways.
func (p *parsedLists) Number(rows *Rows, to, item []int32, n *Counts) (Shown, error) {
	d := rows.Data
	s := &listed{rows: rows, scored: p.Scored, lists: make([][]Ranked, d.Users)}
	elsewhere := rows.known()
	first := make(map[int32]lists.Row)
	users, items := 0, 0
	for u, list := range p.ByUser(len(to)) {
		clear(first)
		k := to[u]
		for _, x := range list {
			i := item[x.Item]
			if was, twice := first[i]; twice {
				a, b := min(was.Line, x.Line), max(was.Line, x.Line)
				x.Line = b
				return nil, p.Fail(x, "item", fmt.Sprintf("the list of user %s holds item %s twice",
					dataset.Quote([]byte(d.UserIDs[k])), dataset.Quote([]byte(d.ItemIDs[i]))),
					fmt.Sprintf("the first is line %d; keep one of them", a))
			}
			first[i] = x
			e := Ranked{i, math.NaN()}
			if p.Scored {
				e.Score = x.Score
			}
			s.lists[k] = append(s.lists[k], e)
			if elsewhere[i] {
				items++
			}
		}
		if len(list) > 0 && len(d.Train[k]) > 0 {
			users++
		}
	}
	row := p.Rows[0]
	if users == 0 {
		return nil, p.Fail(row, "user",
			fmt.Sprintf("no user of the lists is in the training rows, where one is called %s and here one is %s",
				rows.someUser(), dataset.Quote([]byte(p.ids.Users.IDs[row.User]))),
			"ids are text, the same in all files: 7 and 7.0 are two users")
	}
	if items == 0 {
		return nil, p.Fail(row, "item",
			fmt.Sprintf("no listed item is in the training rows, where one is called %s and here one is %s",
				rows.someItem(), dataset.Quote([]byte(p.ids.Items.IDs[row.Item]))),
			"ids are text, the same in all files: 7 and 7.0 are two items")
	}
	s.count(n, elsewhere)
	n.Left = append(n.Left, p.Left()...)
	n.Rising = !p.Ranked && p.Rising(len(to))
	return s, s.match(p, *n)
}

// match fails if nine in ten rows of lists hold items of no other file, or most users are in no other file. An attack
// on the remaining few would find nothing, whatever the lists reveal. Lists of some of the users, and rows of some of
// them, are no error.
func (s *listed) match(p *parsedLists, n Counts) error {
	d := s.rows.Data
	if n.UnknownRows >= 9*(n.ListRows-n.UnknownRows) {
		return &dataset.Error{File: p.Path, Msg: fmt.Sprintf("%d of %d rows of lists hold items of no other file",
			n.UnknownRows, n.ListRows), Hint: "ids are text, the same in all files: 7 and 7.0 are two items"}
	}
	with, both := 0, 0
	for u, list := range s.lists {
		rows := len(d.Train[u]) > 0 || len(s.rows.of(u)) > 0
		if rows {
			with++
		}
		if len(list) > 0 && (rows || len(d.Test[u]) > 0) {
			both++
		}
	}
	if fewer := min(n.Listed, with); both < fewer-both {
		return &dataset.Error{File: p.Path,
			Msg:  fmt.Sprintf("%d users have a list, %d have rows, and only %d have both", n.Listed, with, both),
			Hint: "ids are text, the same in all files: 7 and 7.0 are two users"}
	}
	return nil
}

// of returns a user's items that the model was not trained on.
func (r *Rows) of(u int) []int32 {
	if r.Others == nil {
		return nil
	}
	return r.Others[u]
}

// known tells for each item whether it occurs in some row.
func (r *Rows) known() []bool {
	out := make([]bool, r.Data.Items)
	for _, part := range [][][]int32{r.Data.Train, r.Data.Test, r.Others} {
		for _, items := range part {
			for _, i := range items {
				out[i] = true
			}
		}
	}
	return out
}

// someUser and someItem return an id from the training rows, for messages.
func (r *Rows) someUser() string {
	u := slices.IndexFunc(r.Data.Train, func(items []int32) bool { return len(items) > 0 })
	return dataset.Quote([]byte(r.Data.UserIDs[u]))
}

func (r *Rows) someItem() string {
	u := slices.IndexFunc(r.Data.Train, func(items []int32) bool { return len(items) > 0 })
	return dataset.Quote([]byte(r.Data.ItemIDs[r.Data.Train[u][0]]))
}

// listed is lists as they were read. It implements Shown.
type listed struct {
	rows    *Rows
	scored  bool
	lists   [][]Ranked // by user, best first
	longest int
}

// What implements Shown.
func (s *listed) What() string { return "lists" }

// Longest implements Shown.
func (s *listed) Longest() int { return s.longest }

// Best implements Shown. A user without a list has nil.
func (s *listed) Best(ctx context.Context, users []int32, k int) ([][]Ranked, error) {
	out := make([][]Ranked, len(users))
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	for j, u := range users {
		out[j] = s.lists[u][:min(k, len(s.lists[u]))]
	}
	return out, nil
}

// Hash implements Shown.
func (s *listed) Hash() string {
	sum := sha256.New()
	var lines []byte // of a user; each is "%q %q %v\n", which fmt is slow to write
	for u, list := range s.lists {
		lines = lines[:0]
		for _, e := range list {
			lines = append(strconv.AppendQuote(lines, s.rows.Data.UserIDs[u]), ' ')
			lines = append(strconv.AppendQuote(lines, s.rows.Data.ItemIDs[e.Item]), ' ')
			lines = append(strconv.AppendFloat(lines, e.Score, 'g', -1, 64), '\n')
		}
		sum.Write(lines)
	}
	return hex.EncodeToString(sum.Sum(nil))
}

// Keep implements Shown.
func (s *listed) Keep(env *run.Env) error {
	var users, items []string
	var ranks []int64
	var scores []float64
	for u, list := range s.lists {
		for k, e := range list {
			users, items, ranks, scores = append(users, s.rows.Data.UserIDs[u]),
				append(items, s.rows.Data.ItemIDs[e.Item]), append(ranks, int64(k+1)), append(scores, e.Score)
		}
	}
	columns := []run.Column{{Name: "user_id", Values: users}, {Name: "item_id", Values: items},
		{Name: "rank", Values: ranks}}
	if s.scored {
		columns = append(columns, run.Column{Name: "score", Values: scores})
	}
	return env.WriteScores(folder+"/lists", columns...)
}

// Answers implements Shown.
func (s *listed) Answers(a *Answers) run.Answers { return &listAnswers{a, s} }

// listAnswers answers from lists alone. It implements experiment.Listing.
type listAnswers struct {
	*Answers
	shown *listed
}

var _ experiment.Listing = (*listAnswers)(nil)

// Lists implements experiment.Listing.
func (a *listAnswers) Lists(users []string) [][]string {
	out := make([][]string, len(users))
	for j, id := range users {
		u, ok := a.Model.Rows.User(id)
		if !ok {
			continue
		}
		for _, e := range a.shown.lists[u] {
			out[j] = append(out[j], a.Model.Rows.Data.ItemIDs[e.Item])
		}
	}
	return out
}

// Longest implements experiment.Listing.
func (a *listAnswers) Longest() int { return a.shown.longest }
