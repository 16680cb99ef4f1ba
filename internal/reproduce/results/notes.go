package results

import (
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"

	"privrec/internal/dataset"
	"privrec/internal/report"
	"privrec/internal/reproduce/grid"
	"privrec/internal/reproduce/phrase"
	"privrec/internal/reproduce/roster"
	"privrec/internal/run"
)

// notesOf says what the numbers mean and what is missing.
func notesOf(g *grid.Grid, o roster.Options, rows []*summary) []string {
	var out []string
	printed, withheld, spread, noisy := false, false, false, false
	levels := map[dataset.Level]bool{}
	for _, s := range rows {
		if len(s.results) > 0 {
			levels[s.level] = true
		}
		printed = printed || s.any((*Cell).paper)
		withheld = withheld || len(s.results) > 0 && !report.AllowsDelta(s.level) && (g.Unit != grid.UnitCount || s.standIn())
		spread = spread || len(s.results) > 1
		noisy = noisy || len(s.results) > 0 && s.entry.Task.Noisy
	}
	if noisy {
		out = append(out, run.Remade)
	}
	if printed {
		out = append(out, "paper: "+g.Place.Where+": "+g.Place.About)
	}
	var cells []Cell
	for _, s := range rows {
		cells = append(cells, s.cells...)
	}
	if n := CountStatuses(cells); n.Printed > 0 {
		out = append(out, n.String())
		if n.Match+n.WithinNoise+n.Differs+n.NotReproducible > 0 {
			out = append(out, StatusMeaning)
		}
	}
	if withheld {
		out = append(out, "no printed number stands beside results of level C or D: they say nothing about the paper's")
	}
	if len(levels) > 1 {
		for _, l := range []dataset.Level{dataset.LevelA, dataset.LevelB, dataset.LevelC, dataset.LevelD} {
			if levels[l] {
				out = append(out, fmt.Sprintf("level %v: %s", l, l.Meaning()))
			}
		}
	}
	if spread {
		out = append(out, fmt.Sprintf("a ± b: mean and sample standard deviation over the seeds; from three seeds "+
			"on, Student's interval for the mean at %.0f %%", 100*confidence))
	}
	for _, m := range g.Metrics {
		definition := m.Definition()
		if m.Printed != m.Name {
			definition = m.Printed + " is " + definition
		}
		out = append(out, definition)
	}
	out = append(out, steps(g, rows)...)
	out = append(out, replaced(g, o, rows)...)
	out = append(out, aboutRows(g, rows)...)
	for _, s := range rows {
		for _, r := range s.runs {
			line := fmt.Sprintf("%s on %s, seed %d: %s", r.Method, r.On(), r.Seed, r.Status)
			switch {
			case r.Status == roster.Done:
				continue
			case r.Status == roster.NoData:
				line = "data missing: " + r.Problem
			case r.Problem != "":
				line += ": " + r.Problem
			}
			out = phrase.AppendNew(out, line)
		}
	}
	return append(out, g.Notes...)
}

// aboutRows says how each row was made. Rows with the same text share a line.
func aboutRows(g *grid.Grid, rows []*summary) (out []string) {
	var lines []string
	who := map[string][]string{}
	for _, s := range rows {
		line := s.entry.Row.About
		for k, b := range s.entry.About {
			made := fmt.Sprintf("on the run of %s under %s, made first with the same seed", b.Task,
				path.Base(s.entry.Row.On[k].Config))
			line = strings.TrimPrefix(line+"; "+made, "; ")
		}
		if short := s.short(); short != "" && s.any((*Cell).paper) {
			line = strings.TrimPrefix(line+"; no difference from the paper's numbers is taken: "+short, "; ")
		}
		if setting := s.standing(); setting != "" {
			line = strings.TrimPrefix(line+"; ran with "+setting, "; ")
		}
		if line == "" {
			continue
		}
		label := s.entry.Row.Line()
		if len(g.Data) > 1 {
			label += " on " + s.entry.Data.Printed
		}
		if len(who[line]) == 0 {
			lines = append(lines, line)
		}
		who[line] = phrase.AppendNew(who[line], label)
	}
	for _, line := range lines {
		out = append(out, strings.Join(who[line], ", ")+": "+line)
	}
	return out
}

// replaced says in a note for each data set that generated rows stand in its place.
func replaced(g *grid.Grid, o roster.Options, rows []*summary) (out []string) {
	for i := range g.Data {
		d := &g.Data[i]
		if j := slices.IndexFunc(rows,
			func(s *summary) bool { return s.entry.Data == d && s.entry.Size != o.Size }); j >= 0 {
			out = append(out, fmt.Sprintf("%s: the files of %s are missing; they come %s. Generated rows (%s) under "+
				"the settings of size %s stand in their place: level D, which says nothing about the paper",
				d.Printed, d.Name, grid.Absent(d.Name), rows[j].entry.Name, rows[j].entry.Size))
		}
	}
	return out
}

// steps says, for a grid that counts, of which step each printed number is. It looks at rows that
// stand for the same line of the paper, and says nothing where one step has all its numbers.
func steps(g *grid.Grid, rows []*summary) (out []string) {
	if g.Unit != grid.UnitCount {
		return nil
	}
	for _, first := range rows {
		if first.entry.Row.Again {
			continue
		}
		of := []*summary{first}
		for _, s := range rows {
			if s.entry.Row.Again && s.entry.Row.Repeats(*first.entry.Row) {
				of = append(of, s)
			}
		}
		of = slices.DeleteFunc(of, func(s *summary) bool { return len(s.results) == 0 || s.standIn() })
		if len(of) > 1 {
			out = append(out, stepsOf(g, of)...)
		}
	}
	return out
}

// stepsOf compares the printed numbers of one line with several steps.
func stepsOf(g *grid.Grid, of []*summary) []string {
	var parts []string
	whole := slices.Repeat([]bool{true}, len(of))
	for k, m := range g.Metrics {
		p := of[0].entry.Row.PrintedNumber(k)
		if p == nil {
			continue
		}
		var steps []string
		for n, s := range of {
			if c := &s.cells[k]; c.Ours != nil && equals(*c.Ours, *p) {
				steps = append(steps, s.entry.Row.Label())
			} else {
				whole[n] = false
			}
		}
		word := strings.Join(steps, ", or ")
		if len(steps) == 0 {
			word = "at no step here"
		}
		parts = append(parts, fmt.Sprintf("%s %s: %s", m.Printed, strconv.FormatFloat(*p, 'f', -1, 64), word))
	}
	if slices.Contains(whole, true) {
		return nil
	}
	return []string{fmt.Sprintf("%s: no step has all printed numbers; %s", of[0].entry.Data.Printed,
		strings.Join(parts, "; "))}
}
