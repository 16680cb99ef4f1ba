package dataset

import (
	"io"
	"math"
)

// featureBuilder collects one row of attributes a user.
type featureBuilder struct {
	users   interner
	firstAt []int // line of each user's row
	columns []Column
	levels  []interner // per column, in order of first appearance
}

func newFeatureBuilder(names []string, kinds map[string]Kind) *featureBuilder {
	fb := &featureBuilder{levels: make([]interner, len(names))}
	for _, n := range names {
		fb.columns = append(fb.columns, Column{Name: n, Kind: kinds[n]})
	}
	return fb
}

// add appends a user's row; an empty field is a missing value.
func (fb *featureBuilder) add(in *input, user []byte, fields [][]byte) error {
	if _, err := in.token("user", user); err != nil {
		return err
	}
	n := len(fb.users.ids)
	if int(fb.users.id(user)) != n {
		first := fb.firstAt[fb.users.id(user)]
		return in.fail("user", "user "+Quote(user)+" has a second line of features", "the first is on line "+itoa(first))
	}
	fb.firstAt = append(fb.firstAt, in.num)
	for i := range fb.columns {
		c := &fb.columns[i]
		switch {
		case c.Kind == Categorical && len(fields[i]) == 0:
			c.Codes = append(c.Codes, -1)
		case c.Kind == Categorical:
			c.Codes = append(c.Codes, fb.levels[i].id(fields[i]))
		case len(fields[i]) == 0:
			c.Numbers = append(c.Numbers, math.NaN())
		default:
			x, err := in.float(c.Name, fields[i])
			if err != nil {
				return err
			}
			c.Numbers = append(c.Numbers, x)
		}
	}
	return nil
}

// features orders users and levels.
func (fb *featureBuilder) features(in *input) (*Features, error) {
	if len(fb.users.ids) == 0 {
		return nil, &Error{File: in.file, Msg: "no users in the file"}
	}
	rank, userIDs := ascending(fb.users.ids)
	rows := make([]int32, len(rank)) // rows in ascending order of user
	for i, r := range rank {
		rows[r] = int32(i)
	}
	f := &Features{UserIDs: userIDs}
	for i, c := range fb.columns {
		if c.Kind == Categorical {
			levelRank, levels := ascending(fb.levels[i].ids)
			for j, code := range c.Codes {
				if code >= 0 {
					c.Codes[j] = levelRank[code]
				}
			}
			c.Levels = levels
		}
		f.Columns = append(f.Columns, c.gather(rows))
	}
	return f, nil
}

// ignoreEOF turns the regular end of a file into success.
func ignoreEOF(err error) error {
	if err == io.EOF {
		return nil
	}
	return err
}
