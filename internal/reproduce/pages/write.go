package pages

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"privrec/internal/claims"
	"privrec/internal/report"
	"privrec/internal/reproduce/results"
	"privrec/internal/run"
	"privrec/internal/system"
)

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
