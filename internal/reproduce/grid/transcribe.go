package grid

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"privrec/internal/config"
	"privrec/internal/printed"
	"privrec/internal/reproduce/phrase"
)

// transcribe gives rows and gains that state no printed numbers those of the paper's transcription, and reports words
// that it does not have. It leaves them as they are where the paper has no transcription.
func (g *Grid) transcribe(v *config.Checker) {
	all := printed.Of(g.Paper)
	there := g.Table != 0 && len(all) > 0
	belongs := func(as printed.Setting, place string, ok bool) bool {
		v.Check(len(as) == 0 || ok, place+".printed_as",
			"belongs to a table of a transcribed paper, and not beside printed")
		return ok
	}
	l, results := lookup{Checker: v, grid: g, said: map[string]bool{}}, printed.Having(all, printed.Setting{"over": ""})
	for i := range g.Rows {
		if r := &g.Rows[i]; belongs(r.PrintedAs, g.place(i), there && r.Printed == nil) {
			words := printed.Setting{"method": printed.Word(r.Method)}
			if g.Unit == UnitCount { // that is what is counted
				words["method"] = ""
			}
			r.Printed = l.row(results, g.place(i), r.Data, words, r.PrintedAs)
		}
	}
	for i := range g.Gains {
		if p := &g.Gains[i]; there && p.Printed == nil {
			words := printed.Setting{"method": printed.Word(p.Method), "over": printed.Word(p.Over)}
			p.Printed = l.row(all, fmt.Sprintf("gains.%d", i), p.Data, words, nil)
		}
	}
	for i, m := range g.Metrics {
		if at := fmt.Sprintf("metrics.%d", i); belongs(m.PrintedAs, at, there) && len(l.rows) > 0 {
			l.column(at, m)
		}
	}
}

// lookup finds the printed numbers of a grid in the transcription of its paper.
type lookup struct {
	*config.Checker
	grid *Grid
	rows []printed.Value // of the rows that were looked up
	said map[string]bool // places of problems that several rows may have
}

// row returns the printed numbers of a row, by metric. own are words that the transcription has in place of the row's.
func (l *lookup) row(among []printed.Value, place, data string, words, own printed.Setting) []*float64 {
	out := make([]*float64, len(l.grid.Metrics))
	k := slices.IndexFunc(l.grid.Data, func(d Data) bool { return d.Name == data })
	if k < 0 {
		return out
	}
	words["table"], words["data"] = printed.Word(strconv.Itoa(l.grid.Table)), printed.Word(l.grid.Data[k].Printed)
	maps.Copy(words, own)
	at := func(key string) string {
		_, named := own[key]
		switch {
		case named:
			return place + ".printed_as"
		case key == "table":
			return key
		case key == "data":
			return fmt.Sprintf("data.%d.printed", k)
		case key == "method":
			return methodKey(place)
		}
		return place + "." + key
	}
	row := l.having(among, words, at)
	l.rows = append(l.rows, row...)
	for i, m := range l.grid.Metrics {
		var places []string
		for _, n := range printed.Having(row, m.words()) {
			out[i], places = n.Number.Value, append(places, n.Place())
		}
		l.CheckAs(len(places) < 2, at("method"), "must tell printed numbers apart", "may be %s; printed_as says which",
			strings.Join(places, ", or "))
	}
	return out
}

// words returns the words by which a transcription knows the column.
func (m Metric) words() printed.Setting {
	if len(m.PrintedAs) > 0 {
		return m.PrintedAs
	}
	return printed.Setting{"column": printed.Word(m.Printed)}
}

// column reports a column that none of the rows has in the transcription, or that is in another unit there.
func (l *lookup) column(place string, m Metric) {
	found := l.having(l.rows, m.words(), func(string) string {
		if len(m.PrintedAs) > 0 {
			return place + ".printed_as"
		}
		return place + ".printed"
	})
	other := func(n printed.Value) bool { return l.grid.Unit != UnitCount && n.Metric.Unit != l.grid.Unit }
	l.CheckAs(!slices.ContainsFunc(found, other), "unit", "must be that of the transcription",
		"%s is not in %s", m.Printed, l.grid.Unit)
}

// having returns the printed numbers that have all of the words. Where none has, it reports the word that none has
// beside the others, at its place in the file.
func (l *lookup) having(among []printed.Value, words printed.Setting, at func(key string) string) []printed.Value {
	const rule = "must be a word of the transcription"
	found := printed.Having(among, words)
	blamed := len(found) > 0
	for _, key := range slices.Sorted(maps.Keys(words)) {
		var known []string
		if !blamed {
			known = beside(among, words, key)
		}
		blamed = blamed || len(known) > 0
		place := at(key)
		l.CheckAs(len(known) == 0 || l.said[place], place, rule,
			"nothing is printed of %s %q; %s", key, words[key], phrase.Hint(string(words[key]), known))
		l.said[place] = l.said[place] || len(known) > 0
	}
	l.CheckAs(blamed, at("method"), rule, "nothing is printed of %s", words)
	return found
}

// beside lists the words for a key that printed numbers have beside all other words, or the keys of their settings
// where they have none for it.
func beside(among []printed.Value, words printed.Setting, key string) (known []string) {
	others := maps.Clone(words)
	delete(others, key)
	near := printed.Having(among, others)
	for _, n := range near {
		if word := n.Word(key); word != "" {
			known = phrase.AppendNew(known, string(word))
		}
	}
	for i := 0; i < len(near) && len(known) == 0; i++ {
		known = slices.Sorted(maps.Keys(near[i].Setting))
	}
	return known
}
