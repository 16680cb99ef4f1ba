package slate

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"privrec/internal/dataset"
	"privrec/internal/dataset/format"
)

// Impressions holds the logs of MIND, in file order, files one after the other.
type Impressions struct {
	Name, Hash string
	UserIDs    []string // in order of first appearance
	ItemIDs    []string // in order of first appearance
	Logs       []Impression

	repeated []Impression // logs left out because they repeat one of Logs
}

// Impression holds one log: which items a user saw at once, and what the user had clicked before.
type Impression struct {
	ID      string  // number in its file; every file of MIND begins with 1
	User    int32   // index into UserIDs
	Time    int64   // seconds since 1970 of the time read as UTC
	History []int32 // items clicked before, oldest first
	Shown   []int32 // items in the order shown
	Clicked []bool  // for each shown item, whether it was clicked
}

var mindColumns = []string{"impression", "user", "time", "history", "impressions"}

// ReadMIND reads one or more behaviors.tsv of the Microsoft News data set, without a header: impression, user, time as
// 11/11/2019 9:05:58 AM, history, impressions as N1-0 N2-1, where 1 is a click. The history may be empty. A log is one
// event, so ReadMIND leaves out and counts exact repeats of earlier logs. It fails on a file with nothing but repeats,
// such as train given again as dev.
func ReadMIND(ctx context.Context, paths ...string) (*Impressions, error) {
	m := &Impressions{}
	users, items, met := dataset.Interner{}, dataset.Interner{}, logIndex{}
	var digests []string
	for i, path := range paths {
		before, repeated := len(m.Logs), len(m.repeated)
		in, err := format.OpenColumns(ctx, path, "\t", mindColumns...)
		if err != nil {
			return nil, err
		}
		digest, err := m.read(in, &users, &items, met)
		in.Close()
		if err != nil {
			return nil, err
		}
		if len(m.Logs) == before {
			return nil, &dataset.Error{File: path, Msg: fmt.Sprintf("all %d logs are also in %s",
				len(m.repeated)-repeated, strings.Join(paths[:i], ", ")), Hint: "was the same file put in two places?"}
		}
		digests, m.Name = append(digests, digest), path
	}
	m.UserIDs, m.ItemIDs, m.Hash = users.IDs, items.IDs, dataset.SourceHash(digests...)
	return m, nil
}

// logIndex finds logs by a key that distinguishes nearly all of them.
type logIndex map[logKey][]int32

type logKey struct {
	id   string
	user int32
	time int64
}

// add appends a log, or puts it into repeated if an equal one is there already.
func (m *Impressions) add(log Impression, met logIndex) {
	k := logKey{log.ID, log.User, log.Time}
	for _, i := range met[k] {
		if x := m.Logs[i]; slices.Equal(x.History, log.History) && slices.Equal(x.Shown, log.Shown) &&
			slices.Equal(x.Clicked, log.Clicked) {
			m.repeated = append(m.repeated, log)
			return
		}
	}
	met[k] = append(met[k], int32(len(m.Logs)))
	m.Logs = append(m.Logs, log)
}

// read appends the logs of a file and returns its digest.
func (m *Impressions) read(in *format.Rows, users, items *dataset.Interner, met logIndex) (string, error) {
	err := each(in, func(v [][]byte) error {
		if len(v[1]) == 0 {
			return in.Fail("user", "empty", "every log needs a user")
		}
		if len(v[2]) == 0 {
			return in.Fail("time", "missing time", "times of this format look like 11/11/2019 9:05:58 AM")
		}
		at, err := time.Parse("1/2/2006 3:04:05 PM", string(v[2]))
		if err != nil {
			return in.Fail("time", "not a time: "+dataset.Quote(v[2]),
				"times of this format look like 11/11/2019 9:05:58 AM")
		}
		log := Impression{ID: string(v[0]), User: users.ID(v[1]), Time: at.Unix()}
		if len(v[3]) > 0 {
			log.History = make([]int32, 0, bytes.Count(v[3], []byte{' '})+1)
		}
		for more := len(v[3]) > 0; more; {
			var item []byte
			item, v[3], more = bytes.Cut(v[3], []byte{' '})
			if len(item) == 0 {
				return in.Fail("history", "two spaces in a row", "items are separated by single spaces")
			}
			log.History = append(log.History, items.ID(item))
		}
		n := bytes.Count(v[4], []byte{' '}) + 1
		log.Shown, log.Clicked = make([]int32, 0, n), make([]bool, 0, n)
		for more := true; more; {
			var shown []byte
			shown, v[4], more = bytes.Cut(v[4], []byte{' '})
			cut := len(shown) - 2
			if cut < 1 || shown[cut] != '-' || shown[cut+1] != '0' && shown[cut+1] != '1' {
				return in.Fail("impressions", "not a shown item with its click: "+dataset.Quote(shown),
					"they look like N1-0 N2-1, separated by single spaces; the test set of MIND has no clicks and "+
						"cannot be used here")
			}
			log.Shown, log.Clicked = append(log.Shown, items.ID(shown[:cut])), append(log.Clicked, shown[cut+1] == '1')
		}
		m.add(log, met)
		return nil
	})
	if err != nil {
		return "", err
	}
	return in.Digest()
}
