package results

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"privrec/internal/report"
	"privrec/internal/reproduce/roster"
	"privrec/internal/run"
	"privrec/internal/system"
)

// Save writes a table's files into a folder, each whole or not at all, and returns their paths. One of them says what
// its runs took.
func (t *Table) Save(dir string, runs []*roster.Run) ([]string, error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, run.WithHint(fmt.Errorf("write tables: %w", err), "choose a writable --out")
	}
	type file struct {
		suffix string
		write  func(w io.Writer) error
	}
	list := []file{
		{".md", t.Document.Markdown},
		{".tex", t.Document.LaTeX},
		{".csv", t.Numbers.CSV},
		{"-privacy.csv", t.Accounts.CSV},
		{"-runs.json", func(w io.Writer) error { return writeTimings(w, timings(runs)) }},
	}
	if t.Points != nil {
		list = append(list, file{"-figure.csv", t.Points.CSV}, file{".html", t.Document.HTML})
	}
	for _, c := range t.Document.Charts {
		list = append(list, file{strings.TrimPrefix(c.File, t.Name) + ".pdf", func(w io.Writer) error {
			b, err := c.ColumnPDF()
			if err != nil {
				return err
			}
			_, err = w.Write(b)
			return err
		}})
		for _, format := range report.ImageFormats() {
			list = append(list, file{strings.TrimPrefix(c.File, t.Name) + "." + format, func(w io.Writer) error {
				b, err := c.Image(format)
				if err != nil {
					return err
				}
				_, err = w.Write(b)
				return err
			}})
		}
	}
	paths := make([]string, len(list))
	err := system.Together(len(list), func(i int) error {
		paths[i] = filepath.Join(dir, t.Name+list[i].suffix)
		return system.WriteFile(paths[i], list[i].write)
	})
	if err != nil {
		return nil, err
	}
	return paths, nil
}

// timing is what a run took. It differs between two tables with equal results.
type timing struct {
	*roster.Run
	Seconds      float64       `json:"seconds"` // of all attempts that ended
	PeakRSSBytes int64         `json:"peak_rss_bytes,omitempty"`
	Attempts     []run.Attempt `json:"attempts,omitempty"`
}

// WriteTimings writes what runs took, as the file beside a table has it.
func WriteTimings(w io.Writer, runs []roster.Run) error {
	list := make([]*roster.Run, len(runs))
	for i := range runs {
		list[i] = &runs[i]
	}
	return writeTimings(w, timings(list))
}

func writeTimings(w io.Writer, took []timing) error {
	b, err := json.MarshalIndent(took, "", "  ")
	if err != nil {
		return err
	}
	_, err = w.Write(append(b, '\n'))
	return err
}

// timings reads what each run took from its manifest.
func timings(runs []*roster.Run) []timing {
	out := make([]timing, len(runs))
	for i, r := range runs {
		out[i] = timing{Run: r}
		m, err := run.ReadManifest(r.Dir)
		if err != nil {
			continue // nothing was kept
		}
		out[i].Attempts = m.Attempts
		for _, a := range m.Attempts {
			out[i].Seconds += a.Seconds
			out[i].PeakRSSBytes = max(out[i].PeakRSSBytes, a.PeakRSSBytes)
		}
	}
	return out
}
