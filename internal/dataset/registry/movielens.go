package registry

import (
	"context"

	"privrec/internal/dataset"
	"privrec/internal/dataset/format"
)

// movieLensFormat describes the form of one of MovieLens' files without a header.
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
func ReadRatingsDat(ctx context.Context, path string) (*dataset.Log, error) {
	return format.ReadFile(ctx, path, ratingsDat.log)
}

// ReadUData reads MovieLens-100K's u.data (user, item, rating, timestamp, separated by tabs).
func ReadUData(ctx context.Context, path string) (*dataset.Log, error) {
	return format.ReadFile(ctx, path, uData.log)
}

// ReadUsersDat reads MovieLens-1M's users.dat (user::gender::age::occupation::zip). Age is the
// code of a group, so it is categorical.
func ReadUsersDat(ctx context.Context, path string) (*dataset.Features, error) {
	return format.ReadFile(ctx, path,
		func(in *format.Input) (*dataset.Features, error) { return usersDat.features(in, nil) })
}

// ReadUUser reads MovieLens-100K's u.user (user|age|gender|occupation|zip). Age is
// numeric, in years.
func ReadUUser(ctx context.Context, path string) (*dataset.Features, error) {
	return format.ReadFile(ctx, path, func(in *format.Input) (*dataset.Features, error) {
		return uUser.features(in, map[string]dataset.Kind{"age": dataset.Numeric})
	})
}

// log parses rows of four fields.
func (f movieLensFormat) log(in *format.Input) (*dataset.Log, error) {
	b := dataset.Builder{Times: []int64{}, Values: []float32{}}
	s := format.Splitter{Sep: f.sep}
	err := in.EachRow(&s, f.names, func(v [][]byte) error { return ratingRow(in, &b, in.ID, v) })
	if err != nil {
		return nil, err
	}
	return in.Finish(&b)
}

// ratingRow appends a row of user, item, rating, timestamp, with ids that id checks.
func ratingRow(in *format.Input, b *dataset.Builder, id func(field string, b []byte) ([]byte, error),
	v [][]byte) error {
	user, err := id("user", v[0])
	if err != nil {
		return err
	}
	item, err := id("item", v[1])
	if err != nil {
		return err
	}
	rating, err := in.Rating("rating", v[2])
	if err != nil {
		return err
	}
	time, err := in.Timestamp("timestamp", v[3])
	if err != nil {
		return err
	}
	b.Add(b.Users.ID(user), b.Items.ID(item))
	b.Values, b.Times = append(b.Values, rating), append(b.Times, time)
	return nil
}

// features parses one row per user. Columns not in kinds are categorical.
func (f movieLensFormat) features(in *format.Input, kinds map[string]dataset.Kind) (*dataset.Features, error) {
	fb := format.NewFeatureBuilder(f.names[1:], kinds)
	s := format.Splitter{Sep: f.sep}
	err := in.EachRow(&s, f.names, func(v [][]byte) error {
		if _, err := in.ID("user", v[0]); err != nil {
			return err
		}
		return fb.Add(in, v[0], v[1:])
	})
	if err != nil {
		return nil, err
	}
	return fb.Features(in)
}
