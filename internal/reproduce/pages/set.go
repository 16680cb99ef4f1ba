package pages

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"privrec/internal/claims"
	"privrec/internal/report"
	"privrec/internal/reproduce"
	"privrec/internal/reproduce/grid"
	"privrec/internal/reproduce/results"
	"privrec/internal/reproduce/roster"
	"privrec/internal/run"
	"privrec/internal/system"
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

// Made is a table or figure that was made, or looked at.
type Made struct {
	Grid *grid.Grid
	*reproduce.Outcome
}

// Names of the pages, in the folder of tables.
const (
	Overview = "index.html"
	Document = "index.json"
	Costs    = "costs.html"
	runs     = "runs"
)

// paper is a paper with all that was made of it.
type paper struct {
	name   string // as in Grid.Paper
	title  string // for readers
	cite   string
	made   []Made
	runs   []*finished
	claims *claims.Result // nil: none

	epsilons *report.Table // claims beside accounts; nil: none
}

// titles are names of papers for readers.
var titles = map[string]string{"dipsgnn": "DIPSGNN", "pricdsr": "PriCDSR", "gerai": "GERAI", "rdpgcf": "RDP-GCF",
	"exposure": "Slate exposure"}

// own is where studies go that belong to no paper.
const own = "studies"

// page returns the address of a paper's page from the folder of tables.
func (p *paper) page() string { return p.name + ".html" }

// part returns the address of a part of that page.
func (p *paper) part(id string) string { return p.page() + "#" + id }

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
			f.of = appendNew(f.of, use{m.Grid.Title, p.part(m.Name), r.Method, p})
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

// Write writes the pages into the folder of tables, and returns their paths, the overview first. Pages of Runs
// replace others only if they are of the same runs (see mayReplace), or with Replace.
func (s *Set) Write() ([]string, error) {
	papers, all, err := s.papers()
	if err != nil {
		return nil, err
	}
	dir := filepath.Join(s.Out, "tables")
	var first bytes.Buffer
	if err := s.overview(papers, all).HTML(&first); err != nil {
		return nil, err
	}
	var of *origin
	if len(s.Runs) > 0 {
		if of = originOf(all, first.Bytes()); !s.Replace {
			if err := of.mayReplace(dir); err != nil {
				return nil, err
			}
		}
	}
	if err := os.MkdirAll(filepath.Join(dir, runs), 0o755); err != nil {
		return nil, run.WithHint(fmt.Errorf("write pages: %w", err), "choose a writable --out")
	}
	type file struct {
		name  string
		write func(io.Writer) error
	}
	files := []file{{Overview, func(w io.Writer) error { _, err := first.WriteTo(w); return err }},
		{Document, func(w io.Writer) error { return s.json(w, papers, of) }}, {Costs, costs(all).HTML}}
	for _, p := range papers {
		files = append(files, file{p.page(), p.html().HTML})
	}
	for _, f := range all {
		files = append(files, file{f.page(), f.html().HTML})
	}
	paths := make([]string, len(files))
	err = system.Together(len(files), func(i int) error {
		paths[i] = filepath.Join(dir, filepath.FromSlash(files[i].name))
		return system.WriteFile(paths[i], files[i].write)
	})
	if err != nil {
		return nil, err
	}
	return paths, nil
}

// json writes everything as one document.
func (s *Set) json(w io.Writer, papers []*paper, of *origin) error {
	type table struct {
		Name     string           `json:"name"`
		Paper    string           `json:"paper,omitempty"`
		Table    int              `json:"table,omitempty"`
		Figure   int              `json:"figure,omitempty"`
		Document *report.Document `json:"document"`
	}
	type about struct {
		Name       string `json:"name"`
		Cite       string `json:"cite,omitempty"`
		Conclusion string `json:"conclusion"`
		Page       string `json:"page"`
	}
	out := struct {
		Version int              `json:"version"`
		Papers  []about          `json:"papers"`
		Tables  []table          `json:"tables"`
		Cells   []results.Cell   `json:"cells"`
		Claims  []*claims.Result `json:"claims"`
		Of      *origin          `json:"of,omitempty"`
	}{Version: 1, Of: of, Papers: []about{}, Tables: []table{}, Cells: []results.Cell{}, Claims: []*claims.Result{}}
	out.Claims = append(out.Claims, s.Verdicts...)
	for _, p := range papers {
		out.Papers = append(out.Papers, about{p.name, p.cite, p.conclusion(), p.page()})
		for _, m := range p.made {
			out.Tables = append(out.Tables, table{m.Name, m.Grid.Paper, m.Grid.Table, m.Grid.Figure, m.Document})
			out.Cells = append(out.Cells, m.Cells...)
		}
	}
	b, err := json.MarshalIndent(out, "", " ")
	if err != nil {
		return err
	}
	_, err = w.Write(append(b, '\n'))
	return err
}

// appendNew appends x to a list that lacks it.
func appendNew[T comparable](list []T, x T) []T {
	if slices.Contains(list, x) {
		return list
	}
	return append(list, x)
}
