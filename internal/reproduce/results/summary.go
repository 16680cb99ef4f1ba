package results

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"privrec/internal/dataset"
	"privrec/internal/experiment"
	"privrec/internal/reproduce/grid"
	"privrec/internal/reproduce/phrase"
	"privrec/internal/reproduce/roster"
	"privrec/internal/stats"
)

// summary is one row of a table over its seeds.
type summary struct {
	entry   *grid.Entry
	results []*roster.Result
	runs    []*roster.Run
	level   dataset.Level // the weakest of its seeds; 0 without results
	values  [][]float64   // by metric, and by seed without those that the data lack; in percent, or counts
	cells   []Cell        // by metric
	users   []users       // by metric; nil: not read yet
}

// standIn reports whether the row takes generated data in place of the paper's.
func (s *summary) standIn() bool { return s.entry.Name != s.entry.Data.Name }

// status returns the worst status of the row's runs, for table cells without a number.
func (s *summary) status() roster.Status {
	worst := roster.Done
	for _, of := range []roster.Status{roster.Resumable, roster.ToDo, roster.Elsewhere, roster.NoData, roster.Stale,
		roster.Failed} {
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

// mean returns the mean over the seeds in percent, or of counts; NaN where the row has none.
func (s *summary) mean(metric int) float64 {
	if len(s.values[metric]) == 0 {
		return math.NaN()
	}
	return stats.Mean(s.values[metric])
}

// any reports whether some cell of the row has a number there.
func (s *summary) any(of func(c *Cell) *float64) bool {
	return slices.ContainsFunc(s.cells, func(c Cell) bool { return of(&c) != nil })
}

// ours writes our result in a metric for a table cell: mean, spread and level of evidence, or why there is none.
func (s *summary) ours(metric int) string {
	c := &s.cells[metric]
	switch len(s.values[metric]) {
	case 0:
		switch {
		case len(s.results) > 0 && c.Printed != nil:
			return notInData
		case len(s.results) > 0:
			return "-"
		}
		return string(s.status())
	case 1:
		return fmt.Sprintf("%s (%v)", InText(c.Unit, s.mean(metric), ""), s.level)
	}
	return fmt.Sprintf("%s ± %s (%v)", InText(c.Unit, s.mean(metric), ""), InText(c.Unit, stats.SD(s.values[metric]), ""),
		s.level)
}
