package reproduce

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"privrec/internal/claims"
	"privrec/internal/config"
	"privrec/internal/dataset"
	"privrec/internal/experiment"
	"privrec/internal/report"
	"privrec/internal/stats"
	"privrec/internal/system"
)

// summary is one row of a table over its seeds.
type summary struct {
	entry   *entry
	results []*result
	runs    []*Run
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

// confidence of the intervals.
const confidence = 0.95

// summaries summarises rows, several at once.
func (g *Grid) summaries(entries []*entry, runs []*Run) ([]*summary, error) {
	rows := make([]*summary, len(entries))
	err := system.Together(len(rows), func(i int) (err error) {
		rows[i], err = g.summarise(entries[i], runs)
		return err
	})
	return rows, err
}

// summarise reads the finished runs of a row and takes means over its seeds. A run with
// results that cannot be read fails.
func (g *Grid) summarise(c *entry, runs []*Run) (*summary, error) {
	s := &summary{entry: c, unit: g.Unit}
	for _, r := range runs {
		if r.entry != c {
			continue
		}
		s.runs = append(s.runs, r)
		if r.Status != Done {
			continue
		}
		res, err := g.result(r)
		if err != nil {
			r.fail(err)
			continue
		}
		s.results, s.level = append(s.results, res), max(s.level, res.level)
	}
	for i := range g.Metrics {
		col := column{lo: math.NaN(), hi: math.NaN(), paper: math.NaN(), delta: math.NaN(),
			floors: map[string]float64{}}
		for _, r := range s.results {
			if x := r.values[i]; !math.IsNaN(x) {
				col.values = append(col.values, g.scale()*x)
			}
			for name, f := range r.floors {
				if math.IsNaN(f[i]) {
					continue
				}
				col.floors[name] += g.scale() * f[i] / float64(len(s.results))
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
		col.stated = c.row.printed(i) != nil
		if p := c.row.printed(i); p != nil && (len(s.results) == 0 || report.AllowsDelta(s.level) || g.Unit == count) &&
			!s.standIn() {
			if col.paper = *p; g.Unit == share {
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
func (s *summary) standIn() bool { return s.entry.name != s.entry.data.Name }

// status returns the worst status of the row's runs, for table cells without a number.
func (s *summary) status() Status {
	worst := Done
	for _, of := range []Status{Resumable, ToDo, Elsewhere, NoData, Stale, Failed} {
		if slices.ContainsFunc(s.runs, func(r *Run) bool { return r.Status == of }) {
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
		if r.standing != "" {
			list = appendNew(list, r.standing)
		}
	}
	return strings.Join(list, "; ")
}

// short says why trainings of the row are shorter than the paper's, in which case no
// difference is taken. It is empty where none is shorter.
func (s *summary) short() string {
	var list []string
	for _, r := range s.results {
		if r.short != "" {
			list = appendNew(list, r.short)
		}
	}
	return strings.Join(list, "; ")
}

// epochs lists the epochs that ran, seed by seed, or once where all seeds agree.
func (s *summary) epochs() string {
	var list []string
	for _, r := range s.results {
		list = append(list, r.epochs)
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
		for _, c := range r.commits {
			list = appendNew(list, c)
		}
	}
	return strings.Join(list, ", ")
}

// accountLine is the account of one unit of protection.
type accountLine struct {
	unit, neighbouring        string
	delta, claimed, accounted float64 // NaN: nothing is claimed, or there is no delta
	noise                     float64 // what the noise alone amounts to; NaN: there is none
	open                      []string
}

// featuresUnit is the unit of user features that are perturbed on the user's side.
const featuresUnit = "user features, local"

// wholeRun is what an account without units is about.
const wholeRun = claims.WholeRun

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
			lines[i].open = appendNew(lines[i].open, o)
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
		b := r.account
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

// Gain sets a printed improvement of one row over another of the same data, in percent of the other. It is computed
// from the means of both and trains nothing.
type Gain struct {
	Data        string     `yaml:"data"`
	Method      string     `yaml:"method"`
	Setting     string     `yaml:"setting"`
	Over        string     `yaml:"over"`
	OverSetting string     `yaml:"over_setting"`
	Printed     []*float64 `yaml:"printed"`
}

// gainWhy is why a gain has no status of its own.
const gainWhy = "differences of two rows, each of which is compared in its own place"

// row returns what stands for a gain among the rows of a table.
func (p Gain) row() Row {
	return Row{gain: true, Method: p.Method + " over " + p.Over, Data: p.Data, Printed: p.Printed,
		About: "computed from the means of the two rows, in percent of the second"}
}

// gainRows lists the gains as rows.
func (g *Grid) gainRows() (out []Row) {
	for _, p := range g.Gains {
		out = append(out, p.row())
	}
	return out
}

// find returns the index of a row, or -1.
func (g *Grid) find(method, setting, data string) int {
	return slices.IndexFunc(g.Rows,
		func(r Row) bool { return r.Method == method && r.Variant == setting && r.Data == data })
}

// checkGain reports what is wrong with a gain.
func (g *Grid) checkGain(v *config.Checker, i int) {
	p, at := g.Gains[i], func(key string) string { return fmt.Sprintf("gains.%d.%s", i, key) }
	v.CheckAs(g.Unit == percent, at("printed"), "gains are percent, and so is the unit of their grid",
		"gains are percent, and the grid's unit is %s", g.Unit)
	v.Check(len(g.Axes) == 0, at("data"), "gains are of tables, and this grid has axes")
	v.CheckAs(g.find(p.Method, p.Setting, p.Data) >= 0, at("method"), "must be a row on the same data",
		"no row %q with setting %q on %s", p.Method, p.Setting, p.Data)
	v.CheckAs(g.find(p.Over, p.OverSetting, p.Data) >= 0, at("over"), "must be a row on the same data",
		"no row %q with setting %q on %s", p.Over, p.OverSetting, p.Data)
	v.CheckAs(len(p.Printed) == len(g.Metrics), at("printed"), "must be a number, or null, for each metric",
		"%d printed numbers for %d metrics; write null where the paper prints none", len(p.Printed), len(g.Metrics))
}

// gains computes the gains from the rows. A gain has a result if both rows have one, and stands
// beside the printed number as the weaker of them does.
func (g *Grid) gains(rows []*summary) (out []*summary) {
	of := func(method, setting, data string) *summary {
		want := &g.Rows[g.find(method, setting, data)]
		return rows[slices.IndexFunc(rows, func(s *summary) bool { return s.entry.row == want })]
	}
	for _, p := range g.Gains {
		a, b := of(p.Method, p.Setting, p.Data), of(p.Over, p.OverSetting, p.Data)
		row, e := p.row(), *a.entry
		e.row, e.about = &row, nil
		s := &summary{entry: &e, level: max(a.level, b.level), unit: a.unit, runs: a.runs}
		if a.status() == Done {
			s.runs = b.runs
		}
		if len(a.results) > 0 && len(b.results) > 0 {
			fewer := a.results
			if len(b.results) < len(a.results) {
				fewer = b.results
			}
			for _, r := range fewer {
				s.results = append(s.results, &result{seed: r.seed, short: r.short, level: r.level})
			}
		}
		for k := range g.Metrics {
			c := column{lo: math.NaN(), hi: math.NaN(), paper: math.NaN(), delta: math.NaN(), mean: math.NaN(),
				floors: map[string]float64{}, stated: row.printed(k) != nil}
			x, y := a.columns[k], b.columns[k]
			if len(x.values) > 0 && len(y.values) > 0 && y.mean != 0 {
				c.mean = 100 * (x.mean/y.mean - 1)
				c.values = []float64{c.mean}
			}
			if printed := row.printed(k); printed != nil && (len(s.results) == 0 || !math.IsNaN(x.paper) &&
				!math.IsNaN(y.paper)) && !s.standIn() {
				if c.paper = *printed; !math.IsNaN(x.delta) && !math.IsNaN(y.delta) {
					c.delta = c.mean - c.paper
				}
			}
			s.columns = append(s.columns, c)
		}
		out = append(out, s)
	}
	return out
}
