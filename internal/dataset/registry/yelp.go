package registry

import (
	"context"
	"slices"
	"strconv"
	"time"

	"privrec/internal/dataset"
	"privrec/internal/dataset/format"
)

// The members of the Yelp Open Dataset's objects that are read; others are ignored.
var (
	yelpReview = []string{"user_id", "business_id", "stars", "date"}
	yelpUser   = []string{"user_id", "review_count", "useful", "funny", "cool", "fans", "average_stars"}
)

// ReadYelpReviews reads yelp_academic_dataset_review.json, one JSON object a line: user_id,
// business_id (the item), stars and date, with or without a time of day. Times are seconds since
// 1970 of the date read as UTC. ReadYelpReviews never keeps the text of a review, so memory
// grows only with rows and ids.
func ReadYelpReviews(ctx context.Context, path string) (*dataset.Log, error) {
	return format.ReadFile(ctx, path, parseYelpReviews)
}

func parseYelpReviews(in *format.Input) (*dataset.Log, error) {
	b := dataset.Builder{Times: []int64{}, Values: []float32{}}
	err := in.EachObject(yelpReview, func(raw [][]byte) error {
		user, err := in.JSONID("user_id", raw[0])
		if err != nil {
			return err
		}
		u := b.Users.ID(user)
		item, err := in.JSONID("business_id", raw[1])
		if err != nil {
			return err
		}
		stars, err := in.JSONNumber("stars", raw[2])
		if err != nil {
			return err
		}
		rating, err := in.Rating("stars", stars)
		if err != nil {
			return err
		}
		text, err := in.JSONText("date", raw[3])
		if err != nil {
			return err
		}
		at, err := date(in, "date", text)
		if err != nil {
			return err
		}
		b.Add(u, b.Items.ID(item))
		b.Values, b.Times = append(b.Values, rating), append(b.Times, at)
		return nil
	})
	if err != nil {
		return nil, err
	}
	return in.Finish(&b)
}

// parseYelpUsers reads yelp_academic_dataset_user.json: six numbers a user (review_count, useful,
// funny, cool, fans, average_stars). It ignores the names, friends and compliments of a user. It
// keeps only the users in known, if known is not nil; known must be in byte
// order. Their ids are shared with known, so that two million ids are not stored twice.
func parseYelpUsers(in *format.Input, known []string) (*dataset.Features, error) {
	kinds := map[string]dataset.Kind{}
	for _, name := range yelpUser[1:] {
		kinds[name] = dataset.Numeric
	}
	fb := format.NewFeatureBuilder(yelpUser[1:], kinds)
	fields := make([][]byte, len(yelpUser)-1)
	users := 0
	err := in.EachObject(yelpUser, func(raw [][]byte) error {
		user, err := in.JSONID("user_id", raw[0])
		if err != nil {
			return err
		}
		for i, name := range yelpUser[1:] {
			if fields[i], err = in.JSONNumber(name, raw[i+1]); err != nil {
				return err
			}
		}
		users++
		if known != nil {
			i, ok := slices.BinarySearchFunc(known, user, compareID)
			if !ok {
				return nil
			}
			fb.KnownID(known[i])
		}
		return fb.Add(in, user, fields)
	})
	if err != nil {
		return nil, err
	}
	if users > 0 && fb.Len() == 0 {
		return nil, &dataset.Error{File: in.Path(), Msg: "none of its " + strconv.Itoa(users) + " users has a review",
			Hint: "are both files of the same release?"}
	}
	return fb.Features(in)
}

// readYelp reads reviews and users of one release.
func readYelp(ctx context.Context, paths []string) (*dataset.Log, *dataset.Features, error) {
	l, err := ReadYelpReviews(ctx, paths[0])
	if err != nil {
		return nil, nil, err
	}
	known := l.UserIDs
	if !slices.IsSorted(known) { // ids that are all numbers are in the order of numbers
		known = slices.Sorted(slices.Values(known))
	}
	f, err := format.ReadFile(ctx, paths[1],
		func(in *format.Input) (*dataset.Features, error) { return parseYelpUsers(in, known) })
	return l, f, err
}

// compareID compares an id with the bytes of another, without a copy of either.
func compareID(id string, b []byte) int {
	switch {
	case id < string(b):
		return -1
	case id == string(b):
		return 0
	}
	return 1
}

// date returns a date such as 2018-07-07 or 2018-07-07 22:09:11, read as UTC, in seconds since
// 1970.
func date(in *format.Input, field string, b []byte) (int64, error) {
	bad := func() (int64, error) {
		return 0, in.Fail(field, "not a date: "+dataset.Quote(b),
			"dates of this format look like 2018-07-07 or 2018-07-07 22:09:11")
	}
	const form = "0000-00-00 00:00:00"
	if len(b) != len(form) && len(b) != len("0000-00-00") {
		return bad()
	}
	var part [6]int
	at := 0
	for i, c := range b {
		switch {
		case form[i] == '0' && c >= '0' && c <= '9':
			part[at] = part[at]*10 + int(c-'0')
		case form[i] != '0' && c == form[i]:
			at++
		default:
			return bad()
		}
	}
	t := time.Date(part[0], time.Month(part[1]), part[2], part[3], part[4], part[5], 0, time.UTC)
	if t.Month() != time.Month(part[1]) || t.Day() != part[2] || t.Hour() != part[3] || t.Minute() != part[4] ||
		t.Second() != part[5] {
		return bad()
	}
	return t.Unix(), nil
}
