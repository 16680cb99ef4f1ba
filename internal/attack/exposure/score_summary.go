package exposure

import (
	"fmt"
	"math"
	"slices"

	"privrec/internal/metrics"
	"privrec/internal/rng"
	"privrec/internal/stats"
)

// Intervals says how confidence intervals are computed: percentiles over resamples of whole users with replacement
// ([stats.ClusterBootstrap]), because pairs of one user share clicks and slates. Users without a known id are resampled
// as one user. If all pairs belong to one user, nothing is known about how users differ, and the interval is the whole
// range: 0 to 1 for a mean, -1 to 1 for a difference.
type Intervals struct {
	Resamples int      // 0 is 1000; at least 100
	Level     float64  // confidence level; 0 is 0.95
	Seed      rng.Seed // decides the resamples
}

// Estimate holds an average with its interval.
type Estimate struct {
	Value float64 `json:"value"`
	Lo    float64 `json:"lo"`
	Hi    float64 `json:"hi"`
}

// Score holds the average of one metric.
type Score struct {
	Metric  metrics.Metric `json:"metric"`
	Pairs   Estimate       `json:"pairs"`   // mean over pairs, as the program has it
	Users   Estimate       `json:"users"`   // mean over users of the mean over a user's pairs, as the text says
	Guesses float64        `json:"guesses"` // mean |U_k|, distinct guesses a pair
}

// Summary holds the averages of a result.
type Summary struct {
	Scores    []Score `json:"scores"` // in the order of Result.Metrics
	PairCount int     `json:"pair_count"`
	UserCount int     `json:"user_count"`
	Dropped   Dropped `json:"dropped"`
	Outside   int     `json:"outside"`
	Level     float64 `json:"level"`
	// Unequal is set for a difference: the number of pairs for which the two sides made different numbers of distinct
	// guesses at some rank. If it is not 0, the difference may come from more guesses alone.
	Unequal int `json:"unequal,omitempty"`
}

// Summary returns the averages over pairs and over users, with intervals. It fails without a scored pair.
func (r *Result) Summary(o Intervals) (*Summary, error) {
	s, err := summarise(r.Values, r.Users, 0, o)
	if err != nil {
		return nil, fmt.Errorf("averaging scores: %w", err)
	}
	s.Dropped, s.Outside = r.Dropped, r.Outside
	for m := range s.Scores {
		s.Scores[m].Metric = r.Metrics[m]
		s.Scores[m].Guesses = r.MeanGuesses(r.Metrics[m].K)
	}
	return s, nil
}

// summarise returns the averages of rows of values. Each row has one value for each pair, from least to 1; users[i] is
// the user of pair i.
func summarise(values [][]float64, users []int32, least float64, o Intervals) (*Summary, error) {
	if o.Resamples == 0 {
		o.Resamples = 1000
	}
	if o.Level == 0 {
		o.Level = 0.95
	}
	if len(users) == 0 {
		return nil, fmt.Errorf("no pairs are left")
	}
	names := slices.Compact(slices.Sorted(slices.Values(users)))
	pairs, ones := make([]float64, len(names)), make([]float64, len(names))
	of := make([]int, len(users))
	for i, u := range users {
		of[i], _ = slices.BinarySearch(names, u)
		pairs[of[i]]++
		ones[of[i]] = 1
	}
	var num, den [][]float64
	for _, v := range values {
		sums, means := make([]float64, len(names)), make([]float64, len(names))
		for i, x := range v {
			sums[of[i]] += x
		}
		for u := range sums {
			means[u] = sums[u] / pairs[u]
		}
		num, den = append(num, sums, means), append(den, pairs, ones)
	}
	intervals := make([]stats.Interval, len(num))
	whole := stats.Interval{Lo: least, Hi: 1, Level: o.Level} // nothing says how far scores spread
	if len(names) == 1 {
		for j := range intervals {
			intervals[j] = whole
		}
	} else {
		var err error
		stream := o.Seed.Stream("exposure intervals")
		if intervals, err = stats.ClusterBootstrap(num, den, o.Resamples, o.Level, &stream); err != nil {
			return nil, err
		}
		for j, i := range intervals {
			if math.IsNaN(i.Lo) { // all users have the same
				intervals[j] = whole
			}
		}
	}
	s := &Summary{Scores: make([]Score, len(values)), PairCount: len(users), UserCount: len(names), Level: o.Level}
	for m := range values {
		s.Scores[m].Pairs = Estimate{stats.Mean(values[m]), intervals[2*m].Lo, intervals[2*m].Hi}
		s.Scores[m].Users = Estimate{stats.Mean(num[2*m+1]), intervals[2*m+1].Lo, intervals[2*m+1].Hi}
	}
	return s, nil
}

// Difference returns the averages of a's scores minus b's, pair by pair, with intervals. Guesses is the difference of
// the mean numbers of distinct guesses. Unequal counts the pairs with different numbers of guesses on the two sides; it
// is 0 for a floor that [EvaluateLike] scored. Difference fails unless both results are of the same pairs under the
// same protocol.
func Difference(a, b *Result, o Intervals) (*Summary, error) {
	if err := a.comparable(b); err != nil {
		return nil, fmt.Errorf("comparing scores: %w", err)
	}
	values := make([][]float64, len(a.Metrics))
	for m := range values {
		values[m] = make([]float64, len(a.Rows))
		for i := range values[m] {
			values[m][i] = a.Values[m][i] - b.Values[m][i]
		}
	}
	s, err := summarise(values, a.Users, -1, o)
	if err != nil {
		return nil, fmt.Errorf("comparing scores: %w", err)
	}
	s.Dropped, s.Outside, s.Unequal = a.Dropped, a.Outside, a.unequal(b)
	for m, metric := range a.Metrics {
		s.Scores[m].Metric, s.Scores[m].Guesses = metric, a.MeanGuesses(metric.K)-b.MeanGuesses(metric.K)
	}
	return s, nil
}

// comparable fails if two results differ in their pairs or their protocol.
func (r *Result) comparable(o *Result) error {
	if !r.Protocol.same(o.Protocol) {
		return fmt.Errorf("protocols differ: %s at %v, and %s at %v", r.Protocol, r.Protocol.Cutoffs, o.Protocol,
			o.Protocol.Cutoffs)
	}
	if !slices.Equal(r.Rows, o.Rows) {
		return fmt.Errorf("not the same pairs: %d and %d of them", len(r.Rows), len(o.Rows))
	}
	for i, u := range r.Users {
		if u != o.Users[i] {
			return fmt.Errorf("not the same pairs: pair %d belongs to user %d and to user %d", r.Rows[i], u, o.Users[i])
		}
	}
	return nil
}

// unequal counts the pairs for which two comparable results have different numbers of distinct guesses at some rank.
func (r *Result) unequal(o *Result) (n int) {
	for i := range r.Rows {
		if !slices.Equal(r.guesses[i*r.depth:(i+1)*r.depth], o.guesses[i*r.depth:(i+1)*r.depth]) {
			n++
		}
	}
	return n
}
