package reproduce

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"privrec/internal/run"
)

// write writes a table's files into a folder, each whole or not at all, and returns their
// paths.
func (t *Table) write(dir string, took []timing) ([]string, error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, run.WithHint(fmt.Errorf("write tables: %w", err), "choose a writable --out")
	}
	var paths []string
	for _, f := range []struct {
		suffix string
		write  func(w io.Writer) error
	}{
		{".md", t.Document.Markdown},
		{".csv", t.Numbers.CSV},
		{"-privacy.csv", t.Accounts.CSV},
		{"-runs.json", func(w io.Writer) error {
			b, err := json.MarshalIndent(took, "", "  ")
			if err != nil {
				return err
			}
			_, err = w.Write(append(b, '\n'))
			return err
		}},
	} {
		path := filepath.Join(dir, t.Name+f.suffix)
		if err := run.WriteFile(path, f.write); err != nil {
			return nil, err
		}
		paths = append(paths, path)
	}
	return paths, nil
}

// timing is what a run took. It differs between two tables with equal results.
type timing struct {
	*Run
	Seconds      float64       `json:"seconds"` // of all attempts that ended
	PeakRSSBytes int64         `json:"peak_rss_bytes,omitempty"`
	Attempts     []run.Attempt `json:"attempts,omitempty"`
}

// timings reads what each run took from its manifest.
func timings(runs []*Run) []timing {
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
