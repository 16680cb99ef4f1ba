package results

import (
	"fmt"
	"math"
	"slices"

	"privrec/internal/compare"
	"privrec/internal/reproduce/grid"
	"privrec/internal/reproduce/roster"
	"privrec/internal/rng"
	"privrec/internal/stats"
	"privrec/internal/system"
)

// line holds the rows of one line of a figure on one data set, in the order of the axis.
type line struct {
	name string
	data *grid.Data
	axis *grid.Axis // nil: a single result
	rows []*summary
}

// linesOf gathers the rows of a figure's lines, with the scores of their users.
func linesOf(g *grid.Grid, rows []*summary) ([]*line, error) {
	if err := system.Together(len(rows), func(i int) error { _, err := usersOf(g, rows[i]); return err }); err != nil {
		return nil, err
	}
	var out []*line
	for _, s := range rows {
		name, axis := s.entry.Row.Line(), s.axis()
		at := slices.IndexFunc(out, func(l *line) bool {
			return l.name == name && l.data == s.entry.Data && l.axis == axis
		})
		if at < 0 {
			at, out = len(out), append(out, &line{name: name, data: s.entry.Data, axis: axis})
		}
		out[at].rows = append(out[at].rows, s)
	}
	return out, nil
}

// usersOf reads the scores of users of a row, by metric, from the table of each run whose mean is
// the result. It reads them once.
func usersOf(g *grid.Grid, s *summary) ([]users, error) {
	if s.users != nil {
		return s.users, nil
	}
	out := make([]users, len(g.Metrics))
	at := make([]map[string]int, len(g.Metrics))
	for i := range out {
		out[i].lo, out[i].hi = math.NaN(), math.NaN()
		at[i] = map[string]int{}
	}
	missing := make([]bool, len(g.Metrics))
	seed := 0
	for _, r := range s.runs {
		if r.Status != roster.Done || seed >= len(s.results) {
			continue
		}
		tables, err := compare.ReadAll(r.Dir)
		if err != nil {
			return nil, err
		}
		for i, metric := range g.Metrics {
			t := meanOf(tables, metric.Measure.String(), s.results[seed].Values[i])
			if p := s.entry.Row.Point; t != nil && p != nil && p.Axis.Picks() && !agrees(g, t, s.results[seed].Values) {
				t = nil // one of many evaluations of a run, whose scores may be equal in one metric by chance
			}
			if t == nil {
				missing[i] = true
				continue
			}
			out[i].add(t, metric.Measure.String(), at[i])
		}
		seed++
	}
	for i := range out {
		if missing[i] {
			out[i] = users{lo: math.NaN(), hi: math.NaN()}
			continue
		}
		out[i].sort()
	}
	if err := s.intervals(out); err != nil {
		return nil, fmt.Errorf("%s: %w", s.entry.Row.Label(), err)
	}
	s.users = out
	return out, nil
}

// agrees reports whether a table's means are the results in all metrics that it has.
func agrees(g *grid.Grid, t *compare.Scores, values []float64) bool {
	for i, m := range g.Metrics {
		name := m.Measure.String()
		if t.Values[name] != nil && meanOf([]*compare.Scores{t}, name, values[i]) == nil {
			return false
		}
	}
	return true
}

// intervals draws the interval of the mean of each metric over its sorted users. The draws depend on the number of
// users alone, so equal results have equal intervals, and metrics of equally many users share theirs. Where the users
// are a sample, the interval is that of the whole table's mean, in percent: as much narrower as the root of the share
// that they are.
func (s *summary) intervals(all []users) error {
	like := map[int][]int{} // metrics by their number of users
	for i := range all {
		if n := len(all[i].IDs); n >= 2 {
			like[n] = append(like[n], i)
		}
	}
	for n, metrics := range like {
		var num, den [][]float64
		for _, i := range metrics {
			num, den = append(num, all[i].Num), append(den, all[i].Den)
		}
		stream := rng.Seed(1).Stream("users of a figure")
		got, err := stats.ClusterBootstrap(num, den, resamples, confidence, &stream)
		if err != nil {
			return err
		}
		for k, i := range metrics {
			u := &all[i]
			u.lo, u.hi = 100*got[k].Lo, 100*got[k].Hi
			if u.whole > n {
				half := (u.hi - u.lo) / 2 * math.Sqrt(float64(n)/float64(u.whole))
				u.lo, u.hi = s.mean(i)-half, s.mean(i)+half
			}
		}
	}
	return nil
}
