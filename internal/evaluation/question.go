package evaluation

import (
	"context"
	"fmt"
	"slices"

	"privrec/internal/dataset"
	"privrec/internal/lists"
	"privrec/internal/metrics/definition"
	"privrec/internal/run"
)

// Question says which lists to measure, and how.
type Question struct {
	Recs, Truth string // files
	Train       string // file; "": not known
	Definition  string // one of definition.Names
	K           []int  // cut-offs, at least 1
}

// check returns the definition of the metrics, or an error for a question that cannot be answered, before a file is
// read.
func (q Question) check() (d definition.Definition, err error) {
	switch {
	case q.Recs == "":
		return d, run.Usagef("name them with --recs", "no file of lists is named")
	case q.Truth == "":
		return d, run.Usagef("name it with --truth", "no file of the truth is named")
	case len(q.K) == 0:
		return d, run.Usagef("such as --k 10,20", "no cut-off is named")
	}
	for i, k := range q.K {
		if k < 1 || k > most {
			return d, run.Usagef("", "the cut-off %d is not one of 1 to %d", k, most)
		}
		if slices.Contains(q.K[:i], k) {
			return d, run.Usagef("", "the cut-off %d is named twice", k)
		}
	}
	if d, err = definition.Of(q.Definition); err != nil {
		return d, run.Usagef("", "%v", err)
	}
	return d, nil
}

// most is the largest cutoff.
const most = 1 << 20

// Ask measures lists.
func Ask(ctx context.Context, q Question) (*Answer, error) {
	d, err := q.check()
	if err != nil {
		return nil, err
	}
	f, err := read(ctx, q)
	if err != nil {
		return nil, err
	}
	a := &Answer{Question: q, Definition: d, files: f, counts: f.count(q.K)}
	if a.counts.repeats > 0 && d.RefusesRepeats {
		r := a.counts.repeat
		return nil, f.recs.Fail(r.again, "item", fmt.Sprintf("the list of user %s holds item %s twice",
			f.user(r.again.User), f.item(r.again.Item)),
			fmt.Sprintf("the first is line %d; --definition ranx, lenskit or elliot take such lists, each in its own "+
				"way", r.first))
	}
	in := f.input()
	a.Result = d.Measure(in, q.K)
	if a.Result.Averaged == 0 {
		return nil, &dataset.Error{File: q.Truth, Msg: "no user is left to average: " + d.Program + " averages " +
			d.Who, Hint: "ids are text: 7 and 7.0 are two users"}
	}
	if f.train != nil {
		if a.Popularity, a.Random, err = floors(ctx, d, in, f.own(), q.K); err != nil {
			return nil, run.Interrupted(ctx, err)
		}
	}
	return a, nil
}

// files holds the files as read.
type files struct {
	ids                lists.IDs
	recs, truth, train *lists.File // train: nil where there is none
}

// read reads the files. It numbers items in the order of the training rows, then of the truth, then of the lists.
func read(ctx context.Context, q Question) (*files, error) {
	f := &files{}
	var err error
	if q.Train != "" {
		if f.train, err = lists.Read(ctx, q.Train, lists.Training, &f.ids); err != nil {
			return nil, run.Interrupted(ctx, err)
		}
	}
	if f.truth, err = lists.Read(ctx, q.Truth, lists.Truth, &f.ids); err != nil {
		return nil, run.Interrupted(ctx, err)
	}
	if f.recs, err = lists.Read(ctx, q.Recs, lists.Recommended, &f.ids); err != nil {
		return nil, run.Interrupted(ctx, err)
	}
	return f, f.match()
}

// match fails if no user of the lists is in the truth, or no listed item is in the truth or the training rows: ids are
// then written in two ways.
func (f *files) match() error {
	users, items := make([]bool, len(f.ids.Users.IDs)), make([]bool, len(f.ids.Items.IDs))
	for _, r := range f.truth.Rows {
		users[r.User], items[r.Item] = true, true
	}
	if f.train != nil {
		for _, r := range f.train.Rows {
			items[r.Item] = true
		}
	}
	if !slices.ContainsFunc(f.recs.Rows, func(r lists.Row) bool { return users[r.User] }) {
		return f.recs.Fail(f.recs.Rows[0], "user",
			fmt.Sprintf("no user of the lists is in %s, where one is called %s and here one is %s", f.truth.Path,
				f.user(f.truth.Rows[0].User), f.user(f.recs.Rows[0].User)),
			"ids are text, the same in all files: 7 and 7.0 are two users")
	}
	if !slices.ContainsFunc(f.recs.Rows, func(r lists.Row) bool { return items[r.Item] }) {
		return f.recs.Fail(f.recs.Rows[0], "item",
			fmt.Sprintf("no listed item is in %s, where one is called %s and here one is %s", f.truth.Path,
				f.item(f.truth.Rows[0].Item), f.item(f.recs.Rows[0].Item)),
			"ids are text, the same in all files: 7 and 7.0 are two items")
	}
	return nil
}

func (f *files) user(u int32) string { return dataset.Quote([]byte(f.ids.Users.IDs[u])) }
func (f *files) item(i int32) string { return dataset.Quote([]byte(f.ids.Items.IDs[i])) }

// input returns the rows in the form that a definition takes.
func (f *files) input() *definition.Input {
	in := &definition.Input{Users: make([]definition.User, len(f.ids.Users.IDs)), Items: f.ids.Items.IDs,
		Ranked: f.recs.Ranked, Scored: f.recs.Scored}
	for _, r := range f.recs.Rows {
		in.Users[r.User].List = append(in.Users[r.User].List, definition.Entry{Item: r.Item, Rank: r.Rank,
			Score: r.Score})
	}
	for _, r := range f.truth.Rows {
		in.Users[r.User].Truth = append(in.Users[r.User].Truth, definition.Target{Item: r.Item, Gain: r.Score})
	}
	if f.train != nil {
		users, items := make([]int32, len(f.train.Rows)), make([]int32, len(f.train.Rows))
		for i, r := range f.train.Rows {
			users[i], items[i] = r.User, r.Item
		}
		in.Train = definition.NewTrain(users, items, len(in.Items))
	}
	return in
}

// own returns the items of each user's training rows.
func (f *files) own() []map[int32]bool {
	own := make([]map[int32]bool, len(f.ids.Users.IDs))
	for _, r := range f.train.Rows {
		if own[r.User] == nil {
			own[r.User] = map[int32]bool{}
		}
		own[r.User][r.Item] = true
	}
	return own
}
