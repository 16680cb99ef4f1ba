package dataset

import (
	"context"
	"slices"
	"time"
)

// Members of the Yelp Open Dataset's objects that are read; the others are passed over.
var (
	yelpReview = []string{"user_id", "business_id", "stars", "date"}
	yelpUser   = []string{"user_id", "review_count", "useful", "funny", "cool", "fans", "average_stars"}
)

// ReadYelpReviews reads yelp_academic_dataset_review.json, one JSON object a line: user_id,
// business_id (the item), stars and date, with or without a time of day. Times are
// seconds since 1970 of the date read as UTC. The text of a review is never kept, so
// memory grows with rows and ids alone.
func ReadYelpReviews(ctx context.Context, path string) (*Log, error) {
	return readFile(ctx, path, parseYelpReviews)
}

func parseYelpReviews(in *input) (*Log, error) {
	b := logBuilder{times: []int64{}, values: []float32{}}
	err := in.eachObject(yelpReview, func(raw [][]byte) error {
		user, err := in.jsonID("user_id", raw[0])
		if err != nil {
			return err
		}
		u := b.users.id(user)
		item, err := in.jsonID("business_id", raw[1])
		if err != nil {
			return err
		}
		stars, err := in.jsonNumber("stars", raw[2])
		if err != nil {
			return err
		}
		rating, err := in.rating("stars", stars)
		if err != nil {
			return err
		}
		text, err := in.jsonText("date", raw[3])
		if err != nil {
			return err
		}
		at, err := in.date("date", text)
		if err != nil {
			return err
		}
		b.add(u, b.items.id(item))
		b.values, b.times = append(b.values, rating), append(b.times, at)
		return nil
	})
	if err != nil {
		return nil, err
	}
	return in.finish(&b)
}

// ReadYelpUsers reads yelp_academic_dataset_user.json: six numbers a user (review_count,
// useful, funny, cool, fans, average_stars). The names, friends and compliments of a
// user are passed over.
func ReadYelpUsers(ctx context.Context, path string) (*Features, error) {
	return readFile(ctx, path, func(in *input) (*Features, error) { return in.yelpUsers(nil) })
}

// yelpUsers keeps only the users of known, which must be in byte order, when it is not nil.
// Their ids are then shared with known: two million ids are not held twice.
func (in *input) yelpUsers(known []string) (*Features, error) {
	kinds := map[string]Kind{}
	for _, name := range yelpUser[1:] {
		kinds[name] = Numeric
	}
	fb := newFeatureBuilder(yelpUser[1:], kinds)
	fields := make([][]byte, len(yelpUser)-1)
	users := 0
	err := in.eachObject(yelpUser, func(raw [][]byte) error {
		user, err := in.jsonID("user_id", raw[0])
		if err != nil {
			return err
		}
		for i, name := range yelpUser[1:] {
			if fields[i], err = in.jsonNumber(name, raw[i+1]); err != nil {
				return err
			}
		}
		users++
		if known != nil {
			i, ok := slices.BinarySearchFunc(known, user, compareID)
			if !ok {
				return nil
			}
			fb.users.known = known[i]
		}
		return fb.add(in, user, fields)
	})
	if err != nil {
		return nil, err
	}
	if users > 0 && len(fb.firstAt) == 0 {
		return nil, &Error{File: in.file, Msg: "none of its " + itoa(users) + " users has a review", Hint: "are both files of the same release?"}
	}
	return fb.features(in)
}

// readYelp reads reviews and users of one release.
func readYelp(ctx context.Context, paths []string) (*Log, *Features, error) {
	l, err := ReadYelpReviews(ctx, paths[0])
	if err != nil {
		return nil, nil, err
	}
	known := l.UserIDs
	if !slices.IsSorted(known) { // ids that are all numbers stand in the order of numbers
		known = slices.Sorted(slices.Values(known))
	}
	f, err := readFile(ctx, paths[1], func(in *input) (*Features, error) { return in.yelpUsers(known) })
	return l, f, err
}

// compareID orders an id and the bytes of one, without a copy of either.
func compareID(id string, b []byte) int {
	switch {
	case id < string(b):
		return -1
	case id == string(b):
		return 0
	}
	return 1
}

// eachObject reads every remaining line as a JSON object.
func (in *input) eachObject(wanted []string, row func(raw [][]byte) error) error {
	raw := make([][]byte, len(wanted))
	for {
		line, err := in.line()
		if err != nil {
			return ignoreEOF(err)
		}
		if err := in.members(line, wanted, raw); err != nil {
			return err
		}
		if err := row(raw); err != nil {
			return err
		}
	}
}

// date parses 2018-07-07 or 2018-07-07 22:09:11 as UTC into seconds since 1970.
func (in *input) date(field string, b []byte) (int64, error) {
	bad := func() (int64, error) {
		return 0, in.fail(field, "not a date: "+Quote(b), "dates of this format read 2018-07-07 or 2018-07-07 22:09:11")
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
	if t.Month() != time.Month(part[1]) || t.Day() != part[2] || t.Hour() != part[3] || t.Minute() != part[4] || t.Second() != part[5] {
		return bad()
	}
	return t.Unix(), nil
}
