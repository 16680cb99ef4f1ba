package registry

import (
	"context"
	"fmt"
	"slices"

	"privrec/internal/dataset"
	"privrec/internal/dataset/format"
)

// TmallLog says which rows of Tmall's user_log_format1.csv (IJCAI-15, Tianchi data set 42) to read.
type TmallLog struct {
	Action   string // "0" click, "1" add to cart, "2" purchase, "3" favourite
	From, To int    // first and last day, as mmdd: 1101 is 1 November
}

// tmallColumns holds the columns that are read. The header may also have cat_id, seller_id and brand_id, which are
// ignored.
var tmallColumns = []string{"user_id", "item_id", "time_stamp", "action_type"}

// Read streams the file. It counts rows of other actions and days in the log's Ladder and drops them at once,
// so memory grows only with the kept rows and with the distinct users and items of the whole file. Times are
// the file's mmdd: the log has days only, and rows of a day keep the order of the file.
func (t TmallLog) Read(ctx context.Context, path string) (*dataset.Log, error) {
	return format.ReadFile(ctx, path, t.parse)
}

// steps returns the names of the filters of Read, for the ladder and for the cache.
func (t TmallLog) steps() []string {
	action := "action " + t.Action
	if t.Action == "0" {
		action = "clicks"
	}
	return []string{dataset.RungRaw, action, fmt.Sprintf("days %04d to %04d", t.From, t.To)}
}

func (t TmallLog) parse(in *format.Input) (*dataset.Log, error) {
	s, names, err := format.Table{Sep: ","}.Open(in)
	if err != nil {
		return nil, err
	}
	var at [4]int
	for i, c := range tmallColumns {
		if at[i] = slices.Index(names, c); at[i] < 0 {
			return nil, in.MissingColumn(c, names)
		}
	}
	b := dataset.Builder{Times: []int64{}}
	f := format.NewFunnel(t.steps()...)
	err = in.EachRow(s, names, func(v [][]byte) error {
		user, err := in.ID("user_id", v[at[0]])
		if err != nil {
			return err
		}
		u := b.Users.ID(user)
		item, err := in.ID("item_id", v[at[1]])
		if err != nil {
			return err
		}
		i := b.Items.ID(item)
		day, err := monthDay(in, "time_stamp", v[at[2]])
		if err != nil {
			return err
		}
		action := v[at[3]]
		if len(action) != 1 || action[0] < '0' || action[0] > '3' {
			return in.Fail("action_type", "not an action: "+dataset.Quote(action),
				"actions are 0 click, 1 cart, 2 purchase, 3 favourite")
		}
		switch {
		case string(action) != t.Action:
			f.Count(1, u, i)
		case day < t.From || day > t.To:
			f.Count(2, u, i)
		default:
			f.Count(3, u, i)
			b.Add(u, i)
			b.Times = append(b.Times, int64(day))
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return in.FinishFunnel(&b, f)
}

// monthDay returns the mmdd in a field, whose leading zero may be missing.
func monthDay(in *format.Input, field string, b []byte) (int, error) {
	v, err := in.Integer(field, b)
	if err != nil || len(b) < 3 || len(b) > 4 || v/100 < 1 || v/100 > 12 || v%100 < 1 || v%100 > 31 {
		return 0, in.Fail(field, "not a day: "+dataset.Quote(b), "days of this format are mmdd: 1101 for 1 November")
	}
	return int(v), nil
}

// ReadTmallUsers reads user_info_format1.csv: age_range (0 to 8, 0 unknown) and gender (0 female, 1 male, 2
// unknown). An empty field is a missing value.
func ReadTmallUsers(ctx context.Context, path string) (*dataset.Features, error) {
	return format.Table{Sep: ","}.ReadFeatures(ctx, path)
}
