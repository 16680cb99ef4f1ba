package format

import (
	"math"
	"strconv"

	"privrec/internal/dataset"
)

// FeatureBuilder collects one row of attributes per user.
type FeatureBuilder struct {
	users   dataset.Interner
	firstAt []int // line of each user's row
	columns []dataset.Column
	levels  []dataset.Interner // per column, in order of first appearance
}

// NewFeatureBuilder returns a builder for columns with the given names, without that of the user, and kinds. A column
// that is not in kinds is categorical.
func NewFeatureBuilder(names []string, kinds map[string]dataset.Kind) *FeatureBuilder {
	fb := &FeatureBuilder{levels: make([]dataset.Interner, len(names))}
	for _, n := range names {
		fb.columns = append(fb.columns, dataset.Column{Name: n, Kind: kinds[n]})
	}
	return fb
}

// Missing reports whether a field of an attribute is a missing value: empty, or in the notation of pandas, R and SQL.
func Missing(field []byte) bool {
	switch string(field) {
	case "", "NaN", "nan", "NA", "N/A", "<NA>", "NULL", "null":
		return true
	}
	return false
}

// Add appends a user's row; a missing value has no level and no number.
func (fb *FeatureBuilder) Add(in *Input, user []byte, fields [][]byte) error {
	if _, err := in.Token("user", user); err != nil {
		return err
	}
	n := len(fb.users.IDs)
	if int(fb.users.ID(user)) != n {
		first := fb.firstAt[fb.users.ID(user)]
		return in.Fail("user", "user "+dataset.Quote(user)+" has a second line of features", "the first is on line "+
			strconv.Itoa(first))
	}
	fb.firstAt = append(fb.firstAt, in.num)
	for i := range fb.columns {
		c := &fb.columns[i]
		switch {
		case c.Kind == dataset.Categorical && Missing(fields[i]):
			c.Codes = append(c.Codes, -1)
		case c.Kind == dataset.Categorical:
			c.Codes = append(c.Codes, fb.levels[i].ID(fields[i]))
		case Missing(fields[i]):
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

// Len returns the number of users so far.
func (fb *FeatureBuilder) Len() int { return len(fb.firstAt) }

// KnownID sets an id that replaces the next new user's id, instead of a copy, if the two are equal.
func (fb *FeatureBuilder) KnownID(id string) { fb.users.Known = id }

// Features returns the columns with users and levels in order.
func (fb *FeatureBuilder) Features(in *Input) (*dataset.Features, error) {
	if len(fb.users.IDs) == 0 {
		return nil, &dataset.Error{File: in.file, Msg: "no users in the file"}
	}
	rank, userIDs := dataset.Ascending(fb.users.IDs)
	rows := make([]int32, len(rank)) // rows in ascending order of user
	for i, r := range rank {
		rows[r] = int32(i)
	}
	f := &dataset.Features{UserIDs: userIDs}
	for i, c := range fb.columns {
		if c.Kind == dataset.Categorical {
			levelRank, levels := dataset.Ascending(fb.levels[i].IDs)
			for j, code := range c.Codes {
				if code >= 0 {
					c.Codes[j] = levelRank[code]
				}
			}
			c.Levels = levels
		}
		f.Columns = append(f.Columns, c.Gather(rows))
	}
	return f, nil
}
