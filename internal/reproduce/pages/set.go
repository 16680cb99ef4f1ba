package pages

import (
	"cmp"
	"path/filepath"
	"slices"
	"strings"

	"privrec/internal/claims"
	"privrec/internal/report"
	"privrec/internal/reproduce/phrase"
	"privrec/internal/reproduce/roster"
)

// Set is what pages are made of.
type Set struct {
	Out      string           // folder of runs and tables
	Made     []Made           // tables and figures
	Verdicts []*claims.Result // on the papers' claims; empty: no page speaks of them
	Runs     []string         // directories of runs that stand beside the tables
	Replace  bool             // pages of Runs replace whatever is there
	// Epsilons are panels of claims beside accounts, by paper; a paper may have none.
	Epsilons map[string]*report.Table
}

// papers groups tables by paper, in the order of their names, and studies last. It reads the
// finished runs, each once.
func (s *Set) papers() ([]*paper, []*finished, error) {
	var out []*paper
	var all []*finished
	read := map[string]*finished{}
	for _, m := range s.Made {
		name := cmp.Or(m.Grid.Paper, own)
		at := slices.IndexFunc(out, func(p *paper) bool { return p.name == name })
		if at < 0 {
			at, out = len(out), append(out, &paper{name: name, title: cmp.Or(titles[name], name)})
		}
		p := out[at]
		p.cite = cmp.Or(p.cite, m.Grid.Place.Cite)
		p.made = append(p.made, m)
		for i := range m.Runs {
			r := &m.Runs[i]
			if r.Status != roster.Done {
				continue
			}
			name := filepath.Base(r.Dir)
			if read[name] == nil {
				f, err := readRun(r.Dir)
				if err != nil {
					return nil, nil, err
				}
				read[name], all = f, append(all, f)
			}
			f := read[name]
			f.of = phrase.AppendNew(f.of, use{m.Grid.Title, p.part(m.Name), r.Method, p})
			if !slices.Contains(p.runs, f) {
				p.runs = append(p.runs, f)
			}
		}
		p.epsilons = s.Epsilons[p.name]
		for i := range s.Verdicts {
			if s.Verdicts[i].Paper == p.name {
				p.claims = s.Verdicts[i]
			}
		}
	}
	for _, p := range out {
		p.made = sorted(p.made)
	}
	slices.SortStableFunc(out, func(a, b *paper) int {
		return cmp.Or(cmp.Compare(map[bool]int{true: 1}[a.name == own], map[bool]int{true: 1}[b.name == own]),
			strings.Compare(a.name, b.name))
	})
	for _, dir := range s.Runs {
		name := filepath.Base(dir)
		if read[name] == nil {
			f, err := readRun(dir)
			if err != nil {
				return nil, nil, err
			}
			read[name], all = f, append(all, f)
		}
	}
	slices.SortFunc(all, func(a, b *finished) int { return strings.Compare(a.name, b.name) })
	return out, all, nil
}
