package registry

import (
	"bytes"
	"context"
	"time"

	"privrec/internal/dataset"
	"privrec/internal/dataset/format"
)

var mindBehaviors = []string{"impression", "user", "time", "history", "impressions"}

// ReadMIND reads one or more behaviors.tsv of the Microsoft News data set, without a header:
// impression, user, time as 11/11/2019 9:05:58 AM, history, impressions as N1-0 N2-1, where 1
// is a click. Rows of the log are the clicks in time order, and within one impression in the
// order shown. Times are seconds since 1970 of the time read as UTC. The log's Ladder begins
// with all shown items. ReadMIND ignores the history field, whose clicks have no time. Rows of
// the first file are Train, those of further files Test.
func ReadMIND(ctx context.Context, paths ...string) (*dataset.Log, error) {
	b := dataset.Builder{Times: []int64{}, Parts: []dataset.Part{}}
	f := format.NewFunnel(dataset.RungRaw, "clicked")
	var digests []string
	for i, path := range paths {
		part := dataset.Train
		if i > 0 {
			part = dataset.Test
		}
		digest, err := format.ReadFile(ctx, path, func(in *format.Input) (string, error) {
			if err := parseMIND(in, &b, f, part); err != nil {
				return "", err
			}
			return in.Digest()
		})
		if err != nil {
			return nil, err
		}
		digests = append(digests, digest)
	}
	if len(b.UserOf) == 0 {
		return nil, &dataset.Error{File: paths[0], Msg: "no clicks in the file"}
	}
	l := b.Log(dataset.SourceHash(digests...))
	l.Ladder = f.Ladder()
	return l, nil
}

// parseMIND appends the clicks of one file and counts the shown items.
func parseMIND(in *format.Input, b *dataset.Builder, f *format.Funnel, part dataset.Part) error {
	return in.EachRow(&format.Splitter{Sep: "\t"}, mindBehaviors, func(v [][]byte) error {
		if _, err := in.ID("impression", v[0]); err != nil {
			return err
		}
		user, err := in.Token("user", v[1])
		if err != nil {
			return err
		}
		u := b.Users.ID(user)
		at, err := time.Parse("1/2/2006 3:04:05 PM", string(v[2]))
		if err != nil || at.Nanosecond() != 0 {
			return in.Fail("time", "not a time: "+dataset.Quote(v[2]),
				"times of this format look like 11/11/2019 9:05:58 AM")
		}
		for more := true; more; {
			var shown []byte
			shown, v[4], more = bytes.Cut(v[4], []byte(" "))
			cut := len(shown) - 2
			if cut < 1 || shown[cut] != '-' || shown[cut+1] != '0' && shown[cut+1] != '1' {
				return in.Fail("impressions", "not a shown item with its click: "+dataset.Quote(shown),
					"they look like N1-0 N2-1, separated by single spaces; the test set of MIND has no clicks and "+
						"cannot be used here")
			}
			item := b.Items.ID(shown[:cut])
			if shown[cut+1] == '0' {
				f.Count(1, u, item)
				continue
			}
			f.Count(2, u, item)
			b.Add(u, item)
			b.Times, b.Parts = append(b.Times, at.Unix()), append(b.Parts, part)
		}
		return nil
	})
}
