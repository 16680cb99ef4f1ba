package results

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"privrec/internal/dataset"
	"privrec/internal/experiment"
	"privrec/internal/report"
	"privrec/internal/reproduce/grid"
	"privrec/internal/reproduce/phrase"
	"privrec/internal/reproduce/roster"
	"privrec/internal/stats"
	"privrec/internal/system"
)

// summary is one row of a table over its seeds.
type summary struct {
	entry   *grid.Entry
	results []*roster.Result
	runs    []*roster.Run
	level   dataset.Level // the weakest of its seeds; 0 without results
	columns []column      // by metric
	unit    string        // of the grid
	users   []users       // by metric; nil: not read yet
	cells   []Cell        // by metric
}

// column is one metric of a row: in percent, or where the grid counts, as it is.
type column struct {
	values   []float64 // by seed
	mean, sd float64
	lo, hi   float64            // of the t interval; NaN below three seeds, and where all have the same result
	paper    float64            // NaN where the paper prints none, or where ours may not be compared
	delta    float64            // likewise
	stated   bool               // the paper prints one
	floors   map[string]float64 // mean over the seeds
}

// summaries summarises rows, several at once.
func summaries(g *grid.Grid, entries []*grid.Entry, runs []*roster.Run) ([]*summary, error) {
	rows := make([]*summary, len(entries))
	err := system.Together(len(rows), func(i int) (err error) {
		rows[i], err = summarise(g, entries[i], runs)
		return err
	})
	return rows, err
}

// summarise reads the finished runs of a row and takes means over its seeds. A run with
// results that cannot be read fails.
func summarise(g *grid.Grid, c *grid.Entry, runs []*roster.Run) (*summary, error) {
	s := &summary{entry: c, unit: g.Unit}
	for _, r := range runs {
		if r.Entry != c {
			continue
		}
		s.runs = append(s.runs, r)
		if r.Status != roster.Done {
			continue
		}
		res, err := roster.Read(g, r)
		if err != nil {
			r.Fail(err)
			continue
		}
		s.results, s.level = append(s.results, res), max(s.level, res.Level)
	}
	for i := range g.Metrics {
		col := column{lo: math.NaN(), hi: math.NaN(), paper: math.NaN(), delta: math.NaN(),
			floors: map[string]float64{}}
		for _, r := range s.results {
			if x := r.Values[i]; !math.IsNaN(x) {
				col.values = append(col.values, g.Scale()*x)
			}
			for name, f := range r.Floors {
				if math.IsNaN(f[i]) {
					continue
				}
				col.floors[name] += g.Scale() * f[i] / float64(len(s.results))
			}
		}
		col.mean, col.sd = stats.Mean(col.values), stats.SD(col.values)
		if len(s.results) > 0 && len(col.values) == 0 {
			col.mean = math.NaN()
		}
		if len(col.values) >= 3 {
			t, err := stats.TInterval(col.values, confidence)
			switch {
			case err == nil:
				col.lo, col.hi = t.Lo, t.Hi
			case !errors.Is(err, stats.ErrNoSpread):
				return nil, err
			}
		}
		col.stated = c.Row.PrintedNumber(i) != nil
		if p := c.Row.PrintedNumber(i); p != nil && (len(s.results) == 0 || report.AllowsDelta(s.level) || g.Unit == grid.UnitCount) &&
			!s.standIn() {
			if col.paper = *p; g.Unit == grid.UnitShare {
				col.paper *= 100
			}
			if len(col.values) > 0 && s.short() == "" {
				col.delta = col.mean - col.paper
			}
		}
		s.columns = append(s.columns, col)
	}
	return s, nil
}

// standIn reports whether the row takes generated data in place of the paper's.
func (s *summary) standIn() bool { return s.entry.Name != s.entry.Data.Name }

// status returns the worst status of the row's runs, for table cells without a number.
func (s *summary) status() roster.Status {
	worst := roster.Done
	for _, of := range []roster.Status{roster.Resumable, roster.ToDo, roster.Elsewhere, roster.NoData, roster.Stale, roster.Failed} {
		if slices.ContainsFunc(s.runs, func(r *roster.Run) bool { return r.Status == of }) {
			worst = of
		}
	}
	return worst
}

// seeds says how many of the row's seeds have results.
func (s *summary) seeds() string {
	if len(s.results) == len(s.runs) {
		return fmt.Sprint(len(s.runs))
	}
	return fmt.Sprintf("%d of %d", len(s.results), len(s.runs))
}

// standing says how the runs' configurations relate to the profiles that they name.
func (s *summary) standing() string {
	var list []string
	for _, r := range s.results {
		if r.Standing != "" {
			list = phrase.AppendNew(list, r.Standing)
		}
	}
	return strings.Join(list, "; ")
}

// short says why trainings of the row are shorter than the paper's, in which case no
// difference is taken. It is empty where none is shorter.
func (s *summary) short() string {
	var list []string
	for _, r := range s.results {
		if r.Short != "" {
			list = phrase.AppendNew(list, r.Short)
		}
	}
	return strings.Join(list, "; ")
}

// epochs lists the epochs that ran, seed by seed, or once where all seeds agree.
func (s *summary) epochs() string {
	var list []string
	for _, r := range s.results {
		list = append(list, r.Epochs)
	}
	if same := slices.Compact(slices.Clone(list)); len(same) == 1 {
		return same[0]
	}
	return strings.Join(list, ", ")
}

// commits lists the commits behind the row's results.
func (s *summary) commits() string {
	var list []string
	for _, r := range s.results {
		for _, c := range r.Commits {
			list = phrase.AppendNew(list, c)
		}
	}
	return strings.Join(list, ", ")
}

// noisy reports whether some run of the row draws noise for privacy.
func (s *summary) noisy() bool {
	return slices.ContainsFunc(s.results,
		func(r *roster.Result) bool {
			return r.Account != nil && r.Account.Noise != "" && r.Account.Noise != "none"
		})
}

// axis returns the axis that the row stands on, nil for a single result.
func (s *summary) axis() *grid.Axis {
	if p := s.entry.Row.Point; p != nil {
		return p.Axis
	}
	return nil
}

// value returns where the row stands on its axis, 0 without one.
func (s *summary) value() float64 {
	if p := s.entry.Row.Point; p != nil {
		return p.Value
	}
	return 0
}

// accounts returns the accounts of a row, of the worst seed for each unit, and why an
// epsilon is infinite. It returns nothing where the task states no epsilon.
func (s *summary) accounts() (lines []accountLine, reasons []experiment.Open) {
	at := map[string]int{}
	add := func(l accountLine) {
		i, ok := at[l.unit+"/"+l.neighbouring]
		if !ok {
			at[l.unit+"/"+l.neighbouring] = len(lines)
			lines = append(lines, l)
			return
		}
		lines[i].accounted, lines[i].noise = max(lines[i].accounted, l.accounted), max(lines[i].noise, l.noise)
		for _, o := range l.open {
			lines[i].open = phrase.AppendNew(lines[i].open, o)
		}
	}
	give := func(list []experiment.Open) (names []string) {
		for _, u := range list {
			if !slices.Contains(reasons, u) {
				reasons = append(reasons, u)
			}
			names = append(names, u.What)
		}
		return names
	}
	none := math.NaN()
	for _, r := range s.results {
		b := r.Account
		if b == nil {
			continue
		}
		names, claimed := give(b.Unbounded), none
		if b.Claimed != nil {
			claimed = float64(b.Claimed.Eps)
		}
		for _, u := range b.Units {
			l := accountLine{u.Unit, u.Neighbouring, u.Delta, none, float64(u.Total), float64(u.Accounted.Eps),
				u.Unbounded}
			if b.Claimed != nil && b.Claimed.Unit == u.Unit {
				l.claimed = claimed
			}
			add(l)
		}
		if len(b.Units) == 0 {
			add(accountLine{wholeRun, "", none, claimed, float64(b.Total), none, names})
		}
		if f := b.Features; f != nil {
			add(accountLine{featuresUnit, "", none, float64(f.Eps1), float64(f.Total), none, give(f.Unbounded)})
		}
	}
	return lines, reasons
}

// accounted returns the accounted epsilon of the row's unit, or that of the worst unit where the row has none. It is
// infinite where nothing is protected, and NaN where the unit has no account.
func (s *summary) accounted() float64 {
	worst, unit := math.NaN(), s.entry.Row.UnitOf
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

// text writes a number of a row for a table cell.
func (s *summary) text(x float64, sign string) string { return InText(s.unit, x, sign) }

// any reports whether some column has a number there.
func (s *summary) any(of func(column) float64) bool {
	return slices.ContainsFunc(s.columns, func(c column) bool { return !math.IsNaN(of(c)) })
}

// ours writes our result for a table cell: mean, spread and level of evidence, or why there
// is none.
func (s *summary) ours(c column) string {
	switch len(c.values) {
	case 0:
		switch {
		case len(s.results) > 0 && c.stated:
			return notInData
		case len(s.results) > 0:
			return "-"
		}
		return string(s.status())
	case 1:
		return fmt.Sprintf("%s (%v)", s.text(c.mean, ""), s.level)
	}
	return fmt.Sprintf("%s ± %s (%v)", s.text(c.mean, ""), s.text(c.sd, ""), s.level)
}
