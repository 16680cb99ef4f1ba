package dataset

import (
	"context"
	"fmt"
)

// movieLensFormat is one of MovieLens' files without header.
type movieLensFormat struct {
	sep   string
	names []string // of the fields, in order
}

var (
	ratingsDat = movieLensFormat{"::", []string{"user", "item", "rating", "timestamp"}}
	uData      = movieLensFormat{"\t", []string{"user", "item", "rating", "timestamp"}}
	usersDat   = movieLensFormat{"::", []string{"user", "gender", "age", "occupation", "zip"}}
	uUser      = movieLensFormat{"|", []string{"user", "age", "gender", "occupation", "zip"}}
)

// ReadRatingsDat reads MovieLens-1M's and -10M's ratings.dat
// (user::item::rating::timestamp).
func ReadRatingsDat(ctx context.Context, path string) (*Log, error) {
	return readFile(ctx, path, ratingsDat.log)
}

// ReadUData reads MovieLens-100K's u.data (user, item, rating, timestamp between tabs).
func ReadUData(ctx context.Context, path string) (*Log, error) {
	return readFile(ctx, path, uData.log)
}

// ReadUsersDat reads MovieLens-1M's users.dat (user::gender::age::occupation::zip).
// Age is a code of a group, hence categorical.
func ReadUsersDat(ctx context.Context, path string) (*Features, error) {
	return readFile(ctx, path, func(in *input) (*Features, error) { return usersDat.features(in, nil) })
}

// ReadUUser reads MovieLens-100K's u.user (user|age|gender|occupation|zip). Age is
// numeric, in years.
func ReadUUser(ctx context.Context, path string) (*Features, error) {
	return readFile(ctx, path, func(in *input) (*Features, error) {
		return uUser.features(in, map[string]Kind{"age": Numeric})
	})
}

// readFile opens path, parses it and closes it.
func readFile[T any](ctx context.Context, path string, parse func(*input) (T, error)) (T, error) {
	in, err := openInput(ctx, path)
	if err != nil {
		var none T
		return none, err
	}
	defer in.close()
	return parse(in)
}

// log parses rows of four fields.
func (f movieLensFormat) log(in *input) (*Log, error) {
	b := logBuilder{times: []int64{}, values: []float32{}}
	s := splitter{sep: f.sep}
	err := in.eachRow(&s, f.names, func(v [][]byte) error { return in.ratingRow(&b, v) })
	if err != nil {
		return nil, err
	}
	return in.finish(&b)
}

// ratingRow appends user, item, rating, timestamp with typed ids.
func (in *input) ratingRow(b *logBuilder, v [][]byte) error {
	user, err := in.id("user", v[0])
	if err != nil {
		return err
	}
	item, err := in.id("item", v[1])
	if err != nil {
		return err
	}
	rating, err := in.rating("rating", v[2])
	if err != nil {
		return err
	}
	time, err := in.timestamp("timestamp", v[3])
	if err != nil {
		return err
	}
	b.userOf = append(b.userOf, b.users.id(user))
	b.itemOf = append(b.itemOf, b.items.id(item))
	b.values = append(b.values, rating)
	b.times = append(b.times, time)
	return nil
}

// features parses one row a user; columns not in kinds are categorical.
func (f movieLensFormat) features(in *input, kinds map[string]Kind) (*Features, error) {
	fb := newFeatureBuilder(f.names[1:], kinds)
	s := splitter{sep: f.sep}
	err := in.eachRow(&s, f.names, func(v [][]byte) error {
		if _, err := in.id("user", v[0]); err != nil {
			return err
		}
		return fb.add(in, v[0], v[1:])
	})
	if err != nil {
		return nil, err
	}
	return fb.features(in)
}

// eachRow splits every remaining line into exactly len(names) fields.
func (in *input) eachRow(s *splitter, names []string, row func(fields [][]byte) error) error {
	for {
		line, err := in.line()
		if err != nil {
			return ignoreEOF(err)
		}
		v, err := s.split(in, line)
		if err != nil {
			return err
		}
		if len(v) != len(names) {
			return s.wrongCount(in, len(v), len(names), names)
		}
		if err := row(v); err != nil {
			return err
		}
	}
}

// finish hashes the file and orders the rows; a file without rows is an error.
func (in *input) finish(b *logBuilder) (*Log, error) {
	if len(b.userOf) == 0 {
		return nil, &Error{File: in.file, Msg: "no interactions in the file"}
	}
	if len(b.userOf) > maxRows {
		return nil, &Error{File: in.file, Msg: fmt.Sprintf("more than %d rows", maxRows)}
	}
	sum, err := in.digest()
	if err != nil {
		return nil, err
	}
	return b.log(sum), nil
}

// maxRows is what a 32-bit row number can address.
const maxRows = 1<<31 - 1
