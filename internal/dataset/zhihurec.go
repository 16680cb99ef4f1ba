package dataset

import "context"

var zhihuImpression = []string{"user", "answer", "impression timestamp", "click timestamp"}

// ReadZhihuRec reads inter_impression.csv of ZhihuRec (1M, 20M or 100M), without header:
// user, answer, time shown, time clicked (0 when it was not), in seconds since 1970.
// Rows of the log are the clicks in the order in which they were shown, as the exposure
// paper's program orders them; its Ladder begins with all that was shown.
func ReadZhihuRec(ctx context.Context, path string) (*Log, error) {
	return readFile(ctx, path, parseZhihuRec)
}

func parseZhihuRec(in *input) (*Log, error) {
	b := logBuilder{times: []int64{}}
	f := newFunnel(RungRaw, "clicked")
	err := in.eachRow(&splitter{sep: ","}, zhihuImpression, func(v [][]byte) error {
		user, err := in.id("user", v[0])
		if err != nil {
			return err
		}
		u := b.users.id(user)
		item, err := in.id("answer", v[1])
		if err != nil {
			return err
		}
		i := b.items.id(item)
		shown, err := in.timestamp("impression timestamp", v[2])
		if err != nil {
			return err
		}
		clicked, err := in.timestamp("click timestamp", v[3])
		if err != nil {
			return err
		}
		if clicked < 0 {
			return in.fail("click timestamp", "negative time "+Quote(v[3]), "0 says that there was no click")
		}
		if clicked == 0 {
			f.count(1, u, i)
			return nil
		}
		f.count(2, u, i)
		b.add(u, i)
		b.times = append(b.times, shown)
		return nil
	})
	if err != nil {
		return nil, err
	}
	return in.finishFunnel(&b, f)
}
