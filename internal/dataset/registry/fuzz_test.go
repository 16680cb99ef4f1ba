package registry

import (
	"testing"

	"privrec/internal/dataset"
	"privrec/internal/dataset/format"
	"privrec/internal/dataset/format/formattest"
)

func FuzzRatingsDat(f *testing.F) {
	formattest.Seeds(f, "ratings.dat", "ratings.dat.gz", "ratings.dat.zst")
	f.Fuzz(func(t *testing.T, b []byte) {
		if l, ok := formattest.Try(t, b, ratingsDat.log); ok {
			formattest.RoundTrip(t, l)
		}
	})
}

func FuzzUData(f *testing.F) {
	formattest.Seeds(f, "u.data")
	f.Fuzz(func(t *testing.T, b []byte) {
		if l, ok := formattest.Try(t, b, uData.log); ok {
			formattest.RoundTrip(t, l)
		}
	})
}

func FuzzYelpReviews(f *testing.F) { fuzzLog(f, parseYelpReviews, "review.json") }

func FuzzTmallLog(f *testing.F) {
	fuzzLog(f, TmallLog{Action: "0", From: 1101, To: 1107}.parse, "user_log_format1.csv")
}

func FuzzAmazonRatings(f *testing.F) { fuzzLog(f, parseAmazonRatings, "ratings_Books.csv") }

func FuzzZhihuRec(f *testing.F) { fuzzLog(f, parseZhihuRec, "inter_impression.csv") }

func FuzzSplitSessions(f *testing.F) { fuzzLog(f, parseSplitSessions, "sessions.tsv") }

func FuzzMIND(f *testing.F) {
	fuzzLog(f, func(in *format.Input) (*dataset.Log, error) {
		b, fun := dataset.Builder{Times: []int64{}, Parts: []dataset.Part{}}, format.NewFunnel(dataset.RungRaw, "clicked")
		if err := parseMIND(in, &b, fun, dataset.Train); err != nil {
			return nil, err
		}
		return in.FinishFunnel(&b, fun)
	}, "behaviors.tsv")
}

// fuzzLog reads and, where the file is taken, writes and reads again. Where the reader
// begins the ladder, the ladder must shrink down to the rows that are there.
func fuzzLog(f *testing.F, parse func(*format.Input) (*dataset.Log, error), suffix string) {
	formattest.Seeds(f, suffix)
	f.Fuzz(func(t *testing.T, b []byte) {
		l, ok := formattest.Try(t, b, parse)
		if !ok {
			return
		}
		for i, r := range l.Ladder {
			if i > 0 && (r.Rows > l.Ladder[i-1].Rows || r.Users > l.Ladder[i-1].Users || r.Items > l.Ladder[i-1].Items) {
				t.Fatalf("ladder grows: %v", l.Ladder)
			}
			if last := l.Rung(r.Name); i == len(l.Ladder)-1 && r != last {
				t.Fatalf("the ladder ends at %v, the rows are %v", r, last)
			}
		}
		formattest.RoundTrip(t, l)
	})
}

func FuzzUsers(f *testing.F) {
	formattest.Seeds(f, "users.dat", "u.user", "user.json")
	parsers := []func(*format.Input) (*dataset.Features, error){
		func(in *format.Input) (*dataset.Features, error) { return usersDat.features(in, nil) },
		func(in *format.Input) (*dataset.Features, error) {
			return uUser.features(in, map[string]dataset.Kind{"age": dataset.Numeric})
		},
		func(in *format.Input) (*dataset.Features, error) { return parseYelpUsers(in, nil) },
		func(in *format.Input) (*dataset.Features, error) { return parseYelpUsers(in, []string{"uA", "uB"}) },
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		for _, parse := range parsers {
			formattest.TryFeatures(t, b, parse)
		}
	})
}
