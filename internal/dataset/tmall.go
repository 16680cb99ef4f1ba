package dataset

import (
	"context"
	"fmt"
	"slices"
)

// TmallLog says which rows of Tmall's user_log_format1.csv (IJCAI-15, Tianchi data set
// 42) are read.
type TmallLog struct {
	Action   string // "0" click, "1" add to cart, "2" purchase, "3" favourite
	From, To int    // first and last day, as mmdd: 1101 is 1 November
}

// tmallColumns are those of the header that are read; cat_id, seller_id and brand_id may
// stand among them and are passed over.
var tmallColumns = []string{"user_id", "item_id", "time_stamp", "action_type"}

// Read streams the file: rows of other actions and days are counted in the log's Ladder
// and dropped at once, so memory grows with the rows that are kept and with the distinct
// users and items of the whole file alone. Times are the file's mmdd: the log knows days, and rows of a day keep
// the order of the file.
func (t TmallLog) Read(ctx context.Context, path string) (*Log, error) {
	return readFile(ctx, path, t.parse)
}

// steps names what Read filters, for the ladder and for the cache.
func (t TmallLog) steps() []string {
	action := "action " + t.Action
	if t.Action == "0" {
		action = "clicks"
	}
	return []string{RungRaw, action, fmt.Sprintf("days %04d to %04d", t.From, t.To)}
}

func (t TmallLog) parse(in *input) (*Log, error) {
	s, names, err := Table{Sep: ","}.open(in)
	if err != nil {
		return nil, err
	}
	var at [4]int
	for i, c := range tmallColumns {
		if at[i] = slices.Index(names, c); at[i] < 0 {
			return nil, in.missingColumn(c, names)
		}
	}
	b := logBuilder{times: []int64{}}
	f := newFunnel(t.steps()...)
	err = in.eachRow(s, names, func(v [][]byte) error {
		user, err := in.id("user_id", v[at[0]])
		if err != nil {
			return err
		}
		u := b.users.id(user)
		item, err := in.id("item_id", v[at[1]])
		if err != nil {
			return err
		}
		i := b.items.id(item)
		day, err := in.monthDay("time_stamp", v[at[2]])
		if err != nil {
			return err
		}
		action := v[at[3]]
		if len(action) != 1 || action[0] < '0' || action[0] > '3' {
			return in.fail("action_type", "not an action: "+Quote(action), "actions are 0 click, 1 cart, 2 purchase, 3 favourite")
		}
		switch {
		case string(action) != t.Action:
			f.count(1, u, i)
		case day < t.From || day > t.To:
			f.count(2, u, i)
		default:
			f.count(3, u, i)
			b.add(u, i)
			b.times = append(b.times, int64(day))
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return in.finishFunnel(&b, f)
}

// monthDay parses mmdd, whose leading zero may be missing.
func (in *input) monthDay(field string, b []byte) (int, error) {
	v, err := in.integer(field, b)
	if err != nil || len(b) < 3 || len(b) > 4 || v/100 < 1 || v/100 > 12 || v%100 < 1 || v%100 > 31 {
		return 0, in.fail(field, "not a day: "+Quote(b), "days of this format read mmdd, 1101 for 1 November")
	}
	return int(v), nil
}

// ReadTmallUsers reads user_info_format1.csv: age_range (0 to 8, 0 unknown) and gender (0
// female, 1 male, 2 unknown), either of which may be empty, hence missing.
func ReadTmallUsers(ctx context.Context, path string) (*Features, error) {
	return Table{Sep: ","}.ReadFeatures(ctx, path)
}
