package registry

import (
	"context"

	"privrec/internal/dataset"
	"privrec/internal/dataset/format"
)

// amazonRatings describes the ratings-only file of the 2014 release, without a header.
var amazonRatings = movieLensFormat{",", []string{"user", "item", "rating", "timestamp"}}

// ReadAmazonRatings reads ratings_<Category>.csv of the 2014 Amazon release: user, item (ASIN),
// rating and time in seconds since 1970 at the resolution of days, separated by commas, without
// a header. The release of 2018 has item before user. ReadAmazonRatings recognises such a file
// by its first rows and fails.
func ReadAmazonRatings(ctx context.Context, path string) (*dataset.Log, error) {
	return format.ReadFile(ctx, path, parseAmazonRatings)
}

func parseAmazonRatings(in *format.Input) (*dataset.Log, error) {
	b := dataset.Builder{Times: []int64{}, Values: []float32{}}
	s := format.Splitter{Sep: amazonRatings.sep}
	swapped := 0
	err := in.EachRow(&s, amazonRatings.names, func(v [][]byte) error {
		if in.Line() <= amazonProbe && len(v[0]) == asinLen && len(v[1]) > asinLen {
			if swapped++; swapped == amazonProbe {
				return in.Fail("user", "the first columns are item and user, in the order of the 2018 release",
					"take the 2014 file (ratings_<Category>.csv), or swap the columns")
			}
		}
		return ratingRow(in, &b, in.Token, v)
	})
	if err != nil {
		return nil, err
	}
	return in.Finish(&b)
}

// An ASIN has 10 characters and a reviewer's id 12 to 21. If all of the first rows have it the
// other way round, the columns are swapped.
const (
	asinLen     = 10
	amazonProbe = 10
)
