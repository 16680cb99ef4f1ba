package registry

import (
	"context"

	"privrec/internal/dataset"
	"privrec/internal/dataset/format"
)

var zhihuImpression = []string{"user", "answer", "impression timestamp", "click timestamp"}

// ReadZhihuRec reads inter_impression.csv of ZhihuRec (1M, 20M or 100M), without a header:
// user, answer, time shown, time clicked (0 without a click), in seconds since 1970. Rows of
// the log are the clicks in the order in which they were shown, as in the exposure paper's
// program. The log's Ladder begins with all shown answers.
func ReadZhihuRec(ctx context.Context, path string) (*dataset.Log, error) {
	return format.ReadFile(ctx, path, parseZhihuRec)
}

func parseZhihuRec(in *format.Input) (*dataset.Log, error) {
	b := dataset.Builder{Times: []int64{}}
	f := format.NewFunnel(dataset.RungRaw, "clicked")
	err := in.EachRow(&format.Splitter{Sep: ","}, zhihuImpression, func(v [][]byte) error {
		user, err := in.ID("user", v[0])
		if err != nil {
			return err
		}
		u := b.Users.ID(user)
		item, err := in.ID("answer", v[1])
		if err != nil {
			return err
		}
		i := b.Items.ID(item)
		shown, err := in.Timestamp("impression timestamp", v[2])
		if err != nil {
			return err
		}
		clicked, err := in.Timestamp("click timestamp", v[3])
		if err != nil {
			return err
		}
		if clicked < 0 {
			return in.Fail("click timestamp", "negative time "+dataset.Quote(v[3]), "0 means no click")
		}
		if clicked == 0 {
			f.Count(1, u, i)
			return nil
		}
		f.Count(2, u, i)
		b.Add(u, i)
		b.Times = append(b.Times, shown)
		return nil
	})
	if err != nil {
		return nil, err
	}
	return in.FinishFunnel(&b, f)
}
