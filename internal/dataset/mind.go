package dataset

import (
	"bytes"
	"context"
	"time"
)

var mindBehaviors = []string{"impression", "user", "time", "history", "impressions"}

// ReadMIND reads one or more behaviors.tsv of the Microsoft News data set, without header:
// impression, user, time as 11/11/2019 9:05:58 AM, history, impressions as N1-0 N2-1
// where 1 is a click. Rows of the log are the clicks, in time order, those of one
// impression in the order shown; times are seconds since 1970 of the time read as UTC.
// The log's Ladder begins with all that was shown. The history field holds clicks without a
// time and is passed over. Rows of the first file are Train, those of any
// further file Test.
func ReadMIND(ctx context.Context, paths ...string) (*Log, error) {
	b := logBuilder{times: []int64{}, parts: []Part{}}
	f := newFunnel(RungRaw, "clicked")
	var digests []string
	for i, path := range paths {
		part := Train
		if i > 0 {
			part = Test
		}
		digest, err := readFile(ctx, path, func(in *input) (string, error) {
			if err := in.mind(&b, f, part); err != nil {
				return "", err
			}
			return in.digest()
		})
		if err != nil {
			return nil, err
		}
		digests = append(digests, digest)
	}
	if len(b.userOf) == 0 {
		return nil, &Error{File: paths[0], Msg: "no clicks in the file"}
	}
	l := b.log(SourceHash(digests...))
	l.Ladder = f.ladder()
	return l, nil
}

func (in *input) mind(b *logBuilder, f *funnel, part Part) error {
	return in.eachRow(&splitter{sep: "\t"}, mindBehaviors, func(v [][]byte) error {
		if _, err := in.id("impression", v[0]); err != nil {
			return err
		}
		user, err := in.token("user", v[1])
		if err != nil {
			return err
		}
		u := b.users.id(user)
		at, err := time.Parse("1/2/2006 3:04:05 PM", string(v[2]))
		if err != nil || at.Nanosecond() != 0 {
			return in.fail("time", "not a time: "+Quote(v[2]), "times of this format read 11/11/2019 9:05:58 AM")
		}
		for more := true; more; {
			var shown []byte
			shown, v[4], more = bytes.Cut(v[4], []byte(" "))
			cut := len(shown) - 2
			if cut < 1 || shown[cut] != '-' || shown[cut+1] != '0' && shown[cut+1] != '1' {
				return in.fail("impressions", "not a shown item with its click: "+Quote(shown), "they read N1-0 N2-1 between single spaces; the test set of MIND has no clicks and is of no use here")
			}
			item := b.items.id(shown[:cut])
			if shown[cut+1] == '0' {
				f.count(1, u, item)
				continue
			}
			f.count(2, u, item)
			b.add(u, item)
			b.times, b.parts = append(b.times, at.Unix()), append(b.parts, part)
		}
		return nil
	})
}
