package reproduce

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"privrec/internal/claims"
	"privrec/internal/compare"
	"privrec/internal/rng"
	"privrec/internal/stats"
	"privrec/internal/system"
)

// users holds the scores of a metric user by user, over all seeds, and the interval of their mean. It is empty where
// no run keeps scores of users that the result is the mean of.
type users struct {
	claims.Users
	lo, hi float64 // interval of the mean over users, in percent; NaN: none
	whole  int     // users that these are a sample of, where the runs keep no more; else their number
}

// resamples is how many sets of users an interval is drawn from.
const resamples = 1000

// line holds the rows of one line of a figure on one data set, in the order of the axis.
type line struct {
	name string
	data *Data
	axis *Axis // nil: a single result
	rows []*summary
}

// axis returns the axis that the row stands on, nil for a single result.
func (s *summary) axis() *Axis {
	if p := s.entry.row.point; p != nil {
		return p.axis
	}
	return nil
}

// value returns where the row stands on its axis, 0 without one.
func (s *summary) value() float64 {
	if p := s.entry.row.point; p != nil {
		return p.value
	}
	return 0
}

// lines gathers the rows of a figure's lines, with the scores of their users.
func (g *Grid) lines(rows []*summary) ([]*line, error) {
	if err := system.Together(len(rows), func(i int) error { _, err := g.users(rows[i]); return err }); err != nil {
		return nil, err
	}
	var out []*line
	for _, s := range rows {
		name, axis := s.entry.row.Line(), s.axis()
		at := slices.IndexFunc(out, func(l *line) bool {
			return l.name == name && l.data == s.entry.data && l.axis == axis
		})
		if at < 0 {
			at, out = len(out), append(out, &line{name: name, data: s.entry.data, axis: axis})
		}
		out[at].rows = append(out[at].rows, s)
	}
	return out, nil
}

// accounted returns the accounted epsilon of the row's unit, or that of the worst unit where the row has none. It is
// infinite where nothing is protected, and NaN where the unit has no account.
func (s *summary) accounted() float64 {
	worst, unit := math.NaN(), s.entry.row.UnitOf
	lines, _ := s.accounts()
	for _, l := range lines {
		if l.unit == featuresUnit || unit != "" && l.unit != unit && l.unit != wholeRun {
			continue
		}
		if math.IsNaN(worst) || l.accounted > worst {
			worst = l.accounted
		}
	}
	return worst
}

// users reads the scores of users of a row, by metric, from the table of each run whose mean is
// the result. It reads them once.
func (g *Grid) users(s *summary) ([]users, error) {
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
		if r.Status != Done || seed >= len(s.results) {
			continue
		}
		tables, err := compare.ReadAll(r.Dir)
		if err != nil {
			return nil, err
		}
		for i, metric := range g.Metrics {
			t := meanOf(tables, metric.Measure.String(), s.results[seed].values[i])
			if p := s.entry.row.point; t != nil && p != nil && p.axis.picks() && !g.agrees(t, s.results[seed].values) {
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
		return nil, fmt.Errorf("%s: %w", s.entry.row.Label(), err)
	}
	s.users = out
	return out, nil
}

// agrees reports whether a table's means are the results in all metrics that it has.
func (g *Grid) agrees(t *compare.Scores, values []float64) bool {
	for i, m := range g.Metrics {
		name := m.Measure.String()
		if t.Values[name] != nil && meanOf([]*compare.Scores{t}, name, values[i]) == nil {
			return false
		}
	}
	return true
}

// meanOf returns the table whose mean of a metric is a result, or nil.
func meanOf(tables []*compare.Scores, metric string, result float64) *compare.Scores {
	for _, t := range tables {
		if t.Values[metric] == nil {
			continue
		}
		if math.Abs(t.Mean(metric)-result) <= 1e-6*max(1, math.Abs(result)) {
			return t
		}
	}
	return nil
}

// add adds a run's scores. at has the place of each user.
func (u *users) add(t *compare.Scores, metric string, at map[string]int) {
	u.whole = max(u.whole, t.Whole())
	for k, id := range t.Users {
		i, ok := at[id]
		if !ok {
			i, at[id] = len(u.IDs), len(u.IDs)
			u.IDs, u.Num, u.Den = append(u.IDs, id), append(u.Num, 0), append(u.Den, 0)
		}
		w := t.Weight(k)
		u.Num[i], u.Den[i] = u.Num[i]+w*t.Values[metric][k], u.Den[i]+w
	}
}

// sort puts the users into the order of their names.
func (u *users) sort() {
	order := make([]int, len(u.IDs))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int { return strings.Compare(u.IDs[a], u.IDs[b]) })
	ids, num, den := make([]string, len(order)), make([]float64, len(order)), make([]float64, len(order))
	for i, k := range order {
		ids[i], num[i], den[i] = u.IDs[k], u.Num[k], u.Den[k]
	}
	u.IDs, u.Num, u.Den = ids, num, den
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
				u.lo, u.hi = s.columns[i].mean-half, s.columns[i].mean+half
			}
		}
	}
	return nil
}
